#include "profile/diff/metric.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "event/metricexpr.h"
#include "event/metricown.h"
#include "profile/diff/kind.h"

/* ---- which two belong together ---- */

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* The kernel's own events are those of the CPU's only kind of core. */
static bool are_of_one_core(const struct event *a, const struct event *b)
{
	const char *named = a->pmu ? a->pmu : b->pmu;

	return is_same(a->pmu, b->pmu) || ((!a->pmu || !b->pmu) && !strcmp(named, "cpu"));
}

/*
 * Whether two events observe the same instructions of the same tasks on the same cores. has_filters: what else they are
 * filtered by may differ.
 */
static bool see_the_same(const struct event *a, const struct event *b, bool has_filters)
{
	const u64 levels = ATTR_EXCLUDE_USER | ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV |
		ATTR_EXCLUDE_HOST | ATTR_EXCLUDE_GUEST | ATTR_EXCLUDE_IDLE;

	return (a->attr.flags & levels) == (b->attr.flags & levels) &&
		is_same(a->cgroup, b->cgroup) &&
		(has_filters ? are_of_one_core(a, b)
			     : is_same(a->pmu, b->pmu) &&
					a->attr.config >> 32 == b->attr.config >> 32);
}

static bool is_counted(const struct count *c)
{
	return count_state(c) == COUNT_OK;
}

/* The event of a kind to compare with, preferably of the same group; TABLE_NONE if there is none. */
static u32 partner_of(const struct metric_input *in, u32 event, const char *kind, bool has_filters)
{
	const struct event *e = &in->events->at[event];
	const bool is_clock = !strcmp(kind, KIND_CLOCK);
	u32 found = TABLE_NONE;

	for (u32 i = 0; i < in->events->n; i++) {
		const struct event *o = &in->events->at[i];

		if (i == event || !is_counted(&in->counts[i]) || !kind_is(o, kind))
			continue;
		/* A clock counts in user space and kernel, and for every PMU. */
		if (is_clock ? !is_same(e->cgroup, o->cgroup) : !see_the_same(e, o, has_filters))
			continue;
		if (o->leader == e->leader)
			return i;
		if (found == TABLE_NONE)
			found = i;
	}
	return found;
}

static bool ran_all_the_time(const struct count *c)
{
	return c->running_ns >= c->enabled_ns && !c->n_idle && !c->n_failed;
}

static bool ran_together(const struct metric_input *in, u32 a, u32 b)
{
	if (in->pass_of && in->pass_of[a] != in->pass_of[b])
		return false;
	return in->events->at[a].leader == in->events->at[b].leader ||
		(ran_all_the_time(&in->counts[a]) && ran_all_the_time(&in->counts[b]));
}

/* ---- a formula over the counts ---- */

#define ITSELF   "event"
#define DURATION "duration_time"

struct asked {
	const struct metric_input *in;
	u32 event; /* the one that the metric is shown beside */
	const struct metricexpr *x;
	bool has_filters; /* metricown.has_filters */
	u32 *partners; /* by name of the formula: the event that it stands for, TABLE_NONE if there is none */
};

/*
 * Of each row of metricown, compiled once for the life of the process: with a row for each CPU, all of them are computed thousands
 * of times in an interval.
 */
static struct metricexpr *formulas;
static pthread_once_t formulas_once = PTHREAD_ONCE_INIT;

static void compile_formulas(void)
{
	struct err err;

	formulas = mem_zalloc((metricown_n + 1) * sizeof(*formulas));
	/* One that cannot be compiled has no names and no value; tests/unit/test_metric.c compiles all of them. */
	for (size_t i = 0; i < metricown_n; i++)
		if (metricexpr_compile(&formulas[i], metricown[i].row.expr, 0, &err))
			formulas[i] = (struct metricexpr){0};
}

void metric_prepare(void)
{
	pthread_once(&formulas_once, compile_formulas);
}

static const struct metricexpr *formula_of(const struct metricown *own)
{
	metric_prepare();
	return &formulas[own - metricown];
}

static bool is_duration(const struct asked *a, u32 name)
{
	return !strcmp(a->x->names.at[name].text, DURATION);
}

static double value_of(void *ctx, u32 name)
{
	const struct asked *a = ctx;
	u32 partner = a->partners[name];

	if (is_duration(a, name))
		return a->in->elapsed_ns > 0 ? a->in->elapsed_ns / 1e9 : NAN;
	if (partner == TABLE_NONE)
		return NAN;
	return a->in->counts[partner].value / counts_scale(&a->in->events->at[partner]);
}

static double sources_of(void *ctx, u32 name)
{
	return isnan(value_of(ctx, name)) ? NAN : 1;
}

static bool has_event(void *ctx, u32 name)
{
	const struct asked *a = ctx;

	return a->partners[name] != TABLE_NONE || is_duration(a, name);
}

static bool has_pmu(void *ctx, const char *pmu)
{
	const struct asked *a = ctx;

	for (u32 i = 0; i < a->in->events->n; i++)
		if (a->in->events->at[i].pmu && !strcmp(a->in->events->at[i].pmu, pmu))
			return true;
	return false;
}

/* Counts can be of another machine: nothing is known of it. */
static bool is_cpu(void *ctx, const char *model)
{
	(void)ctx;
	(void)model;
	return false;
}

static double literal_of(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return NAN;
}

