/*
 * stat_metrics.c - only metrics derived from counts: a column for each, a line for each place.
 */
#include "view/stat/stat_metrics.h"

#include <stdio.h>
#include <string.h>

#include "view/text/colour.h"

enum { COLUMN_WIDTH = 18 };

/*
 * What an event's counts say without asking may come and go, and with that the places of the others: where a ratio cannot be
 * computed, a rate may stand in its place, which is no value of that ratio's column.
 */
static bool is_of(const struct stat_column *c, const struct stat_line *l, unsigned i)
{
	const struct metric *m = &l->metrics[i];

	if (c->event != l->event || !c->metric != !m->name)
		return false;
	return c->metric ? !strcmp(c->metric, m->name) : c->row == m->row;
}

static bool has_column(const struct stat_view *v, const struct stat_line *l, unsigned i)
{
	vec_each(c, &v->columns)
		if (is_of(c, l, i))
			return true;
	return false;
}

/* Shares and ratios have a name of their own; rates are named after the event. */
static void name_column(const struct stat_line *l, const struct metric *m, struct str *name)
{
	if (m->name) {
		str_addf(name, "%s%s", m->unit, m->unit[0] ? "  " : "");
		str_add_safe(name, m->name, strlen(m->name));
	} else if (m->is_percent)
		str_addf(name, "%% %s", m->unit);
	else if (m->digits == 2)
		str_add(name, m->unit);
	else {
		str_add_safe(name, l->event->name, strlen(l->event->name));
		str_addf(name, " %s", m->unit);
	}
}

/* A rate's unit grows with its value: within a column it stays that of the first value. */
void stat_metrics_find_columns(struct stat_view *v, const struct stat_lines *lines)
{
	vec_each(l, lines) {
		for (unsigned i = 0; i < l->n_metrics; i++) {
			const struct metric *m = &l->metrics[i];
			struct str name = {0};

			/* Who asks for metrics wants these. */
			if (has_column(v, l, i) || (v->options->metrics && !m->name))
				continue;
			name_column(l, m, &name);
			vec_add(&v->columns,
				((struct stat_column){l->event, m->name, m->row, 0, m->factor,
					name.at}));
			v->n_since_header = STAT_HEADER_EACH;
		}
	}
}

static size_t width_of(const struct stat_column *c)
{
	return MAX(strlen(c->name), (size_t)COLUMN_WIDTH);
}

static void add_header(struct stat_view *v, bool has_time, struct str *text)
{
	if (has_time)
		str_add(text, "#           time ");
	stat_add_place_title(v->counts, text);
	vec_each(c, &v->columns)
		str_add_right(text, c->name, 1 + width_of(c));
	str_addc(text, '\n');
	v->n_since_header = 0;
}

const struct metric *stat_metrics_find(const struct stat_lines *lines, const struct stat_column *c,
	const struct counts_place *place)
{
	vec_each(l, lines)
		for (unsigned i = 0; l->place == place && i < l->n_metrics; i++)
			if (is_of(c, l, i))
				return &l->metrics[i];
	return NULL;
}

/* As in the column's unit; how exactly it is known where events took turns. */
static void put_value(const struct metric *m, double factor, char *text, size_t size)
{
	int n = snprintf(text, size, "%.*f", (int)m->digits, m->value * factor);

	if (m->name && m->error > 0)
		snprintf(text + n, size - (size_t)n, " +- %.*f", (int)m->digits, m->error * factor);
}

static void add_values(struct stat_view *v, const struct stat_lines *lines,
	const struct counts_place *place, struct str *text)
{
	vec_each(c, &v->columns) {
		const struct metric *m = stat_metrics_find(lines, c, place);
		char value[64] = "n/a";
		size_t start;

		if (m && m->state == METRIC_VALUE)
			put_value(m, m->factor / c->factor, value, sizeof(value));
		str_fill(text, ' ', 1 + width_of(c) - MIN(strlen(value), width_of(c)));
		start = text->n;
		str_add(text, value);
		if (m && v->options->has_colours)
			colour_paint(text, start, stat_verdict_colour(m->verdict));
	}
	str_addc(text, '\n');
	v->n_since_header++;
}

void stat_metrics_rows(struct stat_view *v, const struct stat_lines *lines, u64 time_ns,
	struct str *text)
{
	bool has_time = time_ns != UINT64_MAX;

	stat_metrics_find_columns(v, lines);
	if (!v->columns.n) {
		str_add(text, " no metric can be derived from these counts\n");
		return;
	}
	if (!v->has_header || v->n_since_header >= STAT_HEADER_EACH)
		add_header(v, has_time, text);
	v->has_header = true;
	vec_each(place, &v->counts->places) {
		stat_add_time(time_ns, text);
		stat_add_place(v->counts, place, text);
		add_values(v, lines, place, text);
	}
}

void stat_view_fini(struct stat_view *v)
{
	vec_each(c, &v->columns)
		mem_free(c->name);
	vec_fini(&v->columns);
	vec_each(c, &v->shares)
		mem_free(c->name);
	vec_fini(&v->shares);
}
