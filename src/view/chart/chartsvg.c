#include "view/chart/chartsvg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "view/chart/paths.h"
#include "view/html/assets.h"
#include "view/text/markup.h"

enum {
	GUTTER = 180, /* for names */
	MARGIN = 10,
	HEAD = 66, /* title, legend, axis */
	LINE = 15,
	CPU_BAR = 20,
	CPU_PITCH = 26,
	TASK_BAR = 12,
	TASK_PITCH = 17,
	IO_BAR = 4,
	SECTION = 20,
	LABEL_LETTERS = 27,
	LABELS_MOST = 3000,
	WAKES_COARSE = 600,
	WAKES_FINE = 20000,
	GRID_LINES = 10,
};

static const double LETTER = 4.6; /* width of a letter inside of bars */

/* How states look; the height tells them apart without colours. */
static const struct {
	const char *light, *dark;
	u8 cpu, task; /* height of the bar */
} looks[LANE_STATES] = {
	[LANE_RUNNING] = {"#2f6fde", "#5b93f5", CPU_BAR, TASK_BAR},
	[LANE_IDLE] = {"#b9dccb", "#3f6b58", 9, 9},
	[LANE_DEEPER_IDLE] = {"#7fbf9f", "#58947a", 6, 6},
	[LANE_DEEPEST_IDLE] = {"#3f9a72", "#7cc7a5", 3, 3},
	[LANE_SLEEPING] = {"#aab2bd", "#5f6873", 2, 2},
	[LANE_WAITING] = {"#eba300", "#e0a526", 9, 9},
	[LANE_BLOCKED] = {"#d0342c", "#ef6a5f", 6, 6},
};

struct row_place {
	double y;
	bool is_shown;
};

struct drawing {
	struct out *out;
	struct chart *t;
	const struct chartsvg_options *o;
	const struct chartsvg_about *about;
	struct chartrows choice;
	struct paths paths;
	double plot_width, scale; /* pixels; pixels a tick */
	double plot_height;
	double cpus_at, tasks_at;
	VEC(u32) cpus;
	struct row_place *places; /* by row */
	bool has_io, has_states;  /* of tasks */
	bool is_fine;             /* the level being drawn */
	u64 pixel_ns;
	u32 n_labels;
};

static struct str *text_of(const struct drawing *d)
{
	return &d->out->text;
}

/* ---- numbers ---- */

/* Adds "1.5 s", "20 ms", "3.2 us", "7 ns". */
static void add_time(struct str *s, u64 ns)
{
	static const struct {
		u64 ns;
		const char *unit;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(units) && ns < units[i].ns)
		i++;
	str_addf(s, "%.4g %s", (double)ns / (double)units[i].ns, units[i].unit);
}

/* ---- the frame ---- */

static void add_style(struct drawing *d)
{
	struct str *s = text_of(d);

	str_add(s,
		"<style>\n"
		"svg{font:11px sans-serif}text{fill:#222}.bg{fill:#fff}.grid{stroke:#dcdfe4;stroke-width:1}\n"
		".head{font-size:14px;font-weight:bold}.small{font-size:8px;pointer-events:none}.on{fill:#fff}.dim{fill:#5a6370}\n"
		"path{fill:none}#readout{text-anchor:end}.wake,.dot,.m,.l,.speed{pointer-events:none}.band{fill:#f4f5f7}\n");
	for (size_t i = 1; i < LANE_STATES; i++)
		str_addf(s, ".%s{stroke:%s;stroke-width:%u}.c .%s{stroke-width:%u}\n",
			paths_class(i), looks[i].light, looks[i].task, paths_class(i),
			looks[i].cpu);
	str_addf(s,
		".h{stroke:#d9480f;stroke-width:%u}.c .h{stroke-width:%u}.l{stroke:#8a939f;stroke-width:1}\n",
		TASK_BAR, CPU_BAR);
	str_add(s,
		".m,.wake,.dot,.speed{vector-effect:non-scaling-stroke}.m{stroke:#2f6fde;stroke-width:1;stroke-opacity:.55}\n"
		".wake{stroke:#222;stroke-width:.6;stroke-opacity:.22}.dot{stroke:#222;stroke-width:3;stroke-linecap:round;stroke-opacity:.45}\n"
		".speed{stroke:#7b3fa0;stroke-width:1.2}\n"
		".disk{stroke:#1c5bd0;stroke-width:4}.net{stroke:#16803c;stroke-width:4}.sync{stroke:#8a7a00;stroke-width:4}\n"
		".poll{stroke:#0c8a8a;stroke-width:4;stroke-opacity:.3}.error{stroke:#d0342c;stroke-width:4}\n");
	str_add(s,
		"@media (prefers-color-scheme:dark){text{fill:#e6e8eb}.bg{fill:#16181c}.band{fill:#1f2227}.grid{stroke:#353a42}.dim{fill:#9aa3af}.on{fill:#10131a}\n"
		".wake,.dot{stroke:#e6e8eb}.m{stroke:#5b93f5}.disk{stroke:#5b93f5}.net{stroke:#4cc27a}.sync{stroke:#cdb93a}.speed{stroke:#c08ae0}\n");
	for (size_t i = 1; i < LANE_STATES; i++)
		str_addf(s, ".%s{stroke:%s}", paths_class(i), looks[i].dark);
	/* Who knows no media queries sees the fine level. */
	str_add(s,
		"}\n.coarse{display:none}\n"
		"@media (max-resolution:1.99dppx){.coarse{display:inline}.fine{display:none}}\n"
		"svg.zoomed .coarse{display:none}svg.zoomed .fine{display:inline}\n</style>\n");
}

