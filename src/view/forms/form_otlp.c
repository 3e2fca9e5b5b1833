/*
 * form_otlp.c - stacks as OpenTelemetry's profiles, a format in development.
 *
 * Each event is a profile of its periods, and after it one of its numbers of samples, with the same samples in the same order.
 * Frames are locations with an address in mappings that are laid out one after the other; functions inlined there are further lines of
 * their location. What several samples share is in the dictionary once: an entry is told apart by its encoded bytes, and the zero value,
 * with which each table has to begin, has none.
 * Source   profile/import/otlp.h
 */
#include <string.h>

#include "base/distinct.h"
#include "base/protobuf.h"
#include "profile/import/otlp.h"
#include "profile/rows/codekind.h"
#include "view/forms/filelayout.h"
#include "view/forms/forms.h"
#include "view/forms/stackpath.h"

/* What the samples of a row are, but for their values. */
struct otlp_sample_head {
	u32 row, stack, thread; /* thread: an attribute */
};

struct otlp_writer {
	const struct rowset *r;
	struct filelayout layout;
	struct distinct tables[OTLP_STACKS + 1]; /* by their fields of the dictionary */
	u32 *mapping_of;                         /* by file of the layout */
	u32 *location_of; /* by place: of the innermost function; 0: none yet */
	VEC(struct otlp_sample_head) samples;
	struct str message, part, list, text; /* being made: they are empty between two entries */
};

/* ---- the dictionary ---- */

static u32 string_of(struct otlp_writer *w, const char *text)
{
	return distinct_add_text(&w->tables[OTLP_STRINGS], text);
}

/* The number of the message, which becomes an entry of the table. */
static u32 entry_of(struct otlp_writer *w, enum otlp_dictionary table, struct str *message)
{
	const u32 i = distinct_add(&w->tables[table], str_text(message), message->n);

	str_clear(message);
	return i;
}

/* Adds bytes that were made in `part` as a field of the message. */
static void end_part(struct str *part, u32 field, struct str *message)
{
	protobuf_add_bytes(message, field, str_text(part), part->n);
	str_clear(part);
}

static u32 attribute_of(struct otlp_writer *w, const char *key, const char *text)
{
	struct str value = {0}, attribute = {0};
	u32 i;

	protobuf_add_bytes(&value, OTLP_VALUE_TEXT, text, strlen(text));
	protobuf_add_u64(&attribute, OTLP_ATTRIBUTE_KEY, string_of(w, key));
	end_part(&value, OTLP_ATTRIBUTE_VALUE, &attribute);
	i = entry_of(w, OTLP_ATTRIBUTES, &attribute);
	str_fini(&value);
	str_fini(&attribute);
	return i;
}

static void add_attribute(struct otlp_writer *w, u32 field, const char *key, const char *text)
{
	protobuf_add_varint(&w->list, attribute_of(w, key, text));
	end_part(&w->list, field, &w->message);
}

static void add_mappings(struct otlp_writer *w)
{
	for (size_t i = 0; i < w->layout.files.n; i++) {
		const struct filelayout_file *file = &w->layout.files.at[i];

		protobuf_add_u64(&w->message, OTLP_MAPPING_START, file->start);
		protobuf_add_u64(&w->message, OTLP_MAPPING_LIMIT, filelayout_limit(file));
		protobuf_add_u64(&w->message, OTLP_MAPPING_OFFSET,
			filelayout_has_offsets(file) ? file->low : 0);
		protobuf_add_u64(&w->message, OTLP_MAPPING_FILE, string_of(w, file->dso));
		if (file->build)
			add_attribute(w, OTLP_MAPPING_ATTRIBUTES, OTLP_KEY_BUILD, file->build);
		w->mapping_of[i] = entry_of(w, OTLP_MAPPINGS, &w->message);
	}
}

static u32 function_of(struct otlp_writer *w, const struct rowset_place *place)
{
	struct str function = {0};
	u32 i;

	protobuf_add_u64(&function, OTLP_FUNCTION_NAME, string_of(w, place->name));
	if (place->source)
		protobuf_add_u64(&function, OTLP_FUNCTION_FILE, string_of(w, place->source));
	i = entry_of(w, OTLP_FUNCTIONS, &function);
	str_fini(&function);
	return i;
}

/* NULL: another language's, or not known. */
static const char *frame_type_of(const struct rowset_place *place)
{
	switch (place->kind) {
	case CODEKIND_KERNEL:
		return OTLP_FRAME_KERNEL;
	case CODEKIND_PROGRAM:
	case CODEKIND_LIBRARY:
		return OTLP_FRAME_NATIVE;
	}
	return NULL;
}

/* The location of a node: the functions inlined there, the innermost first, and the one that contains them. */
static u32 make_location(struct otlp_writer *w, size_t node)
{
	const struct rowset *r = w->r;
	const u32 innermost = r->nodes[node].symbol;
	const struct rowset_place *place;

	protobuf_add_u64(&w->message, OTLP_LOCATION_MAPPING,
		w->mapping_of[w->layout.file_of[innermost]]);
	protobuf_add_u64(&w->message, OTLP_LOCATION_ADDRESS,
		filelayout_address(&w->layout, innermost));
	do {
		place = stackpath_place(r, node);
		protobuf_add_u64(&w->part, OTLP_LINE_FUNCTION, function_of(w, place));
		protobuf_add_u64(&w->part, OTLP_LINE_NUMBER, place->line);
		end_part(&w->part, OTLP_LOCATION_LINES, &w->message);
		node = r->nodes[node].parent;
	} while (place->is_inlined);
	if (frame_type_of(place))
		add_attribute(w, OTLP_LOCATION_ATTRIBUTES, OTLP_KEY_FRAME_TYPE,
			frame_type_of(place));
	return entry_of(w, OTLP_LOCATIONS, &w->message);
}

