#include "view/pages/list.h"

#include <stdio.h>

#include "base/num.h"
#include "event/abi.h"
#include "view/text/words.h"

enum { NAME_COLUMNS = 48, MARK_COLUMNS = 6, DETAIL_COLUMNS = 100, DETAIL_INDENT = 6 };

static const char *const kinds[INVENTORY_KIND_COUNT] = {
	[INVENTORY_HARDWARE] = "hardware",
	[INVENTORY_SOFTWARE] = "software",
	[INVENTORY_CACHE] = "cache",
	[INVENTORY_TOOL] = "tool",
	[INVENTORY_PMU] = "pmu",
	[INVENTORY_RAW] = "raw",
	[INVENTORY_BREAKPOINT] = "breakpoint",
	[INVENTORY_TABLE] = "table",
	[INVENTORY_TRACEPOINT] = "tracepoint",
};

static const char *const marks[] = {
	[INVENTORY_UNTRIED] = "",
	[INVENTORY_OPENS] = "yes",
	[INVENTORY_OPENS_USER] = "user",
	[INVENTORY_REFUSED] = "no",
};

static size_t add_safe(struct str *text, const char *s)
{
	return str_add_safe(text, s, strlen(s));
}

/* Adds at most so many columns, and "..." if text is cut off. */
static void add_cut(struct str *text, const char *s, size_t columns)
{
	size_t start = text->n, at, left = columns;

	if (add_safe(text, s) <= columns)
		return;
	left = columns > 3 ? columns - 3 : 0;
	for (at = start; at < text->n && left; left--)
		for (at++; at < text->n && ((u8)text->at[at] & 0xc0) == 0x80;)
			at++;
	str_cut(text, at);
	str_add(text, "...");
}

/* ---- encodings ---- */

/* An event that any tool takes as a raw number. */
static bool is_raw(const struct event_attr *a)
{
	return a->type == PERF_TYPE_RAW && !a->config1 && !a->config2 && !a->config3 && !a->config4;
}

static void add_numbers(const struct event_attr *a, struct str *text)
{
	const u64 more[] = {a->config1, a->config2, a->config3, a->config4};

	str_addf(text, "type %u config 0x%llx", a->type, (unsigned long long)a->config);
	for (size_t i = 0; i < ARRAY_SIZE(more); i++)
		if (more[i])
			str_addf(text, " config%zu 0x%llx", i + 1, (unsigned long long)more[i]);
}

/* "cpu/event=0x3c,umask=0x1/ r13c", or the numbers of an event without terms. */
static void add_encoding(const struct inventory_item *item, struct str *text)
{
	if (item->pmu && item->terms)
		str_addf(text, "%s/%s/", item->pmu, item->terms);
	else if (item->has_attr)
		add_numbers(&item->attr, text);
	else if (item->brief)
		str_add(text, item->brief);
	if (item->has_attr && is_raw(&item->attr))
		str_addf(text, " r%04llx", (unsigned long long)item->attr.config);
}

static void add_paragraph(const char *words, size_t columns, struct str *text)
{
	words_add_wrapped(words, DETAIL_INDENT, columns, text);
}

static size_t detail_columns(const struct list_style *style)
{
	return style->columns ? MIN(style->columns, (unsigned)DETAIL_COLUMNS) : DETAIL_COLUMNS;
}

/* ---- headings ---- */

static bool is_same_group(const struct inventory_item *a, const struct inventory_item *b)
{
	return a->kind == b->kind &&
		(a->kind == INVENTORY_TRACEPOINT || a->group == b->group ||
			(a->group && b->group && !strcmp(a->group, b->group)));
}

static void add_title(const struct inventory *m, const struct inventory_item *item,
	struct str *title)
{
	static const char *const titles[INVENTORY_KIND_COUNT] = {
		[INVENTORY_HARDWARE] = "Hardware events",
		[INVENTORY_SOFTWARE] = "Software events",
		[INVENTORY_CACHE] = "Hardware cache events",
		[INVENTORY_TOOL] = "Events that stat counts itself",
		[INVENTORY_PMU] = "Events of PMU",
		[INVENTORY_RAW] = "Raw events",
		[INVENTORY_BREAKPOINT] = "Breakpoints",
		[INVENTORY_TABLE] = "Events from the CPU's tables, topic",
		[INVENTORY_TRACEPOINT] = "Tracepoints",
	};
	u32 type;

	str_add(title, titles[item->kind]);
	if (item->kind == INVENTORY_PMU)
		str_addf(title, " %s", item->pmu);
	if (item->kind == INVENTORY_PMU && inventory_pmu_type(m, item->pmu, &type))
		str_addf(title, " (type %u)", type);
	if (item->kind == INVENTORY_TABLE)
		str_addf(title, " '%s'", item->group);
	str_addc(title, ':');
}