static void find_partners(struct asked *a)
{
	const struct event *e = &a->in->events->at[a->event];

	a->partners = mem_alloc((a->x->names.n + 1) * sizeof(*a->partners));
	vec_each(name, &a->x->names) {
		u32 *partner = &a->partners[name - a->x->names.at];

		if (!strcmp(name->text, ITSELF) || kind_is(e, name->text))
			*partner = a->event;
		else
			*partner = partner_of(a->in, a->event, name->text, a->has_filters);
	}
}

/* Whether all that the formula needs was counted; *ret_apart: but not at the same time. */
static bool is_complete(const struct asked *a, const struct metricexpr_world *world,
	struct metric *ret)
{
	bool *needs = mem_zalloc(a->x->names.n + 1), result = true;

	metricexpr_needs(a->x, world, needs);
	ret->other = TABLE_NONE;
	for (u32 i = 0; i < a->x->names.n; i++) {
		u32 partner = a->partners[i];

		if (!needs[i] || is_duration(a, i) || partner == a->event)
			continue;
		if (partner == TABLE_NONE) {
			result = false;
			break;
		}
		if (ret->other == TABLE_NONE)
			ret->other = partner;
		/* A clock always runs: a scaled count may be compared with it. */
		if (ret->state != METRIC_APART &&
			!kind_is(&a->in->events->at[partner], KIND_CLOCK) &&
			!ran_together(a->in, a->event, partner)) {
			ret->state = METRIC_APART;
			ret->other = partner;
		}
	}
	mem_free(needs);
	return result;
}

/* ---- answers ---- */

/* A rate in thousands, millions or more. */
static void shorten(struct metric *m)
{
	static const struct {
		double from;
		const char *unit;
	} units[] = {{1e9, "G/sec"}, {1e6, "M/sec"}, {1e3, "K/sec"}, {1, "/sec"}};
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(units) && m->value < units[i].from)
		i++;
	m->value /= units[i].from;
	m->factor = units[i].from;
	m->unit = units[i].unit;
}

static void set_value(const struct metricown *own, double value, struct metric *ret)
{
	ret->state = METRIC_VALUE;
	ret->value = value * own->row.scale;
	for (size_t i = 0; i < ARRAY_SIZE(own->limits); i++)
		ret->heat += own->limits[i] && ret->value > own->limits[i];
	if (own->has_prefix)
		shorten(ret);
}

/* What perf 7 has beside a count: with a digit behind the point, two if there is no unit. */
static void name_it(const struct metricown *own, double value, struct metric *ret)
{
	const char *unit = own->unit_by_name ? own->unit_by_name : own->row.unit;

	ret->name = own->row.name;
	ret->unit = unit ? unit : "";
	ret->digits = *ret->unit ? 1 : 2;
	ret->is_percent = false;
	if (own->unit_by_name)
		ret->value = value;
}

/* Computes a row for an event; false if it cannot be. */
static bool compute(const struct metric_input *in, u32 event, const struct metricown *own,
	struct metric *ret)
{
	struct asked a = {.in = in,
		.event = event,
		.x = formula_of(own),
		.has_filters = own->has_filters};
	const struct metricexpr_world world = {value_of, sources_of, has_event, has_pmu, is_cpu,
		literal_of, &a};
	bool is_percent = own->words && own->row.unit && !strcmp(own->row.unit, "%");
	struct metric m = {.digits = own->digits,
		.factor = 1,
		.is_percent = is_percent,
		.unit = own->words ? own->words : own->row.unit,
		.row = &own->row};
	double value = NAN;
	bool has_all;

	if (!a.x->nodes.n)
		return false;
	find_partners(&a);
	has_all = is_complete(&a, &world, &m);
	if (has_all && m.state != METRIC_APART)
		value = metricexpr_value(a.x, &world);
	mem_free(a.partners);
	if (!has_all || (m.state != METRIC_APART && !isfinite(value)))
		return false;
	if (m.state != METRIC_APART)
		set_value(own, value, &m);
	if (in->by_name)
		name_it(own, value, &m);
	*ret = m;
	return true;
}

/* A count with a unit, or of stat's own clocks, is not a number of events. */
static bool has_rate(const struct event *e)
{
	return !e->unit && e->attr.type != EVENT_TYPE_TOOL && !kind_is(e, KIND_CLOCK);
}

/* A mean is of so many samples; a table's is of none. */
static unsigned samples_of(const struct count *c, struct metric *ret)
{
	*ret = (struct metric){.state = METRIC_VALUE,
		.value = (double)c->n_samples,
		.factor = 1,
		.unit = "samples",
		.other = TABLE_NONE};
	return c->raw > 0;
}

unsigned metric_of(const struct metric_input *in, u32 event, struct metric ret[METRIC_MAX])
{
	const struct event *e = &in->events->at[event];
	unsigned n = 0;

	if (!is_counted(&in->counts[event]))
		return 0;
	if (counts_is_latency(e))
		return samples_of(&in->counts[event], ret);
	for (size_t i = 0; i < metricown_n && n < METRIC_MAX; i++) {
		const struct metricown *own = &metricown[i];
		bool is_rate = own->beside && !strcmp(own->beside, "*");

		if (!own->beside || (is_rate ? n || !has_rate(e) : !kind_is(e, own->beside)))
			continue;
		if (in->by_name ? is_rate : own->is_only_by_name)
			continue;
		/* That it was not counted with others is said once. */
		if (compute(in, event, own, &ret[n]) && (!n || ret[n].state == METRIC_VALUE))
			n++;
	}
	return n;
}
