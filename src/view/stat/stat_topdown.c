#include "view/stat/stat_topdown.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "view/text/colour.h"
#include "view/text/words.h"

enum { COLUMN_WIDTH = 20, CORE_WIDTH = 12, INDENT = 3, COLUMNS = 78 };

/* Rounding to 8 bits makes 0.4 % at most; more comes from events that were not counted together. */
static const double doubt = 0.02;

void stat_topdown_add_doubt(const struct slots *s, struct str *text)
{
	if (!isnan(s->whole) && fabs(s->whole - 1) > doubt)
		str_addf(text,
			"level 1 adds up to %.1f %% instead of 100: its events were not counted together (multiplexed)",
			100 * s->whole);
	else if (s->is_counted && s->running < 0.995)
		str_addf(text,
			"events were on the PMU for %.1f %% of the time: the shares are of that part",
			100 * s->running);
}

const char *stat_topdown_why_none(const struct slots *s)
{
	return s->has_run
		? "the events were on the PMU, but it counted no slots: it may not have them, as in some virtual machines"
		: "not counted: no time was spent on these cores";
}

void stat_topdown_hide(const struct stat_view *v, struct stat_lines *lines)
{
	const struct event *first = v->counts->events->at;
	size_t n = 0;

	vec_each(l, lines)
		if (!v->topdown || l->event - first >= v->topdown->n_events)
			lines->at[n++] = *l;
	lines->n = n;
}

/* ---- which nodes are shown ---- */

/* The first kind of core that has the node, or TMA_NONE. */
static u32 find_node(const struct tma *t, const char *name)
{
	for (u32 i = 0; i < t->family->n_nodes; i++)
		if (t->level[i] && !strcmp(t->family->nodes[i].name, name))
			return i;
	return TMA_NONE;
}

/* Whether an earlier kind of core has a node of that name, so that both share a column. */
static bool is_known(const struct tma_plan *p, u32 core, const char *name)
{
	for (u32 i = 0; i < core; i++)
		if (find_node(&p->cores.at[i], name) != TMA_NONE)
			return true;
	return false;
}

void stat_topdown_find_columns(struct stat_view *v)
{
	const struct tma_plan *p = v->topdown;

	if (v->shares.n)
		return;
	for (u32 level = 1; level <= p->level; level++)
		for (u32 c = 0; c < p->cores.n; c++) {
			const struct tma *t = &p->cores.at[c];

			for (u32 i = 0; i < t->family->n_nodes; i++) {
				const char *name = t->family->nodes[i].name;
				struct str title = {0};

				if (t->level[i] != level || !tma_plan_group(p, c, i) ||
					is_known(p, c, name))
					continue;
				str_addf(&title, "%%  %s", name);
				vec_add(&v->shares,
					((struct stat_column){.nth = i, .name = title.at}));
			}
		}
}

/* Of a node that stands out: much that retires is good. */
static const char *colour_of(const struct tma_node *n)
{
	return stat_verdict_colour(
		strcmp(n->name, "tma_retiring") ? METRIC_NOTABLE : METRIC_UNREMARKABLE);
}

double stat_topdown_share(const struct tma *t, const struct slots *s, const struct stat_column *c)
{
	u32 i = find_node(t, c->name + strlen("%  "));

	return i == TMA_NONE ? NAN : s->share[i];
}

/* ---- columns ---- */

static size_t width_of(const struct stat_column *c)
{
	return MAX(strlen(c->name), (size_t)COLUMN_WIDTH);
}

static void add_header(struct stat_view *v, bool has_time, struct str *text)
{
	if (has_time)
		str_add(text, "#           time ");
	stat_add_place_title(v->counts, text);
	if (v->topdown->cores.n > 1)
		str_addf(text, "%-*s ", CORE_WIDTH, "core");
	vec_each(c, &v->shares) {
		str_add_right(text, c->name, width_of(c));
		str_addc(text, c + 1 < v->shares.at + v->shares.n ? ' ' : '\n');
	}
	v->has_header = true;
	v->n_since_header = 0;
}