static void add_heading(const struct inventory *m, const struct inventory_item *item,
	const struct list_style *style, struct str *text)
{
	struct str title = {0}, formats = {0};

	add_title(m, item, &title);
	add_cut(text, str_text(&title), style->columns ? style->columns : SIZE_MAX);
	str_addc(text, '\n');
	if (style->has_details && item->kind == INVENTORY_PMU) {
		str_add(&formats, "terms: ");
		inventory_add_formats(m, item->pmu, &formats);
		add_paragraph(str_text(&formats), detail_columns(style), text);
	}
	str_fini(&title);
	str_fini(&formats);
}

/* ---- lines ---- */

static bool has_marks(const struct inventory *m)
{
	vec_each(item, &m->items)
		if (item->opens != INVENTORY_UNTRIED)
			return true;
	return false;
}

static void add_name(const struct inventory_item *item, struct str *text)
{
	add_safe(text, item->name);
	if (item->alias) {
		str_add(text, " OR ");
		add_safe(text, item->alias);
	}
}

size_t list_name_columns(const struct list_style *style)
{
	return style->columns ? MIN(NAME_COLUMNS, style->columns * 2 / 5) : NAME_COLUMNS;
}

/* The width of a group's names: that of the widest name that is not too wide. */
static size_t name_columns(const struct inventory *m, size_t first, const struct list_style *style)
{
	size_t most = list_name_columns(style);
	struct str text = {0};
	size_t widest = 0;

	for (size_t i = first; i < m->items.n; i++) {
		if (!is_same_group(&m->items.at[first], &m->items.at[i]))
			break;
		str_clear(&text);
		add_name(&m->items.at[i], &text);
		if (text.n <= most)
			widest = MAX(widest, text.n);
	}
	str_fini(&text);
	return widest ? widest : most;
}

/* sysfs has no descriptions: an event's terms are better than nothing. */
static void add_sentence(const struct inventory_item *item, struct str *text)
{
	if (item->brief)
		str_add(text, item->brief);
	else if (item->terms)
		str_add(text, item->terms);
	if (item->unit)
		str_addf(text, " (in %s)", item->unit);
}

/* Adds a name, and a second one if there is room for it; returns the columns that are used. */
static size_t add_names(const char *name, const char *alias, const struct list_style *style,
	struct str *text)
{
	const size_t start = text->n;

	str_add(text, "  ");
	if (style->columns)
		add_cut(text, name, style->columns > 2 ? style->columns - 2 : 1);
	else
		add_safe(text, name);
	if (alias && (!style->columns || text->n - start + 4 + strlen(alias) <= style->columns)) {
		str_add(text, " OR ");
		add_safe(text, alias);
	}
	return text->n - start;
}

/* Adds a line of a name, a mark unless it is NULL, and what stands behind them. */
static void add_columns(const char *name, const char *alias, const char *mark, const char *behind,
	size_t name_width, const struct list_style *style, struct str *text)
{
	size_t indent = 2 + name_width + 2 + (mark ? MARK_COLUMNS : 0), start = text->n;
	size_t used = add_names(name, alias, style, text);

	/* A name that is too long gets its own line, so that columns stay straight. */
	if (used > 2 + name_width && (*behind || mark) && style->columns) {
		str_addc(text, '\n');
		used = 0;
	}
	if (used < 2 + name_width)
		str_fill(text, ' ', 2 + name_width - used);
	if (mark)
		str_addf(text, "  %-*s", MARK_COLUMNS - 2, mark);
	if (*behind) {
		str_add(text, "  ");
		if (style->columns)
			add_cut(text, behind,
				style->columns > indent + 8 ? style->columns - indent : 8);
		else
			add_safe(text, behind);
	}
	while (text->n > start && text->at[text->n - 1] == ' ')
		str_cut(text, text->n - 1);
	str_addc(text, '\n');
}

static void add_line(const struct inventory_item *item, const struct list_style *style,
	size_t name_width, bool has_mark, struct str *text)
{
	struct str behind = {0};

	if (style->has_encoding)
		add_encoding(item, &behind);
	else if (style->has_descriptions)
		add_sentence(item, &behind);
	add_columns(item->name, item->alias, has_mark ? marks[item->opens] : NULL,
		str_text(&behind), name_width, style, text);
	str_fini(&behind);
}

