#include "view/screen/timestrip.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "view/screen/heat.h"

enum { HEAD_LINES = 1, FOOT_LINES = 2, BARS = 6, AXIS_LINES = 2, NAME = 18, NS_PER_US = 1000 };

static const struct grid_style plain, dim = {.attributes = GRID_DIM},
				      bold = {.attributes = GRID_BOLD},
				      reverse = {.attributes = GRID_REVERSE};

static void say(struct timestrip *t, const char *text)
{
	str_cut(&t->message, 0);
	str_add(&t->message, text);
}

/* ---- samples ---- */

u32 timestrip_add_lane(struct timestrip *t, const char *name, u32 id)
{
	struct timestrip_lane lane = {.id = id};

	str_add(&lane.name, name ? name : "");
	vec_add(&t->lanes, lane);
	vec_add(&t->order, (u32)t->lanes.n - 1);
	return (u32)t->lanes.n - 1;
}

void timestrip_add(struct timestrip *t, u64 time, u32 lane, u32 n)
{
	t->first = t->samples.n ? MIN(t->first, time) : time;
	t->last = t->samples.n ? MAX(t->last, time) : time;
	t->lanes.at[lane].n += n;
	vec_add(&t->samples, ((struct timestrip_sample){time, lane, n}));
}

static int by_samples(const void *x, const void *y, void *ctx)
{
	const struct timestrip *t = ctx;
	const u32 a = *(const u32 *)x, b = *(const u32 *)y;
	const u64 m = t->lanes.at[a].n, n = t->lanes.at[b].n;

	return m != n ? (m < n) - (m > n) : (a > b) - (a < b);
}

/* ---- columns ---- */

/* Where the lines begin: the names are in front of them. */
static unsigned strip_from(const struct grid *g)
{
	return g->columns > 3 * NAME ? NAME : 0;
}

/* How long all of it is: the last sample is part of it. */
static u64 span_of(const struct timestrip *t)
{
	return t->last - t->first + 1;
}

/* The time at which a column begins. */
static u64 begin_of(const struct timestrip *t, unsigned column)
{
	return t->first + (u64)((unsigned __int128)span_of(t) * column / t->columns);
}

static unsigned column_of(const struct timestrip *t, u64 time)
{
	unsigned column =
		(unsigned)((unsigned __int128)(time - t->first) * t->columns / span_of(t));

	/* Rounding down twice may be one too few. */
	column += column + 1 < t->columns && begin_of(t, column + 1) <= time;
	return column;
}

static void count(struct timestrip *t, unsigned columns)
{
	u32 *rank = mem_alloc((t->lanes.n + 1) * sizeof(*rank));

	if (t->order.n)
		qsort_r(t->order.at, t->order.n, sizeof(*t->order.at), by_samples, t);
	for (size_t i = 0; i < t->order.n; i++)
		rank[t->order.at[i]] = (u32)i + 1;
	mem_free(t->counts);
	t->columns = columns;
	t->counts = mem_zalloc((t->lanes.n + 1) * columns * sizeof(*t->counts));
	vec_each(s, &t->samples) {
		const unsigned column = column_of(t, s->time);

		t->counts[column] += s->n;
		t->counts[(size_t)rank[s->lane] * columns + column] += s->n;
	}
	mem_free(rank);
}

static void range(const struct timestrip *t, unsigned *ret_from, unsigned *ret_to)
{
	*ret_from = t->has_mark ? MIN(t->mark, t->at) : t->at;
	*ret_to = t->has_mark ? MAX(t->mark, t->at) : t->at;
}

/* ---- drawing ---- */

static u64 largest(const u64 *counts, unsigned n)
{
	u64 most = 0;

	for (unsigned i = 0; i < n; i++)
		most = MAX(most, counts[i]);
	return most;
}

/* From cold to hot, by the share of the fullest column; empty columns stay empty. */
static struct grid_style style_of(u64 n, u64 most)
{
	const double share = most ? (double)n / (double)most : 0;

	return heat_style(share > 0.75 ? 1 : share > 0.4 ? 0.1 : share > 0.15 ? 0.02 : 0);
}

static void draw_bars(struct timestrip *t, struct grid *g, unsigned row, unsigned left)
{
	static const char *const eighths[] = {" ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585",
		"\u2586", "\u2587", "\u2588"};
	const u64 most = largest(t->counts, t->columns);

	for (unsigned column = 0; column < t->columns; column++) {
		const u64 n = t->counts[column];
		unsigned height = most ? (unsigned)((double)n * BARS * 8 / (double)most + 0.5) : 0;

		height = n && !height ? 1 : height;
		for (unsigned i = 0; i < BARS && row + BARS - 1 - i + FOOT_LINES < g->rows; i++) {
			const unsigned here = MIN(height, 8u);

			grid_puts(g, row + BARS - 1 - i, left + column,
				!g->is_ascii        ? eighths[here]
					: here >= 4 ? "#"
					: here      ? "."
						    : " ",
				style_of(n, most));
			height -= here;
		}
	}
}

