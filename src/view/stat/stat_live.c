#include "view/stat/stat_live.h"

#include <math.h>
#include <string.h>

#include "view/text/colour.h"

enum {
	STRIP_LEAST = 10, /* columns; with less room the metrics give way */
	VALUE_COLUMNS = 18,
	NAME_LEAST = 12,
};

/* From nothing to the highest count. */
static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const letters[] = {"_", ".", ":", "-", "=", "+", "*", "#"};

void stat_live_fini(struct stat_live *live)
{
	vec_fini(&live->strips);
}

/* ---- strips ---- */

static struct stat_strip *strip_of(struct stat_live *live, const struct counts *counts,
	const struct stat_line *l)
{
	const size_t event = (size_t)(l->event - counts->events->at),
		     place = (size_t)(l->place - counts->places.at);
	struct stat_strip *s;

	vec_each(known, &live->strips)
		if (known->event == event && known->place == place)
			return known;
	s = vec_push(&live->strips);
	s->event = event;
	s->place = place;
	for (unsigned i = 0; i < STAT_STRIP_MOST; i++)
		s->rates[i] = NAN;
	return s;
}

static void take_interval(struct stat_live *live, const struct counts *counts,
	const struct stat_lines *lines, double interval_ns)
{
	vec_each(s, &live->strips) {
		memmove(s->rates, s->rates + 1, (STAT_STRIP_MOST - 1) * sizeof(*s->rates));
		s->rates[STAT_STRIP_MOST - 1] = NAN;
	}
	vec_each(l, lines)
		strip_of(live, counts, l)->rates[STAT_STRIP_MOST - 1] =
			l->state == COUNT_OK && interval_ns > 0 ? l->count.value / interval_ns
								: NAN;
}

/* The intervals of a strip's last `columns` columns. */
static void add_strip(const struct stat_live *live, const struct stat_strip *s, unsigned columns,
	struct str *text)
{
	const double *from = s->rates + STAT_STRIP_MOST - columns;
	double most = 0;

	for (unsigned i = 0; i < columns; i++)
		most = fmax(most, from[i]);
	for (unsigned i = 0; i < columns; i++) {
		const unsigned n = ARRAY_SIZE(blocks);
		const double step = most > 0 ? from[i] / most * n : 0;
		const unsigned at = isnan(step) ? 0 : (unsigned)fmin(step, n - 1);

		str_add(text, isnan(from[i]) ? " " : live->is_ascii ? letters[at] : blocks[at]);
	}
}

/* ---- the table ---- */

/* Where the columns of a table lie. */
struct layout {
	unsigned place, name, strip, metric;
};

static void add_name(const struct stat_line *l, struct str *text)
{
	str_add_safe(text, l->event->name, strlen(l->event->name));
	if (l->event->cgroup) {
		str_addc(text, ' ');
		str_add_safe(text, stat_cgroup(l->event), strlen(stat_cgroup(l->event)));
	}
}

static unsigned columns_of(const struct str *text)
{
	return (unsigned)colour_columns(text->at ? text->at : "", text->n);
}

static struct layout lay_out(struct stat_live *live, const struct stat_view *v,
	const struct stat_lines *lines)
{
	struct layout lay = {.name = NAME_LEAST};
	struct str text = {0};
	unsigned used, room;

	stat_add_place_title(v->counts, &text);
	lay.place = columns_of(&text);
	vec_each(l, lines) {
		str_clear(&text);
		add_name(l, &text);
		lay.name = MAX(lay.name, columns_of(&text));
		str_clear(&text);
		if (l->n_metrics)
			stat_add_metric(v->options, &l->metrics[0], &text);
		lay.metric = MAX(lay.metric, columns_of(&text));
	}
	str_fini(&text);
	/* Strips keep their place when a rate gets another unit. */
	lay.metric = live->metric_columns = MAX(lay.metric, live->metric_columns);
	used = lay.place + VALUE_COLUMNS + 6;
	lay.name = MIN(lay.name, MAX(live->columns / 3, NAME_LEAST + 0U));
	used += lay.name + 1;
	room = live->columns - MIN(used + 1, live->columns);
	if (room < lay.metric + 1 + STRIP_LEAST)
		lay.metric = 0;
	room -= lay.metric ? lay.metric + 1 : 0;
	lay.strip = MIN(room, STAT_STRIP_MOST + 0U);
	return lay;
}

/* Adds as much of a line as fits, and its end. */
static void add_line(const struct stat_live *live, const struct str *line, struct str *text)
{
	str_addn(text, line->at, colour_fitting(line->at, line->n, live->columns - 1));
	while (text->n && text->at[text->n - 1] == ' ')
		str_cut(text, text->n - 1);
	str_addc(text, '\n');
}

static void add_row(struct stat_live *live, const struct stat_view *v, const struct layout *lay,
	const struct stat_line *l, struct str *text)
{
	struct str line = {0}, name = {0};
	size_t start;

	stat_add_place(v->counts, l->place, &line);
	stat_add_value(v, l, &line);
	start = line.n;
	add_name(l, &name);
	str_addn(&line, name.at, colour_fitting(name.at, name.n, lay->name));
	str_pad_right(&line, start, lay->name);
	str_addc(&line, ' ');
	add_strip(live, strip_of(live, v->counts, l), lay->strip, &line);
	if (lay->metric && l->n_metrics) {
		/* There is room for all of it, so its colours are not cut. */
		str_addc(&line, ' ');
		stat_add_metric(v->options, &l->metrics[0], &line);
		str_addn(text, line.at, line.n);
		str_addc(text, '\n');
	} else {
		add_line(live, &line, text);
	}
	str_fini(&line);
	str_fini(&name);
}

static bool is_shown(const struct stat_view *v, const struct stat_line *l)
{
	return !v->options->has_no_defaults || l->state != COUNT_NOT_OPENED;
}

void stat_live_add(struct stat_live *live, const struct stat_view *v,
	const struct stat_lines *lines, u64 time_ns, double interval_ns, struct str *text)
{
	const struct layout lay = lay_out(live, v, lines);
	unsigned most = MAX(live->rows, 3U) - 1, n = 0, n_left = 0;
	struct str head = {0};

	take_interval(live, v->counts, lines, interval_ns);
	if (live->n_drawn)
		str_addf(text, "\033[%uA\r\033[J", live->n_drawn);
	str_addf(&head, "# %.1f s, %.2g s each; --no-sparklines prints a line for each",
		(double)time_ns / 1e9, interval_ns / 1e9);
	add_line(live, &head, text);
	str_fini(&head);
	most--;
	vec_each(l, lines)
		n += is_shown(v, l);
	/* The last line says what has no room. */
	if (n > most)
		n_left = n - --most;
	n = 0;
	vec_each(l, lines)
		if (is_shown(v, l) && n < most) {
			add_row(live, v, &lay, l, text);
			n++;
		}
	if (n_left)
		str_addf(text, "# and %u more\n", n_left);
	live->n_drawn = 1 + n + (n_left != 0);
}