static void add_shares(struct stat_view *v, const struct tma *t, const struct slots *s,
	struct str *text)
{
	vec_each(c, &v->shares) {
		u32 i = find_node(t, c->name + strlen("%  "));
		char value[32] = "n/a";
		size_t start;

		if (i != TMA_NONE && !isnan(s->share[i]))
			snprintf(value, sizeof(value), "%.1f", 100 * s->share[i]);
		str_fill(text, ' ', width_of(c) - strlen(value));
		start = text->n;
		str_add(text, value);
		if (v->options->has_colours && i != TMA_NONE && s->is_notable[i])
			colour_paint(text, start, colour_of(&t->family->nodes[i]));
		str_addc(text, c + 1 < v->shares.at + v->shares.n ? ' ' : '\n');
	}
	v->n_since_header++;
}

void stat_topdown_columns(struct stat_view *v, bool is_interval, u64 time_ns, struct str *text)
{
	struct count *counts = mem_alloc((v->counts->events->n + 1) * sizeof(*counts));

	stat_topdown_find_columns(v);
	if (!v->has_header || v->n_since_header >= STAT_HEADER_EACH)
		add_header(v, time_ns != UINT64_MAX, text);
	for (u32 place = 0; place < v->counts->places.n; place++) {
		slots_take(v->counts, place, is_interval, counts);
		vec_each(t, &v->topdown->cores) {
			struct slots s;

			slots_of(&s, v->topdown, (u32)(t - v->topdown->cores.at), counts);
			/* Not every place has every kind of core. */
			if (!s.is_counted && v->topdown->cores.n > 1)
				continue;
			stat_add_time(time_ns, text);
			stat_add_place(v->counts, &v->counts->places.at[place], text);
			if (v->topdown->cores.n > 1)
				str_addf(text, "%-*s ", CORE_WIDTH, t->pmu);
			add_shares(v, t, &s, text);
		}
	}
	mem_free(counts);
}

/* ---- the tree ---- */

u32 stat_topdown_worst(const struct tma *t, const struct slots *s)
{
	u32 worst = TMA_NONE, parent = TMA_NONE;

	for (;;) {
		u32 best = TMA_NONE;

		for (u32 i = tma_child(t, parent, TMA_NONE); i != TMA_NONE;
			i = tma_child(t, parent, i))
			if (s->is_notable[i] && (best == TMA_NONE || s->share[i] > s->share[best]))
				best = i;
		if (best == TMA_NONE)
			return worst;
		worst = parent = best;
	}
}

static void add_branch(const struct stat_view *v, const struct tma *t, const struct slots *s,
	u32 parent, struct str *text)
{
	for (u32 i = tma_child(t, parent, TMA_NONE); i != TMA_NONE; i = tma_child(t, parent, i)) {
		size_t start = text->n;

		if (!tma_plan_group(v->topdown, (u32)(t - v->topdown->cores.at), i))
			continue;
		str_fill(text, ' ', 2 * t->level[i]);
		if (isnan(s->share[i]))
			str_addf(text, "    n/a  %s", t->family->nodes[i].name);
		else
			str_addf(text, "%7.1f  %s", 100 * s->share[i], t->family->nodes[i].name);
		if (s->is_notable[i]) {
			str_add(text, " *");
			if (v->options->has_colours)
				colour_paint(text, start, colour_of(&t->family->nodes[i]));
		}
		str_addc(text, '\n');
		add_branch(v, t, s, i, text);
	}
}

static void add_sentence(const char *before, const char *words, struct str *text)
{
	struct str line = {0};

	str_addf(&line, "%s%s.", before, words);
	words_add_wrapped(str_text(&line), INDENT, COLUMNS, text);
	str_fini(&line);
}

/* What stands out, what it means, and what comes next. */
static void add_advice(const struct stat_view *v, const struct tma *t, const struct slots *s,
	struct str *text)
{
	u32 worst = stat_topdown_worst(t, s);
	const struct tma_node *n = &t->family->nodes[worst == TMA_NONE ? 0 : worst];
	bool has_more = v->topdown->level < t->levels;