/* How full a column is, in one cell: for terminals without colours, too. */
static void draw_heat(struct timestrip *t, struct grid *g, unsigned row, unsigned left,
	const u64 *counts)
{
	static const char *const shades[] = {" ", "\u2591", "\u2592", "\u2593", "\u2588"},
				 *const ascii[] = {" ", ".", ":", "+", "#"};
	const u64 most = largest(counts, t->columns);

	for (unsigned column = 0; column < t->columns; column++) {
		const u64 n = counts[column];
		const double share = most ? (double)n / (double)most : 0;
		const unsigned shade = !n ? 0
			: share > 0.75    ? 4
			: share > 0.4     ? 3
			: share > 0.15    ? 2
					  : 1;

		grid_puts(g, row, left + column, (g->is_ascii ? ascii : shades)[shade],
			style_of(n, most));
	}
}

static void add_seconds(u64 ns, struct str *text)
{
	str_addf(text, "%llu.%06llu", (unsigned long long)(ns / 1000000000),
		(unsigned long long)(ns % 1000000000 / NS_PER_US));
}

/* The line of the range, and the times at both ends of the strip. */
static void draw_axis(struct timestrip *t, struct grid *g, unsigned row, unsigned left)
{
	struct str text = {0};
	unsigned from, to;

	range(t, &from, &to);
	for (unsigned column = 0; column < t->columns; column++)
		grid_puts(g, row, left + column,
			column >= from && column <= to ? g->is_ascii ? "=" : "\u2501"
				: g->is_ascii          ? "-"
						       : "\u2500",
			column >= from && column <= to ? bold : dim);
	grid_mark(g, row, left + t->at, left + t->at + 1, GRID_REVERSE, GRID_DEFAULT);
	add_seconds(t->first, &text);
	grid_puts(g, row + 1, left, str_text(&text), dim);
	str_cut(&text, 0);
	add_seconds(t->last, &text);
	if (t->columns > 2 * text.n + 2)
		grid_puts(g, row + 1, left + t->columns - (unsigned)text.n, str_text(&text), dim);
	str_fini(&text);
}

static void draw_lanes(struct timestrip *t, struct grid *g, unsigned row, unsigned left)
{
	struct str name = {0};

	for (size_t i = 0; i < t->order.n && row + FOOT_LINES < g->rows; i++, row++) {
		const struct timestrip_lane *lane = &t->lanes.at[t->order.at[i]];

		if (left) {
			str_cut(&name, 0);
			str_addf(&name, "%u %s", lane->id, str_text(&lane->name));
			grid_put(g, row, 0, left - 1, str_text(&name), name.n, plain);
		}
		draw_heat(t, g, row, left, &t->counts[(i + 1) * t->columns]);
	}
	str_fini(&name);
}

static void draw_foot(struct timestrip *t, struct grid *g)
{
	struct str text = {0};
	unsigned from, to;
	u64 n = 0;

	range(t, &from, &to);
	for (unsigned column = from; column <= to; column++)
		n += t->counts[column];
	add_seconds(begin_of(t, from), &text);
	str_add(&text, " to ");
	add_seconds(begin_of(t, to + 1) - 1, &text);
	str_addf(&text, ", %.3f s: ", (double)(begin_of(t, to + 1) - begin_of(t, from)) / 1e9);
	num_add_u64(&text, n);
	str_add(&text, " samples");
	grid_puts(g, g->rows - 2, 0, str_text(&text), bold);
	grid_puts(g, g->rows - 1, 0,
		t->message.n ? str_text(&t->message)
			     : "Space: begin a range  Enter: take it  h: help  q: back",
		t->message.n ? bold : dim);
	str_fini(&text);
}

/* The cursor and the mark stay at their times when the width changes. */
static void fit(struct timestrip *t, unsigned columns)
{
	const u64 at = t->columns ? begin_of(t, t->at) : t->first,
		  mark = t->columns ? begin_of(t, t->mark) : t->first;

	if (t->columns == columns)
		return;
	count(t, columns);
	t->at = column_of(t, at);
	t->mark = column_of(t, mark);
}

void timestrip_draw(struct timestrip *t, struct grid *g)
{
	const unsigned left = strip_from(g);

	if (g->rows <= HEAD_LINES + BARS + AXIS_LINES + FOOT_LINES || g->columns < 10) {
		grid_puts(g, 0, 0, "too small", plain);
		return;
	}
	if (t->page.is_open) {
		textpage_draw(&t->page, g);
		return;
	}
	fit(t, g->columns - left);
	grid_blank(g, 0, 0, g->columns, reverse);
	grid_puts(g, 0, 1, "Samples over time  ", reverse);
	grid_puts(g, 0, 20, t->title, reverse);
	draw_bars(t, g, HEAD_LINES, left);
	draw_axis(t, g, HEAD_LINES + BARS, left);
	draw_lanes(t, g, HEAD_LINES + BARS + AXIS_LINES, left);
	draw_foot(t, g);
}

/* ---- keys ---- */