static void add_sample(struct otlp_writer *w, u32 row)
{
	struct otlp_sample_head head = {.row = row};
	const struct rowset *r = w->r;
	struct str locations = {0}, stack = {0};
	size_t node = row;

	for (; node && !stackpath_place(r, node)->is_thread;
		node = stackpath_above_frame(r, node)) {
		u32 *location = &w->location_of[r->nodes[node].symbol];

		if (!*location)
			*location = make_location(w, node);
		protobuf_add_varint(&locations, *location);
	}
	if (locations.n)
		end_part(&locations, OTLP_STACK_LOCATIONS, &stack);
	head.stack = entry_of(w, OTLP_STACKS, &stack);
	if (node)
		head.thread = attribute_of(w, OTLP_KEY_THREAD_NAME, stackpath_place(r, node)->name);
	vec_add(&w->samples, head);
	str_fini(&locations);
	str_fini(&stack);
}

/* ---- profiles ---- */

/* Adds the profile of a part's periods or numbers of samples. */
static void add_profile(struct otlp_writer *w, u32 part, enum stackpath_value value,
	const char *unit, struct str *scope)
{
	struct str profile = {0};

	protobuf_add_u64(&w->message, OTLP_TYPE, string_of(w, str_text(&w->text)));
	protobuf_add_u64(&w->message, OTLP_UNIT, string_of(w, unit));
	end_part(&w->message, OTLP_SAMPLE_TYPE, &profile);
	str_clear(&w->text);
	vec_each(sample, &w->samples) {
		if (!stackpath_value(w->r, sample->row, part, STACKPATH_PERIOD) &&
			!stackpath_value(w->r, sample->row, part, STACKPATH_SAMPLES))
			continue;
		protobuf_add_u64(&w->message, OTLP_SAMPLE_STACK, sample->stack);
		if (sample->thread) {
			protobuf_add_varint(&w->list, sample->thread);
			end_part(&w->list, OTLP_SAMPLE_ATTRIBUTES, &w->message);
		}
		protobuf_add_varint(&w->list, stackpath_value(w->r, sample->row, part, value));
		end_part(&w->list, OTLP_SAMPLE_VALUES, &w->message);
		end_part(&w->message, OTLP_SAMPLES, &profile);
	}
	end_part(&profile, OTLP_PROFILES, scope);
	str_fini(&profile);
}

static void add_profiles(struct otlp_writer *w, struct str *scope)
{
	const struct rowset *r = w->r;

	for (u32 part = 0; part < r->n_parts; part++) {
		const char *unit = stackpath_add_type(r, part, &w->text);

		add_profile(w, part, STACKPATH_PERIOD, unit, scope);
		if (r->has_foreign_names)
			continue;
		stackpath_add_count_type(r, part, &w->text);
		add_profile(w, part, STACKPATH_SAMPLES, "count", scope);
	}
}

static void add_scope(struct otlp_writer *w, struct str *out)
{
	struct str scope = {0}, resource = {0};

	protobuf_add_bytes(&w->message, OTLP_SCOPE_NAME, "pace", strlen("pace"));
	protobuf_add_bytes(&w->message, OTLP_SCOPE_VERSION, PACE_VERSION, strlen(PACE_VERSION));
	end_part(&w->message, OTLP_SCOPE, &scope);
	add_profiles(w, &scope);
	end_part(&scope, OTLP_SCOPE_PROFILES, &resource);
	end_part(&resource, OTLP_RESOURCE_PROFILES, out);
	str_fini(&scope);
	str_fini(&resource);
}

static void add_dictionary(struct otlp_writer *w, struct str *out)
{
	struct str dictionary = {0};

	for (u32 table = OTLP_MAPPINGS; table < ARRAY_SIZE(w->tables); table++)
		vec_each(entry, &w->tables[table].items)
			protobuf_add_bytes(&dictionary, table, entry->at, entry->n);
	end_part(&dictionary, OTLP_DICTIONARY, out);
	str_fini(&dictionary);
}

static void otlp_writer_fini(struct otlp_writer *w)
{
	filelayout_fini(&w->layout);
	for (size_t i = 0; i < ARRAY_SIZE(w->tables); i++)
		distinct_fini(&w->tables[i]);
	mem_free(w->mapping_of);
	mem_free(w->location_of);
	vec_fini(&w->samples);
	str_fini(&w->message);
	str_fini(&w->part);
	str_fini(&w->list);
	str_fini(&w->text);
}

static void otlp_form_table(struct page *p, const struct rowset *r)
{
	struct otlp_writer w = {.r = r, .location_of = mem_zalloc((r->n_places + 1) * sizeof(u32))};

	for (u32 table = OTLP_MAPPINGS; table < ARRAY_SIZE(w.tables); table++)
		distinct_add_text(&w.tables[table], "");
	filelayout_init(&w.layout, r);
	w.mapping_of = mem_zalloc((w.layout.files.n + 1) * sizeof(u32));
	add_mappings(&w);
	for (u32 row = 1; row < r->n; row++)
		if (stackpath_is_end(r, row))
			add_sample(&w, row);
	add_scope(&w, &p->out->text);
	add_dictionary(&w, &p->out->text);
	otlp_writer_fini(&w);
}

const struct form form_otlp = {.name = "otlp",
	.extension = "otlp",
	.help = "profiles of OpenTelemetry, proto 1.11 (experimental)",
	.wants = FORM_WANTS_STACKS | FORM_WANTS_ADDRESSES | FORM_WANTS_LINES | FORM_SKIPS_EMPTY |
		FORM_HAS_NO_TREE | FORM_IS_BINARY,
	.table = otlp_form_table};
