#include "profile/import/otlpreader.h"

#include <string.h>

#include "event/abi.h"
#include "machine/dso.h"
#include "symbol/resolve/resolver.h"

void otlp_reader_fini(struct otlp_reader *r)
{
	importing_fini(&r->b);
	vec_fini(&r->strings);
	vec_fini(&r->mappings);
	vec_fini(&r->locations);
	vec_fini(&r->functions);
	vec_fini(&r->attributes);
	vec_fini(&r->stacks);
	vec_fini(&r->events);
	vec_fini(&r->profiles);
	vec_fini(&r->calls);
	vec_fini(&r->inlined);
	vec_fini(&r->path);
	vec_fini(&r->values);
	vec_fini(&r->numbers);
	str_fini(&r->room);
}

int otlp_unknown_entry(const struct otlp_reader *r, const struct bytes *at, struct err *err)
{
	return messages_damaged(r->b.in, at,
		"an entry is referred to that the dictionary does not have", err);
}

/* ---- the dictionary ---- */

static int take_mapping(struct otlp_reader *r, const struct protobuf_field *f, struct err *err)
{
	struct otlp_mapping m = {.message = f->bytes, .dso = PROFILE_NO_FRAME};
	u64 *const places[] = {[OTLP_MAPPING_START] = &m.start, [OTLP_MAPPING_OFFSET] = &m.offset};

	if (messages_take_numbers(r->b.in, f->bytes, places, ARRAY_SIZE(places), err))
		return err->code;
	vec_add(&r->mappings, m);
	return 0;
}

static int take_function(struct otlp_reader *r, const struct protobuf_field *f, struct err *err)
{
	struct otlp_function fn = {0};
	u64 *const places[] = {[OTLP_FUNCTION_NAME] = &fn.name,
		[OTLP_FUNCTION_SYSTEM_NAME] = &fn.system_name,
		[OTLP_FUNCTION_FILE] = &fn.file};

	if (messages_take_numbers(r->b.in, f->bytes, places, ARRAY_SIZE(places), err))
		return err->code;
	vec_add(&r->functions, fn);
	return 0;
}

static int take_entry(struct otlp_reader *r, const struct protobuf_field *f, struct err *err)
{
	if (f->type != PROTOBUF_BYTES)
		return 0;
	switch (f->number) {
	case OTLP_MAPPINGS:
		return take_mapping(r, f, err);
	case OTLP_LOCATIONS:
		vec_add(&r->locations, ((struct otlp_location){f->bytes, PROFILE_NO_FRAME}));
		return 0;
	case OTLP_FUNCTIONS:
		return take_function(r, f, err);
	case OTLP_STRINGS:
		vec_add(&r->strings, f->bytes);
		return 0;
	case OTLP_ATTRIBUTES:
		vec_add(&r->attributes, ((struct otlp_attribute){.message = f->bytes}));
		return 0;
	case OTLP_STACKS:
		vec_add(&r->stacks, ((struct otlp_stack){.message = f->bytes}));
		return 0;
	}
	return 0;
}

int otlp_take_dictionary(struct otlp_reader *r, struct bytes b, struct err *err)
{
	struct protobuf_field f;
	int got;

	while ((got = protobuf_next(&b, &f)) > 0) {
		if (take_entry(r, &f, err))
			return err->code;
		r->b.held = r->strings.n * sizeof(*r->strings.at) +
			r->mappings.n * sizeof(*r->mappings.at) +
			r->functions.n * sizeof(*r->functions.at) +
			r->locations.n * sizeof(*r->locations.at) +
			r->attributes.n * sizeof(*r->attributes.at) +
			r->stacks.n * sizeof(*r->stacks.at);
		if (importing_charge(&r->b, b.offset, err))
			return err->code;
	}
	return got ? messages_cut_off(r->b.in, &b, err) : 0;
}

/* ---- attributes ---- */

/* Reads the value of an attribute. */
static int read_value(struct otlp_reader *r, struct otlp_attribute *a, struct bytes b,
	struct err *err)
{
	struct protobuf_field f;
	int got;

	while ((got = protobuf_next(&b, &f)) > 0)
		if (f.number == OTLP_VALUE_TEXT && f.type == PROTOBUF_BYTES)
			a->text = intern_add(&r->b.profile->strings, (const char *)f.bytes.at,
				bytes_left(&f.bytes));
		else if (f.number == OTLP_VALUE_NUMBER && f.type == PROTOBUF_VARINT)
			a->number = f.value;
	return got ? messages_cut_off(r->b.in, &b, err) : 0;
}

