#include "event/tmaplan.h"

#include <math.h>

int tma_plan_open(struct tma_plan *p, const char *sysfs, struct err *err)
{
	struct intern names = {0};

	*p = (struct tma_plan){0};
	pmu_list_cores(sysfs, &names);
	err_set(err, ERR_UNSUPPORTED, "there is no PMU of CPUs");
	vec_each(name, &names.strings) {
		struct tma t;

		if (!tma_open(&t, sysfs, *name, err))
			vec_add(&p->cores, t);
		else
			str_addf(&p->missing, "%s%s", p->missing.n ? "; " : "", err->msg);
	}
	intern_fini(&names);
	if (p->cores.n)
		return 0;
	tma_plan_close(p);
	return err->code;
}

void tma_plan_close(struct tma_plan *p)
{
	vec_each(t, &p->cores)
		tma_close(t);
	vec_fini(&p->cores);
	vec_fini(&p->groups);
	str_fini(&p->missing);
	*p = (struct tma_plan){0};
}

static void add_group(struct tma_plan *p, u32 core, u32 parent, u32 level)
{
	u32 events = tma_needs(&p->cores.at[core], parent, level);

	if (!events)
		return;
	vec_add(&p->groups, ((struct tma_group){core, parent, events, p->n_events}));
	p->n_events += (u32)__builtin_popcount(events);
}

void tma_plan_level(struct tma_plan *p, u32 level)
{
	p->groups.n = p->n_events = 0;
	p->level = level;
	for (u32 i = 0; i < p->cores.n; i++) {
		const struct tma *t = &p->cores.at[i];

		add_group(p, i, TMA_NONE, level);
		for (u32 k = 0; k < t->family->n_nodes && !t->family->has_register; k++)
			if (t->level[k] && t->level[k] < level)
				add_group(p, i, k, level);
	}
}

void tma_plan_branch(struct tma_plan *p, u32 core, u32 parent)
{
	const struct tma *t = &p->cores.at[core];

	p->groups.n = p->n_events = 0;
	p->level = parent == TMA_NONE ? 1 : t->level[parent] + 1u;
	add_group(p, core, parent, p->level);
}

void tma_plan_add_events(const struct tma_plan *p, struct str *text)
{
	vec_each(g, &p->groups) {
		const struct tma *t = &p->cores.at[g->core];

		if (g != p->groups.at)
			str_addc(text, ',');
		tma_add_group(t, g->events, text);
		/* Without slots in the lead the kernel refuses parts of the register. */
		if (!t->family->has_register)
			str_add(text, ":W");
	}
}

u32 tma_plan_levels(const struct tma_plan *p)
{
	u32 levels = 0;

	vec_each(t, &p->cores)
		levels = MAX(levels, t->levels);
	return levels;
}

const struct tma_group *tma_plan_group(const struct tma_plan *p, u32 core, u32 node)
{
	const struct tma *t = &p->cores.at[core];
	u32 parent = tma_parent(t, node);

	vec_each(g, &p->groups)
		if (g->core == core && t->level[node] && t->level[node] <= p->level &&
			(g->parent == parent || t->family->has_register))
			return g;
	return NULL;
}

void tma_plan_spread(const struct tma_group *g, const double *list,
	double ret_counts[TMA_EVENTS_MAX])
{
	u32 at = g->first;

	for (u32 i = 0; i < TMA_EVENTS_MAX; i++)
		ret_counts[i] = g->events >> i & 1 ? list[at++] : NAN;
}

bool tma_plan_counts_cores(const struct tma_plan *p)
{
	vec_each(t, &p->cores)
		if (t->family->counts_cores)
			return true;
	return false;
}

bool tma_plan_has_register(const struct tma_plan *p)
{
	vec_each(t, &p->cores)
		if (t->family->has_register)
			return true;
	return false;
}
