#include "view/pages/list_metrics.h"

#include <string.h>

#include "profile/rows/rowmaker.h"

/* ---- lines ---- */

/* The width of the widest name that is not too wide. */
static size_t widest(size_t so_far, const char *name, const struct list_style *style)
{
	size_t most = list_name_columns(style), n = strlen(name);

	return n <= most ? MAX(so_far, n) : so_far;
}

static size_t group_length(const struct metric_row *row)
{
	return row->groups ? strcspn(row->groups, ";") : 0;
}

static bool is_same_group(const struct metric_row *a, const struct metric_row *b)
{
	size_t n = group_length(a);

	return n == group_length(b) && (!n || !strncmp(a->groups, b->groups, n));
}

static void add_heading(const struct metric_row *row, struct str *text)
{
	str_add(text, "Metrics");
	if (group_length(row)) {
		str_add(text, ", group '");
		str_add_safe(text, row->groups, group_length(row));
		str_addc(text, '\'');
	} else
		str_add(text, " without a group");
	str_add(text, ":\n");
}

static void add_metric(const struct metriclist_item *item, const struct list_style *style,
	size_t width, struct str *text)
{
	const struct metric_row *row = item->row;
	struct str behind = {0};

	if (style->has_encoding)
		str_add(&behind, row->expr);
	else if (style->has_descriptions && row->brief)
		str_add(&behind, row->brief);
	if (!style->has_encoding && style->has_descriptions && row->unit)
		str_addf(&behind, " (in %s)", row->unit);
	list_add_line(row->name, style->has_encoding ? INVENTORY_UNTRIED : item->opens,
		str_text(&behind), width, style, text);
	str_fini(&behind);
}

/* ---- details ---- */

static void add_fact(const char *title, const char *fact, const struct list_style *style,
	struct str *text)
{
	struct str line = {0};

	if (!fact || !*fact)
		return;
	str_addf(&line, "%s%s", title, fact);
	list_add_paragraph(str_text(&line), style, text);
	str_fini(&line);
}

static void add_events(const struct metriclist_item *item, const struct list_style *style,
	struct str *text)
{
	struct str names = {0};

	for (u32 i = 0; i < item->n_events; i++)
		str_addf(&names, "%s%s", i ? " " : "", item->events[i]);
	add_fact("events: ", str_text(&names), style, text);
	str_fini(&names);
}

static void add_apart(const struct metric_row *row, const struct list_style *style,
	struct str *text)
{
	static const char *const words[] = {
		[METRIC_TOGETHER] = NULL,
		[METRIC_APART_ALWAYS] = "its events are not counted as a group",
		[METRIC_APART_WITH_WATCHDOG] =
			"its events are not counted as a group while the NMI watchdog runs",
		[METRIC_APART_WITH_SMT] =
			"its events are not counted as a group while cores run several threads",
	};

	add_fact("", words[row->apart], style, text);
}

static void add_details(const struct metriclist_item *item, const struct list_style *style,
	struct str *text)
{
	const struct metric_row *row = item->row;
	struct str unit = {0};

	str_add(text, "  ");
	str_add_safe(text, row->name, strlen(row->name));
	str_addc(text, '\n');
	/* Most descriptions begin with the sentence that is there alone. */
	if (!row->brief || !row->description ||
		strncmp(row->brief, row->description, strlen(row->brief)) != 0)
		add_fact("", row->brief, style, text);
	add_fact("", row->description, style, text);
	add_fact("groups: ", row->groups, style, text);
	add_fact("formula: ", row->expr, style, text);
	add_fact("threshold: ", row->threshold, style, text);
	if (row->unit || row->scale != 1) {
		str_addf(&unit, "%.15g %s", row->scale, row->unit ? row->unit : "");
		add_fact("unit: ", str_text(&unit), style, text);
	}
	add_fact("PMU: ", row->pmu, style, text);
	add_events(item, style, text);
	add_apart(row, style, text);
	if (item->opens == INVENTORY_OPENS)
		add_fact("", "can be counted here", style, text);
	else if (item->opens == INVENTORY_OPENS_USER)
		add_fact("can be counted here for user space only: ", item->reason, style, text);
	else if (item->opens == INVENTORY_REFUSED)
		add_fact("cannot be counted here: ", item->reason, style, text);
	str_fini(&unit);
}

/* ---- text ---- */

static void add_footer(const struct metriclist *l, const struct list_style *style, struct str *text)
{
	bool has_refused = false;

	vec_each(item, &l->items)
		has_refused |= item->opens == INVENTORY_REFUSED;
	if (style->has_encoding || style->has_details)
		return;
	if (has_refused || !l->catalog.metrics.n)
		str_addc(text, '\n');
	if (has_refused)
		list_add_words(
			"no: cannot be counted here; 'pace list --details metrics NAME' says why",
			style, text);
	if (!l->catalog.metrics.n)
		list_add_words(
			"the vendors have many more, in tables that were not found here; --events-dir names them (pace-list(1))",
			style, text);
}

