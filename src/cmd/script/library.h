/*
 * library.h - the scripts that come with perf, found by name: NAME-record and NAME-report in DIR/scripts/python/bin, shell
 * scripts that call `perf`, and DIR/scripts/python/NAME.py.
 *
 * DIR is $PERF_EXEC_PATH, or where distributions put it. Where the shell scripts call perf, pace is in its place.
 */
#ifndef PACE_CMD_LIBRARY_H
#define PACE_CMD_LIBRARY_H

#include "base/err.h"
#include "base/str.h"

/* Sets PERF_EXEC_PATH, from which scripts build paths, unless the user has. */
void library_set_path(void);

/* Adds a list of all scripts, with their descriptions. */
void library_add_list(struct str *text);

/* The path of a script for Python: a file, or the name of one in the library; "python:" may stand before it. ERR_NOENT. */
int library_find(const char *name, struct str *ret_path, struct err *err);

/* Whether there is a script of that name to record or report with. */
bool library_has(const char *name);

/*
 * Runs NAME-record or NAME-report, with words behind it; or, live, both with a pipe between. Returns the exit status; < 0: it
 * did not run, *err says why.
 */
int library_record(const char *name, bool is_system_wide, char **words, struct err *err);
int library_report(const char *name, char **words, struct err *err);
int library_live(const char *name, bool is_system_wide, char **words, struct err *err);

#endif
