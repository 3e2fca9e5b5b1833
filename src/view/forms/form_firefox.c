/*
 * form_firefox.c - samples for the Firefox Profiler, in its processed format.
 *
 * Version 62 of the format: the application upgrades it. Each thread is a track, and each event of it one of its own, because tracks have one
 * kind of weight: milliseconds for events that are time, else numbers. A node of the tree is a stack; its frames are told apart by function
 * and line. Names are there, so frames have no addresses.
 * Source   github.com/firefox-devtools/profiler: src/types/profile.ts
 */
#include "base/distinct.h"
#include "base/json.h"
#include "base/num.h"
#include "profile/rows/codekind.h"
#include "view/forms/filelayout.h"
#include "view/forms/forms.h"
#include "view/forms/tracks.h"
#include "view/forms/stackpath.h"

enum { FORMAT_VERSION = 62, GECKO_VERSION = 30, RESOURCE_LIBRARY = 1 };

/* The categories, by which the application colours stacks. It wants a grey one. */
enum { CATEGORY_OTHER = 5 };

/* clang-format off: a row a category */
static const struct {
	const char *name, *color;
	char kind; /* enum codekind */
} categories[] = {
	{"Program", "yellow", CODEKIND_PROGRAM},
	{"Library", "blue", CODEKIND_LIBRARY},
	{"Kernel", "orange", CODEKIND_KERNEL},
	{"Inlined", "lightblue", CODEKIND_INLINED},
	{"JIT", "green", CODEKIND_JIT},
	{"Other", "grey", 0},
};
/* clang-format on */

struct firefox_writer {
	struct page *page;
	struct str *text;
	const struct rowset *r;
	struct filelayout layout;
	struct tracks tracks;
	struct distinct strings;
	struct distinct functions; /* struct function, as bytes */
	struct distinct sources;
	struct distinct frames; /* struct frame, as bytes */
	u32 *frame_of;          /* by place */
	u32 *stack_of;          /* by node */
};

struct function {
	u32 name, file, source; /* source: + 1; 0: not known */
};

struct frame {
	u32 function, line, category, depth; /* depth: 1 if it is inlined */
};

/* ---- tables ---- */

static u32 category_of(const struct rowset_place *place)
{
	for (u32 i = 0; i < CATEGORY_OTHER; i++)
		if (categories[i].kind == place->kind)
			return i;
	return CATEGORY_OTHER;
}

static void find_frames(struct firefox_writer *w)
{
	for (u32 i = 0; i < w->r->n_places; i++) {
		const struct rowset_place *place = &w->r->places[i];
		struct function function;
		struct frame frame;

		if (place->is_thread)
			continue;
		function = (struct function){distinct_add_text(&w->strings, place->name),
			w->layout.file_of[i],
			place->source ? distinct_add_text(&w->sources, place->source) + 1 : 0};
		frame = (struct frame){distinct_add(&w->functions, &function, sizeof(function)),
			place->line, category_of(place), place->is_inlined};
		w->frame_of[i] = distinct_add(&w->frames, &frame, sizeof(frame));
	}
	vec_each(file, &w->layout.files)
		distinct_add_text(&w->strings, file->name);
	vec_each(source, &w->sources.items)
		distinct_add_text(&w->strings, source->at);
}

static const struct function *function_at(const struct firefox_writer *w, size_t i)
{
	return (const void *)w->functions.items.at[i].at;
}

static const struct frame *frame_at(const struct firefox_writer *w, size_t i)
{
	return (const void *)w->frames.items.at[i].at;
}

/* Adds a column: n elements, each what `value` is for it, as a number; < 0: null. */
#define ADD_COLUMN(w, name, n, value)                \
	do {                                         \
		json_open((w)->text, name, '[');     \
		for (size_t i = 0; i < (n); i++) {   \
			const s64 v_ = (s64)(value); \
			add_element((w), v_);        \
		}                                    \
		json_close((w)->text, ']');          \
	} while (0)

static void add_element(struct firefox_writer *w, s64 v)
{
	/* Flush before an element: the last one's comma is removed. */
	out_flush_some(w->page->out);
	if (v < 0)
		str_add(w->text, "null");
	else
		num_add_u64(w->text, (u64)v);
	str_addc(w->text, ',');
}

