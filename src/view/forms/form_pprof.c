/*
 * form_pprof.c - stacks as a profile of pprof, packed by gzip.
 *
 * Each event has two sample types: the number of samples, and the period. Frames are locations with an address and, where it is
 * known, a line of source; functions inlined there are further lines of their location. Addresses in files are moved to where no other file is,
 * as if each file had been mapped once.
 * Source   github.com/google/pprof: proto/profile.proto
 */
#include <string.h>

#include "base/distinct.h"
#include "base/gzip.h"
#include "base/protobuf.h"
#include "profile/import/pprof.h"
#include "view/forms/filelayout.h"
#include "view/forms/forms.h"
#include "view/forms/stackpath.h"

struct pprof_writer {
	const struct rowset *r;
	struct str out, message, part, text;
	struct filelayout layout;
	struct distinct strings;   /* "" is 0 */
	bool *has_location;        /* by place: the innermost one of a location */
	struct distinct functions; /* the number and the source file of each, as bytes */
	bool *has_lines;           /* by file of the layout */
	u32 program;               /* the file that pprof names the profile after */
	u64 comm, default_type;    /* strings; the latter: the first event's */
};

/* ---- the parts of the message ---- */

/* Ends the current message as a field of the profile. */
static void end_message(struct pprof_writer *w, u32 field)
{
	protobuf_add_bytes(&w->out, field, str_text(&w->message), w->message.n);
	str_clear(&w->message);
}

static u64 add_type(struct pprof_writer *w, const char *type, const char *unit)
{
	const u64 name = distinct_add_text(&w->strings, type);

	protobuf_add_u64(&w->message, 1, name);
	protobuf_add_u64(&w->message, 2, distinct_add_text(&w->strings, unit));
	end_message(w, PPROF_SAMPLE_TYPE);
	return name;
}

static void add_types(struct pprof_writer *w)
{
	const struct rowset *r = w->r;

	for (u32 part = 0; part < r->n_parts; part++) {
		const char *unit;
		u64 type;

		if (!r->has_foreign_names) {
			str_clear(&w->text);
			stackpath_add_count_type(r, part, &w->text);
			add_type(w, str_text(&w->text), "count");
		}
		str_clear(&w->text);
		unit = stackpath_add_type(r, part, &w->text);
		type = add_type(w, str_text(&w->text), unit);
		w->default_type = part ? w->default_type : type;
	}
}

/* ---- files ---- */

/* Whether it is a program, and not a library or the kernel. */
static bool is_program(const struct filelayout_file *file)
{
	const char *slash = strrchr(file->dso, '/');

	return file->dso[0] == '/' && !strstr(slash, ".so");
}

/* The number of a file's mapping: the program has the first one. */
static u64 mapping_of(const struct pprof_writer *w, u32 file)
{
	return file == w->program ? 1 : file < w->program ? file + 2 : file + 1;
}

static void add_mapping(struct pprof_writer *w, u32 i)
{
	const struct filelayout_file *file = &w->layout.files.at[i];

	protobuf_add_u64(&w->message, 1, mapping_of(w, i));
	protobuf_add_u64(&w->message, 2, file->start);
	protobuf_add_u64(&w->message, 3, filelayout_limit(file));
	protobuf_add_u64(&w->message, 4, filelayout_has_offsets(file) ? file->low : 0);
	protobuf_add_u64(&w->message, 5, distinct_add_text(&w->strings, file->dso));
	protobuf_add_u64(&w->message, 6,
		file->build ? distinct_add_text(&w->strings, file->build) : 0);
	/* All names are there: nobody has to look for more. */
	protobuf_add_u64(&w->message, 7, 1);
	protobuf_add_u64(&w->message, 8, w->has_lines[i]);
	protobuf_add_u64(&w->message, 9, w->has_lines[i]);
	protobuf_add_u64(&w->message, 10, 1);
	end_message(w, PPROF_MAPPING);
}

static void add_mappings(struct pprof_writer *w)
{
	for (size_t i = 0; i < w->r->n_places; i++)
		if (!w->r->places[i].is_thread && w->r->places[i].source)
			w->has_lines[w->layout.file_of[i]] = true;
	for (u32 i = (u32)w->layout.files.n; i-- > 0;)
		if (is_program(&w->layout.files.at[i]))
			w->program = i;
	if (w->layout.files.n)
		add_mapping(w, w->program);
	for (u32 i = 0; i < w->layout.files.n; i++)
		if (i != w->program)
			add_mapping(w, i);
}

/* ---- locations ---- */

