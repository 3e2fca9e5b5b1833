/*
 * visit.h - one sample or record of a trace, and what was true at that moment.
 *
 * In       records of a trace, by pass.h or follow.h
 * Out      struct visit: what the record says; who ran, with which maps; the sample's callers, if
 *          somebody asks
 * Owns     struct visits: what is remembered of threads, the chain at hand; one for each thread of ours
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
	struct thread_state state; /* until 0: there is none here */
};

struct visits {
	struct trace *trace;
	struct callers_walk walk;
	bool has_walk;
	struct intern strings; /* names like ":123" */
	struct visited_thread threads[VISITS_REMEMBERED];
	u64 n_changes;              /* of the machine, when the first of these was looked up */
	u8 used[VISITS_REMEMBERED]; /* which of them were since then */
	unsigned n_used;
};

struct visit {
	struct visits *visits;
	const struct record *rec;
	/*
	 * A sample; `period` is always filled in, cpu is (u32)-1 where it was not recorded. NULL: the record is
	 * none, or one that cannot be decoded.
	 */
	const struct sample *sample;
	const struct sample_format *format; /* of the sample, or of what follows another record */
	const union record_body
		*body; /* follow.h, of records that say who ran where; NULL: of others */
	u64 nr;        /* follow.h: which record of the file it is, from 0 */
	u64 time;
	u32 event; /* TABLE_NONE: the recording describes none */
	u32 taken_by; /* the event whose record it is: another one if that has read this one's counter */
	u8 mode;      /* PERF_RECORD_MISC_*: which CPU mode it is of */
	bool is_next; /* of the same record as the visit before, but of another counter */
	bool is_idle; /* follow.h: it read counters, none of which had counted anything */
	const struct thread_state *state; /* NULL: nobody has asked */
	bool has_callers;                 /* somebody has asked: */
	bool has_end;                     /* it is known how the chain ended */
	struct sample_words chain;
	struct stack_end end;
};

/* All zero before; to be closed before the trace is, also if it was never initialized. */
void visits_init(struct visits *v, struct trace *t);
void visits_fini(struct visits *v);

/* While a machine takes in records, before each visit: what may not hold any more is forgotten. */
void visits_follow(struct visits *v);

/* What visit_state() and visit_callers() come down to where nothing is remembered. */
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
 * per sample: its call chain in the kernel's form, the sampled address first: as it was recorded, or, where it has
 * a stack dump or records of calls, made of these. True if v->end says how it ended.
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

/* The time that the record itself says; its place in the order where it says none. */
static inline u64 visit_said_time(const struct visit *v)
{
	return v->sample && v->format->type & PERF_SAMPLE_TIME ? v->sample->time : v->time;
}

#endif