void list_metrics_text(const struct metriclist *l, const struct list_style *style, struct out *out)
{
	size_t width = 0;

	vec_each(item, &l->items)
		width = widest(width, item->row->name, style);
	vec_each(item, &l->items) {
		if (item == l->items.at || !is_same_group(item[-1].row, item->row)) {
			str_add(&out->text, item == l->items.at ? "" : "\n");
			add_heading(item->row, &out->text);
		}
		if (style->has_details)
			add_details(item, style, &out->text);
		else
			add_metric(item, style, width, &out->text);
		out_flush_some(out);
	}
	add_footer(l, style, &out->text);
}

static void add_members(const struct metriclist *l, const struct metriclist_group *g,
	const struct list_style *style, struct str *text)
{
	struct str names = {0};

	vec_each(item, &l->items)
		if (metric_list_has(item->row->groups, g->name))
			str_addf(&names, "%s%s", names.n ? " " : "", item->row->name);
	list_add_paragraph(str_text(&names), style, text);
	str_fini(&names);
}

void list_groups_text(const struct metriclist *l, const struct list_style *style, struct out *out)
{
	struct str behind = {0};
	size_t width = 0;

	vec_each(g, &l->groups)
		width = widest(width, g->name, style);
	str_add(&out->text, "Groups of metrics:\n");
	vec_each(g, &l->groups) {
		str_clear(&behind);
		str_addf(&behind, "%u metric%s", g->n_metrics, g->n_metrics == 1 ? "" : "s");
		if (style->has_descriptions && g->brief)
			str_addf(&behind, ": %s", g->brief);
		list_add_line(g->name, INVENTORY_UNTRIED, str_text(&behind), width, style,
			&out->text);
		if (style->has_details)
			add_members(l, g, style, &out->text);
		out_flush_some(out);
	}
	str_fini(&behind);
}

void list_metrics_names(const struct metriclist *l, bool are_groups, struct out *out)
{
	const char *between = "";

	for (size_t i = 0; i < (are_groups ? l->groups.n : l->items.n); i++) {
		const char *name = are_groups ? l->groups.at[i].name : l->items.at[i].row->name;

		str_add(&out->text, between);
		str_add_safe(&out->text, name, strlen(name));
		between = " ";
	}
	str_addc(&out->text, '\n');
}

/* ---- rows ---- */

static void make_metric(struct rowmaker *m, const void *of, size_t row)
{
	const struct metriclist_item *item = &((const struct metriclist *)of)->items.at[row];
	const struct metric_row *r = item->row;
	struct str events = {0};

	for (u32 i = 0; i < item->n_events; i++)
		str_addf(&events, "%s%s", i ? " " : "", item->events[i]);
	rowmaker_text(m, "name", r->name);
	rowmaker_text(m, "kind", "metric");
	rowmaker_text(m, "pmu", r->pmu);
	rowmaker_text(m, "groups", r->groups);
	rowmaker_text(m, "formula", r->expr);
	rowmaker_text(m, "threshold", r->threshold);
	rowmaker_text(m, "unit", r->unit);
	rowmaker_double(m, "scale", r->scale, 15);
	rowmaker_text(m, "brief", r->brief);
	rowmaker_text(m, "description", r->description);
	rowmaker_text(m, "topic", r->topic ? r->topic : "pace");
	rowmaker_text(m, "events", item->is_whole ? rowmaker_copy(m, str_text(&events)) : NULL);
	if (item->opens == INVENTORY_UNTRIED)
		rowmaker_text(m, "opens", NULL);
	else
		rowmaker_bool(m, "opens", item->opens != INVENTORY_REFUSED);
	rowmaker_text(m, "reason", item->reason);
	str_fini(&events);
}

void list_metrics_rows(const struct form *form, const struct metriclist *l, struct out *out)
{
	static const char *const names[] = {"name", "kind", "pmu", "groups", "formula", "threshold",
		"unit", "scale", "brief", "description", "topic", "events", "opens", "reason"};
	struct rowmaker rows = {0};

	rowmaker_columns(&rows, names, ARRAY_SIZE(names));
	rowmaker_lazy(&rows, make_metric, l, l->items.n);
	form_show(form, &rows, out);
	rowmaker_fini(&rows);
}

static void make_group(struct rowmaker *m, const void *of, size_t row)
{
	const struct metriclist *l = of;
	const struct metriclist_group *g = &l->groups.at[row];
	struct str names = {0};

	vec_each(item, &l->items)
		if (metric_list_has(item->row->groups, g->name))
			str_addf(&names, "%s%s", names.n ? " " : "", item->row->name);
	rowmaker_text(m, "name", g->name);
	rowmaker_text(m, "kind", "metricgroup");
	rowmaker_text(m, "brief", g->brief);
	rowmaker_text(m, "metrics", rowmaker_copy(m, str_text(&names)));
	str_fini(&names);
}

void list_groups_rows(const struct form *form, const struct metriclist *l, struct out *out)
{
	static const char *const names[] = {"name", "kind", "brief", "metrics"};
	struct rowmaker rows = {0};

	rowmaker_columns(&rows, names, ARRAY_SIZE(names));
	rowmaker_lazy(&rows, make_group, l, l->groups.n);
	form_show(form, &rows, out);
	rowmaker_fini(&rows);
}
