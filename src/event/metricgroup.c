#include "event/metricgroup.h"

#include <stdlib.h>
#include <string.h>

#include "event/abi.h"

/* A parsed event, and the event of the set that it is of. */
struct member {
	struct event event;
	u32 of;
};

struct maker {
	struct metricset *set;
	struct event_list *events;
	VEC(u32) order; /* metrics that were asked for, those with most events first */
	struct metric_counted *singles; /* by event of the set: those that are in no group */
	struct err *err;
};

/* ---- which PMU ---- */

/* Software events can be in any group. */
static bool is_anywhere(const struct event *e)
{
	return e->attr.type == PERF_TYPE_SOFTWARE || e->attr.type == PERF_TYPE_TRACEPOINT;
}

static bool is_of_core(const struct event *e)
{
	return !(e->wishes & EVENT_NO_TASKS);
}

/* Whether two events can be on a PMU together, as far as their types tell. */
static bool are_neighbours(const struct event *a, const struct event *b)
{
	if (is_anywhere(a) || is_anywhere(b))
		return true;
	if (a->pmu && b->pmu)
		return !strcmp(a->pmu, b->pmu);
	return is_of_core(a) && is_of_core(b);
}

/* ---- parsing ---- */

/* Of several PMUs with the event only the metric's own counts, if it is among them. */
static void keep_own(struct event_list *events, size_t first, const char *pmu)
{
	size_t n = first;
	bool has_own = false;

	for (size_t i = first; pmu && i < events->n; i++)
		has_own |= events->at[i].pmu && !strcmp(events->at[i].pmu, pmu);
	if (!has_own)
		return;
	for (size_t i = first; i < events->n; i++) {
		struct event e = events->at[i];

		if (strcmp(e.pmu ? e.pmu : "", pmu) != 0) {
			cpus_fini(&e.cpus);
			continue;
		}
		e.leader = (u32)n;
		events->at[n++] = e;
	}
	events->n = n;
}

/* Appends an event of the set. */
static int parse(struct maker *m, u32 event)
{
	const struct metric_event *e = &m->set->events.at[event];
	size_t first = m->events->n;
	int r = parse_events(e->text, &m->set->env, m->events, m->err);

	if (!r)
		keep_own(m->events, first, e->pmu);
	return r;
}

static struct metric_counted counted_of(struct maker *m, u32 n)
{
	return (struct metric_counted){arena_alloc(&m->set->arena, (n + 1) * sizeof(u32)), 0};
}

static void note(struct metric_counted *c, size_t at)
{
	c->at[c->n++] = (u32)at;
}

/* ---- events on their own ---- */

/* Whether an event that is already among the singles is in the group of make_slots_group(). */
static bool is_part_of_slots(const struct maker *m, u32 event)
{
	const struct event_attr *a = &m->events->at[m->singles[event].at[0]].attr;

	return attr_is_slots(a) || attr_is_topdown(a);
}

static int add_single(struct maker *m, u32 event, bool is_new, struct metric_counted *ret)
{
	size_t first = m->events->n;

	if (m->singles[event].n && (!is_new || is_part_of_slots(m, event))) {
		*ret = m->singles[event];
		return 0;
	}
	if (parse(m, event))
		return m->err->code;
	*ret = counted_of(m, (u32)(m->events->n - first));
	for (size_t i = first; i < m->events->n; i++)
		note(ret, i);
	if (!is_new)
		m->singles[event] = *ret;
	return 0;
}

/* ---- groups ---- */

struct members {
	struct member *at;
	size_t n, cap;
};

/* Takes the events from `first` on out of the list. */
static void take_out(struct event_list *events, size_t first, u32 of, struct members *to)
{
	for (size_t i = first; i < events->n; i++)
		vec_add(to, ((struct member){events->at[i], of}));
	events->n = first;
}

/* Slots lead; the metrics that are parts of it come next, so that they stay with it if the group is too large. */
static unsigned rank_of(const struct member *m)
{
	return attr_is_slots(&m->event.attr) ? 0 : attr_is_topdown(&m->event.attr) ? 1 : 2;
}

static void put_slots_first(struct member *group, size_t n)
{
	bool has_slots = false, has_metric = false;

	for (size_t i = 0; i < n; i++) {
		has_slots |= rank_of(&group[i]) == 0;
		has_metric |= rank_of(&group[i]) == 1;
	}
	for (size_t i = 1; has_slots && has_metric && i < n; i++) {
		struct member moved = group[i];
		size_t at = i;

		for (; at && rank_of(&group[at - 1]) > rank_of(&moved); at--)
			group[at] = group[at - 1];
		group[at] = moved;
	}
}

/* Appends one group; its members' places go to `counted`. */
static void add_group(struct maker *m, struct member *group, size_t n,
	struct metric_counted *counted)
{
	u32 leader = (u32)m->events->n;

	put_slots_first(group, n);
	for (size_t i = 0; i < n; i++) {
		struct event *e;

		vec_add(m->events, group[i].event);
		e = &m->events->at[m->events->n - 1];
		e->leader = leader;
		e->n_members = i ? 0 : (u32)n;
		e->wishes |= EVENT_WEAK_GROUP;
		note(&counted[group[i].of], m->events->n - 1);
	}
}

/* Makes a group of the first event and all that can be beside it; returns how many are left, at the front. */
static size_t add_neighbours(struct maker *m, struct member *all, size_t n,
	struct metric_counted *counted)
{
	size_t first = 0, n_left = 0;
	struct members group = {0};

