/*
 * latency.h - how long an event's instructions took to retire: the mean of samples, while other events count.
 *
 * Since Meteor Lake and Granite Rapids, samples by PEBS say how many cycles after the instruction before it their own retired. No counter
 * adds these up, so an event of which that is asked (EVENT_RETIRE_LATENCY) is sampled: some thousand times a second, each sample of 16 bytes.
 *
 * In       an attr; the fd of an event that was opened with it
 * Out      the sum of the latencies and the number of samples so far
 * Owns     the ring; not the fd
 * Units    cycles of the core
 * Errors   latency_open(): those of ring_open(). Reading cannot fail; samples that found no room are missing from sum and number alike
 * Source   linux/perf_event.h: union perf_sample_weight, var3_w on x86; the kernel's setup_pebs_adaptive_sample_data()
 */
#ifndef PACE_COLLECT_LATENCY_H
#define PACE_COLLECT_LATENCY_H

#include "base/err.h"
#include "collect/counter/ring.h"
#include "event/attr.h"

struct latency {
	struct ring ring;
	u64 cycles, n_samples;
};

/* Turns an attr that would count into one that samples. */
void latency_complete(struct event_attr *a);

int latency_open(struct latency *l, int fd, struct err *err);
/* The event was opened again, by this fd: what was counted stays. */
int latency_reopen(struct latency *l, int fd, struct err *err);
void latency_close(struct latency *l); /* also if it is not open */

/* Takes the samples that have come. */
void latency_read(struct latency *l);

#endif
