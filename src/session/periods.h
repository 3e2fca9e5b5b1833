/*
 * periods.h - samples that read counters: what each counter has counted since its previous sample.
 *
 * A sample with PERF_SAMPLE_READ holds what the counters of its group had counted until then. Each
 * of these values is a sample of that counter's event, and its period is the difference to the
 * previous value. Counters that children inherit share an id: they are told apart by their thread.
 * In       samples and FORK records, in the order of time
 * Out      an event and a period for each value; 0: it has not counted since
 * Owns     the previous value of each counter
 * Errors   none. A value that is smaller than the previous one is from a counter that began anew or, if
 *          it is older too, from a sample that came late, whose period is 0
 * Source   Linux kernel/events/core.c, perf_output_read_group(); perf_event_open(2), read_format
 */
#ifndef PACE_SESSION_PERIODS_H
#define PACE_SESSION_PERIODS_H

#include "base/table.h"
#include "event/event.h"
#include "record/formats.h"

struct periods_counter {
	u64 id;
	u32 tid;   /* 0: not inherited */
	u32 life;  /* which one of the threads that had that tid */
	u32 event; /* TABLE_NONE: the recording does not describe it */
	u64 value, time;
};

struct periods_life {
	u32 tid, n;
};

struct periods {
	struct table index; /* of counters, by id and tid */
	VEC(struct periods_counter) counters;
	struct table life_index;
	VEC(struct periods_life) lives; /* of tids that were given out during the recording */
};

void periods_fini(struct periods *p);

/* Whether samples of that format stand for the counter values in them. */
static inline bool periods_has(const struct sample_format *format)
{
	return format->type & PERF_SAMPLE_READ;
}

/* The counter of the i-th value of a sample that was taken by `event`: a position in p->counters. */
u32 periods_counter(struct periods *p, const struct formats *f, const struct event_list *events,
	u32 event, const struct sample *sample, u64 i);

/* What a counter has counted since its previous value; `value` is the previous one from now on. */
u64 periods_advance(struct periods *p, u32 counter, u64 value, u64 time);

/* Both at once, for samples that come in the order of time. */
struct periods_value {
	u32 event;
	u64 period;
};
struct periods_value periods_take(struct periods *p, const struct formats *f,
	const struct event_list *events, u32 event, const struct sample *sample, u64 i, u64 time);

/* Notes that a new thread has that tid: its counters begin at 0. */
void periods_begin_thread(struct periods *p, u32 tid);

#endif