static void add_text(struct drawing *d, double x, double y, const char *class, const char *text)
{
	struct str *s = text_of(d);

	str_addf(s, "<text x=\"%.1f\" y=\"%.1f\"", x, y);
	if (*class)
		str_addf(s, " class=\"%s\"", class);
	str_addc(s, '>');
	markup_add(s, text);
	str_add(s, "</text>\n");
}

/* The bar of a state as rows have it, and its name. */
static double add_key(struct drawing *d, double x, double y, const char *class, double height,
	const char *name)
{
	str_addf(text_of(d), "<path class=\"%s\" d=\"M%.1f %.1fh16\" style=\"stroke-width:%g\"/>\n",
		class, x, y - height / 2, height);
	add_text(d, x + 21, y - 1, "", name);
	return x + 21 + 6.2 * (double)strlen(name) + 16;
}

static void add_legend(struct drawing *d)
{
	static const u8 order[] = {LANE_RUNNING, LANE_IDLE, LANE_DEEPER_IDLE, LANE_DEEPEST_IDLE,
		LANE_SLEEPING, LANE_WAITING, LANE_BLOCKED};
	double x = MARGIN;

	str_add(text_of(d), "<g id=\"legend\">\n");
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		x = add_key(d, x, 40, paths_class(order[i]), looks[order[i]].task,
			chart_state_name(order[i]));
	if (d->has_io) {
		x = add_key(d, x, 40, "disk", 3, "disk");
		x = add_key(d, x, 40, "net", 3, "net");
		x = add_key(d, x, 40, "sync", 3, "sync");
		(void)add_key(d, x, 40, "poll", 3, "poll");
	}
	str_add(text_of(d), "</g>\n");
}

/* A round length of which a span has at most `most`. */
static u64 round_step(u64 span, u64 most)
{
	u64 step = 1;

	for (unsigned i = 0; span / step > most; i++)
		step = i % 3 == 1 ? step / 2 * 5 : step * 2;
	return step;
}

static void add_axis(struct drawing *d)
{
	const u64 span = d->t->end - d->t->begin, step = round_step(MAX(span, 1ull), GRID_LINES);
	struct str *s = text_of(d), word = {0};

	str_add(s, "<g id=\"axis\">\n");
	for (u64 i = 0; i <= span / step; i++) {
		const u64 at = i * step;
		const double x = (double)paths_x(&d->paths, d->t->begin + at) * d->scale;

		str_addf(s, "<path class=\"grid\" d=\"M%.2f %dV%.1f\"/>\n", GUTTER + x, HEAD - 8,
			HEAD + d->plot_height);
		str_clear(&word);
		add_time(&word, at);
		if (x < d->plot_width - 30)
			add_text(d, GUTTER + x + 2, HEAD - 4, "dim", at ? str_text(&word) : "0");
	}
	str_add(s, "</g>\n");
	str_fini(&word);
}

/* ---- lanes ---- */