/* The number of a place's function, which is added if it is new: a function in several source files is several ones. */
static u64 function_of(struct pprof_writer *w, const struct rowset_place *place)
{
	const u64 name = distinct_add_text(&w->strings, place->name),
		  source = place->source ? distinct_add_text(&w->strings, place->source) : 0;
	const u64 what[] = {place->function, source};
	const size_t n = w->functions.items.n;
	const u64 id = (u64)distinct_add(&w->functions, what, sizeof(what)) + 1;

	if (w->functions.items.n == n)
		return id;
	protobuf_add_u64(&w->part, 1, id);
	protobuf_add_u64(&w->part, 2, name);
	protobuf_add_u64(&w->part, 3, name);
	protobuf_add_u64(&w->part, 4, source);
	protobuf_add_bytes(&w->out, PPROF_FUNCTION, str_text(&w->part), w->part.n);
	str_clear(&w->part);
	return id;
}

/* Adds the location of a node, from the innermost function inlined there to the one that contains it. */
static void add_location(struct pprof_writer *w, size_t node)
{
	const struct rowset *r = w->r;
	const u32 innermost = r->nodes[node].symbol;
	const struct rowset_place *place;
	u64 function;

	if (w->has_location[innermost])
		return;
	w->has_location[innermost] = true;
	protobuf_add_u64(&w->message, 1, (u64)innermost + 1);
	protobuf_add_u64(&w->message, 2, mapping_of(w, w->layout.file_of[innermost]));
	protobuf_add_u64(&w->message, 3, filelayout_address(&w->layout, innermost));
	do {
		place = stackpath_place(r, node);
		function = function_of(w, place);
		protobuf_add_u64(&w->part, 1, function);
		protobuf_add_u64(&w->part, 2, place->line);
		protobuf_add_bytes(&w->message, 4, str_text(&w->part), w->part.n);
		str_clear(&w->part);
		node = r->nodes[node].parent;
	} while (place->is_inlined);
	end_message(w, PPROF_LOCATION);
}

static void add_labels(struct pprof_writer *w, size_t thread)
{
	if (!thread)
		return;
	protobuf_add_u64(&w->part, 1, w->comm);
	protobuf_add_u64(&w->part, 2,
		distinct_add_text(&w->strings, stackpath_place(w->r, thread)->name));
	protobuf_add_bytes(&w->message, 3, str_text(&w->part), w->part.n);
	str_clear(&w->part);
}

static void add_values(struct pprof_writer *w, size_t row)
{
	const struct rowset *r = w->r;

	for (u32 part = 0; part < r->n_parts; part++) {
		if (!r->has_foreign_names)
			protobuf_add_varint(&w->part,
				stackpath_value(r, row, part, STACKPATH_SAMPLES));
		protobuf_add_varint(&w->part, stackpath_value(r, row, part, STACKPATH_PERIOD));
	}
	protobuf_add_bytes(&w->message, 2, str_text(&w->part), w->part.n);
	str_clear(&w->part);
}

static void add_sample(struct pprof_writer *w, size_t row)
{
	const struct rowset *r = w->r;
	size_t node = row;

	for (; node && !stackpath_place(r, node)->is_thread; node = stackpath_above_frame(r, node))
		add_location(w, node);
	for (node = row; node && !stackpath_place(r, node)->is_thread;
		node = stackpath_above_frame(r, node))
		protobuf_add_varint(&w->part, (u64)r->nodes[node].symbol + 1);
	protobuf_add_bytes(&w->message, 1, str_text(&w->part), w->part.n);
	str_clear(&w->part);
	add_values(w, row);
	add_labels(w, node);
	end_message(w, PPROF_SAMPLE);
}

static void pprof_writer_fini(struct pprof_writer *w)
{
	str_fini(&w->out);
	str_fini(&w->message);
	str_fini(&w->part);
	str_fini(&w->text);
	filelayout_fini(&w->layout);
	distinct_fini(&w->strings);
	mem_free(w->has_location);
	distinct_fini(&w->functions);
	mem_free(w->has_lines);
}

static void pprof_form_table(struct page *p, const struct rowset *r)
{
	struct pprof_writer w = {.r = r, .has_location = mem_zalloc(r->n_places + 1)};

	distinct_add_text(&w.strings, "");
	w.comm = distinct_add_text(&w.strings, "comm");
	add_types(&w);
	filelayout_init(&w.layout, r);
	w.has_lines = mem_zalloc(w.layout.files.n + 1);
	add_mappings(&w);
	for (size_t row = 1; row < r->n; row++)
		if (stackpath_is_end(r, row))
			add_sample(&w, row);
	if (r->n_parts)
		protobuf_add_u64(&w.out, PPROF_DEFAULT_TYPE, w.default_type);
	vec_each(text, &w.strings.items)
		protobuf_add_bytes(&w.out, PPROF_STRING, text->at, text->n);
	gzip_add(str_text(&w.out), w.out.n, &p->out->text);
	pprof_writer_fini(&w);
}

const struct form form_pprof = {.name = "pprof",
	.extension = "pb.gz",
	.help = "stacks with addresses, lines, build-ids and inlined functions, for pprof",
	.wants = FORM_WANTS_STACKS | FORM_WANTS_ADDRESSES | FORM_WANTS_LINES | FORM_SKIPS_EMPTY |
		FORM_HAS_NO_TREE | FORM_IS_BINARY,
	.table = pprof_form_table};
