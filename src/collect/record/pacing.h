/*
 * pacing.h - keeps a recorder's own cost below a share of the target's CPUs, by changing how often it samples.
 *
 * In       a running recorder, whose samples carry their periods; a limit
 * Out      other rates of its counters; samples of timers with the periods that were in force
 * Owns     a clock, the list of changed counters; not the recorder
 * Units    overhead: a share, 0.01 is 1 %
 * Errors   those of the recorder's sink; what the kernel refuses is a warning
 */
#ifndef PACE_COLLECT_PACING_H
#define PACE_COLLECT_PACING_H

#include "collect/around/perfclock.h"
#include "collect/record/governor.h"
#include "collect/record/recorder.h"
#include "event/target.h"

struct pacing {
	struct recorder *recorder; /* NULL: not begun */
	struct log *log;
	struct governor governor;
	unsigned cpus; /* how many the target can use */
	u64 start_ns, looked_ns;
	u64 start_cpu_ns, cpu_ns; /* the recorder's own CPU time at those moments */
	unsigned n_changes;
	bool has_failed; /* the kernel refused a new rate, which was reported */
	struct perfclock clock;
	struct reweigh reweigh;
};

/* `most`: the overhead that is allowed. */
void pacing_begin(struct pacing *p, struct recorder *r, const struct target *target, double most,
	struct log *log);
void pacing_end(struct pacing *p);

/* Decides, and changes the rates; *ret_overhead: since the last look. */
int pacing_look(struct pacing *p, u64 now_ns, enum governor_reason *ret_reason,
	double *ret_overhead, struct err *err);

/* Counters of that CPU were opened again. */
void pacing_reopened(struct pacing *p, s32 cpu);

#endif