static bool is_highlighted(const struct drawing *d, const struct lane_piece *p, u64 ns,
	const char *name)
{
	if (p->state != LANE_RUNNING)
		return false;
	return (d->o->highlight_ns && p->n == 1 && ns > d->o->highlight_ns) ||
		(d->o->highlight_name && name && !strcmp(name, d->o->highlight_name));
}

static const char *name_of_life(const struct chart *t, u32 life)
{
	return life < t->lives.n ? t->lives.at[life].name : NULL;
}

/* Draws the states of a lane whose bars stand on the line y. `name` NULL: of the piece's task, on a CPU. */
static void add_lane(struct drawing *d, const struct lane *l, double y, const char *name)
{
	for (size_t i = 0; i < l->pieces.n; i++) {
		const struct lane_piece *p = &l->pieces.at[i];
		const u64 until = lane_piece_end(l, p);
		const double height = name ? looks[p->state].task : looks[p->state].cpu;

		if (p->state == LANE_NOTHING || until <= p->from)
			continue;
		if (is_highlighted(d, p, until - p->from, name ? name : name_of_life(d->t, p->who)))
			paths_add(&d->paths, PATHS_HIGHLIGHT, p->from, until, y - height / 2);
		else
			paths_add(&d->paths, p->state, p->from, until, y - height / 2);
		if (p->state == LANE_RUNNING && until - p->from < d->pixel_ns / 8 && !d->is_fine)
			paths_mark(&d->paths, PATHS_BRIEF, p->from, y - 5, 5);
	}
}

static void add_speeds(struct drawing *d, const struct chart_cpu *c, double y)
{
	struct str *s = text_of(d);
	u64 most = 1;

	if (!c->speeds.n || d->o->has_tasks_only)
		return;
	vec_each(speed, &c->speeds)
		most = MAX(most, speed->khz);
	str_add(s, "<path class=\"speed\" d=\"");
	vec_each(speed, &c->speeds) {
		const double at = y - CPU_BAR * (double)speed->khz / (double)most;

		str_addf(s, "%c%llu %.1f", speed == c->speeds.at ? 'M' : 'L',
			(unsigned long long)paths_x(&d->paths, speed->time), at);
		str_addf(s, "H%llu",
			(unsigned long long)paths_x(&d->paths,
				speed + 1 < c->speeds.at + c->speeds.n ? speed[1].time
								       : d->t->end));
	}
	str_addf(s, "\"><title>frequency, up to %.0f MHz</title></path>\n", (double)most / 1000);
}

static void add_cpu_lanes(struct drawing *d)
{
	double y = d->cpus_at + CPU_BAR;

	for (size_t i = 0; i < d->cpus.n; i++, y += CPU_PITCH) {
		const struct chart_cpu *c = &d->t->cpus.at[d->cpus.at[i]];

		str_addf(text_of(d), "<g class=\"c\" data-cpu=\"%u\">\n", d->cpus.at[i]);
		add_lane(d, &c->lane, y, NULL);
		paths_flush(&d->paths);
		add_speeds(d, c, y);
		str_add(text_of(d), "</g>\n");
	}
}

static void add_row_lanes(struct drawing *d)
{
	vec_each(at, &d->choice.rows) {
		const struct chart_row *r = &d->t->rows.at[*at];
		const struct chart_life *first = &d->t->lives.at[r->first];

		str_addf(text_of(d),
			"<g class=\"t\" data-tid=\"%u\" data-lives=\"%u\" data-row=\"%u\">\n",
			first->tid, r->n_lives, *at);
		add_lane(d, &r->lane, d->places[*at].y + TASK_BAR, r->name);
		paths_flush(&d->paths);
		str_add(text_of(d), "</g>\n");
	}
}

static void add_level(struct drawing *d, const char *class)
{
	str_addf(text_of(d), "<g%s%s%s>\n", *class ? " class=\"" : "", class, *class ? "\"" : "");
	add_cpu_lanes(d);
	add_row_lanes(d);
	str_add(text_of(d), "</g>\n");
}

