/*
 * report_keys.h - report, the first stage: what to count, what to group by, which columns to show.
 *
 * In       the words of -s, -F, -b, --mem-mode, -p; what the recording has
 * Out      keys, columns and order; which labels gathering needs, and how it counts
 * Owns     keys that only this recording has (fields of tracepoints), the expression of -p
 * Errors   ERR_INVAL: unknown keys, keys and modes that need what the recording lacks
 */
#ifndef PACE_CMD_REPORT_KEYS_H
#define PACE_CMD_REPORT_KEYS_H

#include "file/tracepoints.h"
#include "profile/tree/parent.h"
#include "profile/check/recorded.h"
#include "profile/rows/key_own.h"
#include "view/rows/histrows.h"

struct keys_options {
	const char *sort, *fields,
		*parent; /* with a '+' in front: beside what stands without them */
	int branches;    /* -1: as the recording was made */
	int children;    /* -1: not given */
	u64 skid;
	int is_by_latency; /* 0, 1 */
	bool is_mem_mode, is_raw_trace, drops_others, has_total_cycles, has_history;
	bool has_counts, has_periods, has_intervals, has_modes;
};

struct keys {
	const struct keys_options *options;
	struct recorded *recorded;
	bool has_history;   /* the branches before samples are the end of their stacks */
	bool has_blocks;    /* runs of code between branches are counted, with their cycles */
	bool has_branches;  /* each branch is counted, not each sample */
	bool has_wall;      /* time on and off CPUs is counted */
	bool needs_history; /* figures of the branches before samples are wanted */
	bool needs_ipc;     /* functions' instructions per cycle are wanted */
	bool needs_parent;
	bool has_expression;
	regex_t parent;
	struct tracepoints tracepoints;
	struct key_own own;
	struct str sort; /* the words of -s where it adds to the usual ones */
};

/* Decides whether branches are counted, before anything else is chosen. */
int keys_init(struct keys *k, const struct keys_options *o, struct recorded *r, bool has_wall,
	struct err *err);

/* The words of -s, or what stands for them where it is not given. */
const char *keys_sort(const struct keys *k);

/* Whether samples have callers, or branches that stand for them. */
bool keys_have_stacks(const struct keys *k);

/* Fills in the keys and the order of `hist` and the columns of `rows`. */
int keys_choose(struct keys *k, struct hist_options *hist, struct histrows_options *rows,
	struct err *err);

/* Says what gathering and naming have to do for these keys. */
void keys_tell(const struct keys *k, const struct hist_options *hist,
	struct recorded_options *reading);

/* Called after naming. */
void keys_finish(const struct keys *k, struct profile *p, bool is_relative);
void keys_fini(struct keys *k);

#endif
