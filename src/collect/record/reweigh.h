/*
 * reweigh.h - corrects periods in samples, which the kernel reports wrongly for changed timers.
 *
 * After the period of an open timer (cpu-clock, task-clock) is changed, it fires at the new rate, but its
 * samples go on reporting the period that it was opened with (Linux 6.18): after lowering the rate to a
 * tenth, everything would weigh a tenth. Counters inherited from it report correctly: they keep the
 * period that was in force when they were inherited. So the samples to correct are those whose stream
 * id is the counter's own.
 * In       counters whose period was changed, and when; records
 * Out      the samples among them report the period that was in force
 * Owns     a list of the counters
 * Units    ns of the samples' clock
 * Source   perf_event_open(2): PERF_EVENT_IOC_PERIOD, PERF_SAMPLE_STREAM_ID
 */
#ifndef PACE_COLLECT_REWEIGH_H
#define PACE_COLLECT_REWEIGH_H

#include "base/table.h"
#include "event/event.h"

struct reweigh_counter {
	u64 id;
	u64 before, now; /* periods */
	u64 since;       /* start of the second period; 0: before all samples to come */
	u32 event;
};

/* Offsets of words in an event's samples, from the record's start; 0: missing. */
struct reweigh_places {
	u32 stream, time, period;
};

struct reweigh {
	VEC(struct reweigh_places) events;
	VEC(struct reweigh_counter) counters;
	struct table by_id;
	u32 key; /* offset of the word that identifies the counter, or its event */
};

/* The events' samples must have PERF_SAMPLE_STREAM_ID. */
void reweigh_init(struct reweigh *r, const struct event_list *events);
void reweigh_fini(struct reweigh *r);

/*
 * Sets the period of the counter's samples from `since` on. Earlier samples have the period that
 * was set before, or `first` if none was. Samples from before that earlier change must no longer be
 * in the rings.
 */
void reweigh_set(struct reweigh *r, u32 event, u64 id, u64 first, u64 period, u64 since);

/* Corrects the samples among n bytes of whole records; `at` is a multiple of 8. */
void reweigh_records(const struct reweigh *r, u8 *at, size_t n);

#endif