void list_add_line(const char *name, enum inventory_opens opens, const char *behind, size_t width,
	const struct list_style *style, struct str *text)
{
	add_columns(name, NULL, opens == INVENTORY_UNTRIED ? NULL : marks[opens], behind, width,
		style, text);
}

void list_add_paragraph(const char *words, const struct list_style *style, struct str *text)
{
	add_paragraph(words, detail_columns(style), text);
}

void list_add_words(const char *words, const struct list_style *style, struct str *text)
{
	words_add_wrapped(words, 0, style->columns ? style->columns : SIZE_MAX, text);
}

static void add_table_notes(const struct catalog_event *row, struct str *notes)
{
	if (row->precise)
		str_add(notes,
			row->precise == 1 ? "Can be sampled precisely (:p). "
					  : "Must be sampled precisely (:p). ");
	if (row->is_per_pkg)
		str_add(notes, "One counter counts its whole package. ");
	if (row->errata)
		str_addf(notes, "Errata: %s. ", row->errata);
	if (row->is_deprecated)
		str_add(notes, "Deprecated. ");
}

static void add_details(const struct inventory *m, const struct inventory_item *item,
	const struct list_style *style, struct str *text)
{
	size_t columns =
		style->columns ? MIN(style->columns, (unsigned)DETAIL_COLUMNS) : DETAIL_COLUMNS;
	struct str line = {0};

	str_add(text, "  ");
	if (item->alias && style->columns &&
		strlen(item->name) + strlen(" OR ") + strlen(item->alias) + 2 > style->columns) {
		add_safe(text, item->name);
		str_add(text, "\n  OR ");
		add_safe(text, item->alias);
	} else
		add_name(item, text);
	str_addc(text, '\n');
	if (item->brief && !(item->kind == INVENTORY_RAW && item->pmu))
		add_paragraph(item->brief, columns, text);
	if (item->description)
		add_paragraph(item->description, columns, text);
	if (item->row) {
		add_table_notes(item->row, &line);
		add_paragraph(str_text(&line), columns, text);
	}
	if (item->unit || item->scale != 1) {
		str_clear(&line);
		str_addf(&line, "unit: %.15g %s", item->scale, item->unit ? item->unit : "");
		add_paragraph(str_text(&line), columns, text);
	}
	if (item->pmu && item->kind == INVENTORY_RAW) {
		str_clear(&line);
		str_add(&line, "terms: ");
		inventory_add_formats(m, item->pmu, &line);
		add_paragraph(str_text(&line), columns, text);
	} else if (item->has_attr) {
		str_clear(&line);
		str_add(&line, "encoding: ");
		add_encoding(item, &line);
		if (item->pmu && item->terms) {
			str_add(&line, " = ");
			add_numbers(&item->attr, &line);
		}
		add_paragraph(str_text(&line), columns, text);
	}
	str_clear(&line);
	str_add(&line, "fields: ");
	inventory_add_fields(m, item, &line);
	if (line.n > strlen("fields: "))
		add_paragraph(str_text(&line), columns, text);
	str_clear(&line);
	if (item->has_attr && attr_is_topdown(&item->attr))
		str_add(&line,
			"counts behind slots only, {slots,topdown-retiring}: 'pace stat --topdown'; ");
	if (item->opens == INVENTORY_OPENS)
		str_add(&line, "opens here");
	else if (item->opens == INVENTORY_OPENS_USER)
		str_addf(&line, "opens here for user space only: %s", item->reason);
	else if (item->opens == INVENTORY_REFUSED)
		str_addf(&line, "does not open here: %s", item->reason);
	else if (item->kind != INVENTORY_RAW && item->kind != INVENTORY_BREAKPOINT &&
		!item->has_attr)
		str_addf(&line, "not tried: %s", item->reason);
	add_paragraph(str_text(&line), columns, text);
	str_fini(&line);
}

