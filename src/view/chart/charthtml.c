#include "view/chart/charthtml.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/num.h"
#include "view/html/assets.h"
#include "view/html/chunk.h"
#include "view/text/markup.h"

enum { STATIC_ROWS = 50, GROUPED = 2, FIRST = 1 };

struct writing {
	struct out *out;
	const struct chart *t;
	const struct chartsvg_options *o;
	const struct chartsvg_about *about;
	const struct chartstacks *stacks;
	struct chartrows rows;
	VEC(u32) cpus;
	VEC(const char *) names;
	struct table by_name;
	u32 *place_of; /* by row: its place + 1; 0: it is not shown */
};

static u32 name_number(struct writing *w, const char *name)
{
	const u64 hash = hash_u64((u64)(uintptr_t)name);
	struct table_probe probe = table_probe(&w->by_name, hash);
	u32 i;

	while ((i = table_next(&w->by_name, &probe)) != TABLE_NONE)
		if (w->names.at[i] == name)
			return i;
	table_add(&w->by_name, hash, (u32)w->names.n);
	vec_add(&w->names, name);
	return (u32)w->names.n - 1;
}

/* ---- chunks ---- */

static void add_rows(struct writing *w)
{
	struct chunk chunk;

	chunk_open(&chunk, w->out, "rows");
	vec_each(at, &w->rows.rows) {
		const struct chart_row *r = &w->t->rows.at[*at];

		chunk_add_number(&chunk, name_number(w, r->name));
		chunk_add_number(&chunk, r->pid);
		chunk_add_number(&chunk, r->n_lives);
		chunk_add_number(&chunk, w->t->lives.at[r->first].tid);
	}
	chunk_close(&chunk);
}

/* The distance of two numbers, in either direction, as a small one. */
static void add_distance(struct chunk *chunk, u64 to, u64 from)
{
	chunk_add_number(chunk, to >= from ? 2 * (to - from) : 2 * (from - to) - 1);
}

static void add_lives(struct writing *w)
{
	struct chunk chunk;
	u64 from = w->t->begin, tid = 0;

	chunk_open(&chunk, w->out, "lives");
	vec_each(life, &w->t->lives) {
		add_distance(&chunk, life->tid, tid);
		add_distance(&chunk, life->pid, life->tid);
		chunk_add_number(&chunk, name_number(w, life->name));
		chunk_add_number(&chunk, w->place_of[life->row]);
		add_distance(&chunk, life->from, from);
		chunk_add_number(&chunk, life->until - life->from);
		tid = life->tid;
		from = life->from;
	}
	chunk_close(&chunk);
}

static void add_lane(const struct writing *w, struct chunk *chunk, const struct lane *l)
{
	u64 before = w->t->begin;

	chunk_add_number(chunk, l->pieces.n);
	vec_each(p, &l->pieces) {
		chunk_add_number(chunk, p->from - MIN(p->from, before));
		chunk_add_number(chunk,
			4 * p->state + (p->n > 1 ? GROUPED : 0) + (p->is_first ? FIRST : 0));
		chunk_add_number(chunk, p->who == LANE_SEVERAL ? 0 : (u64)p->who + 1);
		before = MAX(p->from, before);
	}
	if (l->pieces.n)
		chunk_add_number(chunk, l->end - MIN(l->end, before));
}

static u64 add_pieces(const struct writing *w)
{
	struct chunk chunk;
	u64 n = 0;

	chunk_open(&chunk, w->out, "pieces");
	vec_each(cpu, &w->cpus) {
		add_lane(w, &chunk, &w->t->cpus.at[*cpu].lane);
		n += w->t->cpus.at[*cpu].lane.pieces.n;
	}
	vec_each(row, &w->rows.rows) {
		add_lane(w, &chunk, &w->t->rows.at[*row].lane);
		n += w->t->rows.at[*row].lane.pieces.n;
	}
	chunk_close(&chunk);
	return n;
}

static void add_wakes(const struct writing *w)
{
	struct chunk chunk;
	u64 before = w->t->begin;

	chunk_open(&chunk, w->out, "wakes");
	vec_each(wake, &w->t->wakes) {
		chunk_add_number(&chunk, wake->time - MIN(wake->time, before));
		chunk_add_number(&chunk, wake->from == CHART_NONE ? 0 : (u64)wake->from + 1);
		chunk_add_number(&chunk, wake->to);
		chunk_add_number(&chunk, wake->n);
		chunk_add_number(&chunk, wake->stack);
		before = MAX(wake->time, before);
	}
	chunk_close(&chunk);
}

