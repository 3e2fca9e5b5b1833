/*
 * Profiles of pprof: a protocol buffers message, mostly packed by gzip, that Go, Google's tools and many others write.
 *
 * A sample has a value for each of the profile's types, like samples/count and cpu/nanoseconds. Each type becomes an
 * event; the default type of the profile, or else the last one, comes first. For a type whose unit is not "count", the
 * number of samples is the value of the nearest type before it that is a count.
 * Source   github.com/google/pprof: proto/profile.proto, proto/README.md
 */
#include "profile/import/messages.h"

#include "base/hash.h"
#include "event/abi.h"
#include "machine/dso.h"
#include "profile/import/pprof.h"
#include "symbol/resolve/resolver.h"

enum {
	TYPES_MOST = 64,
	LAST_FIELD = 15,
};

struct type {
	u64 type, unit; /* strings */
};

struct pprof_mapping {
	u64 id, start, limit, offset, file, build; /* the last two: strings */
	u32 dso;                                   /* PROFILE_NO_FRAME: not made yet */
};

struct function {
	u64 id, name, system_name, file; /* the last three: strings */
	const char *text;                /* its name, "" without one; NULL: not looked up yet */
};

struct location {
	u64 id;
	struct bytes message;
	u32 frame; /* PROFILE_NO_FRAME: not made yet */
};

/* A line of a location: a function and a line number. */
struct call {
	u64 function, line;
};

struct pprof_reader {
	struct importing b;
	message_strings strings;
	VEC(struct type) types;
	VEC(struct pprof_mapping) mappings;
	VEC(struct function) functions;
	VEC(struct location) locations;
	struct table function_ids, mapping_ids, location_ids;
	u64 default_type;        /* a string; 0: the last one */
	u32 order[TYPES_MOST];   /* events of the types */
	bool counts[TYPES_MOST]; /* whether a type's unit is "count" */
	u64 sums[TYPES_MOST], n_samples[TYPES_MOST];
	u32 unknown;            /* a DSO; PROFILE_NO_FRAME until there is one */
	VEC(struct call) calls; /* of the current location, the innermost first */
	VEC(u32) inlined;
	VEC(u64) path, values; /* of the current sample; path: the innermost location first */
	struct str room;
};

/* ---- tables ---- */

static int check_string(const struct pprof_reader *r, u64 string, const struct bytes *at,
	struct err *err)
{
	return string < r->strings.n || !string
		? 0
		: messages_damaged(r->b.in, at,
			  "a text is referred to that the profile does not have", err);
}

static void add_id(struct table *ids, u64 id, size_t position)
{
	table_add(ids, hash_u64(id), (u32)position);
}

