/*
 * visit.h - one sample or record of a trace, and what was true at that moment.
 *
 * In       records of a trace, by pass.h or follow.h
 * Out      struct visit: what the record says; on request, who ran with which maps, and the sample's
 *          callers
 * Owns     struct visits: remembered states of threads, and the current chain; one for each of our threads
 * Life     a visit and all it points to are valid until the next one; names of threads as long as
 *          the trace
 * Units    times are ns of the perf clock; where records carry none, file offsets stand in for them
 * Errors   none
 */
#ifndef PACE_TRACE_VISIT_H
#define PACE_TRACE_VISIT_H

#include "event/abi.h"
#include "record/record.h"
#include "trace/trace.h"
#include "unwind/ending.h"

enum { VISITS_REMEMBERED = 256 };

struct visited_thread {
	u32 pid, tid;
	struct thread_state state; /* until 0: the slot is empty */
};

struct visits {
	struct trace *trace;
	struct callers_walk walk;
	bool has_walk;
	struct intern strings; /* names like ":123" */
	struct visited_thread threads[VISITS_REMEMBERED];
	u64 n_changes;              /* of the machine, when the first of these was looked up */
	u8 used[VISITS_REMEMBERED]; /* the slots that were filled since then */
	unsigned n_used;
};

struct visit {
	struct visits *visits;
	const struct record *rec;
	/*
	 * A sample; `period` is always filled in, cpu is (u32)-1 if it was not recorded. NULL: the record is not
	 * a sample, or one that cannot be decoded.
	 */
	const struct sample *sample;
	const struct sample_format *format; /* of the sample, or of another record's trailer */
	const union record_body
		*body; /* follow.h: of a record that says who ran where; else NULL */
	u64 nr;        /* follow.h: which record of the file it is, from 0 */
	u64 time;
	u32 event; /* TABLE_NONE: the recording describes none */
	u32 taken_by; /* the event whose record it is: another one if its sample read this event's counter */
	u8 mode;      /* the CPU mode: PERF_RECORD_MISC_* */
	bool is_next; /* of the same record as the visit before, but of another counter */
	bool is_idle; /* follow.h: it read counters, none of which had counted anything */
	const struct thread_state *state; /* NULL: not asked for yet */
	bool has_callers;                 /* visit_callers() has filled in the rest */
	bool has_end;                     /* `end` says how the chain ended */
	struct sample_words chain;
	struct stack_end end;
};

/* *v must be all zero. Call visits_fini() before the trace is closed, even if *v was never initialized. */
void visits_init(struct visits *v, struct trace *t);
void visits_fini(struct visits *v);

/* PERF_SAMPLE_*: the fields that visit_callers() is made from. */
u64 visits_need_for_callers(const struct trace *t);

/* Forgets what may not hold any more; to be called before each visit while the machine takes in records. */
void visits_follow(struct visits *v);

/* What walks stacks, for callers that have registers and stacks of their own. */
struct callers_walk *visits_walk(struct visits *v);

/* The slow paths of visit_state() and visit_callers(). */
const struct thread_state *visit_find_state(struct visit *v);
void visit_find_callers(struct visit *v);

static inline struct visited_thread *visit_remembered(const struct visit *v)
{
	u32 tid = v->sample->tid;

	return &v->visits->threads[(tid ^ tid >> 8) % VISITS_REMEMBERED];
}

/* per sample: the thread, its name and its spaces at that moment */
static inline const struct thread_state *visit_state(struct visit *v)
{
	const struct visited_thread *t;

	if (v->state)
		return v->state;
	t = visit_remembered(v);
	/* Nearly every sample finds its thread here. */
	if (LIKELY(t->tid == v->sample->tid && t->pid == v->sample->pid &&
		    v->time >= t->state.from && v->time < t->state.until))
		return v->state = &t->state;
	return visit_find_state(v);
}

/*
 * per sample: fills in v->chain, in the kernel's form, the sampled address first: as it was recorded, or unwound
 * from a stack dump or branch records. True if v->end says how it ended.
 */
static inline bool visit_callers(struct visit *v)
{
	if (v->has_callers)
		return v->has_end;
	v->has_callers = true;
	v->has_end = false;
	v->chain = v->sample->chain;
	v->end = (struct stack_end){.ending = STACK_ENDINGS};
	if (UNLIKELY(ending_may_be(&v->chain) || callers_has_source(v->format)))
		visit_find_callers(v);
	return v->has_end;
}

/*
 * per sample: whether it is of a transaction's abort: its address is where the transaction was aborted, and its callers
 * are those of the code that ran afterwards. `is_abort`: the event counts aborts (event/tsx.h).
 */
static inline bool visit_is_abort(const struct visit *v, bool is_abort)
{
	return (v->format->type & PERF_SAMPLE_TRANSACTION &&
		       v->sample->transaction & (PERF_TXN_ELISION | PERF_TXN_TRANSACTION)) ||
		UNLIKELY(is_abort);
}

/* The time that the record itself has; else its place in the order. */
static inline u64 visit_said_time(const struct visit *v)
{
	return v->sample && v->format->type & PERF_SAMPLE_TIME ? v->sample->time : v->time;
}

#endif