	/* What can be anywhere goes with the first that cannot. */
	while (first < n - 1 && is_anywhere(&all[first].event))
		first++;
	const struct event home = all[first].event;
	for (size_t i = 0; i < n; i++) {
		if (are_neighbours(&home, &all[i].event))
			vec_add(&group, all[i]);
		else
			all[n_left++] = all[i];
	}
	add_group(m, group.at, group.n, counted);
	vec_fini(&group);
	return n_left;
}

/* Stat's own clocks take no counter, and latencies are sampled apart from what is counted: one of each serves all metrics. */
static bool is_never_grouped(const struct event *e)
{
	return e->attr.type == EVENT_TYPE_TOOL || e->wishes & EVENT_RETIRE_LATENCY;
}

static int make_group(struct maker *m, struct metric_use *use)
{
	struct members all = {0};
	int r = 0;

	for (u32 i = 0; i < use->n_events && !r; i++) {
		u32 event = use->events[i];
		size_t first = m->events->n;

		r = parse(m, event);
		if (!r && m->events->n > first && is_never_grouped(&m->events->at[first])) {
			m->events->n = first;
			r = add_single(m, event, false, &use->counted[event]);
			continue;
		}
		use->counted[event] = counted_of(m, (u32)(m->events->n - first));
		take_out(m->events, first, event, &all);
	}
	while (!r && all.n)
		all.n = add_neighbours(m, all.at, all.n, use->counted);
	vec_each(left, &all)
		cpus_fini(&left->event.cpus);
	vec_fini(&all);
	return r;
}

/* ---- metrics without groups ---- */

/* Takes slots and its parts out of the events of a metric that wants no group. */
static int take_slots(struct maker *m, const struct metric_use *use, struct members *slots)
{
	for (u32 i = 0; i < use->n_events; i++) {
		u32 event = use->events[i];
		size_t first = m->events->n;
		const struct event_attr *a;

		if (m->singles[event].at)
			continue;
		if (parse(m, event))
			return m->err->code;
		a = &m->events->at[first].attr;
		if (attr_is_slots(a) || attr_is_topdown(a)) {
			m->singles[event] = counted_of(m, (u32)(m->events->n - first));
			take_out(m->events, first, event, slots);
			continue;
		}
		for (size_t k = first; k < m->events->n; k++)
			cpus_fini(&m->events->at[k].cpus);
		m->events->n = first;
	}
	return 0;
}

/* The kernel counts parts of slots only behind slots: one group, which always fits, serves all metrics that want none. */
static int make_slots_group(struct maker *m)
{
	struct members slots = {0};
	int r = 0;

	for (size_t i = 0; i < m->order.n && !r; i++) {
		const struct metric_use *use = &m->set->uses.at[m->order.at[i]];

		if (use->is_loose)
			r = take_slots(m, use, &slots);
	}
	while (!r && slots.n)
		slots.n = add_neighbours(m, slots.at, slots.n, m->singles);
	vec_each(left, &slots)
		cpus_fini(&left->event.cpus);
	vec_fini(&slots);
	return r;
}

/* ---- all metrics ---- */

/* Whether all events of a metric are among another's. */
static bool is_within(const struct metric_use *a, const struct metric_use *b)
{
	u32 k = 0;

	for (u32 i = 0; i < a->n_events; i++) {
		while (k < b->n_events && b->events[k] < a->events[i])
			k++;
		if (k == b->n_events || b->events[k] != a->events[i])
			return false;
	}
	return true;
}

/* The metric, made before, whose group has all events of this one; NULL: there is none. */
static const struct metric_use *group_with(const struct maker *m, size_t position)
{
	const struct metric_use *use = &m->set->uses.at[m->order.at[position]];

	for (size_t i = 0; i < position && !m->set->options.has_no_merge; i++) {
		const struct metric_use *other = &m->set->uses.at[m->order.at[i]];

		if (!other->is_loose && is_within(use, other))
			return other;
	}
	return NULL;
}

static int make_use(struct maker *m, size_t position)
{
	struct metric_use *use = &m->set->uses.at[m->order.at[position]];
	const struct metric_use *other = use->is_loose ? NULL : group_with(m, position);

	if (other) {
		use->counted = other->counted;
		return 0;
	}
	use->counted = arena_zalloc(&m->set->arena, (m->set->events.n + 1) * sizeof(*use->counted));
	if (!use->is_loose)
		return make_group(m, use);
	for (u32 i = 0; i < use->n_events; i++)
		if (add_single(m, use->events[i], m->set->options.has_no_merge,
			    &use->counted[use->events[i]]))
			return m->err->code;
	return 0;
}

static void choose_order(struct maker *m)
{
	for (u32 i = 0; i < m->set->uses.n; i++) {
		size_t at;

		if (!m->set->uses.at[i].is_asked)
			continue;
		vec_add(&m->order, i);
		for (at = m->order.n - 1; at; at--) {
			if (m->set->uses.at[m->order.at[at - 1]].n_events >=
				m->set->uses.at[i].n_events)
				break;
			m->order.at[at] = m->order.at[at - 1];
		}
		m->order.at[at] = i;
	}
}

int metricgroup_make(struct metricset *s, struct event_list *events, struct err *err)
{
	struct maker m = {.set = s, .events = events, .err = err};
	int r = 0;

	m.singles = mem_zalloc((s->events.n + 1) * sizeof(*m.singles));
	choose_order(&m);
	r = make_slots_group(&m);
	for (size_t i = 0; i < m.order.n && !r; i++)
		r = make_use(&m, i);
	mem_free(m.singles);
	vec_fini(&m.order);
	return r;
}