/* Reads an attribute. */
static int read_attribute(struct otlp_reader *r, struct otlp_attribute *a, struct err *err)
{
	struct bytes b = a->message;
	struct protobuf_field f;
	u64 key = 0;
	int got;

	while ((got = protobuf_next(&b, &f)) > 0) {
		if (f.number == OTLP_ATTRIBUTE_KEY && f.type == PROTOBUF_VARINT)
			key = f.value;
		if (f.number == OTLP_ATTRIBUTE_VALUE && f.type == PROTOBUF_BYTES &&
			read_value(r, a, f.bytes, err))
			return err->code;
	}
	if (got)
		return messages_cut_off(r->b.in, &b, err);
	if (key >= r->strings.n)
		return otlp_unknown_entry(r, &a->message, err);
	a->key = messages_string(&r->b, &r->strings, key);
	return 0;
}

/* Finds an attribute, and reads it if that was not done yet. NULL after an error. */
static const struct otlp_attribute *find_attribute(struct otlp_reader *r, u64 i,
	const struct bytes *at, struct err *err)
{
	struct otlp_attribute *a;

	if (i >= r->attributes.n) {
		otlp_unknown_entry(r, at, err);
		return NULL;
	}
	a = &r->attributes.at[i];
	return a->key || !read_attribute(r, a, err) ? a : NULL;
}

/* The text of one of the attributes in r->numbers, interned; NULL: none has this key. */
static int find_text(struct otlp_reader *r, const char *wanted, const struct bytes *at,
	const char **ret_text, struct err *err)
{
	*ret_text = NULL;
	vec_each(i, &r->numbers) {
		const struct otlp_attribute *a = find_attribute(r, *i, at, err);

		if (!a)
			return err->code;
		if (a->text && !strcmp(a->key, wanted))
			*ret_text = a->text;
	}
	return 0;
}

/* Keys of samples' attributes, and the labels that they become. */
static const struct {
	const char *key;
	enum profile_label label;
} label_keys[] = {
	{OTLP_KEY_THREAD_NAME, LABEL_COMM},
	{"thread.id", LABEL_TID},
	{"process.pid", LABEL_PID},
	{"cpu.logical_number", LABEL_CPU},
};

int otlp_take_labels(struct otlp_reader *r, const struct bytes *at, u64 *labels, struct err *err)
{
	const struct profile *p = r->b.profile;

	for (unsigned i = 0; i < p->n_labels; i++)
		labels[i] = profile_kind(p->label_at[i]) == PROFILE_NUMBER ? (u32)-1 : 0;
	vec_each(i, &r->numbers) {
		const struct otlp_attribute *a = find_attribute(r, *i, at, err);

		if (!a)
			return err->code;
		for (size_t k = 0; k < ARRAY_SIZE(label_keys); k++) {
			const enum profile_label label = label_keys[k].label;
			const bool is_text = profile_kind(label) == PROFILE_TEXT;

			if (!p->slots[label] || strcmp(label_keys[k].key, a->key) ||
				(a->text != NULL) != is_text)
				continue;
			labels[p->slots[label] - 1] = is_text ? (u64)(uintptr_t)a->text : a->number;
		}
	}
	return 0;
}

/* ---- places ---- */

static u32 unknown_dso(struct otlp_reader *r)
{
	if (r->unknown == PROFILE_NO_FRAME)
		r->unknown = importing_dso(&r->b, DSO_UNKNOWN, "[unknown]", "[unknown]", NULL);
	return r->unknown;
}

/* Makes the DSO of a mapping. */
static int make_dso(struct otlp_reader *r, struct otlp_mapping *m, struct err *err)
{
	const char *path, *build;
	struct bytes b = m->message;
	struct protobuf_field f;
	u64 file = 0;

	r->numbers.n = 0;
	while (protobuf_next(&b, &f) > 0) {
		if (f.number == OTLP_MAPPING_FILE && f.type == PROTOBUF_VARINT)
			file = f.value;
		if (f.number == OTLP_MAPPING_ATTRIBUTES && MESSAGES_TAKE_LIST(&f, &r->numbers))
			return messages_cut_off(r->b.in, &f.bytes, err);
	}
	if (file >= r->strings.n && file)
		return otlp_unknown_entry(r, &m->message, err);
	if (find_text(r, OTLP_KEY_BUILD, &m->message, &build, err))
		return err->code;
	path = messages_string(&r->b, &r->strings, file);
	m->dso = *path ? importing_mapped(&r->b, path, build && *build ? build : NULL)
		       : unknown_dso(r);
	return 0;
}

