/*
 * asperf.h - pace in perf's place: called by the name `perf` (a link), with --as-perf, or with PACE_AS_PERF=1 in the environment.
 *
 * Then the tools and scripts that call perf get what they parse. Each thing in which pace differs on purpose is a row of one
 * table: an option of the command, which the mode puts before the user's own, and which works without the mode, too.
 */
#ifndef PACE_CMD_ASPERF_H
#define PACE_CMD_ASPERF_H

#include "base/types.h"

struct asperf_row {
	const char *command;     /* "stat", "stat report" */
	const char *option;      /* what makes it like perf's; NULL: it is like that of perf 6 */
	const char *what;        /* that differs otherwise */
	const char *option_of_7; /* for callers that know perf 7; NULL: the same */
};

extern const struct asperf_row asperf_rows[];
extern const size_t asperf_n_rows;

/* Whether perf was called. */
bool asperf_is_wanted(const char *called);

/*
 * The words of a command line with the options of the mode behind the command's. argv[0] is the command's name. *argc grows; the
 * result has room for the NULL at the end; the caller frees it.
 */
char **asperf_words(int *argc, char **argv);

/* A command line that is answered without a command: --list-cmds and alike. -1: it is none; else the exit status. */
int asperf_answer(int argc, char **argv);

#endif