/* A thin line where tasks lived, so that what is not known of them has a place. */
static void add_lives(struct drawing *d)
{
	u32 *last = mem_alloc((d->t->rows.n + 1) * sizeof(*last));

	memset(last, 0xff, (d->t->rows.n + 1) * sizeof(*last));
	str_add(text_of(d), "<g id=\"lives\">\n");
	for (u32 i = 0; i < d->t->lives.n; i++) {
		const struct chart_life *life = &d->t->lives.at[i];
		const struct chart_life *before =
			last[life->row] != UINT32_MAX ? &d->t->lives.at[last[life->row]] : NULL;

		/* Lives of less than a pixel, close together, are one. */
		if (!d->places[life->row].is_shown ||
			(before && life->until < before->until + d->pixel_ns / 2))
			continue;
		last[life->row] = i;
		paths_add(&d->paths, PATHS_LIFE, life->from, life->until,
			d->places[life->row].y + TASK_BAR + 0.5);
	}
	paths_flush(&d->paths);
	str_add(text_of(d), "</g>\n");
	mem_free(last);
}

/* ---- I/O ---- */

static void add_ios(struct drawing *d)
{
	static const u8 looks_of[CHART_IO_KINDS] = {[CHART_DISK_IN] = PATHS_DISK,
		[CHART_DISK_OUT] = PATHS_DISK,
		[CHART_SYNC] = PATHS_SYNC,
		[CHART_NET_IN] = PATHS_NET,
		[CHART_NET_OUT] = PATHS_NET,
		[CHART_POLL] = PATHS_POLL};
	enum { EAGAIN_NUMBER = 11 }; /* as Linux numbers it, on whatever machine */

	str_add(text_of(d), "<g id=\"io\">\n");
	vec_each(io, &d->t->ios) {
		const struct row_place *place = &d->places[d->t->lives.at[io->life].row];
		const bool is_out = io->kind == CHART_DISK_OUT || io->kind == CHART_NET_OUT ||
			io->kind == CHART_SYNC;

		if (!place->is_shown || (d->o->skips_eagain && io->error == EAGAIN_NUMBER))
			continue;
		paths_add(&d->paths, io->error ? PATHS_ERROR : looks_of[io->kind], io->from,
			MIN(MAX(io->until, io->from + d->o->io_least_ns),
				MAX(d->t->end, io->until)),
			place->y + (d->has_states ? TASK_PITCH + 1 : 4) +
				(is_out ? IO_BAR + 1 : 0));
	}
	paths_flush(&d->paths);
	str_add(text_of(d), "</g>\n");
}

/* ---- wake-ups ---- */

struct arrow {
	u64 time;
	double from, to;
};

static bool is_at(double a, double b)
{
	return fabs(a - b) < 0.5;
}

/* Finds one arrow for wake-ups of the same rows within `shortest` ns; returns how many that are. */
static size_t find_arrows(const struct drawing *d, u64 shortest, struct arrow **ret)
{
	VEC(struct arrow) arrows = {0};
	u32 *last = mem_alloc((d->t->rows.n + 1) * sizeof(*last)); /* by row woken */

	memset(last, 0xff, (d->t->rows.n + 1) * sizeof(*last));
	vec_each(w, &d->t->wakes) {
		const u32 to = d->t->lives.at[w->to].row,
			  from = w->from == CHART_NONE ? to : d->t->lives.at[w->from].row;
		const struct row_place *a = &d->places[from], *b = &d->places[to];
		struct arrow *before = last[to] != UINT32_MAX ? &arrows.at[last[to]] : NULL;

		if (!a->is_shown || !b->is_shown || from == to)
			continue;
		/* Where that is not enough, whoever woke it. */
		if (before && w->time - before->time < shortest &&
			(shortest > 2 * d->pixel_ns || is_at(before->from, a->y)))
			continue;
		last[to] = (u32)arrows.n;
		vec_add(&arrows, ((struct arrow){w->time, a->y, b->y}));
	}
	mem_free(last);
	*ret = arrows.at;
	return arrows.n;
}

static void add_arrows(struct drawing *d, const char *class, const struct arrow *arrows, size_t n)
{
	struct str *s = text_of(d), dots = {0};

	if (!n)
		return;
	str_addf(s, "<g class=\"%s\">\n<path class=\"wake\" d=\"", class);
	for (size_t i = 0; i < n; i++) {
		const struct arrow *a = &arrows[i];
		const u64 x = paths_x(&d->paths, a->time);
		const bool is_down = a->to > a->from;
		const double end = a->to + (is_down ? 3 : TASK_BAR);

		str_addf(s, "M%llu %gV%g", (unsigned long long)x,
			a->from + (is_down ? TASK_BAR : 0), end);
		str_addf(&dots, "M%llu %gh0", (unsigned long long)x, end);
	}
	str_add(s, "\"/>\n<path class=\"dot\" d=\"");
	str_addn(s, str_text(&dots), dots.n);
	str_add(s, "\"/>\n</g>\n");
	str_fini(&dots);
}