/* The name of a function, or NULL. */
static const char *name_of(struct otlp_reader *r, u64 function)
{
	struct otlp_function *fn = &r->functions.at[function];

	if (!fn->text)
		fn->text = messages_string(&r->b, &r->strings, fn->name);
	if (!*fn->text)
		fn->text = messages_string(&r->b, &r->strings, fn->system_name);
	return *fn->text ? fn->text : NULL;
}

/* Sets the symbol's file and line to those of the innermost call of the location. */
static void set_source(struct otlp_reader *r, struct profile_symbol *s)
{
	const enum naming_source source = r->b.options->source;
	const struct otlp_call *inner = r->calls.n ? &r->calls.at[0] : NULL;
	const struct otlp_call *outer = r->calls.n ? &r->calls.at[r->calls.n - 1] : NULL;

	s->file = intern_str(&r->b.profile->strings, "");
	if (inner) {
		const struct otlp_call *call = source == NAMING_FUNCTION_FILES ? outer : inner;

		s->file = messages_file(&r->b, &r->strings, r->functions.at[call->function].file);
	}
	if (source != NAMING_LINES)
		return;
	str_clear(&r->room);
	if (inner && *s->file)
		str_addf(&r->room, "%s:%llu", s->file, (unsigned long long)inner->line);
	s->line = intern_str(&r->b.profile->strings, str_text(&r->room));
	s->has_line = *s->file != '\0';
}

/* The symbol of a location's function, or of one of its lines. */
static u32 symbol_of(struct otlp_reader *r, u32 dso, u8 mode, u64 address)
{
	struct profile_symbol s = {.dso = dso, .mode = mode};
	u32 function;

	if (r->calls.n)
		s.name = name_of(r, r->calls.at[r->calls.n - 1].function);
	if (!s.name) {
		s.start = s.end = address;
		s.outcome = RESOLVER_NO_SYMBOL;
	}
	function = importing_symbol(&r->b, &s);
	if (!r->b.options->source)
		return function;
	set_source(r, &s);
	s.function = function;
	return importing_symbol(&r->b, &s);
}

static int take_line(struct otlp_reader *r, struct bytes message, struct err *err)
{
	struct otlp_call call = {0};
	u64 *const places[] =
		{[OTLP_LINE_FUNCTION] = &call.function, [OTLP_LINE_NUMBER] = &call.line};
	const struct otlp_function *fn;

	if (messages_take_numbers(r->b.in, message, places, ARRAY_SIZE(places), err))
		return err->code;
	if (call.function >= r->functions.n)
		return otlp_unknown_entry(r, &message, err);
	fn = &r->functions.at[call.function];
	if (MAX(MAX(fn->name, fn->system_name), fn->file) >= MAX(r->strings.n, (size_t)1))
		return otlp_unknown_entry(r, &message, err);
	/* Only the innermost calls are kept. */
	if (r->calls.n <= IMPORT_INLINED)
		vec_add(&r->calls, call);
	return 0;
}

/* Reads a location: its lines into r->calls, its attributes into r->numbers. */
static int take_location(struct otlp_reader *r, struct bytes b, u64 *ret_mapping, u64 *ret_address,
	struct err *err)
{
	struct protobuf_field f;
	int got;

	r->calls.n = r->numbers.n = 0;
	while ((got = protobuf_next(&b, &f)) > 0) {
		if (f.number == OTLP_LOCATION_MAPPING && f.type == PROTOBUF_VARINT)
			*ret_mapping = f.value;
		if (f.number == OTLP_LOCATION_ADDRESS && f.type == PROTOBUF_VARINT)
			*ret_address = f.value;
		if (f.number == OTLP_LOCATION_LINES && f.type == PROTOBUF_BYTES &&
			take_line(r, f.bytes, err))
			return err->code;
		if (f.number == OTLP_LOCATION_ATTRIBUTES && MESSAGES_TAKE_LIST(&f, &r->numbers))
			return messages_cut_off(r->b.in, &f.bytes, err);
	}
	return got ? messages_cut_off(r->b.in, &b, err) : 0;
}