/* Adds a column of elements that are all the same. */
static void add_same(struct firefox_writer *w, const char *name, size_t n, const char *element)
{
	json_open(w->text, name, '[');
	for (size_t i = 0; i < n; i++) {
		out_flush_some(w->page->out);
		str_addf(w->text, "%s,", element);
	}
	json_close(w->text, ']');
}

static void add_stack_table(struct firefox_writer *w)
{
	const struct rowset *r = w->r;
	u32 n = 0;

	json_open(w->text, "stackTable", '{');
	for (size_t row = 1; row < r->n; row++)
		w->stack_of[row] = stackpath_place(r, row)->is_thread ? TABLE_NONE : n++;
	w->stack_of[0] = TABLE_NONE;
	json_open(w->text, "frame", '[');
	for (size_t row = 1; row < r->n; row++)
		if (w->stack_of[row] != TABLE_NONE)
			add_element(w, w->frame_of[r->nodes[row].symbol]);
	json_close(w->text, ']');
	json_open(w->text, "prefix", '[');
	for (size_t row = 1; row < r->n; row++) {
		const u32 above = w->stack_of[r->nodes[row].parent];

		if (w->stack_of[row] != TABLE_NONE)
			add_element(w, above == TABLE_NONE ? -1 : (s64)above);
	}
	json_close(w->text, ']');
	json_u64(w->text, "length", n);
	json_close(w->text, '}');
}

static void add_frame_table(struct firefox_writer *w)
{
	const size_t n = w->frames.items.n;

	json_open(w->text, "frameTable", '{');
	add_same(w, "address", n, "-1");
	ADD_COLUMN(w, "inlineDepth", n, frame_at(w, i)->depth);
	ADD_COLUMN(w, "category", n, frame_at(w, i)->category);
	add_same(w, "subcategory", n, "0");
	ADD_COLUMN(w, "func", n, frame_at(w, i)->function);
	add_same(w, "nativeSymbol", n, "null");
	add_same(w, "innerWindowID", n, "null");
	ADD_COLUMN(w, "line", n, frame_at(w, i)->line ? (s64)frame_at(w, i)->line : -1);
	add_same(w, "column", n, "null");
	json_u64(w->text, "length", n);
	json_close(w->text, '}');
}

static void add_function_table(struct firefox_writer *w)
{
	const size_t n = w->functions.items.n;

	json_open(w->text, "funcTable", '{');
	ADD_COLUMN(w, "name", n, function_at(w, i)->name);
	add_same(w, "isJS", n, "false");
	add_same(w, "relevantForJS", n, "false");
	ADD_COLUMN(w, "resource", n, function_at(w, i)->file);
	ADD_COLUMN(w, "source", n, (s64)function_at(w, i)->source - 1);
	add_same(w, "lineNumber", n, "null");
	add_same(w, "columnNumber", n, "null");
	json_u64(w->text, "length", n);
	json_close(w->text, '}');
}

static void add_other_tables(struct firefox_writer *w)
{
	const size_t n_files = w->layout.files.n, n_sources = w->sources.items.n;

	json_open(w->text, "resourceTable", '{');
	ADD_COLUMN(w, "type", n_files, RESOURCE_LIBRARY);
	ADD_COLUMN(w, "lib", n_files, i);
	ADD_COLUMN(w, "name", n_files, distinct_add_text(&w->strings, w->layout.files.at[i].name));
	add_same(w, "host", n_files, "null");
	json_u64(w->text, "length", n_files);
	json_close(w->text, '}');
	json_open(w->text, "nativeSymbols", '{');
	add_same(w, "libIndex", 0, "");
	add_same(w, "address", 0, "");
	add_same(w, "name", 0, "");
	add_same(w, "functionSize", 0, "");
	json_u64(w->text, "length", 0);
	json_close(w->text, '}');
	json_open(w->text, "sources", '{');
	add_same(w, "id", n_sources, "null");
	ADD_COLUMN(w, "filename", n_sources,
		distinct_add_text(&w->strings, w->sources.items.at[i].at));
	add_same(w, "startLine", n_sources, "1");
	add_same(w, "startColumn", n_sources, "1");
	add_same(w, "sourceMapURL", n_sources, "null");
	json_u64(w->text, "length", n_sources);
	json_close(w->text, '}');
}

