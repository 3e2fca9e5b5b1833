/*
 * runner.h - a script of perf's, run by the python3 that is installed.
 *
 * It is fed by a pipe: driver.py says how. It has pace's standard streams. Ctrl-C ends the reading of the recording; the
 * script then finishes as at its end. The second one ends both.
 * In       the script, its arguments; visits of a trace, in time order
 * Out      the script's exit status
 * Owns     the process and its pipes, until script_runner_end() or script_runner_fini()
 * Errors   ERR_NOENT: there is no script or no python3; ERR_SYS
 */
#ifndef PACE_CMD_RUNNER_H
#define PACE_CMD_RUNNER_H

#include <sys/types.h>

#include "base/namelist.h"
#include "view/records/script_python.h"

struct script_runner {
	const char *path;
	pid_t pid;
	int to, from;               /* pipes; -1: closed */
	bool has_left;              /* the script reads no more */
	struct name_list functions; /* that the script has */
	struct script_python_wishes wishes;
	bool sees_samples, sees_all_tracepoints;
	u32 n_events; /* announced so far */
	struct str frame;
	size_t list; /* where its list begins */
	u32 n;       /* messages in it */
};

/* args: of the script, NULL-terminated. When it returns, the script has begun, and said what it wants to see. */
int script_runner_begin(struct script_runner *r, const char *path, char **args, struct err *err);

void script_runner_sample(struct script_runner *r, struct script *s, struct visit *v);
void script_runner_record(struct script_runner *r, struct script *s, const struct visit *v,
	const union record_body *body);

/* Whether there is no use in more: the script has ended, or the user has interrupted. */
bool script_runner_is_over(const struct script_runner *r);

/* Hands out what waits: live, when a round is complete. */
void script_runner_flush(struct script_runner *r);

/* Waits for the script's end. *ret_status: what pace is to exit with; if it is not 0, *err says what happened. */
void script_runner_end(struct script_runner *r, int *ret_status, struct err *err);
void script_runner_fini(struct script_runner *r);

#endif
