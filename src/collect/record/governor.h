/*
 * governor.h - how often to sample, so that the recorder costs no more than allowed.
 *
 * In       at each look: the time passed, the recorder's own CPU time in it, how full the rings were
 * Out      the rate, as a share of the wanted one; why it changed
 * Units    overhead: the recorder's CPU time / the time of the target's CPUs; 0.01 is 1 %
 *
 * It neither reads a clock nor switches anything: equal readings give equal decisions. Cost is
 * proportional to the rate, so the rate is lowered in proportion to the excess, and halved if a ring was
 * nearly full. It is raised again, slowly, after ten looks at less than half of the limit.
 */
#ifndef PACE_COLLECT_GOVERNOR_H
#define PACE_COLLECT_GOVERNOR_H

#include "base/types.h"

enum governor_reason {
	GOVERNOR_KEEP,
	GOVERNOR_COSTS_TOO_MUCH,
	GOVERNOR_RING_IS_FULL,
	GOVERNOR_COSTS_LITTLE,
	GOVERNOR_IS_LOWEST, /* costs too much at the lowest rate; reported once */
};

struct governor {
	double most;     /* allowed overhead */
	double lowest;   /* lowest rate, as a share of the wanted one */
	double rate;     /* as a share of the wanted one, initially 1 */
	double overhead; /* smoothed over several looks; 0 before the first */
	bool has_looked, has_said_lowest;
	unsigned n_quiet; /* looks in a row at less than half of the limit */
};

/* `cpus`: how many CPUs the target can use. `fill_pct`: of the fullest ring since the last look. */
enum governor_reason governor_look(struct governor *g, u64 elapsed_ns, u64 cpu_ns, unsigned cpus,
	unsigned fill_pct);

const char *governor_reason_text(enum governor_reason reason);

#endif
