/*
 * fetched.h - inputs that are no files: a fleet's store, asked for a profile that stands in for a file from then on.
 *
 * In       the input as it was named: "clickhouse://HOST/DB?service=api&from=-1h"; the sort keys, whose labels the store
 *          has to group by
 * Out      bytes that file/standin.h hands out under that name
 * Owns     nothing
 * Errors   those of the address and of the store. Names of files are left alone
 */
#ifndef PACE_CMD_FETCHED_H
#define PACE_CMD_FETCHED_H

#include "base/log.h"
#include "base/vec.h"

/* `sort`: keys; NULL: the default ones. `has_comms`: threads are filtered by name. */
int fetched_input(const char *input, const char *sort, bool has_comms, struct log *log,
	struct err *err);

struct fetched_names {
	const char **at;
	size_t n, cap;
};

/* The same in parts, hosts apart from each other, so that chance can be told: their names, which are kept. */
int fetched_parts(const char *input, const char *sort, bool has_comms, struct log *log,
	struct fetched_names *names, struct err *err);

#endif