static void add_shared(struct firefox_writer *w)
{
	json_open(w->text, "shared", '{');
	add_stack_table(w);
	add_frame_table(w);
	add_function_table(w);
	add_other_tables(w);
	json_open(w->text, "stringArray", '[');
	vec_each(string, &w->strings.items) {
		out_flush_some(w->page->out);
		json_element(w->text, string->at);
	}
	json_close(w->text, ']');
	json_close(w->text, '}');
}

/* ---- threads ---- */

static void add_ms(struct firefox_writer *w, u64 ns)
{
	out_flush_some(w->page->out);
	num_add_u64(w->text, ns / 1000000);
	if (ns % 1000000)
		str_addf(w->text, ".%06llu", (unsigned long long)(ns % 1000000));
	str_addc(w->text, ',');
}

static void add_samples(struct firefox_writer *w, const struct track *track)
{
	const bool is_time = w->r->parts[track->part].is_time;
	const struct track_item *items = w->tracks.items + track->first;

	json_open(w->text, "samples", '{');
	json_text(w->text, "weightType", is_time ? "tracing-ms" : "samples");
	ADD_COLUMN(w, "stack", track->n, w->stack_of[items[i].node]);
	json_open(w->text, "weight", '[');
	for (size_t i = 0; i < track->n; i++)
		if (is_time)
			add_ms(w, items[i].value);
		else
			add_element(w, (s64)items[i].value);
	json_close(w->text, ']');
	json_open(w->text, "time", '[');
	for (size_t i = 0; i < track->n; i++)
		add_ms(w, items[i].time - w->tracks.first_time);
	json_close(w->text, ']');
	json_u64(w->text, "length", track->n);
	json_close(w->text, '}');
}

static void add_markers(struct firefox_writer *w)
{
	static const char *const columns[] = {"data", "name", "startTime", "endTime", "phase",
		"category"};

	json_open(w->text, "markers", '{');
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		add_same(w, columns[i], 0, "");
	json_u64(w->text, "length", 0);
	json_close(w->text, '}');
}

/* Tracks of several events are told apart by their names. */
static void add_thread(struct firefox_writer *w, const struct track *track, size_t nth)
{
	struct str name = {0}, pid = {0};

	str_addf(&name, w->r->n_parts > 1 ? "%s (%s)" : "%s",
		*track->name ? track->name : "all threads", w->r->parts[track->part].name);
	str_addf(&pid, "%u", track->pid);
	str_addc(w->text, '{');
	json_text(w->text, "processType", "default");
	json_u64(w->text, "processStartupTime", 0);
	json_null(w->text, "processShutdownTime");
	json_u64(w->text, "registerTime", 0);
	json_null(w->text, "unregisterTime");
	json_open(w->text, "pausedRanges", '[');
	json_close(w->text, ']');
	json_text(w->text, "name", str_text(&name));
	json_bool(w->text, "isMainThread", track->pid == track->tid && !track->part);
	json_text(w->text, "pid", str_text(&pid));
	json_u64(w->text, "tid", track->tid ? track->tid : nth);
	add_samples(w, track);
	add_markers(w);
	json_close(w->text, '}');
	str_fini(&name);
	str_fini(&pid);
}

/* ---- about ---- */