/* So many that they can be told apart; the fine level has more. */
static u64 add_wakes(struct drawing *d)
{
	static const u32 most[] = {WAKES_FINE, WAKES_COARSE};
	static const char *const classes[] = {"fine", "coarse"};
	u64 drawn = 0;

	for (size_t i = 0; i < ARRAY_SIZE(most); i++) {
		u64 shortest = i ? d->pixel_ns : 0;
		struct arrow *arrows;
		size_t n = find_arrows(d, shortest, &arrows);

		if (!i && n <= WAKES_COARSE) {
			add_arrows(d, "wakes", arrows, n);
			mem_free(arrows);
			return n;
		}
		while (n > most[i] && shortest <= d->t->end - d->t->begin) {
			mem_free(arrows);
			shortest = shortest ? 2 * shortest : 1024;
			n = find_arrows(d, shortest, &arrows);
		}
		if (n <= most[i])
			add_arrows(d, classes[i], arrows, n);
		drawn = MAX(drawn, n);
		mem_free(arrows);
	}
	return drawn;
}

/* ---- names ---- */

static void add_label(struct drawing *d, u64 from, u64 until, double y, const char *class,
	const char *name)
{
	const double x = (double)paths_x(&d->paths, from) * d->scale,
		     width = (double)(paths_x(&d->paths, until)) * d->scale - x;

	if (d->n_labels >= LABELS_MOST || width < LETTER * (double)strlen(name) + 4)
		return;
	d->n_labels++;
	str_addf(text_of(d), "<text class=\"%s\" x=\"%.2f\" y=\"%.1f\" data-x=\"%.2f\">", class,
		x + 2, y, x);
	markup_add(text_of(d), name);
	str_add(text_of(d), "</text>\n");
}

/* The names of tasks where there is room: of lives in shared rows, and of what CPUs ran. */
static void add_labels(struct drawing *d)
{
	double y = d->cpus_at + 9;

	str_add(text_of(d), "<g id=\"labels\">\n");
	for (size_t i = 0; i < d->cpus.n; i++, y += CPU_PITCH) {
		const struct lane *l = &d->t->cpus.at[d->cpus.at[i]].lane;

		for (size_t k = 0; k < l->pieces.n; k++) {
			const struct lane_piece *p = &l->pieces.at[k];

			if (p->state == LANE_RUNNING && p->who < d->t->lives.n)
				add_label(d, p->from, lane_piece_end(l, p), y, "small on",
					d->t->lives.at[p->who].name);
		}
	}
	vec_each(life, &d->t->lives) {
		struct str name = {0};

		if (!d->places[life->row].is_shown || d->t->rows.at[life->row].n_lives < 2)
			continue;
		str_addf(&name, "%u", life->tid);
		add_label(d, life->from, life->until, d->places[life->row].y + 9, "small",
			str_text(&name));
		str_fini(&name);
	}
	str_add(text_of(d), "</g>\n");
}

/* Adds "3 lives, Running 2 s, Waiting for CPU 20 ms". */
static void add_sums(struct str *s, const struct chart_row *r)
{
	if (r->n_lives > 1)
		str_addf(s, "%u tasks", r->n_lives);
	for (size_t i = 1; i < LANE_STATES; i++) {
		if (!r->ns[i])
			continue;
		str_addf(s, "%s%s ", s->n ? ", " : "", chart_state_name(i));
		add_time(s, r->ns[i]);
	}
}

/* Cuts a name to the room it has. */
static void cut_name(struct str *name)
{
	if (name->n <= LABEL_LETTERS)
		return;
	name->n = LABEL_LETTERS - 2;
	while (name->n && ((u8)name->at[name->n] & 0xc0) == 0x80)
		name->n--;
	str_cut(name, name->n);
	str_add(name, "..");
}