static void add_ios(const struct writing *w)
{
	enum { EAGAIN_NUMBER = 11 }; /* as Linux numbers it, on whatever machine */
	u64 before = w->t->begin;
	struct chunk chunk;

	chunk_open(&chunk, w->out, "ios");
	vec_each(io, &w->t->ios) {
		if (w->o->skips_eagain && io->error == EAGAIN_NUMBER)
			continue;
		add_distance(&chunk, io->from, before);
		chunk_add_number(&chunk, io->until - io->from);
		chunk_add_number(&chunk, io->kind);
		chunk_add_number(&chunk, io->life);
		chunk_add_number(&chunk, io->bytes);
		chunk_add_number(&chunk, io->fd < 0 ? 0 : (u64)io->fd + 1);
		chunk_add_number(&chunk, (u64)MAX(io->error, 0));
		chunk_add_number(&chunk, io->n);
		before = io->from;
	}
	chunk_close(&chunk);
}

static void add_speeds(const struct writing *w)
{
	struct chunk chunk;

	chunk_open(&chunk, w->out, "speeds");
	vec_each(cpu, &w->cpus) {
		const struct chart_cpu *c = &w->t->cpus.at[*cpu];
		u64 before = w->t->begin;

		chunk_add_number(&chunk, c->speeds.n);
		vec_each(speed, &c->speeds) {
			chunk_add_number(&chunk, speed->time - MIN(speed->time, before));
			chunk_add_number(&chunk, speed->khz);
			before = MAX(speed->time, before);
		}
	}
	chunk_close(&chunk);
}

/* ---- stacks ---- */

static void add_frames(const struct writing *w)
{
	const struct chartstacks *s = w->stacks;
	struct chunk chunk;

	chunk_open(&chunk, w->out, "frames");
	vec_each(name, &s->names) {
		chunk_add(&chunk, name->text, strlen(name->text));
		chunk_add(&chunk, "\n", 1);
	}
	chunk_close(&chunk);
	chunk_open(&chunk, w->out, "kinds");
	vec_each(name, &s->names)
		chunk_add_number(&chunk, name->kind);
	chunk_close(&chunk);
	chunk_open(&chunk, w->out, "stacks");
	for (u32 i = 1; i < s->nodes.n; i++) {
		chunk_add_number(&chunk, i - 1 - s->nodes.at[i].parent);
		chunk_add_number(&chunk, s->nodes.at[i].name);
	}
	chunk_close(&chunk);
}

static void add_stacks(const struct writing *w)
{
	u64 before = w->t->begin;
	struct chunk chunk;

	add_frames(w);
	chunk_open(&chunk, w->out, "waits");
	vec_each(wait, &w->t->waits) {
		add_distance(&chunk, wait->until, before);
		chunk_add_number(&chunk, wait->until - wait->from);
		chunk_add_number(&chunk, wait->life);
		chunk_add_number(&chunk, wait->stack);
		chunk_add_number(&chunk, wait->state);
		before = wait->until;
	}
	chunk_close(&chunk);
	chunk_open(&chunk, w->out, "samples");
	before = w->t->begin;
	vec_each(sample, &w->t->samples) {
		add_distance(&chunk, sample->time, before);
		chunk_add_number(&chunk, sample->life);
		chunk_add_number(&chunk, sample->stack);
		before = sample->time;
	}
	chunk_close(&chunk);
}

static void add_names(const struct writing *w)
{
	struct chunk chunk;

	chunk_open(&chunk, w->out, "names");
	vec_each(name, &w->names) {
		struct str safe = {0};

		str_add_safe(&safe, *name, strlen(*name));
		str_addc(&safe, '\n');
		chunk_add(&chunk, safe.at, safe.n);
		str_fini(&safe);
	}
	chunk_close(&chunk);
}

static void add_about(const struct writing *w, u64 n_pieces)
{
	struct str text = {0};
	struct chunk chunk;

	str_addc(&text, '{');
	json_text(&text, "title", w->about->title);
	json_text(&text, "remarks", w->about->remarks ? w->about->remarks : "");
	json_u64(&text, "span", w->t->end - w->t->begin);
	json_u64(&text, "begin", w->t->begin);
	json_u64(&text, "shortest", w->t->shortest);
	json_u64(&text, "rows", w->rows.rows.n);
	json_u64(&text, "lives", w->t->lives.n);
	json_u64(&text, "pieces", n_pieces);
	json_u64(&text, "wakes", w->t->wakes.n);
	if (w->stacks) {
		json_u64(&text, "waitsShortest", w->t->waits_shortest);
		json_u64(&text, "samplesEvery", w->t->samples_every);
	}
	json_u64(&text, "leftOut", w->rows.n_left_out);
	json_open(&text, "cpus", '[');
	for (size_t i = 0; i < w->cpus.n; i++)
		str_addf(&text, "%s%u", i ? "," : "", w->cpus.at[i]);
	str_add(&text, "]}");
	chunk_open(&chunk, w->out, "about");
	chunk_add(&chunk, text.at, text.n);
	chunk_close(&chunk);
	str_fini(&text);
}

