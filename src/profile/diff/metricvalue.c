#include "profile/diff/metricvalue.h"

#include <math.h>

#include "event/abi.h"

/* One computation: with one event's counts changed by a factor, to see what difference that makes. */
struct pass {
	const struct metricvalue_input *in;
	const struct metric_use
		*use; /* the metric that was asked for, whose events are counted together */
	const struct metric_formula *formula;
	double *values; /* by metric of the set */
	u32 changed;    /* event of the set; TABLE_NONE: none */
	double factor;
};

/* ---- counts ---- */

/* The count of an event of stat's own clocks, in seconds, or a fact; NaN if it is not known. */
static double seconds_of(const struct metricvalue_input *in, u32 event)
{
	const struct count *c = &in->counts[event];

	if (event_is_fact(&in->events->at[event].attr))
		return (double)in->events->at[event].attr.config1;
	if (in->events->at[event].attr.config == EVENT_TOOL_DURATION)
		return in->elapsed_ns > 0 ? in->elapsed_ns / 1e9 : NAN;
	return c->n_counters ? c->value / 1e9 : NAN;
}

/* The sum over the PMUs that an event was counted on; NaN if a part of it is missing. */
static double count_of(const struct metricvalue_input *in, const struct metric_counted *counted)
{
	double sum = 0;
	u32 n = 0;

	for (u32 i = 0; i < counted->n; i++) {
		u32 at = counted->at[i];
		const struct event *e = &in->events->at[at];
		const struct count *c = &in->counts[at];

		if (e->attr.type == EVENT_TYPE_TOOL)
			return seconds_of(in, at);
		if (!c->n_counters)
			continue;
		if (count_state(c) != COUNT_OK)
			return NAN;
		sum += c->value / counts_scale(e);
		n++;
	}
	return n ? sum : NAN;
}

static double sources_of(void *ctx, u32 name)
{
	const struct pass *p = ctx;
	u32 event = p->formula->operands[name].event;
	const struct metric_counted *counted;
	u32 n = 0;

	if (event == TABLE_NONE)
		return NAN;
	counted = &p->use->counted[event];
	for (u32 i = 0; i < counted->n; i++)
		n += p->in->counts[counted->at[i]].n_counters ||
			p->in->events->at[counted->at[i]].attr.type == EVENT_TYPE_TOOL;
	return n ? n : NAN;
}

static double value_of(void *ctx, u32 name)
{
	const struct pass *p = ctx;
	const struct metric_operand *o = &p->formula->operands[name];
	double value;

	if (o->use != TABLE_NONE)
		return p->values[o->use];
	if (o->event == TABLE_NONE)
		return NAN;
	value = count_of(p->in, &p->use->counted[o->event]);
	return o->event == p->changed ? value * p->factor : value;
}

/* ---- the machine ---- */

static bool has_event(void *ctx, u32 name)
{
	return ((struct pass *)ctx)->formula->operands[name].is_here;
}

static bool has_pmu(void *ctx, const char *pmu)
{
	return metricfacts_has_pmu(((struct pass *)ctx)->in->set->facts, pmu);
}

static bool is_cpu(void *ctx, const char *model)
{
	return metricfacts_is_cpu(((struct pass *)ctx)->in->set->facts, model);
}

static double literal_of(void *ctx, const char *name)
{
	return metricfacts_literal(((struct pass *)ctx)->in->set->facts, name);
}

/* ---- formulas ---- */

static double compute(struct pass *p, const struct metric_formula *f)
{
	const struct metricexpr_world world = {value_of, sources_of, has_event, has_pmu, is_cpu,
		literal_of, p};

	p->formula = f;
	return metricexpr_value(&f->x, &world);
}

/* Computes the metric and all it is made of. */
static double compute_parts(struct pass *p)
{
	const struct metricset *set = p->in->set;

	for (u32 i = 0; i < p->use->n_parts; i++) {
		u32 part = p->use->parts[i];

		p->values[part] = compute(p, &set->uses.at[part].value);
	}
	return p->values[p->use - set->uses.at];
}

/* ---- errors ---- */

/* The part of an event's count that is not known; 0 if it was always on the PMU. */
static double unknown_part(const struct metricvalue_input *in, const struct metric_counted *counted)
{
	double largest = 0;

	for (u32 i = 0; i < counted->n; i++) {
		u32 at = counted->at[i];
		double share = count_share(&in->counts[at]), part;

		if (in->events->at[at].attr.type == EVENT_TYPE_TOOL || !in->counts[at].n_counters ||
			share >= 1)
			continue;
		part = in->errors && in->errors[at] >= 0 ? in->errors[at] : 1 - share;
		largest = MAX(largest, part);
	}
	return largest;
}

static double error_of(struct pass *p, double value)
{
	double sum = 0;

	for (u32 i = 0; i < p->use->n_events; i++) {
		double part, more, less;

		p->changed = p->use->events[i];
		part = unknown_part(p->in, &p->use->counted[p->changed]);
		if (part == 0)
			continue;
		p->factor = 1 + part;
		more = fabs(compute_parts(p) - value);
		p->factor = 1 - part;
		less = fabs(compute_parts(p) - value);
		/* A count of nothing can make a value unknown. */
		more = fmax(more, less);
		sum += more * more;
	}
	p->changed = TABLE_NONE;
	return sqrt(sum);
}

/* ---- answers ---- */

struct metric metricvalue_of(const struct metricvalue_input *in, const struct metric_use *use)
{
	const struct metric_row *row = use->row;
	struct pass p = {.in = in, .use = use, .changed = TABLE_NONE};
	struct metric m = {.name = use->name,
		.unit = row->unit ? row->unit : "",
		.digits = row->unit ? 1 : 2,
		.factor = 1,
		.row = row,
		.other = TABLE_NONE,
		.value = NAN};
	double value;

	p.values = mem_alloc((in->set->uses.n + 1) * sizeof(*p.values));
	value = compute_parts(&p);
	m.state = isfinite(value) ? METRIC_VALUE : METRIC_UNKNOWN;
	if (m.state == METRIC_VALUE) {
		if (use->has_threshold) {
			double verdict = compute(&p, &use->threshold);

			m.verdict = isnan(verdict) ? METRIC_UNJUDGED
				: verdict != 0     ? METRIC_NOTABLE
						   : METRIC_UNREMARKABLE;
		}
		m.value = value * row->scale;
		m.error = error_of(&p, value) * row->scale;
	}
	mem_free(p.values);
	return m;
}

u32 metricvalue_beside(const struct event_list *events, const struct metric_use *use)
{
	u32 first = TABLE_NONE, clock = TABLE_NONE;

	for (u32 i = 0; i < use->n_events; i++) {
		const struct metric_counted *c = &use->counted[use->events[i]];

		for (u32 k = 0; k < c->n; k++) {
			if (events->at[c->at[k]].attr.type == EVENT_TYPE_TOOL)
				clock = MIN(clock, c->at[k]);
			else
				first = MIN(first, c->at[k]);
		}
	}
	return first == TABLE_NONE ? clock : first;
}