/* Tells readers that there is more, and what 'no' means. */
static void add_footer(const struct inventory *m, const struct list_style *style, struct str *text)
{
	size_t columns = style->columns ? style->columns : SIZE_MAX;
	bool has_refused = false, has_user = false;
	struct str line = {0};

	vec_each(item, &m->items) {
		has_refused |= item->opens == INVENTORY_REFUSED;
		has_user |= item->opens == INVENTORY_OPENS_USER;
	}
	str_add(text, "\n");
	if (m->has_hidden_tracepoints && m->no_tracepoints.code) {
		str_add(&line, m->no_tracepoints.msg);
	} else if (m->has_hidden_tracepoints) {
		num_add_grouped(&line, m->n_tracepoints);
		str_addf(&line,
			" tracepoints in %u systems: 'pace list tracepoint' or 'pace list \"sched:*\"' lists them",
			m->n_systems);
	}
	words_add_wrapped(str_text(&line), 0, columns, text);
	str_clear(&line);
	if (m->catalog.n_absent && !m->catalog.events.n && !m->options.n_words) {
		num_add_grouped(&line, m->catalog.n_absent);
		str_addf(&line,
			" events of the tables in '%s' belong to PMUs that this machine does not have",
			m->catalog.folder);
	}
	words_add_wrapped(str_text(&line), 0, columns, text);
	if (style->topdown)
		words_add_wrapped(style->topdown, 0, columns, text);
	if (has_refused)
		words_add_wrapped("no: does not open here; 'pace list --details NAME' says why", 0,
			columns, text);
	if (has_user)
		words_add_wrapped(
			"user: opens here for user space only (NAME:u); 'pace list --details NAME' says why",
			0, columns, text);
	if (text->n > 1 && text->at[text->n - 2] == '\n')
		str_cut(text, text->n - 1);
	str_fini(&line);
}

void list_text(const struct inventory *m, const struct list_style *style, struct out *out)
{
	bool has_mark = has_marks(m) && !style->has_encoding;
	size_t width = 0;

	for (size_t i = 0; i < m->items.n; i++) {
		const struct inventory_item *item = &m->items.at[i];

		if (!i || !is_same_group(item - 1, item)) {
			str_add(&out->text, i ? "\n" : "");
			add_heading(m, item, style, &out->text);
			width = name_columns(m, i, style);
		}
		if (style->has_details)
			add_details(m, item, style, &out->text);
		else
			add_line(item, style, width, has_mark, &out->text);
		out_flush_some(out);
	}
	if (!style->has_encoding)
		add_footer(m, style, &out->text);
}

void list_names(const struct inventory *m, struct out *out)
{
	bool is_first = true;

	vec_each(item, &m->items) {
		if (item->kind == INVENTORY_RAW || item->kind == INVENTORY_BREAKPOINT)
			continue;
		str_add(&out->text, is_first ? "" : " ");
		add_safe(&out->text, item->name);
		is_first = false;
		out_flush_some(out);
	}
	str_addc(&out->text, '\n');
}

/* ---- rows ---- */

static void add_encoding_cells(struct rowmaker *m, const struct event_attr *a)
{
	rowmaker_u64(m, "type", a->type);
	rowmaker_hex(m, "config", a->config);
	rowmaker_hex(m, "config1", a->config1);
	rowmaker_hex(m, "config2", a->config2);
	if (a->config3 || a->config4) {
		rowmaker_hex(m, "config3", a->config3);
		rowmaker_hex(m, "config4", a->config4);
	}
}

static void make_row(struct rowmaker *m, const void *of, size_t row)
{
	const struct inventory_item *item = &((const struct inventory *)of)->items.at[row];

	rowmaker_text(m, "name", item->name);
	rowmaker_text(m, "alias", item->alias);
	rowmaker_text(m, "kind", kinds[item->kind]);
	rowmaker_text(m, "pmu", item->pmu);
	rowmaker_text(m, "group", item->group);
	rowmaker_text(m, "terms", item->terms);
	if (item->has_attr)
		add_encoding_cells(rowmaker_below(m, "encoding", ROWMAKER_OBJECT), &item->attr);
	else
		rowmaker_text(m, "encoding", NULL);
	rowmaker_text(m, "unit", item->unit);
	rowmaker_double(m, "scale", item->scale, 15);
	rowmaker_text(m, "brief", item->brief);
	rowmaker_text(m, "description", item->description);
	if (item->row) {
		rowmaker_u64(m, "precise", item->row->precise);
		rowmaker_bool(m, "per_package", item->row->is_per_pkg);
		rowmaker_bool(m, "deprecated", item->row->is_deprecated);
		rowmaker_text(m, "errata", item->row->errata);
	}
	if (item->opens == INVENTORY_UNTRIED)
		rowmaker_text(m, "opens", NULL);
	else
		rowmaker_bool(m, "opens", item->opens != INVENTORY_REFUSED);
	rowmaker_text(m, "reason", item->reason);
}

void list_rows(const struct form *form, const struct inventory *m, struct out *out)
{
	static const char *const names[] = {"name", "alias", "kind", "pmu", "group", "terms",
		"encoding", "unit", "scale", "brief", "description", "precise", "per_package",
		"deprecated", "errata", "opens", "reason"};
	struct rowmaker rows = {0};

	rowmaker_columns(&rows, names, ARRAY_SIZE(names));
	rowmaker_lazy(&rows, make_row, m, m->items.n);
	form_show(form, &rows, out);
	rowmaker_fini(&rows);
}