static void add_row_names(struct drawing *d)
{
	vec_each(at, &d->choice.rows) {
		const struct chart_row *r = &d->t->rows.at[*at];
		struct str name = {0}, end = {0}, sums = {0};

		str_add_safe(&name, r->name, strlen(r->name));
		if (r->n_lives > 1)
			str_addf(&end, " \xc3\x97%u", r->n_lives);
		else
			str_addf(&end, ":%u", d->t->lives.at[r->first].tid);
		cut_name(&name);
		add_sums(&sums, r);
		str_addf(text_of(d), "<text id=\"row%u\" x=\"%d\" y=\"%.1f\"%s><title>", *at,
			r->pid ? MARGIN + 10 : MARGIN, HEAD + d->places[*at].y + TASK_BAR - 2,
			r->pid ? " class=\"dim\"" : "");
		markup_add(text_of(d), r->name);
		if (r->pid)
			str_addf(text_of(d), ", thread of %u", r->pid);
		str_add(text_of(d), ": ");
		markup_add(text_of(d), str_text(&sums));
		str_add(text_of(d), "</title>");
		markup_addn(text_of(d), str_text(&name), name.n);
		markup_add(text_of(d), str_text(&end));
		str_add(text_of(d), "</text>\n");
		str_fini(&name);
		str_fini(&end);
		str_fini(&sums);
	}
}

static void add_cpu_names(struct drawing *d)
{
	double y = HEAD + d->cpus_at + CPU_BAR - 5;

	for (size_t i = 0; i < d->cpus.n; i++, y += CPU_PITCH) {
		char name[32];

		snprintf(name, sizeof(name), "CPU %u", d->cpus.at[i]);
		add_text(d, MARGIN, y, "", name);
	}
}

/* ---- all of it ---- */

static void find_cpus(struct drawing *d)
{
	for (size_t i = 0; i < (d->about->cpu_order ? d->about->n_cpus : d->t->cpus.n); i++) {
		const u32 cpu = d->about->cpu_order ? d->about->cpu_order[i] : (u32)i;

		if (cpu < d->t->cpus.n &&
			(d->t->cpus.at[cpu].lane.pieces.n || d->t->cpus.at[cpu].speeds.n))
			vec_add(&d->cpus, cpu);
	}
}

static void place_all(struct drawing *d)
{
	double y = 4;

	d->places = mem_zalloc((d->t->rows.n + 1) * sizeof(*d->places));
	d->cpus_at = y;
	y += (double)d->cpus.n * CPU_PITCH + (d->cpus.n ? SECTION / 2 : 0);
	d->tasks_at = y;
	vec_each(at, &d->choice.rows) {
		d->places[*at] = (struct row_place){y, true};
		y += d->has_io && d->has_states ? TASK_PITCH + 2 * IO_BAR + 4 : TASK_PITCH;
	}
	d->plot_height = y + 4;
}

static void add_remarks(struct drawing *d, u64 n_arrows)
{
	const struct chart *t = d->t;
	double y = HEAD + d->plot_height + 22;
	struct str all = {0};

	if (t->shortest) {
		str_add(&all, "Neighbours shorter than ");
		add_time(&all, t->shortest);
		str_add(&all, " are merged: their times are exact, their order within is not.\n");
	}
	if (d->choice.n_left_out) {
		num_add_grouped(&all, d->choice.n_left_out);
		str_add(&all,
			d->choice.is_full
				? " tasks that did least are left out"
				: " tasks that were busy for less than 10 ms are left out (-n N shows more)");
		if (d->choice.left_out_ns) {
			str_add(&all, "; together they ran for ");
			add_time(&all, d->choice.left_out_ns);
		}
		str_add(&all, ".\n");
	}
	if (t->n_wakes > n_arrows && !d->o->has_power_only && d->choice.rows.n) {
		num_add_grouped(&all, n_arrows);
		str_add(&all, " of ");
		num_add_grouped(&all, t->n_wakes);
		str_add(&all,
			" wake-ups have a line: the others were by interrupts, of tasks that are left out, or too close to one.\n");
	}
	str_add(&all, d->about->remarks ? d->about->remarks : "");
	for (const char *line = str_text(&all); *line;) {
		const size_t n = strcspn(line, "\n");
		struct str one = {0};

		str_addn(&one, line, n);
		add_text(d, MARGIN, y, "dim", str_text(&one));
		str_fini(&one);
		y += LINE;
		line += n + (line[n] == '\n');
	}
	str_fini(&all);
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; text && *text; text++)
		n += *text == '\n';
	return n;
}

