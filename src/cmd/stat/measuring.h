/*
 * measuring.h - what the parts of 'pace stat' share: everything that lives as long as a measurement.
 *
 * In       the command's options; its events and target, once they are understood
 * Owns     all members except those marked as borrowed
 * Errors   sentences for the user, in *err
 */
#ifndef PACE_CMD_MEASURING_H
#define PACE_CMD_MEASURING_H

#include "base/out.h"
#include "cmd/stat/stat_asked.h"
#include "cmd/stat/stat_command.h"
#include "collect/run/attach.h"
#include "collect/run/control.h"
#include "collect/open/counting.h"
#include "collect/known/plan.h"
#include "collect/run/run.h"
#include "collect/run/stop.h"
#include "collect/run/workload.h"
#include "event/tmaplan.h"
#include "file/statfile.h"
#include "profile/diff/counts.h"
#include "view/stat/stat.h"
#include "view/stat/stat_live.h"

struct measuring {
	const struct stat_command *options;
	struct log log;
	struct event_list events;
	struct stat_asked asked; /* -M */
	struct target target;
	struct counting counting;
	struct workload workload;
	bool has_workload, measures_workload;
	struct stop stop;
	struct control control;
	struct counts counts;
	struct stat_options print;
	struct stat_view view;
	struct stat_live live;
	bool is_live; /* intervals are shown in place */
	void (*write_log)(void *ctx, enum log_level level, const char *sentence);
	struct stat_facts facts;
	struct str what, why_lost,
		on_what; /* on_what: as words of a command, see stat_add_target() */
	struct out out;
	VEC(double) runs_ns;
	u64 n_runs; /* 0: until Ctrl-C */
	struct attach attach;
	const struct run *run; /* the current run; borrowed */
	struct plan plan;
	bool is_rotated; /* each run counts one pass */
	u64 interval_began_ns;
	struct tma_plan topdown; /* has_topdown: its events are the first */
	bool has_topdown, has_topdown_doubt;
	struct stat_drilling *drilling; /* --drill takes the counts; NULL: they are printed */
	struct writer writer;           /* of stat record */
	int pipe_fd;                    /* where -o - writes to, until the writer has it */
	struct err why_unwritten;
	bool has_frozen_smi; /* stat_smi_end() has to take it back */
	char **command;
	int argc;
	char **line; /* the whole command line */
	int line_n;
};

/*
 * stat_open.c: opens the counters of one run, after those of the run before were closed. Of running processes it opens
 * every thread, and reports those that it could not open.
 */
int stat_open(struct measuring *m, struct err *err);
void stat_open_init(struct measuring *m); /* before the first run */
/* In the place of perf 7: puts what that says before the reason why nothing can be counted. */
void stat_say_unsupported(struct err *err);

/*
 * stat_smi.c: --smi-cost. While it is counted, counters of the CPUs stand still in system management interrupts; the end puts that
 * back. ERR_UNSUPPORTED: this machine cannot do that.
 */
int stat_smi_begin(struct measuring *m, struct err *err);
void stat_smi_end(struct measuring *m);

/* stat_topdown.c: --topdown. Adds the events; ERR_INVAL with a sentence that says why the machine has none. */
int stat_topdown_add_events(struct measuring *m, struct err *err);
/* Whether all of them were opened. */
int stat_topdown_check(const struct measuring *m, struct err *err);
/* Reports once why an interval's shares are doubtful. */
void stat_topdown_watch(struct measuring *m);

/* Adds what a command that looks closer has to be told: "-a -- sleep 1". */
void stat_add_target(const struct measuring *m, struct str *text);

/* Makes the events of the plan those of the measurement. */
int stat_topdown_parse(struct measuring *m, struct err *err);

/* stat_drill.c: --drill, after the set-up. */
int run_stat_drill(struct measuring *m, int *ret_status, struct err *err);
/* Takes the counts of an interval that took `ns`. */
void stat_drill_interval(struct stat_drilling *d, double ns);

/* stat.c: one run, and the end of its command. */
int stat_run_once(struct measuring *m, enum run_end *ret_end, struct err *err);
void stat_end_workload(struct measuring *m, enum run_end end);

/* stat_record.c: 'pace stat record'; without it these do nothing. */
bool stat_record_is_piped(const struct stat_command *o);
int stat_record_prepare(struct measuring *m, struct err *err);
int stat_record_begin(struct measuring *m, struct err *err);
/* A write error is reported once, at the end; counts are printed all the same. */
void stat_record_moment(struct measuring *m, const struct run *run, enum statfile_round round);
int stat_record_finish(struct measuring *m, struct err *err);

#endif
