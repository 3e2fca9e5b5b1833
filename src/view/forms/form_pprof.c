/*
 * form_pprof.c - stacks as a profile of pprof, packed by gzip.
 *
 * Each event has two sample types: the number of samples, and the period. Frames are locations with an address;
 * functions inlined there are further lines of their location. Addresses in files are moved to where no other file is,
 * as if each file had been mapped once.
 * Source   github.com/google/pprof: proto/profile.proto
 */
#include <string.h>

#include "base/gzip.h"
#include "base/hash.h"
#include "base/protobuf.h"
#include "profile/import/pprof.h"
#include "view/forms/forms.h"
#include "view/forms/stackpath.h"

enum {
	PAGE = 4096,
};

#define FIRST_MAPPING ((u64)1 << 32) /* where the first file is put */

struct pprof_file {
	const char *dso, *build;
	u64 low, high; /* addresses of its places, from page to page */
	u64 start;     /* where it is put */
};

struct pprof_writer {
	const struct rowset *r;
	struct str out, message, part, text;
	VEC(struct pprof_file) files;
	struct table file_index;
	VEC(const char *) strings; /* interned */
	struct table string_index;
	struct intern interned;
	u32 *file_of;           /* by place */
	bool *has_location;     /* by place: the innermost one of a location */
	bool *has_function;     /* by number */
	u32 program;            /* the file that pprof names the profile after */
	u64 comm, default_type; /* strings; the latter: the first event's */
};

/* ---- the parts of the message ---- */

/* The number of a string, new if there is none like it; "" is 0. */
static u64 string_of(struct pprof_writer *w, const char *text)
{
	const char *one = intern_add(&w->interned, text, strlen(text));
	const u64 hash = hash_u64((u64)(uintptr_t)one);
	struct table_probe probe = table_probe(&w->string_index, hash);
	u32 i;

	while ((i = table_next(&w->string_index, &probe)) != TABLE_NONE)
		if (w->strings.at[i] == one)
			return i;
	table_add(&w->string_index, hash, (u32)w->strings.n);
	vec_add(&w->strings, one);
	return w->strings.n - 1;
}

/* Ends the current message as a field of the profile. */
static void end_message(struct pprof_writer *w, u32 field)
{
	protobuf_add_bytes(&w->out, field, str_text(&w->message), w->message.n);
	str_clear(&w->message);
}

static u64 add_type(struct pprof_writer *w, const char *type, const char *unit)
{
	const u64 name = string_of(w, type);

	protobuf_add_u64(&w->message, 1, name);
	protobuf_add_u64(&w->message, 2, string_of(w, unit));
	end_message(w, PPROF_SAMPLE_TYPE);
	return name;
}

/* Imported events are called after their type and unit, like "space/bytes". */
static u64 add_imported_type(struct pprof_writer *w, const char *name)
{
	const char *slash = strrchr(name, '/');

	str_clear(&w->text);
	str_addn(&w->text, name, slash ? (size_t)(slash - name) : strlen(name));
	return add_type(w, str_text(&w->text), slash ? slash + 1 : "count");
}

static void add_types(struct pprof_writer *w)
{
	const struct rowset *r = w->r;

	u64 type;

	for (u32 part = 0; part < r->n_parts; part++) {
		if (r->has_foreign_names) {
			type = add_imported_type(w, r->parts[part].name);
			w->default_type = part ? w->default_type : type;
			continue;
		}
		str_clear(&w->text);
		if (r->n_parts > 1)
			str_addf(&w->text, "%s_", r->parts[part].name);
		str_add(&w->text, "samples");
		add_type(w, str_text(&w->text), "count");
		type = add_type(w, r->parts[part].name,
			r->parts[part].is_time ? "nanoseconds" : "count");
		w->default_type = part ? w->default_type : type;
	}
}

/* ---- files ---- */

static u32 file_of(struct pprof_writer *w, const struct rowset_place *place)
{
	const u64 hash = hash_mix((u64)(uintptr_t)place->dso, (u64)(uintptr_t)place->build);
	struct table_probe probe = table_probe(&w->file_index, hash);
	u32 i;

	while ((i = table_next(&w->file_index, &probe)) != TABLE_NONE)
		if (w->files.at[i].dso == place->dso && w->files.at[i].build == place->build)
			return i;
	table_add(&w->file_index, hash, (u32)w->files.n);
	vec_add(&w->files,
		((struct pprof_file){.dso = place->dso, .build = place->build, .low = UINT64_MAX}));
	return (u32)w->files.n - 1;
}

/* Finds which addresses each file has, and puts those whose addresses are offsets one after the other. */
static void place_files(struct pprof_writer *w)
{
	u64 next = FIRST_MAPPING;

	for (size_t i = 0; i < w->r->n_places; i++) {
		const struct rowset_place *place = &w->r->places[i];
		struct pprof_file *file;

		if (place->is_thread)
			continue;
		w->file_of[i] = file_of(w, place);
		file = &w->files.at[w->file_of[i]];
		file->low = MIN(file->low, place->address & -(u64)PAGE);
		file->high = MAX(file->high, place->address | (PAGE - 1));
	}
	vec_each(file, &w->files) {
		const bool is_offset = file->dso[0] == '/';

		file->start = is_offset ? next : file->low;
		if (is_offset && file->high - file->low < FIRST_MAPPING)
			next += file->high - file->low + 1 + PAGE;
	}
}

