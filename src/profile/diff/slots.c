#include "profile/diff/slots.h"

#include <math.h>

/* The counts of a group, NaN for those that were not counted. */
static void group_counts(const struct tma_plan *plan, const struct tma_group *g,
	const struct count *counts, double ret[TMA_EVENTS_MAX])
{
	double *list = mem_alloc(plan->n_events * sizeof(*list));

	for (u32 i = 0; i < plan->n_events; i++)
		list[i] = count_state(&counts[i]) == COUNT_OK ? counts[i].value : NAN;
	tma_plan_spread(g, list, ret);
	mem_free(list);
}

static void take_group(struct slots *s, const struct tma_plan *plan, const struct tma_group *g,
	const struct count *counts)
{
	const struct tma *t = &plan->cores.at[g->core];
	double of_group[TMA_EVENTS_MAX];

	group_counts(plan, g, counts, of_group);
	/* A branch's group also tells the share of its parent, of which its limits speak. */
	for (u32 i = 0; i < t->family->n_nodes; i++)
		if (tma_plan_group(plan, g->core, i) == g || (i == g->parent && isnan(s->share[i])))
			s->share[i] = tma_share(t, i, of_group);
	if (g->parent == TMA_NONE)
		s->whole = tma_whole(t, of_group);
	for (u32 i = 0; i < (u32)__builtin_popcount(g->events); i++)
		s->running = MIN(s->running, count_share(&counts[g->first + i]));
	s->has_run |= counts[g->first].running_ns > 0;
}

void slots_of(struct slots *s, const struct tma_plan *plan, u32 core, const struct count *counts)
{
	const struct tma *t = &plan->cores.at[core];

	*s = (struct slots){.whole = NAN, .running = 1};
	for (u32 i = 0; i < TMA_NODES_MAX; i++)
		s->share[i] = NAN;
	vec_each(g, &plan->groups)
		if (g->core == core)
			take_group(s, plan, g, counts);
	for (u32 i = 0; i < t->family->n_nodes; i++) {
		s->is_counted |= !isnan(s->share[i]);
		s->is_notable[i] = tma_is_notable(t, i, s->share);
	}
}

void slots_take(const struct counts *c, u32 place, bool is_interval, struct count *ret_counts)
{
	for (u32 i = 0; i < c->events->n; i++)
		ret_counts[i] = is_interval ? *counts_now(c, i, place) : counts_mean(c, i, place);
}
