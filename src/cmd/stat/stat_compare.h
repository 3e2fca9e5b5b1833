/*
 * stat_compare.h - stat --vs: two commands in pairs, in random order, until the difference is clear.
 *
 * In       two command lines; everything that stat has set up
 * Out      the comparison, written to `out`; the exit status
 * Errors   a command that cannot be started, or ends with a status other than 0
 */
#ifndef PACE_CMD_STAT_COMPARE_H
#define PACE_CMD_STAT_COMPARE_H

#include "base/log.h"
#include "base/out.h"
#include "cmd/stat/stat_command.h"
#include "collect/run/stop.h"
#include "event/event.h"

struct stat_compare {
	const struct stat_command *options;
	const struct stat_options *print;
	char **commands; /* A and B */
	u64 n_pairs;     /* of -r; 0: until Ctrl-C */
	struct event_list *events;
	struct target *target;
	struct stop *stop;
	struct log *log;
	struct out *out;
};

/* ERR_INVAL: options that do not work with --vs, or not two commands. */
int stat_compare_check(const struct stat_command *o, int argc, struct err *err);

int run_stat_compare(const struct stat_compare *vs, int *ret_status, struct err *err);

#endif
