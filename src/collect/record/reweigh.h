/*
 * reweigh.h - periods that the kernel tells wrong, put right on the way into the file.
 *
 * Who changes the period of an opened timer (cpu-clock, task-clock) has it fire as often as he wishes, but
 * its samples go on telling the period that it was opened with (Linux 6.18): a rate that was lowered
 * by ten would make everything weigh a tenth. What those that were inherited from it tell is right: they
 * keep the period that it had when they were. So the samples that are looked for are those whose
 * stream is the counter itself.
 * In       counters whose period was changed, and when; records
 * Out      the samples among them tell the period that was in force
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
	u64 since;       /* when the second one came into force; 0: before all samples to come */
	u32 event;
};

/* Where the words of an event's samples are, from the record's start; 0: they have none. */
struct reweigh_places {
	u32 stream, time, period;
};

struct reweigh {
	VEC(struct reweigh_places) events;
	VEC(struct reweigh_counter) counters;
	struct table by_id;
	u32 key; /* where the word that names the counter, or the event of its kin, is */
};

/* Events whose samples have PERF_SAMPLE_STREAM_ID. */
void reweigh_init(struct reweigh *r, const struct event_list *events);
void reweigh_fini(struct reweigh *r);

/*
 * From `since` on samples of the counter weigh `period`; before, what was said last, or `first` if
 * nothing was. What was taken before that was said is to be out of the rings by now.
 */
void reweigh_set(struct reweigh *r, u32 event, u64 id, u64 first, u64 period, u64 since);

/* Puts whole records right, n bytes that lie at a multiple of 8. */
void reweigh_records(const struct reweigh *r, u8 *at, size_t n);

#endif