static void add_frame(struct drawing *d)
{
	const double height =
		HEAD + d->plot_height + 30 + LINE * (3 + (double)count_lines(d->about->remarks));
	struct str *s = text_of(d);

	str_addf(s,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" "
		"width=\"%llu\" height=\"%.0f\" viewBox=\"0 0 %llu %.0f\" data-begin=\"%llu\" data-end=\"%llu\" data-tick=\"%llu\">\n<title>",
		(unsigned long long)d->o->width, height, (unsigned long long)d->o->width, height,
		(unsigned long long)d->t->begin, (unsigned long long)d->t->end,
		(unsigned long long)d->paths.tick_ns);
	markup_add(s, d->about->title);
	str_add(s, "</title>\n");
	add_style(d);
	str_add(s, "<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n");
	add_text(d, MARGIN, 20, "head", d->about->title);
	add_legend(d);
	str_addf(text_of(d), "<text id=\"readout\" x=\"%llu\" y=\"20\"></text>\n",
		(unsigned long long)d->o->width - MARGIN);
	add_cpu_names(d);
	add_row_names(d);
	add_axis(d);
	str_addf(s,
		"<svg id=\"plot\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%.1f\">\n"
		"<g id=\"lanes\" transform=\"scale(%.9g 1)\">\n",
		GUTTER, HEAD, d->plot_width, d->plot_height, d->scale);
}

/* The pieces of all that is drawn. */
static u64 count_pieces(const struct drawing *d)
{
	u64 n = 0;

	vec_each(cpu, &d->cpus)
		n += d->t->cpus.at[*cpu].lane.pieces.n;
	vec_each(row, &d->choice.rows)
		n += d->t->rows.at[*row].lane.pieces.n;
	return n;
}

/* Makes all lanes coarser until there is no more than that, but no coarser than `longest`. */
static void limit_pieces(struct drawing *d, u64 most, u64 longest)
{
	while (count_pieces(d) > most && d->t->shortest < longest)
		chart_coarsen(d->t, d->t->shortest ? 2 * d->t->shortest : 1024);
}

/* The fine level, as fine as there is room for, and a coarse one if that is too much for a screen. */
static void add_levels(struct drawing *d)
{
	limit_pieces(d, CHARTSVG_FINE, d->t->end - d->t->begin);
	if (count_pieces(d) <= CHARTSVG_COARSE) {
		add_level(d, "");
		return;
	}
	d->is_fine = true;
	add_level(d, "fine");
	d->is_fine = false;
	chart_coarsen(d->t, d->pixel_ns / 2);
	limit_pieces(d, CHARTSVG_COARSE, 8 * d->pixel_ns);
	add_level(d, "coarse");
}

void chartsvg_add(struct out *out, struct chart *t, const struct chartsvg_options *o,
	const struct chartsvg_about *about)
{
	struct drawing d = {.out = out, .t = t, .o = o, .about = about};
	const u64 span = MAX(t->end - t->begin, 1ull), tick = paths_tick(span);
	u64 n_arrows, shortest;

	paths_init(&d.paths, out, t->begin, tick);
	d.plot_width = (double)o->width - GUTTER - MARGIN;
	d.scale = d.plot_width / ((double)span / (double)tick);
	d.pixel_ns = (u64)ceil((double)span / d.plot_width);
	if (!o->has_power_only)
		chartrows_init(&d.choice, t, &o->choice);
	d.has_io = t->ios.n && d.choice.rows.n;
	vec_each(at, &d.choice.rows)
		d.has_states |= t->rows.at[*at].lane.pieces.n > 1;
	if (!o->has_tasks_only || !d.choice.rows.n)
		find_cpus(&d);
	place_all(&d);
	add_frame(&d);
	add_lives(&d);
	add_levels(&d);
	shortest = t->shortest;
	if (d.has_io)
		add_ios(&d);
	n_arrows = add_wakes(&d);
	str_add(text_of(&d), "</g>\n");
	add_labels(&d);
	str_add(text_of(&d), "</svg>\n");
	t->shortest = shortest;
	add_remarks(&d, n_arrows);
	str_addf(text_of(&d), "<script><![CDATA[\n%s]]></script>\n</svg>\n", assets_timechart);
	paths_fini(&d.paths);
	chartrows_fini(&d.choice);
	vec_fini(&d.cpus);
	mem_free(d.places);
}
