/*
 * form_chrome.c - samples as trace events of Chrome, for Perfetto and other viewers of time.
 *
 * Each thread, and each event of it, is a track of nested slices, a slice for each function: a sample lasts as long as its period if that is
 * time, else until the next one, but not longer than samples of its track are apart; then slices tell the event's sum in their arguments.
 * Functions that several samples in a row share are one slice. Begins and ends come in their order, so that nesting needs no sorting.
 * Without times, stacks come one after the other. If the recording says what the scheduler did, CPUs and tasks have tracks of their own.
 * Source   view/forms/traceevents.h; phases B, E, X, C and M, which all viewers know
 */
#include <stdlib.h>

#include "base/num.h"
#include "view/forms/forms.h"
#include "view/forms/stackpath.h"
#include "view/forms/traceevents.h"
#include "view/forms/tracks.h"

enum { COUNTER_BINS = 1000 };

#define DEFAULT_GAP_NS ((u64)1000000)

struct open_slice {
	u32 node;
	u64 value; /* of the event, with all that it calls */
};

struct chrome_writer {
	struct traceevents events;
	struct str *text; /* of the events */
	const struct page_about *about;
	const struct rowset *r;
	struct tracks tracks;
	VEC(struct open_slice) open; /* the outermost first */
	VEC(u32) path;               /* nodes of the current sample, the innermost first */
	u32 pid, tid;                /* of the current track */
	bool has_arguments;          /* its slices tell the event's sum */
	const char *event;
};

/* ---- slices ---- */

static void begin_slice(struct chrome_writer *w, u32 node, u64 time)
{
	const struct rowset_place *place = stackpath_place(w->r, node);

	traceevents_begin(&w->events, "B", w->pid, w->tid);
	traceevents_time(&w->events, time);
	json_text(w->text, "name", place->name);
	if (place->dso_name)
		json_text(w->text, "cat", place->dso_name);
	traceevents_end(&w->events);
	vec_add(&w->open, ((struct open_slice){.node = node}));
}

/* Ends slices, the innermost first, until only n are open. */
static void end_slices(struct chrome_writer *w, size_t n, u64 time)
{
	while (w->open.n > n) {
		const struct open_slice *slice = &w->open.at[--w->open.n];

		traceevents_begin(&w->events, "E", w->pid, w->tid);
		traceevents_time(&w->events, time);
		json_text(w->text, "name", stackpath_place(w->r, slice->node)->name);
		if (w->has_arguments) {
			json_open(w->text, "args", '{');
			json_u64(w->text, w->event, slice->value);
			json_close(w->text, '}');
		}
		traceevents_end(&w->events);
		if (w->open.n)
			w->open.at[w->open.n - 1].value += slice->value;
	}
}

static u32 path_node(const struct chrome_writer *w, size_t depth)
{
	return w->path.at[w->path.n - 1 - depth];
}

/* Finds the functions of a sample, and returns how many of them, from the outermost on, are open. */
static size_t find_path(struct chrome_writer *w, u32 node)
{
	size_t n = 0;

	w->path.n = 0;
	for (; node && !stackpath_place(w->r, node)->is_thread; node = w->r->nodes[node].parent)
		vec_add(&w->path, node);
	while (n < w->open.n && n < w->path.n && w->open.at[n].node == path_node(w, n))
		n++;
	return n;
}

/*
 * Whether a function of one name would end and begin in the same moment: speedscope then takes the begin first, as of a slice without
 * length, and loses its place.
 */
static bool is_ambiguous(const struct chrome_writer *w, size_t n_shared)
{
	if (n_shared == w->path.n)
		return false;
	for (size_t i = n_shared; i < w->open.n; i++)
		if (stackpath_place(w->r, w->open.at[i].node)->name ==
			stackpath_place(w->r, path_node(w, n_shared))->name)
			return true;
	return false;
}

/*
 * Makes the open slices, which end at `before`, those of a sample that begins at `start`. What both have stays open if nothing is between
 * them. Returns when it begins: up to a ns later.
 */
static u64 change_slices(struct chrome_writer *w, u32 node, u64 before, u64 start)
{
	size_t n = find_path(w, node);

	if (start == before && is_ambiguous(w, n))
		start++;
	n = start == before ? n : 0;
	end_slices(w, n, before);
	for (; n < w->path.n; n++)
		begin_slice(w, path_node(w, n), start);
	return start;
}