	if (worst == TMA_NONE) {
		str_add(text, "\n No share is above its limit (*).\n");
		return;
	}
	str_addf(text, "\n * above its limit; the largest: %s,\n", n->name);
	add_sentence("", n->means, text);
	if (has_more && tma_child(t, worst, TMA_NONE) != TMA_NONE) {
		str_add(text, "   '--td-level 2' divides it, '--drill' follows it to its cause.\n");
		return;
	}
	add_sentence("Look at: ", n->todo, text);
	if (!n->sample)
		return;
	str_add(text, "   This samples where: pace ");
	tma_add_command(t, worst, text);
	str_addf(text, "%s\n", v->on_what);
}

void stat_topdown_tree(const struct stat_view *v, struct str *text)
{
	struct count *counts = mem_alloc((v->counts->events->n + 1) * sizeof(*counts));

	slots_take(v->counts, 0, false, counts);
	vec_each(t, &v->topdown->cores) {
		struct str why = {0};
		struct slots s;

		slots_of(&s, v->topdown, (u32)(t - v->topdown->cores.at), counts);
		str_addf(text, "%s %% of %s, %s (%s)\n", t == v->topdown->cores.at ? "" : "\n",
			find_node(t, "tma_not_stalled") != TMA_NONE ? "cycles" : "slots", t->pmu,
			t->family->name);
		add_branch(v, t, &s, TMA_NONE, text);
		if (s.is_counted)
			add_advice(v, t, &s, text);
		else
			str_addf(text, "\n No shares: %s\n", stat_topdown_why_none(&s));
		stat_topdown_add_doubt(&s, &why);
		if (why.n)
			str_addf(text, "\n %s\n", why.at);
		str_fini(&why);
	}
	mem_free(counts);
}

/* ---- rows for programs ---- */

static void add_row(struct rowmaker *m, const struct stat_view *v, const struct tma *t,
	const struct slots *s, u32 node, const struct counts_place *place, u64 time_ns)
{
	const struct tma_node *n = &t->family->nodes[node];
	struct str why = {0};
	struct cell *time;

	rowmaker_row(m);
	if (v->options->form->wants & FORM_NESTS)
		rowmaker_text(m, "kind", "topdown");
	time = rowmaker_add(m, "time_s");
	if (time_ns != UINT64_MAX)
		cell_real(time, (double)time_ns / 1e9, 9);
	rowmaker_note(m, "place", place->name);
	rowmaker_u64(m, "counters", place->n_counters);
	rowmaker_text(m, "pmu", t->pmu);
	rowmaker_text(m, "metric", n->name);
	rowmaker_note(m, "parent", n->parent);
	rowmaker_u64(m, "level", t->level[node]);
	rowmaker_fixed(m, "share_pct", 100 * s->share[node], 2);
	rowmaker_bool(m, "is_notable", s->is_notable[node]);
	rowmaker_fixed(m, "running_pct", 100 * s->running, 2);
	rowmaker_fixed(m, "whole_pct", 100 * s->whole, 2);
	stat_topdown_add_doubt(s, &why);
	rowmaker_note(m, "reason",
		!s->is_counted  ? stat_topdown_why_none(s)
			: why.n ? rowmaker_copy(m, why.at)
				: NULL);
	str_fini(&why);
}

void stat_topdown_rows(const struct stat_view *v, bool is_interval, u64 time_ns, struct rowmaker *m)
{
	static const char *const names[] = {"time_s", "place", "counters", "pmu", "metric",
		"parent", "level", "share_pct", "is_notable", "running_pct", "whole_pct", "reason"};
	struct count *counts = mem_alloc((v->counts->events->n + 1) * sizeof(*counts));

	if (!(v->options->form->wants & FORM_NESTS))
		rowmaker_columns(m, names, ARRAY_SIZE(names));
	vec_each(place, &v->counts->places) {
		slots_take(v->counts, (u32)(place - v->counts->places.at), is_interval, counts);
		vec_each(t, &v->topdown->cores) {
			u32 core = (u32)(t - v->topdown->cores.at);
			struct slots s;

			slots_of(&s, v->topdown, core, counts);
			if (!s.is_counted && v->counts->places.n > 1)
				continue;
			for (u32 i = 0; i < t->family->n_nodes; i++)
				if (tma_plan_group(v->topdown, core, i))
					add_row(m, v, t, &s, i, place, time_ns);
		}
	}
	mem_free(counts);
}