/* The build-id as Breakpad writes it: the first 16 bytes as a GUID, and an age of 0. */
static void add_breakpad_id(struct str *text, const char *build)
{
	static const u8 order[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	struct str id = {0};

	for (size_t i = 0; build && strlen(build) >= 32 && i < sizeof(order); i++)
		str_addn(&id, build + (size_t)order[i] * 2, 2);
	for (size_t i = 0; i < id.n; i++)
		id.at[i] = id.at[i] >= 'a' && id.at[i] <= 'f' ? (char)(id.at[i] - 'a' + 'A')
							      : id.at[i];
	str_add(&id, id.n ? "0" : "");
	json_text(text, "breakpadId", str_text(&id));
	str_fini(&id);
}

static void add_libraries(struct firefox_writer *w)
{
	json_open(w->text, "libs", '[');
	vec_each(file, &w->layout.files) {
		str_addc(w->text, '{');
		json_text(w->text, "arch", "");
		json_text(w->text, "name", file->name);
		json_text(w->text, "path", file->dso);
		json_text(w->text, "debugName", file->name);
		json_text(w->text, "debugPath", file->dso);
		add_breakpad_id(w->text, file->build);
		if (file->build)
			json_text(w->text, "codeId", file->build);
		else
			json_null(w->text, "codeId");
		json_close(w->text, '}');
	}
	json_close(w->text, ']');
}

static void add_categories(struct firefox_writer *w)
{
	json_open(w->text, "categories", '[');
	for (size_t i = 0; i < ARRAY_SIZE(categories); i++) {
		str_addc(w->text, '{');
		json_text(w->text, "name", categories[i].name);
		json_text(w->text, "color", categories[i].color);
		json_open(w->text, "subcategories", '[');
		json_element(w->text, "Other");
		json_close(w->text, ']');
		json_close(w->text, '}');
	}
	json_close(w->text, ']');
}

static void add_facts(struct firefox_writer *w)
{
	const struct page_about *about = w->page->about;

	json_open(w->text, "extra", '[');
	str_addc(w->text, '{');
	json_text(w->text, "label", "Recording");
	json_open(w->text, "entries", '[');
	for (size_t i = 0; about && i < about->facts.n; i++) {
		str_addc(w->text, '{');
		json_text(w->text, "label", about->facts.at[i].name);
		json_text(w->text, "format", "string");
		json_text(w->text, "value", about->facts.at[i].text);
		json_close(w->text, '}');
	}
	json_close(w->text, ']');
	json_close(w->text, '}');
	json_close(w->text, ']');
}

/* How much time a sample stands for: that of the first one of an event that is time. */
static u64 interval_of(const struct firefox_writer *w)
{
	vec_each(track, &w->tracks.at)
		if (w->r->parts[track->part].is_time && track->n)
			return w->tracks.items[track->first].value;
	return 1000000;
}

static void add_meta(struct firefox_writer *w)
{
	const struct page_about *about = w->page->about;
	const u64 offset = about && w->tracks.has_times ? about->wall_offset_ns : 0;

	json_open(w->text, "meta", '{');
	json_key(w->text, "interval");
	add_ms(w, interval_of(w));
	json_key(w->text, "startTime");
	add_ms(w, offset ? offset + w->tracks.first_time : 0);
	json_u64(w->text, "processType", 0);
	add_categories(w);
	json_text(w->text, "product", about && about->title.n ? str_text(&about->title) : "pace");
	json_u64(w->text, "stackwalk", 1);
	json_u64(w->text, "version", GECKO_VERSION);
	json_u64(w->text, "preprocessedProfileVersion", FORMAT_VERSION);
	json_text(w->text, "importedFrom", "pace " PACE_VERSION);
	json_bool(w->text, "symbolicated", true);
	json_open(w->text, "markerSchema", '[');
	json_close(w->text, ']');
	json_bool(w->text, "doesNotUseFrameImplementation", true);
	json_bool(w->text, "usesOnlyOneStackType", true);
	json_bool(w->text, "sourceCodeIsNotOnSearchfox", true);
	add_facts(w);
	json_close(w->text, '}');
}

static void firefox_form_table(struct page *p, const struct rowset *r)
{
	struct firefox_writer w = {.page = p,
		.text = &p->out->text,
		.r = r,
		.frame_of = mem_zalloc((r->n_places + 1) * sizeof(u32)),
		.stack_of = mem_zalloc((r->n + 1) * sizeof(u32))};
	size_t nth = 0;

	filelayout_init(&w.layout, r);
	tracks_init(&w.tracks, r);
	find_frames(&w);
	str_addc(w.text, '{');
	add_meta(&w);
	add_libraries(&w);
	add_shared(&w);
	json_open(w.text, "threads", '[');
	vec_each(track, &w.tracks.at)
		add_thread(&w, track, ++nth);
	json_close(w.text, ']');
	json_end(w.text, '}');
	str_addc(w.text, '\n');
	filelayout_fini(&w.layout);
	tracks_fini(&w.tracks);
	distinct_fini(&w.strings);
	distinct_fini(&w.functions);
	distinct_fini(&w.sources);
	distinct_fini(&w.frames);
	mem_free(w.frame_of);
	mem_free(w.stack_of);
}

const struct form form_firefox = {.name = "firefox",
	.extension = "json",
	.help = "samples of each thread over time, for the Firefox Profiler",
	.wants = FORM_WANTS_STACKS | FORM_WANTS_ADDRESSES | FORM_WANTS_LINES | FORM_WANTS_TIMES |
		FORM_SKIPS_EMPTY | FORM_HAS_NO_TREE,
	.table = firefox_form_table};