static void add_inlined(struct otlp_reader *r, u32 dso, u8 mode)
{
	r->inlined.n = 0;
	for (size_t i = r->calls.n; i-- > 1;) {
		struct profile_symbol s = {.dso = dso, .mode = mode, .is_inlined = true};

		s.name = name_of(r, r->calls.at[i - 1].function);
		s.name = s.name ? s.name : intern_str(&r->b.profile->strings, "??");
		vec_add(&r->inlined, importing_symbol(&r->b, &s));
	}
}

/* Makes the frame of a location: its outermost function, and those inlined there. */
static int make_frame(struct otlp_reader *r, struct otlp_location *l, struct err *err)
{
	u64 mapping = 0, address = 0;
	const char *type;
	u32 dso, symbol;
	u8 mode;

	if (take_location(r, l->message, &mapping, &address, err) ||
		find_text(r, OTLP_KEY_FRAME_TYPE, &l->message, &type, err))
		return err->code;
	if (mapping >= r->mappings.n && mapping)
		return otlp_unknown_entry(r, &l->message, err);
	if (mapping) {
		struct otlp_mapping *m = &r->mappings.at[mapping];

		if (m->dso == PROFILE_NO_FRAME && make_dso(r, m, err))
			return err->code;
		dso = m->dso;
		/* As in recordings, addresses become file offsets. */
		if (address >= m->start && r->b.profile->dsos.at[dso].kind == DSO_FILE)
			address += m->offset - m->start;
	} else {
		dso = unknown_dso(r);
	}
	mode = r->b.profile->dsos.at[dso].kind == DSO_KERNEL ||
			(type && !strcmp(type, OTLP_FRAME_KERNEL))
		? PERF_RECORD_MISC_KERNEL
		: dso == r->unknown && !type ? PROFILE_NO_MODE
					     : PERF_RECORD_MISC_USER;
	symbol = symbol_of(r, dso, mode, address);
	add_inlined(r, dso, mode);
	l->frame = importing_frame(&r->b, symbol, address, r->inlined.at, (u32)r->inlined.n);
	return importing_charge_names(&r->b, l->message.offset, err);
}

/* ---- samples ---- */

/* Puts the frames of a stack into b.path, the outermost first. */
static int make_path(struct otlp_reader *r, struct bytes b, struct err *err)
{
	const struct bytes at = b;
	struct protobuf_field f;
	int got;

	r->path.n = r->b.path.n = 0;
	while ((got = protobuf_next(&b, &f)) > 0)
		if (f.number == OTLP_STACK_LOCATIONS && MESSAGES_TAKE_LIST(&f, &r->path))
			return messages_cut_off(r->b.in, &f.bytes, err);
	if (got)
		return messages_cut_off(r->b.in, &b, err);
	for (size_t i = r->path.n; i-- > 0;) {
		struct otlp_location *l;

		if (r->path.at[i] >= r->locations.n)
			return otlp_unknown_entry(r, &at, err);
		l = &r->locations.at[r->path.at[i]];
		if (l->frame == PROFILE_NO_FRAME && make_frame(r, l, err))
			return err->code;
		vec_add(&r->b.path, l->frame);
	}
	return 0;
}

/* A stack of no locations has one frame, of which nothing is known. */
static void fill_path(struct otlp_reader *r)
{
	struct profile_symbol s = {.mode = PROFILE_NO_MODE, .outcome = RESOLVER_NO_SYMBOL};

	if (r->b.path.n)
		return;
	s.dso = unknown_dso(r);
	vec_add(&r->b.path, importing_frame(&r->b, importing_symbol(&r->b, &s), 0, NULL, 0));
}

int otlp_find_stack(struct otlp_reader *r, u64 i, const struct bytes *at,
	const struct importing_stack **ret, struct err *err)
{
	struct otlp_stack *stack;

	if (i >= r->stacks.n)
		return otlp_unknown_entry(r, at, err);
	stack = &r->stacks.at[i];
	*ret = &stack->made;
	if (stack->is_made)
		return 0;
	if (make_path(r, stack->message, err))
		return err->code;
	fill_path(r);
	stack->made = importing_stack(&r->b);
	stack->is_made = true;
	return 0;
}