static int by_number(const void *a, const void *b)
{
	const u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

/* How far samples of a track are apart: the median, of a thousand or so. */
static u64 gap_of(const struct track_item *items, size_t n)
{
	enum { MOST = 1000 };
	const size_t step = n / MOST + 1;
	u64 gaps[MOST + 1] = {0};
	size_t n_gaps = 0;

	for (size_t i = 0; i + 1 < n && n_gaps < ARRAY_SIZE(gaps); i += step)
		gaps[n_gaps++] = items[i + 1].time - items[i].time;
	qsort(gaps, n_gaps, sizeof(*gaps), by_number);
	return n_gaps && gaps[n_gaps / 2] ? gaps[n_gaps / 2] : DEFAULT_GAP_NS;
}

/*
 * Where a sample begins that stands for the time before it: where the one before it ends, if it would otherwise begin less than half of its
 * length away from there, or before that. So slices have their exact lengths although interrupts are late now and then.
 */
static u64 start_of(const struct track_item *item, u64 before)
{
	const u64 ideal = item->time - MIN(item->time, item->value);

	return ideal <= before + item->value / 2 ? before : ideal;
}

static void add_samples(struct chrome_writer *w, const struct track *track)
{
	const struct track_item *items = w->tracks.items + track->first;
	const bool is_time = w->r->parts[track->part].is_time || !w->tracks.has_times;
	const u64 gap = gap_of(items, track->n);
	u64 before = w->tracks.first_time;

	for (size_t i = 0; i < track->n; i++) {
		const struct track_item *item = &items[i];
		u64 start = MAX(item->time, before), end = start + gap;

		if (!item->value)
			continue;
		if (is_time && w->tracks.has_times)
			start = start_of(item, before);
		else if (!is_time && i + 1 < track->n)
			end = MIN(end, items[i + 1].time);
		start = change_slices(w, item->node, before, start);
		if (w->open.n)
			w->open.at[w->open.n - 1].value += item->value;
		before = is_time ? start + item->value : MAX(end, start);
	}
	end_slices(w, 0, before);
}

static void add_track(struct chrome_writer *w, const struct track *track, u32 nth)
{
	const struct rowset_part *part = &w->r->parts[track->part];
	const char *name = *track->name ? track->name : "all threads";
	const bool is_first = w->tracks.has_times && !track->part;
	struct str text = {0};

	w->pid = w->tracks.has_times ? track->pid : 1;
	w->tid = is_first ? track->tid : TRACEEVENTS_OTHER + nth;
	w->event = part->name;
	w->has_arguments = !part->is_time && w->tracks.has_times;
	str_addf(&text, w->r->n_parts > 1 ? "%s (%s)" : "%s", name, part->name);
	traceevents_name(&w->events, "thread_name", w->pid, w->tid, str_text(&text));
	if (is_first && track->pid == track->tid)
		traceevents_name(&w->events, "process_name", w->pid, w->tid, name);
	add_samples(w, track);
	str_fini(&text);
}

/* ---- counters ---- */

/* How much of an event there was, over time: how many CPUs were busy if it is time, else how often it came in a second. */
static void add_counter(struct chrome_writer *w, u32 part)
{
	const u64 first = w->tracks.first_time, length = w->tracks.last_time - first;
	const u64 width = length / COUNTER_BINS + 1;
	const bool is_time = w->r->parts[part].is_time;
	u64 sums[COUNTER_BINS] = {0};
	struct str name = {0};

	vec_each(track, &w->tracks.at)
		for (size_t i = 0; track->part == part && i < track->n; i++) {
			const struct track_item *item = &w->tracks.items[track->first + i];

			sums[(item->time - first) / width] += item->value;
		}
	str_addf(&name, is_time ? "%s: CPUs" : "%s: per second", w->r->parts[part].name);
	for (u64 bin = 0; bin <= length / width; bin++) {
		traceevents_begin(&w->events, "C", w->tracks.at.at[0].pid, 0);
		traceevents_time(&w->events, first + bin * width);
		json_text(w->text, "name", str_text(&name));
		json_open(w->text, "args", '{');
		json_key(w->text, "value");
		num_add_fixed(w->text, (double)sums[bin] / (double)width * (is_time ? 1 : 1e9), 3);
		str_addc(w->text, ',');
		json_close(w->text, '}');
		traceevents_end(&w->events);
	}
	str_fini(&name);
}

static void add_facts(struct chrome_writer *w)
{
	const struct page_about *about = w->about;

	json_open(w->text, "otherData", '{');
	json_text(w->text, "writer", "pace " PACE_VERSION);
	for (size_t i = 0; about && i < about->facts.n; i++)
		json_text(w->text, about->facts.at[i].name, about->facts.at[i].text);
	json_close(w->text, '}');
}

static void chrome_form_table(struct page *p, const struct rowset *r)
{
	struct chrome_writer w = {.text = &p->out->text, .about = p->about, .r = r};
	u32 nth = 0;

	tracks_init(&w.tracks, r);
	w.events = (struct traceevents){.out = p->out,
		.text = w.text,
		.first_time = w.tracks.first_time};
	if (w.tracks.has_times && p->chart)
		w.events.first_time = MIN(w.events.first_time, p->chart->begin);
	str_addc(w.text, '{');
	json_text(w.text, "displayTimeUnit", "ns");
	add_facts(&w);
	json_open(w.text, "traceEvents", '[');
	vec_each(track, &w.tracks.at)
		add_track(&w, track, nth++);
	for (u32 part = 0; w.tracks.has_times && part < r->n_parts; part++)
		add_counter(&w, part);
	if (w.tracks.has_times && p->chart)
		traceevents_add_chart(&w.events, p->chart);
	traceevents_close(&w.events);
	json_end(w.text, '}');
	str_addc(w.text, '\n');
	vec_fini(&w.open);
	vec_fini(&w.path);
	tracks_fini(&w.tracks);
}

const struct form form_chrome = {.name = "chrome",
	.extension = "json",
	.help = "samples of each thread over time as trace events, for Perfetto",
	.wants = FORM_WANTS_STACKS | FORM_WANTS_FUNCTIONS | FORM_WANTS_TIMES | FORM_WANTS_CHART |
		FORM_SKIPS_EMPTY | FORM_HAS_NO_TREE,
	.n_times = 250000,
	.table = chrome_form_table};
