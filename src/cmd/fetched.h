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
#include "fleet/fleetread.h"

struct fetched_request {
	const char *input;
	const char *sort; /* keys; NULL: the default ones */
	const char *from; /* where the window begins if the input does not say; NULL: an hour ago */
	bool has_comms;   /* threads are filtered by name */
	bool has_parts;   /* hosts apart from each other, so that chance can be told */
	bool (*is_over)(void *ctx); /* as in struct http */
	void *ctx;
};

/* Asks the store. fleetread_fini() even after an error. */
int fetched_read(const struct fetched_request *r, struct log *log, struct fleetread *ret,
	struct err *err);

/* `sort`, `has_comms`: as above. */
int fetched_input(const char *input, const char *sort, bool has_comms, struct log *log,
	struct err *err);

struct fetched_names {
	const char **at;
	size_t n, cap;
};

/* The same in parts: their names, which are kept. */
int fetched_parts(const char *input, const char *sort, bool has_comms, struct log *log,
	struct fetched_names *names, struct err *err);

#endif