/* ---- without scripts ---- */

static int by_running(const void *a, const void *b, void *ctx)
{
	const struct chart *t = ctx;
	const u32 i = *(const u32 *)a, j = *(const u32 *)b;
	const u64 n = t->rows.at[i].ns[LANE_RUNNING], m = t->rows.at[j].ns[LANE_RUNNING];

	return n != m ? (n < m ? 1 : -1) : (i > j) - (i < j);
}

static void add_static_row(struct str *text, const struct chart_row *r)
{
	static const u8 states[] = {LANE_RUNNING, LANE_WAITING, LANE_BLOCKED, LANE_SLEEPING};

	str_add(text, "<tr>");
	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		str_addf(text, "<td class=\"number\">%.3f</td>", (double)r->ns[states[i]] / 1e6);
	str_addf(text, "<td class=\"number\">%u</td><td>", r->n_lives);
	markup_add(text, r->name);
	str_add(text, "</td></tr>\n");
}

static void add_static(const struct writing *w)
{
	struct str *text = &w->out->text;
	const size_t n = w->rows.rows.n;
	u32 *order = mem_alloc((n + 1) * sizeof(*order));

	for (size_t i = 0; i < n; i++)
		order[i] = w->rows.rows.at[i];
	qsort_r(order, n, sizeof(*order), by_running, (void *)(uintptr_t)w->t);
	str_add(text, "<noscript>\n<h1>");
	markup_add(text, w->about->title);
	str_add(text,
		"</h1>\n<p>Scripts are off: these are the tasks that ran longest.</p>\n"
		"<table>\n<thead><tr><th>Running ms</th><th>Waiting for CPU ms</th><th>Blocked on IO ms</th><th>Sleeping ms</th><th>Tasks</th><th>Name</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < MIN(n, (size_t)STATIC_ROWS); i++)
		add_static_row(text, &w->t->rows.at[order[i]]);
	str_add(text, "</tbody>\n</table>\n<pre>");
	/* Lines are ours, but for names within. */
	for (const char *line = w->about->remarks ? w->about->remarks : ""; *line;) {
		const size_t length = strcspn(line, "\n");
		struct str one = {0};

		str_addn(&one, line, length);
		markup_add(text, str_text(&one));
		str_addc(text, '\n');
		str_fini(&one);
		line += length + (line[length] == '\n');
	}
	str_add(text, "</pre>\n</noscript>\n");
	mem_free(order);
}

static void find_lanes(struct writing *w)
{
	const size_t n = w->about->cpu_order ? w->about->n_cpus : w->t->cpus.n;

	for (size_t i = 0; i < n && !w->o->has_tasks_only; i++) {
		const u32 cpu = w->about->cpu_order ? w->about->cpu_order[i] : (u32)i;

		if (cpu < w->t->cpus.n && w->t->cpus.at[cpu].lane.pieces.n)
			vec_add(&w->cpus, cpu);
	}
	if (!w->o->has_power_only)
		chartrows_init(&w->rows, w->t, &w->o->choice);
	w->place_of = mem_zalloc((w->t->rows.n + 1) * sizeof(*w->place_of));
	for (size_t i = 0; i < w->rows.rows.n; i++)
		w->place_of[w->rows.rows.at[i]] = (u32)i + 1;
}

void charthtml_add(struct out *out, struct chart *t, const struct chartsvg_options *o,
	const struct chartsvg_about *about, const struct chartstacks *stacks)
{
	struct writing w = {.out = out, .t = t, .o = o, .about = about, .stacks = stacks};
	struct str *text = &out->text;

	find_lanes(&w);
	str_add(text,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"script-src 'unsafe-inline'; style-src 'unsafe-inline'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
	markup_add(text, about->title);
	str_addf(text, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<div id=\"app\"></div>\n",
		assets_style);
	add_rows(&w);
	add_lives(&w);
	add_about(&w, add_pieces(&w));
	add_wakes(&w);
	add_ios(&w);
	add_speeds(&w);
	if (stacks)
		add_stacks(&w);
	add_names(&w);
	add_static(&w);
	str_addf(text, "%s</body>\n</html>\n", assets_chartpage);
	chartrows_fini(&w.rows);
	vec_fini(&w.cpus);
	vec_fini(&w.names);
	table_fini(&w.by_name);
	mem_free(w.place_of);
}
