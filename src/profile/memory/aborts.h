/*
 * aborts.h - where transactions were aborted, why, what that cost, and which way through the code led there.
 *
 * In       samples of aborts: their flags (PERF_SAMPLE_TRANSACTION) and weights; the last branches; the callers; the
 *          register AX, in which the status of the abort is
 * Out      causes; sites, those that cost most first; for each its causes, critical sections and paths
 * Owns     its lists
 * Units    cycles, as the processor weighs aborts: those that the transaction took until it was aborted
 * Errors   ERR_INVAL: no event of the recording samples aborts
 *
 * Invariant: the samples of all sites, like those of all causes, sum up to the total. A path is the branches within the
 * transaction, without repetitions of one branch; branches before it began are not part of it. The processor keeps
 * only so many branches: a path that fills its record is not whole.
 * Source   Intel's manual, volume 3, 18.3.6.5 (TSX and PEBS, LBR); linux/perf_event.h: PERF_TXN_*
 */
#ifndef PACE_PROFILE_ABORTS_H
#define PACE_PROFILE_ABORTS_H

#include "base/err.h"
#include "base/str.h"
#include "base/table.h"
#include "base/vec.h"
#include "trace/pass.h"

enum {
	ABORTS_SEEN_MOST = 1024,
	ABORTS_BRANCHES = 8,
	ABORTS_BRANCHES_MOST = 64,
	ABORTS_NO_PLACE = UINT32_MAX
};

/* The first that holds is the cause. */
enum abort_cause {
	ABORT_EXPLICIT,    /* XABORT */
	ABORT_CONFLICT,    /* another CPU used the same memory */
	ABORT_WRITES,      /* too much written */
	ABORT_READS,       /* too much read */
	ABORT_INSTRUCTION, /* by the instruction itself, for none of these reasons */
	ABORT_OUTSIDE,     /* by something else: an interrupt */
	ABORT_UNTOLD,      /* the recording does not say */
	ABORT_CAUSES,
};

struct aborts_count {
	u64 n;      /* samples */
	u64 aborts; /* that they stand for: the sum of their periods */
	u64 cycles;
	u64 by_cause[ABORT_CAUSES], cycles_by_cause[ABORT_CAUSES];
	u64 n_elided, n_retry;
};

/* A place in the code, once. */
struct aborts_place {
	u32 dso;
	u64 address; /* in the DSO, as map_offset() returns it; of a return address the call's */
	bool is_kernel;
	/* After aborts_name(): */
	const char *function; /* NULL: unknown */
	u64 function_offset;
	const char *dso_name;
	const char *file; /* NULL: unknown */
	u32 line;
};

struct aborts_step {
	u32 from, to; /* places */
	u64 n_times; /* in all samples of the path: more than those if it was taken again at once */
};

struct aborts_path {
	u32 site;           /* its number while samples are taken */
	u32 first, n_steps; /* in aborts.steps, the oldest first */
	u64 n, cycles;      /* samples */
	bool is_whole;      /* the transaction began right before the first step */
	u32 begun; /* the place where the branch before the transaction led; ABORTS_NO_PLACE: not known */
};

/* How often a number was seen: a place, a code, a status. Of a list the first ABORTS_SEEN_MOST are told apart. */
struct aborts_seen {
	u64 value, n;
};

typedef VEC(struct aborts_seen) aborts_seen;

struct aborts_site {
	u32 place;
	struct aborts_count count;
	aborts_seen codes;          /* of XABORT */
	aborts_seen statuses;       /* words that XBEGIN returned, in AX */
	aborts_seen sections;       /* places: who began the transaction */
	size_t first_path, n_paths; /* in aborts.paths, the most frequent first */
	u64 n_with_branches; /* samples whose branches show the inside of the transaction, even if there was none */
};

struct aborts {
	unsigned n_branches; /* of a path, the newest; at most ABORTS_BRANCHES_MOST */
	VEC(struct aborts_site) sites;
	VEC(struct aborts_place) places;
	VEC(struct aborts_path) paths;
	VEC(struct aborts_step) steps;
	struct aborts_count total;
	aborts_seen codes, statuses;
	u64 n_others;                                           /* samples of other events */
	bool has_flags, has_weights, has_branches, has_callers; /* what samples of aborts carry */
	bool has_landings; /* some are where the abort led to, and not where it was: without ":pp" */
	VEC(u8) kinds; /* by event: whether its samples are of aborts, for sure or by their flags */
	struct table site_index, place_index, path_index;
	struct intern strings;
};

/* The trace must be open; it need not be scanned yet. */
int aborts_init(struct aborts *a, const struct trace *t, unsigned n_branches, struct err *err);
struct visitor aborts_visitor(struct aborts *a, const struct trace *t);
/* Names all places; with their lines. */
void aborts_name(struct aborts *a, struct resolver *resolver, unsigned style);
void aborts_fini(struct aborts *a);

/* "conflict"; and what it means in a few words. */
const char *abort_cause_word(enum abort_cause cause);
const char *abort_cause_title(enum abort_cause cause);

#endif