#define FIND(r, list, wanted)                                                                \
	({                                                                                   \
		struct table_probe probe_ = table_probe(&(r)->list##_ids, hash_u64(wanted)); \
		u32 i_;                                                                      \
		while ((i_ = table_next(&(r)->list##_ids, &probe_)) != TABLE_NONE)           \
			if ((r)->list##s.at[i_].id == (wanted))                              \
				break;                                                       \
		i_ == TABLE_NONE ? NULL : &(r)->list##s.at[i_];                              \
	})

static int take_type(struct pprof_reader *r, const struct protobuf_field *f, struct err *err)
{
	struct type t = {0};
	u64 *const places[] = {[1] = &t.type, [2] = &t.unit};

	if (r->types.n == TYPES_MOST)
		return messages_damaged(r->b.in, &f->bytes, "there are more than 64 sample types",
			err);
	if (messages_take_numbers(r->b.in, f->bytes, places, ARRAY_SIZE(places), err))
		return err->code;
	vec_add(&r->types, t);
	return 0;
}

static int take_mapping(struct pprof_reader *r, const struct protobuf_field *f, struct err *err)
{
	struct pprof_mapping m = {.dso = PROFILE_NO_FRAME};
	u64 *const places[] = {[1] = &m.id,
		[2] = &m.start,
		[3] = &m.limit,
		[4] = &m.offset,
		[5] = &m.file,
		[6] = &m.build};

	if (messages_take_numbers(r->b.in, f->bytes, places, ARRAY_SIZE(places), err))
		return err->code;
	add_id(&r->mapping_ids, m.id, r->mappings.n);
	vec_add(&r->mappings, m);
	return 0;
}

static int take_function(struct pprof_reader *r, const struct protobuf_field *f, struct err *err)
{
	struct function fn = {0};
	u64 *const places[] = {[1] = &fn.id, [2] = &fn.name, [3] = &fn.system_name, [4] = &fn.file};

	if (messages_take_numbers(r->b.in, f->bytes, places, ARRAY_SIZE(places), err))
		return err->code;
	add_id(&r->function_ids, fn.id, r->functions.n);
	vec_add(&r->functions, fn);
	return 0;
}

static int take_location(struct pprof_reader *r, const struct protobuf_field *f, struct err *err)
{
	struct location l = {.message = f->bytes, .frame = PROFILE_NO_FRAME};
	u64 *const places[] = {[1] = &l.id};

	if (messages_take_numbers(r->b.in, f->bytes, places, ARRAY_SIZE(places), err))
		return err->code;
	add_id(&r->location_ids, l.id, r->locations.n);
	vec_add(&r->locations, l);
	return 0;
}

static int take_table(struct pprof_reader *r, const struct protobuf_field *f, struct err *err)
{
	if (f->number == PPROF_DEFAULT_TYPE && f->type == PROTOBUF_VARINT)
		r->default_type = f->value;
	if (f->type != PROTOBUF_BYTES)
		return 0;
	switch (f->number) {
	case PPROF_SAMPLE_TYPE:
		return take_type(r, f, err);
	case PPROF_MAPPING:
		return take_mapping(r, f, err);
	case PPROF_LOCATION:
		return take_location(r, f, err);
	case PPROF_FUNCTION:
		return take_function(r, f, err);
	case PPROF_STRING:
		vec_add(&r->strings, f->bytes);
		return 0;
	}
	return 0;
}

/* Reads everything but samples, which may refer to what comes after them. */
static int take_tables(struct pprof_reader *r, struct err *err)
{
	enum { EACH_ID = 16 };
	struct bytes b = import_bytes(r->b.in);
	struct protobuf_field f;
	int got;

	while ((got = protobuf_next(&b, &f)) > 0) {
		if (take_table(r, &f, err))
			return err->code;
		r->b.held = r->strings.n * sizeof(*r->strings.at) +
			r->mappings.n * (sizeof(*r->mappings.at) + EACH_ID) +
			r->functions.n * (sizeof(*r->functions.at) + EACH_ID) +
			r->locations.n * (sizeof(*r->locations.at) + EACH_ID);
		if (importing_charge(&r->b, b.offset, err))
			return err->code;
	}
	return got ? messages_cut_off(r->b.in, &b, err) : 0;
}

/* ---- places ---- */

static u32 dso_of(struct pprof_reader *r, struct pprof_mapping *m)
{
	const char *path, *build;

	if (!m) {
		if (r->unknown == PROFILE_NO_FRAME)
			r->unknown =
				importing_dso(&r->b, DSO_UNKNOWN, "[unknown]", "[unknown]", NULL);
		return r->unknown;
	}
	if (m->dso != PROFILE_NO_FRAME)
		return m->dso;
	path = messages_string(&r->b, &r->strings, m->file);
	build = messages_string(&r->b, &r->strings, m->build);
	m->dso = *path ? importing_mapped(&r->b, path, *build ? build : NULL) : dso_of(r, NULL);
	return m->dso;
}

static u8 mode_of(const struct pprof_reader *r, u32 dso)
{
	return r->b.profile->dsos.at[dso].kind == DSO_KERNEL ? PERF_RECORD_MISC_KERNEL
		: dso == r->unknown                          ? PROFILE_NO_MODE
							     : PERF_RECORD_MISC_USER;
}

/* The name of a function, or NULL. It is looked up once: many lines may have one long name. */
static const char *name_of(struct pprof_reader *r, struct function *fn)
{
	if (!fn)
		return NULL;
	if (!fn->text) {
		fn->text = messages_string(&r->b, &r->strings, fn->name);
		if (!*fn->text)
			fn->text = messages_string(&r->b, &r->strings, fn->system_name);
	}
	return *fn->text ? fn->text : NULL;
}

/* Sets the symbol's file and line to those of the innermost call of the location. */
static void set_source(struct pprof_reader *r, struct profile_symbol *s,
	const struct function *outer)
{
	const struct call *inner = r->calls.n ? &r->calls.at[0] : NULL;
	const struct function *fn = inner ? FIND(r, function, inner->function) : NULL;
	const enum naming_source source = r->b.options->source;

	if (!source)
		return;
	fn = source == NAMING_FUNCTION_FILES ? outer : fn;
	s->file = messages_file(&r->b, &r->strings, fn ? fn->file : UINT64_MAX);
	if (source != NAMING_LINES)
		return;
	str_clear(&r->room);
	if (*s->file)
		str_addf(&r->room, "%s:%llu", s->file, (unsigned long long)inner->line);
	s->line = intern_str(&r->b.profile->strings, str_text(&r->room));
	s->has_line = *s->file != '\0';
}

/* The symbol of a function, or of one of its lines. */
static u32 function_symbol(struct pprof_reader *r, u32 dso, struct function *fn, u64 address)
{
	struct profile_symbol s = {.dso = dso, .name = name_of(r, fn), .mode = mode_of(r, dso)};
	u32 function;

	if (!s.name) {
		s.start = s.end = address;
		s.outcome = RESOLVER_NO_SYMBOL;
	}
	function = importing_symbol(&r->b, &s);
	if (!r->b.options->source)
		return function;
	set_source(r, &s, fn);
	s.function = function;
	return importing_symbol(&r->b, &s);
}

static int take_line(struct pprof_reader *r, struct bytes message, struct err *err)
{
	struct call call = {0};
	u64 *const places[] = {[1] = &call.function, [2] = &call.line};
	const struct function *fn;

	if (messages_take_numbers(r->b.in, message, places, ARRAY_SIZE(places), err))
		return err->code;
	fn = call.function ? FIND(r, function, call.function) : NULL;
	if (call.function && !fn)
		return messages_damaged(r->b.in, &message,
			"a line refers to a function that the profile does not have", err);
	if (fn &&
		(check_string(r, fn->name, &message, err) ||
			check_string(r, fn->system_name, &message, err) ||
			check_string(r, fn->file, &message, err)))
		return err->code;
	/* Only the innermost calls are kept. */
	if (r->calls.n <= IMPORT_INLINED)
		vec_add(&r->calls, call);
	return 0;
}

static int take_calls(struct pprof_reader *r, struct bytes b, struct err *err)
{
	struct protobuf_field f;

	r->calls.n = 0;
	while (protobuf_next(&b, &f) > 0)
		if (f.number == 4 && f.type == PROTOBUF_BYTES && take_line(r, f.bytes, err))
			return err->code;
	return 0;
}

/* Makes the frame of a location: its outermost function, and those inlined there. */
static int make_frame(struct pprof_reader *r, struct location *l, struct err *err)
{
	u64 mapping = 0, address = 0;
	u64 *const places[] = {[2] = &mapping, [3] = &address};
	struct pprof_mapping *m;
	u32 dso, symbol;

	if (messages_take_numbers(r->b.in, l->message, places, ARRAY_SIZE(places), err) ||
		take_calls(r, l->message, err))
		return err->code;
	m = mapping ? FIND(r, mapping, mapping) : NULL;
	if (mapping && !m)
		return messages_damaged(r->b.in, &l->message,
			"a location refers to a mapping that the profile does not have", err);
	if (m &&
		(check_string(r, m->file, &l->message, err) ||
			check_string(r, m->build, &l->message, err)))
		return err->code;
	dso = dso_of(r, m);
	/* As in recordings, addresses become file offsets. */
	if (m && address >= m->start && r->b.profile->dsos.at[dso].kind == DSO_FILE)
		address += m->offset - m->start;
	symbol = function_symbol(r, dso,
		r->calls.n ? FIND(r, function, r->calls.at[r->calls.n - 1].function) : NULL,
		address);
	r->inlined.n = 0;
	for (size_t i = r->calls.n; i-- > 1;) {
		struct profile_symbol s = {.dso = dso, .mode = mode_of(r, dso), .is_inlined = true};

		s.name = name_of(r, FIND(r, function, r->calls.at[i - 1].function));
		s.name = s.name ? s.name : intern_str(&r->b.profile->strings, "??");
		vec_add(&r->inlined, importing_symbol(&r->b, &s));
	}
	l->frame = importing_frame(&r->b, symbol, address, r->inlined.at, (u32)r->inlined.n);
	return importing_charge_names(&r->b, l->message.offset, err);
}

/* ---- samples ---- */

/* Keys of sample labels, and the labels that they become. */
static const struct {
	const char *key;
	enum profile_label label;
} label_keys[] = {
	{"pid", LABEL_PID},
	{"tid", LABEL_TID},
	{"thread_id", LABEL_TID},
	{"comm", LABEL_COMM},
	{"thread_comm", LABEL_COMM},
	{"thread", LABEL_COMM},
	{"thread_name", LABEL_COMM},
	{"cgroup", LABEL_CGROUP},
	{"cpu", LABEL_CPU},
};

static int take_label(struct pprof_reader *r, struct bytes message, u64 *labels, struct err *err)
{
	u64 key = 0, text = 0, n = 0;
	u64 *const places[] = {[1] = &key, [2] = &text, [3] = &n};
	const struct profile *p = r->b.profile;

	if (messages_take_numbers(r->b.in, message, places, ARRAY_SIZE(places), err) ||
		check_string(r, key, &message, err) || check_string(r, text, &message, err))
		return err->code;
	if (!p->n_labels)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(label_keys); i++) {
		const enum profile_label label = label_keys[i].label;

		if (!p->slots[label] || !messages_is(&r->strings, key, label_keys[i].key))
			continue;
		if (profile_kind(label) == PROFILE_TEXT)
			n = text ? (u64)(uintptr_t)messages_label(&r->b, &r->strings, text) : 0;
		if (n)
			labels[p->slots[label] - 1] = n;
	}
	return 0;
}

/* Sets all labels to their values for samples without them. */
static void clear_labels(const struct profile *p, u64 *labels)
{
	for (unsigned i = 0; i < p->n_labels; i++)
		labels[i] = profile_kind(p->label_at[i]) == PROFILE_NUMBER ? (u32)-1 : 0;
}

static int take_fields(struct pprof_reader *r, struct bytes b, u64 *labels, struct err *err)
{
	struct protobuf_field f;
	int got;

	r->path.n = r->values.n = 0;
	clear_labels(r->b.profile, labels);
	while ((got = protobuf_next(&b, &f)) > 0) {
		if ((f.number == 1 && MESSAGES_TAKE_LIST(&f, &r->path)) ||
			(f.number == 2 && MESSAGES_TAKE_LIST(&f, &r->values)))
			return messages_cut_off(r->b.in, &f.bytes, err);
		if (f.number == 3 && f.type == PROTOBUF_BYTES &&
			take_label(r, f.bytes, labels, err))
			return err->code;
	}
	return got ? messages_cut_off(r->b.in, &b, err) : 0;
}

static int make_path(struct pprof_reader *r, const struct bytes *at, struct err *err)
{
	r->b.path.n = 0;
	for (size_t i = r->path.n; i-- > 0;) {
		struct location *l = FIND(r, location, r->path.at[i]);

		if (!l)
			return messages_damaged(r->b.in, at,
				"a sample refers to a location that the profile does not have",
				err);
		if (l->frame == PROFILE_NO_FRAME && make_frame(r, l, err))
			return err->code;
		vec_add(&r->b.path, l->frame);
	}
	return 0;
}

/* The number of samples that a value of a type stands for. */
static u64 samples_of(const struct pprof_reader *r, size_t type)
{
	for (size_t i = type + 1; i-- > 0;)
		if (r->counts[i])
			return MAX(r->values.at[i], 1ull);
	return 1;
}

static int take_sample(struct pprof_reader *r, struct bytes message, struct err *err)
{
	u64 labels[LABEL_COUNT];

	if (take_fields(r, message, labels, err))
		return err->code;
	if (r->values.n != r->types.n)
		return messages_damaged(r->b.in, &message,
			"a sample does not have one value per sample type", err);
	if (make_path(r, &message, err))
		return err->code;
	vec_each(v, &r->values)
		if ((s64)*v < 0)
			return messages_damaged(r->b.in, &message,
				"a value is negative: this is a difference of profiles; give both profiles to 'pace diff'",
				err);
	for (size_t i = 0; i < r->types.n; i++) {
		const u64 n = r->values.at[i] ? samples_of(r, i) : 0;

		if (__builtin_add_overflow(r->sums[i], r->values.at[i], &r->sums[i]) ||
			__builtin_add_overflow(r->n_samples[i], n, &r->n_samples[i]))
			return messages_damaged(r->b.in, &message,
				"the sum of all values is more than 64 bits hold", err);
		importing_add_row(&r->b, r->order[i], n, r->values.at[i], labels);
	}
	return 0;
}

static int take_samples(struct pprof_reader *r, struct err *err)
{
	struct bytes b = import_bytes(r->b.in);
	struct protobuf_field f;

	r->b.charged_at = 0;
	while (protobuf_next(&b, &f) > 0) {
		if (f.number == PPROF_SAMPLE && f.type == PROTOBUF_BYTES &&
			take_sample(r, f.bytes, err))
			return err->code;
		if (importing_charge(&r->b, b.offset, err))
			return err->code;
	}
	return import_charge(r->b.in, r->b.profile, r->b.held, r->b.in->bytes.n, err);
}

/* ---- all of it ---- */

static void add_event(struct pprof_reader *r, size_t type)
{
	const struct type *t = &r->types.at[type];

	r->counts[type] = !strcmp(messages_string(&r->b, &r->strings, t->unit), "count");
	str_clear(&r->room);
	str_addf(&r->room, "%s/%s", messages_string(&r->b, &r->strings, t->type),
		messages_string(&r->b, &r->strings, t->unit));
	r->order[type] =
		importing_event(&r->b, r->room.at, r->b.profile->events.n ? 0 : (u32)r->types.n);
}

/* The default type is the first event. */
static int add_events(struct pprof_reader *r, struct err *err)
{
	const struct bytes all = import_bytes(r->b.in);
	size_t first = r->types.n - 1;

	if (!r->types.n)
		return messages_damaged(r->b.in, &all, "the profile has no sample types", err);
	for (size_t i = r->types.n; i-- > 0;) {
		if (check_string(r, r->types.at[i].type, &all, err) ||
			check_string(r, r->types.at[i].unit, &all, err))
			return err->code;
		if (r->default_type && r->types.at[i].type == r->default_type)
			first = i;
	}
	add_event(r, first);
	for (size_t i = 0; i < r->types.n; i++)
		if (i != first)
			add_event(r, i);
	return 0;
}

static int pprof_read(const struct import *in, const struct import_options *o, struct profile *p,
	struct err *err)
{
	struct pprof_reader r = {.unknown = PROFILE_NO_FRAME};
	int result;

	importing_init(&r.b, in, o, p);
	result = take_tables(&r, err);
	if (!result)
		result = add_events(&r, err);
	if (!result)
		result = take_samples(&r, err);
	importing_fini(&r.b);
	vec_fini(&r.strings);
	vec_fini(&r.types);
	vec_fini(&r.mappings);
	vec_fini(&r.functions);
	vec_fini(&r.locations);
	table_fini(&r.function_ids);
	table_fini(&r.mapping_ids);
	table_fini(&r.location_ids);
	vec_fini(&r.calls);
	vec_fini(&r.inlined);
	vec_fini(&r.path);
	vec_fini(&r.values);
	str_fini(&r.room);
	return result;
}

/* Whether the beginning consists of fields of Profile; text does not. */
static bool pprof_recognizes(const u8 *first, size_t n)
{
	static const u8 types[LAST_FIELD + 1] = {[PPROF_SAMPLE_TYPE] = 1 << PROTOBUF_BYTES,
		[PPROF_SAMPLE] = 1 << PROTOBUF_BYTES,
		[PPROF_MAPPING] = 1 << PROTOBUF_BYTES,
		[PPROF_LOCATION] = 1 << PROTOBUF_BYTES,
		[PPROF_FUNCTION] = 1 << PROTOBUF_BYTES,
		[PPROF_STRING] = 1 << PROTOBUF_BYTES,
		[7] = 1,
		[8] = 1,
		[9] = 1,
		[10] = 1,
		[11] = 1 << PROTOBUF_BYTES,
		[12] = 1,
		[13] = 1 | 1 << PROTOBUF_BYTES,
		[PPROF_DEFAULT_TYPE] = 1,
		[LAST_FIELD] = 1};
	struct bytes b = bytes_of(first, n);
	struct protobuf_field f;
	bool has_type = false;

	while (protobuf_next(&b, &f) > 0) {
		if (f.number > LAST_FIELD || !(types[f.number] & 1 << f.type))
			return false;
		has_type |= f.number == PPROF_SAMPLE_TYPE;
	}
	return has_type;
}

const struct importer import_pprof = {.name = "pprof",
	.what = "a profile of pprof",
	.keys = "dso,symbol",
	.labels = LABEL_BIT(LABEL_COMM) | LABEL_BIT(LABEL_PID) | LABEL_BIT(LABEL_TID) |
		LABEL_BIT(LABEL_CPU) | LABEL_BIT(LABEL_CGROUP),
	.recognizes = pprof_recognizes,
	.read = pprof_read};
