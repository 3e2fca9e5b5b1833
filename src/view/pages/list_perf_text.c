/*
 * list_perf_text.c - what can be measured, in the lines of perf 6.1's list: "  cpu-clock    [Software event]".
 */
#include <stdlib.h>
#include <string.h>

#include "view/pages/list_perf.h"
#include "view/text/words.h"

enum { NAME_COLUMNS = 50, DESCRIPTION_INDENT = 7, COLUMNS = 80 };

/* In perf's words. Forms of events are always these, whatever forms there are; NULL: events have lines of their own. */
static const struct {
	const char *title;
	const char *forms[2];
} kinds[INVENTORY_KIND_COUNT] = {
	[INVENTORY_HARDWARE] = {"Hardware event", {NULL}},
	[INVENTORY_SOFTWARE] = {"Software event", {NULL}},
	[INVENTORY_CACHE] = {"Hardware cache event", {NULL}},
	[INVENTORY_TOOL] = {"Tool event", {NULL}},
	[INVENTORY_PMU] = {"Kernel PMU event", {NULL}},
	[INVENTORY_RAW] = {"Raw hardware event descriptor",
		{"rNNN", "cpu/t1=v1[,t2=v2,t3 ...]/modifier"}},
	[INVENTORY_BREAKPOINT] = {"Hardware breakpoint", {"mem:<addr>[/len][:access]"}},
	[INVENTORY_TABLE] = {NULL, {NULL}}, /* below headings */
	[INVENTORY_TRACEPOINT] = {"Tracepoint event", {NULL}},
};

struct listed {
	const struct inventory_item *item;
	const char *first, *second; /* its names; second NULL: there is one */
};

/*
 * perf has the longer one of an event's names first. An event of the CPU's PMU has its own name, and that with the PMU: pace may
 * know one of them.
 */
static void choose_names(struct listed *l, struct arena *texts)
{
	const struct inventory_item *item = l->item;
	const char *slash = strchr(item->name, '/');

	l->first = item->name;
	l->second = item->alias;
	if (item->kind == INVENTORY_PMU && slash && item->pmu && !strcmp(item->pmu, "cpu")) {
		l->first = arena_strdup(texts, slash + 1, strcspn(slash + 1, "/"));
		l->second = item->name;
	} else if (item->alias && strlen(item->alias) > strlen(item->name)) {
		l->first = item->alias;
		l->second = item->name;
	}
}

static int compare(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;
	int r = 0;

	if (x->item->kind != y->item->kind)
		return x->item->kind < y->item->kind ? -1 : 1;
	if (x->item->kind == INVENTORY_TABLE && x->item->group && y->item->group)
		r = strcmp(x->item->group, y->item->group);
	return r ? r : strcmp(x->first, y->first);
}

static void add_line(const char *first, const char *second, const char *title, struct str *text)
{
	size_t start;

	str_add(text, "  ");
	start = text->n;
	str_add_safe(text, first, strlen(first));
	if (second) {
		str_add(text, " OR ");
		str_add_safe(text, second, strlen(second));
	}
	str_pad_right(text, start, NAME_COLUMNS);
	if (title)
		str_addf(text, " [%s]", title);
	str_addc(text, '\n');
}

static void add_description(const char *words, struct str *text)
{
	struct str bracketed = {0};

	str_addc(&bracketed, '[');
	str_add_safe(&bracketed, words, strlen(words));
	str_addc(&bracketed, ']');
	words_add_wrapped(str_text(&bracketed), DESCRIPTION_INDENT, COLUMNS, text);
	str_fini(&bracketed);
}

/* perf tries the events that have no PMU of their own, and leaves out those that cannot be counted. */
static bool is_listed(const struct inventory_item *item)
{
	return item->opens != INVENTORY_REFUSED ||
		(item->kind != INVENTORY_HARDWARE && item->kind != INVENTORY_SOFTWARE &&
			item->kind != INVENTORY_CACHE && item->kind != INVENTORY_TOOL);
}

static void add_one(const struct listed *l, const struct listed *before, bool has_descriptions,
	struct str *text)
{
	const struct inventory_item *item = l->item;
	const bool is_first = !before || before->item->kind != item->kind;

	if (kinds[item->kind].forms[0]) {
		for (size_t i = 0; is_first && i < 2 && kinds[item->kind].forms[i]; i++)
			add_line(kinds[item->kind].forms[i], NULL, kinds[item->kind].title, text);
		return;
	}
	if (item->kind == INVENTORY_TABLE && item->group &&
		(is_first || strcmp(before->item->group, item->group) != 0)) {
		str_addc(text, '\n');
		str_add_safe(text, item->group, strlen(item->group));
		str_add(text, ":\n");
	}
	add_line(l->first, l->second, kinds[item->kind].title, text);
	if (item->kind == INVENTORY_TABLE && item->brief && has_descriptions)
		add_description(item->brief, text);
}

void list_perf_text(const struct inventory *m, bool has_descriptions, struct out *out)
{
	VEC(struct listed) all = {0};
	struct arena texts = {0};

	vec_each(item, &m->items) {
		struct listed l = {.item = item};

		if (!is_listed(item))
			continue;
		choose_names(&l, &texts);
		vec_add(&all, l);
	}
	if (all.n)
		qsort(all.at, all.n, sizeof(*all.at), compare);
	vec_each(l, &all) {
		add_one(l, l == all.at ? NULL : l - 1, has_descriptions, &out->text);
		out_flush_some(out);
	}
	vec_fini(&all);
	arena_fini(&texts);
}

/* ---- metrics ---- */

static void add_metric(const struct metriclist_item *item, bool has_descriptions, struct str *text)
{
	str_add(text, "  ");
	str_add_safe(text, item->row->name, strlen(item->row->name));
	str_addc(text, '\n');
	if (has_descriptions && item->row->brief)
		add_description(item->row->brief, text);
}

void list_perf_metrics(const struct metriclist *l, bool has_descriptions, struct out *out)
{
	str_add(&out->text, "\nMetrics:\n\n");
	vec_each(item, &l->items)
		add_metric(item, has_descriptions, &out->text);
}

void list_perf_groups(const struct metriclist *l, bool has_metrics, bool has_descriptions,
	struct out *out)
{
	str_add(&out->text, "\nMetric Groups:\n\n");
	vec_each(g, &l->groups) {
		str_add_safe(&out->text, g->name, strlen(g->name));
		str_add(&out->text, has_metrics ? ":\n" : "\n");
		if (has_metrics)
			vec_each(item, &l->items)
				if (metric_list_has(item->row->groups, g->name))
					add_metric(item, has_descriptions, &out->text);
		out_flush_some(out);
	}
}
