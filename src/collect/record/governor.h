/*
 * governor.h - how often to sample, so that the recorder costs no more than it may.
 *
 * In       at each look: the time that passed, the recorder's own CPU time in it, how full rings were
 * Out      the rate, as a share of what was wanted; why it changed
 * Units    overhead: the recorder's CPU time by the time of the target's CPUs, 0.01 is 1 %
 *
 * Nothing here reads a clock or switches anything: the same readings give the same decisions. Cost goes
 * with the rate, so that the rate is lowered by as much as the limit is passed, and by half where a ring was
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
	GOVERNOR_IS_LOWEST, /* it costs too much, and the rate cannot be lowered; said once */
};

struct governor {
	double most;     /* overhead that is allowed */
	double lowest;   /* rate, a share of the wanted one */
	double rate;     /* of the wanted one: 1 at first */
	double overhead; /* smoothed over some looks; 0 before the first */
	bool has_looked, has_said_lowest;
	unsigned n_quiet; /* looks in a row at less than half of the limit */
};

/* `cpus`: how many the target can use. `fill_pct`: of the fullest ring since the last look. */
enum governor_reason governor_look(struct governor *g, u64 elapsed_ns, u64 cpu_ns, unsigned cpus,
	unsigned fill_pct);

const char *governor_reason_text(enum governor_reason reason);

#endif