/* Whether it is a program, and not a library or the kernel. */
static bool is_program(const struct pprof_file *file)
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
	const struct pprof_file *file = &w->files.at[i];
	const u64 last = file->start + (file->high - file->low);

	protobuf_add_u64(&w->message, 1, mapping_of(w, i));
	protobuf_add_u64(&w->message, 2, file->start);
	/* The end of the last page of all is not a number. */
	protobuf_add_u64(&w->message, 3, last + (last != UINT64_MAX));
	protobuf_add_u64(&w->message, 4, file->dso[0] == '/' ? file->low : 0);
	protobuf_add_u64(&w->message, 5, string_of(w, file->dso));
	protobuf_add_u64(&w->message, 6, file->build ? string_of(w, file->build) : 0);
	/* All names are there: nobody has to look for more. */
	protobuf_add_u64(&w->message, 7, 1);
	protobuf_add_u64(&w->message, 10, 1);
	end_message(w, PPROF_MAPPING);
}

static void add_mappings(struct pprof_writer *w)
{
	for (u32 i = (u32)w->files.n; i-- > 0;)
		if (is_program(&w->files.at[i]))
			w->program = i;
	if (w->files.n)
		add_mapping(w, w->program);
	for (u32 i = 0; i < w->files.n; i++)
		if (i != w->program)
			add_mapping(w, i);
}

/* ---- locations ---- */

static void add_function(struct pprof_writer *w, const struct rowset_place *place)
{
	const u64 name = string_of(w, place->name);

	if (w->has_function[place->function])
		return;
	w->has_function[place->function] = true;
	protobuf_add_u64(&w->part, 1, (u64)place->function + 1);
	protobuf_add_u64(&w->part, 2, name);
	protobuf_add_u64(&w->part, 3, name);
	protobuf_add_bytes(&w->out, PPROF_FUNCTION, str_text(&w->part), w->part.n);
	str_clear(&w->part);
}

/* Adds the location of a node, from the innermost function inlined there to the one that contains it. */
static void add_location(struct pprof_writer *w, size_t node)
{
	const struct rowset *r = w->r;
	const u32 innermost = r->nodes[node].symbol;
	const struct pprof_file *file = &w->files.at[w->file_of[innermost]];
	const struct rowset_place *place;

	if (w->has_location[innermost])
		return;
	w->has_location[innermost] = true;
	protobuf_add_u64(&w->message, 1, (u64)innermost + 1);
	protobuf_add_u64(&w->message, 2, mapping_of(w, w->file_of[innermost]));
	protobuf_add_u64(&w->message, 3, r->places[innermost].address - file->low + file->start);
	do {
		place = stackpath_place(r, node);
		add_function(w, place);
		protobuf_add_u64(&w->part, 1, (u64)place->function + 1);
		protobuf_add_bytes(&w->message, 4, str_text(&w->part), w->part.n);
		str_clear(&w->part);
		node = r->nodes[node].parent;
	} while (place->is_inlined);
	end_message(w, PPROF_LOCATION);
}

/* The node above the frame that a node is of. */
static size_t above_frame(const struct rowset *r, size_t node)
{
	while (stackpath_place(r, node)->is_inlined)
		node = r->nodes[node].parent;
	return r->nodes[node].parent;
}

static void add_labels(struct pprof_writer *w, size_t thread)
{
	if (!thread)
		return;
	protobuf_add_u64(&w->part, 1, w->comm);
	protobuf_add_u64(&w->part, 2, string_of(w, stackpath_place(w->r, thread)->name));
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

	for (; node && !stackpath_place(r, node)->is_thread; node = above_frame(r, node))
		add_location(w, node);
	for (node = row; node && !stackpath_place(r, node)->is_thread; node = above_frame(r, node))
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
	vec_fini(&w->files);
	table_fini(&w->file_index);
	vec_fini(&w->strings);
	table_fini(&w->string_index);
	intern_fini(&w->interned);
	mem_free(w->file_of);
	mem_free(w->has_location);
	mem_free(w->has_function);
}

static void pprof_form_table(struct page *p, const struct rowset *r)
{
	struct pprof_writer w = {.r = r,
		.file_of = mem_zalloc((r->n_places + 1) * sizeof(u32)),
		.has_location = mem_zalloc(r->n_places + 1),
		.has_function = mem_zalloc(r->n_functions + 1)};

	string_of(&w, "");
	w.comm = string_of(&w, "comm");
	add_types(&w);
	place_files(&w);
	add_mappings(&w);
	for (size_t row = 1; row < r->n; row++)
		if (stackpath_is_end(r, row))
			add_sample(&w, row);
	if (r->n_parts)
		protobuf_add_u64(&w.out, PPROF_DEFAULT_TYPE, w.default_type);
	vec_each(text, &w.strings)
		protobuf_add_bytes(&w.out, PPROF_STRING, *text, strlen(*text));
	gzip_add(str_text(&w.out), w.out.n, &p->out->text);
	pprof_writer_fini(&w);
}

const struct form form_pprof = {.name = "pprof",
	.extension = "pb.gz",
	.help = "stacks with addresses, build-ids and inlined functions, for pprof",
	.wants = FORM_WANTS_STACKS | FORM_WANTS_ADDRESSES | FORM_SKIPS_EMPTY | FORM_HAS_NO_TREE |
		FORM_IS_BINARY,
	.table = pprof_form_table};