static void move(struct timestrip *t, int by)
{
	if (by < 0)
		t->at -= MIN(t->at, (unsigned)-by);
	else if (t->columns)
		t->at = MIN(t->at + (unsigned)by, t->columns - 1);
}

enum { PAGE = 10, FAR = 1 << 20 };

static void left(struct timestrip *t)
{
	move(t, -1);
}

static void right(struct timestrip *t)
{
	move(t, 1);
}

static void far_left(struct timestrip *t)
{
	move(t, -PAGE);
}

static void far_right(struct timestrip *t)
{
	move(t, PAGE);
}

static void to_start(struct timestrip *t)
{
	move(t, -FAR);
}

static void to_end(struct timestrip *t)
{
	move(t, FAR);
}

static void set_mark(struct timestrip *t)
{
	t->has_mark = !t->has_mark;
	t->mark = t->at;
	say(t,
		t->has_mark ? "the range begins here: the arrow keys move its other end"
			    : "no range: only the column of the cursor");
}

static void take_range(struct timestrip *t)
{
	unsigned from, to;

	if (!t->columns)
		return;
	range(t, &from, &to);
	t->from = begin_of(t, from);
	t->to = begin_of(t, to + 1) - 1;
	t->is_taken = t->is_over = true;
}

static void help(struct timestrip *t)
{
	textpage_show_help(&t->page, &timestrip_keys, NULL);
}

static void escape(struct timestrip *t)
{
	t->is_over = !t->has_mark;
	t->has_mark = false;
}

static void leave(struct timestrip *t)
{
	t->is_over = true;
}

struct timestrip_key {
	struct keytable_row row;
	void (*act)(struct timestrip *t);
};

/* clang-format off: a row a key */
static const struct timestrip_key keys[] = {
	{{KEY_LEFT, 0, 1, "Left", "go to the column before"}, left},
	{{KEY_RIGHT, 0, 1, "Right", "go to the next column"}, right},
	{{KEY_PAGE_UP, KEY_UP, 1, "PgUp, Up", "go ten columns back"}, far_left},
	{{KEY_PAGE_DOWN, KEY_DOWN, 1, "PgDn, Down", "go ten columns on"}, far_right},
	{{KEY_HOME, '<', 1, "Home, <", "go to the first samples"}, to_start},
	{{KEY_END, '>', 1, "End, >", "go to the last samples"}, to_end},
	{{' ', 'm', 1, "Space, m", "begin a range at the cursor, or take that back"}, set_mark},
	{{KEY_ENTER, 0, 1, "Enter", "show only what was sampled in the range, or in the column"},
		take_range},
	{{'h', '?', 1, "h, ?", "show these keys"}, help},
	{{KEY_ESC, 0, 1, "Esc", "take the range back, or go back to the rows"}, escape},
	{{'q', 'T', 1, "q, T", "go back to the rows"}, leave},
};
/* clang-format on */
const struct keytable timestrip_keys = {KEYTABLE(keys)};

static void press(struct timestrip *t, u32 key)
{
	const struct timestrip_key *k = keytable_find(&timestrip_keys, 1, key);

	if (k)
		k->act(t);
	else
		say(t, "this key means nothing: h shows those that do");
}

/* The first click begins a range, the next one ends it. */
static void click(struct timestrip *t, unsigned column, unsigned left_of)
{
	if (column < left_of || column - left_of >= t->columns)
		return;
	if (!t->has_mark)
		t->mark = column - left_of;
	t->has_mark = true;
	t->at = column - left_of;
}

void timestrip_take(struct timestrip *t, const struct screen_event *e)
{
	if (e->kind != EVENT_RESIZE && e->kind != EVENT_TICK)
		str_cut(&t->message, 0);
	if (textpage_take(&t->page, e))
		return;
	if (e->kind == EVENT_KEY)
		press(t, e->key);
	else if (e->kind == EVENT_CLICK)
		click(t, e->column, t->columns > 2 * NAME ? NAME : 0);
	else if (e->kind == EVENT_WHEEL_UP)
		left(t);
	else if (e->kind == EVENT_WHEEL_DOWN)
		right(t);
	else if (e->kind == EVENT_END)
		t->is_over = true;
}

void timestrip_init(struct timestrip *t, const char *title)
{
	*t = (struct timestrip){.title = title};
}

void timestrip_fini(struct timestrip *t)
{
	vec_each(lane, &t->lanes)
		str_fini(&lane->name);
	vec_fini(&t->lanes);
	vec_fini(&t->order);
	vec_fini(&t->samples);
	mem_free(t->counts);
	str_fini(&t->message);
	textpage_fini(&t->page);
}

static void draw(void *of, struct grid *g)
{
	timestrip_draw(of, g);
}

static void take(void *of, const struct screen_event *e)
{
	timestrip_take(of, e);
}

static bool is_over(const void *of)
{
	return ((const struct timestrip *)of)->is_over;
}

bool timestrip_run(struct timestrip *t, struct screen *s)
{
	t->screen = s;
	screen_run(s,
		&(struct screen_view){.of = t, .draw = draw, .take = take, .is_over = is_over});
	return t->is_taken;
}
