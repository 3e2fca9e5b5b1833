#include "profile/diff/pairs.h"

#include <math.h>

#include "base/str.h"

enum { GATE_BYTES = 256 << 10 }; /* by how much the memory at the start varies between runs */

static const struct {
	const char *name, *unit;
} kinds[] = {
	[PAIRS_ELAPSED] = {"elapsed", "s"},
	[PAIRS_CPU] = {"user+sys", "s"},
	[PAIRS_MEMORY] = {"max-rss", "bytes"},
};

void pairs_init(struct pairs *p, const struct event_list *events)
{
	memset(p, 0, sizeof(*p));
	for (enum pairs_kind k = 0; k < ARRAY_SIZE(kinds); k++)
		vec_add(&p->rows,
			((struct pairs_row){k, kinds[k].name, kinds[k].unit,
				.state = COUNT_NEVER_RAN}));
	vec_each(e, events)
		vec_add(&p->rows,
			((struct pairs_row){PAIRS_EVENT, e->name, counts_unit(e), e,
				.state = COUNT_NOT_OPENED}));
}

void pairs_fini(struct pairs *p)
{
	vec_each(row, &p->rows) {
		vec_fini(&row->sides[0].values);
		vec_fini(&row->sides[1].values);
	}
	vec_fini(&p->rows);
	vec_fini(&p->is_b_first);
	arena_fini(&p->arena);
}

static double seconds_of(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

/* The value of a tool event, which pace measures itself in ns, or knows. */
static double time_of(const struct event *e, const struct pairs_run *run)
{
	if (event_is_fact(&e->attr))
		return (double)e->attr.config1;
	if (e->attr.config == EVENT_TOOL_DURATION)
		return (double)run->elapsed_ns;
	return 1e9 *
		seconds_of(e->attr.config == EVENT_TOOL_USER ? &run->usage.ru_utime
							     : &run->usage.ru_stime);
}

static double take_event(struct pairs *p, struct pairs_row *row, struct pairs_side *side,
	const struct pairs_run *run)
{
	const struct counts *s = &run->counts;
	u32 event = row->event - s->events->at;
	const struct count *c = counts_now(s, event, 0);
	enum count_state state = count_state(c);

	/* Events may have got another name since, such as one for user space only. */
	row->name = row->event->name;
	if (row->event->attr.type == EVENT_TYPE_TOOL) {
		row->state = COUNT_OK;
		return time_of(row->event, run);
	}
	side->enabled_ns += c->enabled_ns;
	side->running_ns += c->running_ns;
	row->state = MIN(row->state, state);
	if (state == COUNT_OK)
		return c->value;
	if (!row->reason)
		row->reason = counts_reason(s, event, c, &p->arena);
	return NAN;
}

static double value_of(struct pairs *p, struct pairs_row *row, struct pairs_side *side,
	const struct pairs_run *run)
{
	switch (row->kind) {
	case PAIRS_ELAPSED:
		return (double)run->elapsed_ns / 1e9;
	case PAIRS_CPU:
		return seconds_of(&run->usage.ru_utime) + seconds_of(&run->usage.ru_stime);
	case PAIRS_MEMORY:
		return (double)run->usage.ru_maxrss * 1024;
	case PAIRS_EVENT:
		return take_event(p, row, side, run);
	}
	return NAN;
}

void pairs_add(struct pairs *p, const struct pairs_run runs[2], bool is_b_first)
{
	vec_each(row, &p->rows)
		for (int i = 0; i < 2; i++) {
			double value = value_of(p, row, &row->sides[i], &runs[i]);

			vec_add(&row->sides[i].values, value);
		}
	vec_add(&p->is_b_first, is_b_first);
	p->n++;
}

static size_t drop_small(struct pairs_side *side, double most)
{
	size_t kept = 0;

	vec_each(value, &side->values) {
		if (*value <= most)
			*value = NAN;
		kept += !isnan(*value);
	}
	return kept;
}

void pairs_drop_memory(struct pairs *p, u64 gate_bytes)
{
	struct pairs_row *row = &p->rows.at[PAIRS_MEMORY];
	double most = (double)(gate_bytes + GATE_BYTES);
	struct str reason = {0};
	size_t kept = drop_small(&row->sides[0], most) + drop_small(&row->sides[1], most);

	if (kept == 2 * p->n)
		return;
	str_addf(&reason,
		"a maximum of up to %.1f MiB may be that of pace itself when it started the command",
		most / (1 << 20));
	row->reason = arena_strdup(&p->arena, reason.at, reason.n);
	str_fini(&reason);
	row->state = kept ? COUNT_OK : COUNT_NEVER_RAN;
}

void pairs_compare(const struct pairs_row *row, u64 seed, struct versus *ret)
{
	size_t n = row->sides[0].values.n, kept = 0;
	double *a = mem_alloc((n + 1) * sizeof(*a)), *b = mem_alloc((n + 1) * sizeof(*b));

	for (size_t i = 0; i < n; i++) {
		a[kept] = row->sides[0].values.at[i];
		b[kept] = row->sides[1].values.at[i];
		kept += !isnan(a[kept]) && !isnan(b[kept]);
	}
	versus_make(ret, a, b, kept, seed);
	mem_free(a);
	mem_free(b);
}

double pairs_share(const struct pairs_side *side)
{
	return side->enabled_ns ? (double)side->running_ns / (double)side->enabled_ns : 1;
}
