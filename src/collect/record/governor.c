#include "collect/record/governor.h"

enum { QUIET_LOOKS = 10, FULL_PCT = 75 };

/* A look counts only half: rings are not emptied evenly. */
#define SMOOTHING 0.5
/* Aim a little below the limit, so that it is not exceeded again at once. */
#define MARGIN 0.9
/* The steepest cut at a time: one look may be misleading. */
#define STEEPEST 0.125
#define RAISE    1.25

static enum governor_reason lower(struct governor *g, double factor, enum governor_reason why)
{
	bool is_lowest = g->rate <= g->lowest;

	g->n_quiet = 0;
	if (is_lowest && (g->has_said_lowest || why == GOVERNOR_RING_IS_FULL))
		return GOVERNOR_KEEP;
	if (is_lowest) {
		g->has_said_lowest = true;
		return GOVERNOR_IS_LOWEST;
	}
	g->rate = MAX(g->rate * MAX(factor, STEEPEST), g->lowest);
	/* Future samples will cost that much less. */
	g->overhead *= MAX(factor, STEEPEST);
	return why;
}

enum governor_reason governor_look(struct governor *g, u64 elapsed_ns, u64 cpu_ns, unsigned cpus,
	unsigned fill_pct)
{
	double now;

	if (!elapsed_ns || !cpus)
		return GOVERNOR_KEEP;
	now = (double)cpu_ns / ((double)elapsed_ns * cpus);
	g->overhead = g->has_looked ? SMOOTHING * now + (1 - SMOOTHING) * g->overhead : now;
	g->has_looked = true;
	if (g->overhead > g->most)
		return lower(g, MARGIN * g->most / g->overhead, GOVERNOR_COSTS_TOO_MUCH);
	if (fill_pct >= FULL_PCT)
		return lower(g, 0.5, GOVERNOR_RING_IS_FULL);
	g->n_quiet = g->overhead < g->most / 2 ? g->n_quiet + 1 : 0;
	if (g->n_quiet < QUIET_LOOKS || g->rate >= 1)
		return GOVERNOR_KEEP;
	g->n_quiet = 0;
	g->rate = MIN(g->rate * RAISE, 1.0);
	return GOVERNOR_COSTS_LITTLE;
}

const char *governor_reason_text(enum governor_reason reason)
{
	switch (reason) {
	case GOVERNOR_KEEP:
		break;
	case GOVERNOR_COSTS_TOO_MUCH:
		return "more than allowed";
	case GOVERNOR_RING_IS_FULL:
		return "a ring was nearly full";
	case GOVERNOR_COSTS_LITTLE:
		return "less than half of what is allowed";
	case GOVERNOR_IS_LOWEST:
		return "more than allowed, at the lowest rate there is";
	}
	return "";
}
