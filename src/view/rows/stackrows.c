#include "view/rows/stackrows.h"

#include <string.h>

#include "base/hash.h"
#include "event/abi.h"
#include "machine/dso.h"
#include "profile/diff/loosename.h"
#include "profile/rows/codekind.h"
#include "profile/rows/key.h"

enum { PERIOD = 1 };

static const struct rowset_column columns[] = {
	{"name", "Function", ROWSET_KEY, CELL_TEXT},
	{"samples", "Samples", ROWSET_VALUE, CELL_COUNT, true},
	{"period", "Period", ROWSET_VALUE, CELL_COUNT, true, .id = PERIOD},
};

static const struct rowset_column head_columns[] = {
	{"event", "Event", ROWSET_PART, CELL_TEXT, true},
	{"samples", "Samples", ROWSET_VALUE, CELL_COUNT, true},
	{"period", "Period", ROWSET_VALUE, CELL_COUNT, true, .id = PERIOD},
};

static u32 add_node(struct stackrows *s, u32 parent, const char *name)
{
	const u32 node = (u32)s->nodes.n;

	vec_add(&s->nodes, ((struct rowset_node){.parent = parent}));
	vec_add(&s->names, name);
	for (u32 part = 0; part < s->n_parts; part++) {
		vec_add(&s->samples, 0);
		vec_add(&s->periods, 0);
	}
	if (!node)
		return 0;
	s->nodes.at[node].next_sibling = s->nodes.at[parent].first_child;
	s->nodes.at[parent].first_child = node;
	s->nodes.at[parent].n_children++;
	return node;
}

static u32 child_of(struct stackrows *s, u32 parent, const struct str *text)
{
	const char *name = intern_add(&s->strings, str_text(text), text->n);
	const u64 hash = hash_mix((u64)(uintptr_t)name, parent);
	struct table_probe probe = table_probe(&s->index, hash);
	u32 node;

	while ((node = table_next(&s->index, &probe)) != TABLE_NONE)
		if (s->nodes.at[node].parent == parent && s->names.at[node] == name)
			return node;
	node = add_node(s, parent, name);
	table_add(&s->index, hash, node);
	return node;
}

/* Adds the build to a name that identifies a function within one build only; if the build is unknown, the part. */
static void add_build(const struct stackrows *s, const struct profile *p,
	const struct profile_symbol *symbol, u32 part, struct str *text)
{
	const char *build = p->dsos.at[symbol->dso].build;

	if (profile_is_named(symbol))
		return;
	if (build)
		str_addf(text, "@%.8s", build);
	else if (!s->is_one_recording)
		str_addf(text, "@%c", 'A' + (char)part);
}

static void add_name(const struct stackrows *s, const struct profile_symbol *symbol,
	struct str *text)
{
	struct profile_symbol plain = *symbol;

	/* Places of addresses say themselves what is inlined. */
	if (s->detail == STACKROWS_ADDRESSES)
		plain.is_inlined = false;
	if (!s->are_imports || !symbol->name) {
		key_add_symbol(&plain, text);
		return;
	}
	str_add_safe(text, symbol->name, strlen(symbol->name));
	str_add(text, symbol->mark ? symbol->mark : "");
}

/* ---- places ---- */

static enum codekind kind_of(const struct profile *p, const struct profile_symbol *symbol)
{
	const struct profile_dso *dso = &p->dsos.at[symbol->dso];
	const char *name = symbol->name ? symbol->name : "";
	const char mark = symbol->mark && symbol->mark[0] == '_' ? symbol->mark[2] : 0;

	if (!strncmp(name, "[truncated", strlen("[truncated")))
		return CODEKIND_CUT;
	if (symbol->is_inlined || mark == 'i')
		return CODEKIND_INLINED;
	if (symbol->mode == PERF_RECORD_MISC_KERNEL || mark == 'k' || dso->kind == DSO_KERNEL ||
		dso->kind == DSO_MODULE || dso->kind == DSO_BPF)
		return CODEKIND_KERNEL;
	if (dso->kind == DSO_JIT || dso->kind == DSO_JITDUMP || mark == 'j')
		return CODEKIND_JIT;
	if (!profile_is_named(symbol))
		return CODEKIND_NAMELESS;
	return strstr(dso->name, ".so") || dso->kind == DSO_VDSO ? CODEKIND_LIBRARY
								 : CODEKIND_PROGRAM;
}

static const char *safe_text(struct stackrows *s, const char *foreign, struct str *text)
{
	str_clear(text);
	str_add_safe(text, foreign, strlen(foreign));
	return intern_add(&s->strings, str_text(text), text->n);
}

/* Builds may be in other folders, and compiled in other ways. */
static bool is_same_function(const struct stackrows *s, const struct rowset_place *a,
	const struct rowset_place *b)
{
	return a->name == b->name && (s->has_builds || a->dso == b->dso) &&
		a->is_thread == b->is_thread;
}

static bool is_same_kind(const struct stackrows *s, const struct rowset_place *a,
	const struct rowset_place *b)
{
	return s->has_builds || (a->kind == b->kind && a->is_inlined == b->is_inlined);
}

/*
 * Returns the position of a place, which is new unless it is a function or thread that is there. Its function is new
 * if no other place has its name and file.
 */
static u32 place_of(struct stackrows *s, const struct rowset_place *place)
{
	const u64 hash = hash_mix((u64)(uintptr_t)place->name,
		s->has_builds ? 0 : (u64)(uintptr_t)place->dso);
	const bool has_address = s->detail == STACKROWS_ADDRESSES && !place->is_thread;
	struct table_probe probe = table_probe(&s->function_index, hash);
	u32 function = s->n_functions, i;

	while ((i = table_next(&s->function_index, &probe)) != TABLE_NONE) {
		const struct rowset_place *other = &s->places.at[i];

		if (!is_same_function(s, other, place))
			continue;
		if (!has_address && is_same_kind(s, other, place))
			return i;
		function = other->function;
	}
	/* Of a function with addresses the index has only the first. */
	if (!has_address || function == s->n_functions)
		table_add(&s->function_index, hash, (u32)s->places.n);
	s->n_functions += function == s->n_functions;
	vec_add(&s->places, *place);
	s->places.at[s->places.n - 1].function = function;
	return (u32)s->places.n - 1;
}

/* The name that a function has in all builds. */
static void add_place_name(const struct stackrows *s, const struct profile *p,
	const struct profile_symbol *symbol, struct str *text)
{
	struct profile_symbol plain = *symbol;
	struct str name = {0};

	if (!s->has_builds) {
		add_name(s, symbol, text);
		return;
	}
	/* Its caller is the same, whether one compiler inlined it or not. */
	plain.is_inlined = false;
	if (!profile_is_named(symbol)) {
		add_name(s, &plain, text);
		add_build(s, p, symbol, s->part, text);
		return;
	}
	add_name(s, &plain, &name);
	loosename_add_function(str_text(&name), text);
	str_fini(&name);
}

/* Where the place is in the source. */
static void set_site(struct stackrows *s, const struct profile *p,
	const struct stackrows_code *code, struct rowset_place *place, struct str *text)
{
	const u32 first = p->frames.at[code->frame].first_site;
	const struct profile_site *site = first ? &p->sites.at[first - 1 + code->nth] : NULL;

	if (!site || !site->file)
		return;
	place->source = safe_text(s, site->file, text);
	place->line = site->line;
}

static u32 make_place(struct stackrows *s, const struct profile *p,
	const struct stackrows_code *code, struct str *text)
{
	const struct profile_symbol *symbol = &p->symbols.at[code->symbol];
	const struct profile_dso *dso = &p->dsos.at[symbol->dso];
	struct rowset_place place = {.kind = kind_of(p, symbol), .is_inlined = code->nth != 0};

	str_clear(text);
	add_place_name(s, p, symbol, text);
	place.name = intern_add(&s->strings, str_text(text), text->n);
	place.dso = safe_text(s, dso->path, text);
	place.dso_name = safe_text(s, dso->name, text);
	if (symbol->source && s->detail == STACKROWS_FUNCTIONS)
		place.source = safe_text(s, symbol->source, text);
	if (s->detail == STACKROWS_ADDRESSES) {
		place.build = dso->build ? safe_text(s, dso->build, text) : NULL;
		place.address = p->frames.at[code->frame].address;
		set_site(s, p, code, &place, text);
	}
	return place_of(s, &place);
}

static u32 code_place(struct stackrows *s, const struct profile *p,
	const struct stackrows_code *code, struct str *text)
{
	const u64 hash = hash_mix((u64)code->frame << 32 | code->symbol, code->nth);
	struct table_probe probe = table_probe(&s->code_index, hash);
	struct stackrows_code made = *code;
	u32 i;

	while ((i = table_next(&s->code_index, &probe)) != TABLE_NONE) {
		const struct stackrows_code *other = &s->codes.at[i];

		if (other->frame == code->frame && other->symbol == code->symbol &&
			other->nth == code->nth)
			return other->place;
	}
	made.place = make_place(s, p, code, text);
	table_add(&s->code_index, hash, (u32)s->codes.n);
	vec_add(&s->codes, made);
	return made.place;
}

static u32 thread_place(struct stackrows *s, const char *comm, struct str *text)
{
	const struct rowset_place place = {.name = safe_text(s, comm, text),
		.kind = CODEKIND_TASK,
		.is_thread = true};

	return place_of(s, &place);
}

/* The child of a node with that place, created if new. */
static u32 placed_child_of(struct stackrows *s, u32 parent, u32 place)
{
	const u64 hash = hash_u64((u64)parent << 32 | place);
	struct table_probe probe = table_probe(&s->index, hash);
	u32 node;

	while ((node = table_next(&s->index, &probe)) != TABLE_NONE)
		if (s->nodes.at[node].parent == parent && s->nodes.at[node].symbol == place)
			return node;
	node = add_node(s, parent, s->places.at[place].name);
	s->nodes.at[node].symbol = place;
	table_add(&s->index, hash, node);
	return node;
}

static void add_frame_code(struct stackrows *s, const struct profile *p, u32 frame)
{
	const struct profile_frame *f = &p->frames.at[frame];

	for (u32 i = f->n_inlined; i-- > 0;)
		vec_add(&s->code,
			((struct stackrows_code){frame, p->inlined.at[f->first_inlined + i],
				i + 1}));
	vec_add(&s->code, ((struct stackrows_code){frame, f->symbol, 0}));
}

/* The row of a stack, address by address. */
static u32 address_row(struct stackrows *s, const struct profile *p, size_t row, u32 base,
	struct str *text)
{
	const struct profile_row *r = &p->rows.at[row];
	u32 node = base;

	s->code.n = 0;
	add_frame_code(s, p, r->frame);
	for (u32 stack = r->callers; stack; stack = p->stacks.at[stack].parent)
		add_frame_code(s, p, p->stacks.at[stack].frame);
	for (size_t i = s->code.n; i-- > 0;)
		node = placed_child_of(s, node, code_place(s, p, &s->code.at[i], text));
	return node;
}

/* ---- rows ---- */

static u32 task_row(struct stackrows *s, const struct profile *p, size_t row, struct str *text)
{
	const char *comm = profile_text(profile_label(p, row, LABEL_COMM));

	if (!comm || !(*comm || p->is_imported))
		return 0;
	if (s->renamed_thread && !strcmp(comm, s->renamed_thread))
		comm = s->known_thread;
	if (s->detail)
		return placed_child_of(s, 0, thread_place(s, comm, text));
	str_clear(text);
	str_add(text, comm);
	return child_of(s, 0, text);
}

static u32 function_row(struct stackrows *s, const struct profile *p, const struct calls *c,
	u32 call, u32 part, u32 parent, struct str *text)
{
	const struct calls_node *at = &c->nodes.at[call];
	const struct stackrows_code code = {PROFILE_NO_FRAME, at->symbol, at->function != call};

	if (s->detail)
		return placed_child_of(s, parent, code_place(s, p, &code, text));
	str_clear(text);
	add_name(s, &p->symbols.at[at->symbol], text);
	if (s->has_builds)
		add_build(s, p, &p->symbols.at[at->symbol], part, text);
	return child_of(s, parent, text);
}

static u32 find_known(const struct stackrows *s, u32 call, u32 base)
{
	struct table_probe probe = table_probe(&s->known_index, hash_mix(call, base));
	u32 i;

	while ((i = table_next(&s->known_index, &probe)) != TABLE_NONE)
		if (s->known.at[i].call == call && s->known.at[i].base == base)
			return s->known.at[i].node;
	return TABLE_NONE;
}

static void note_known(struct stackrows *s, u32 call, u32 base, u32 node)
{
	table_add(&s->known_index, hash_mix(call, base), (u32)s->known.n);
	vec_add(&s->known, ((struct stackrows_known){call, base, node}));
}

/* The row of a stack, function by function; of stacks that begin in the same way, each call is looked up once. */
static u32 stack_row(struct stackrows *s, const struct profile *p, const struct calls *c, u32 call,
	u32 base, u32 part, struct str *text)
{
	u32 node = TABLE_NONE;

	s->path.n = 0;
	for (; call && (node = find_known(s, call, base)) == TABLE_NONE;
		call = c->nodes.at[call].parent)
		vec_add(&s->path, call);
	node = call ? node : base;
	for (size_t i = s->path.n; i-- > 0;) {
		node = function_row(s, p, c, s->path.at[i], part, node, text);
		note_known(s, s->path.at[i], base, node);
	}
	return node;
}

static void add_row(struct stackrows *s, const struct profile *p, const struct calls *c, size_t row,
	u32 part, struct str *text)
{
	const struct profile_row *r = &p->rows.at[row];
	const u32 base = task_row(s, p, row, text);
	const u32 node = s->detail == STACKROWS_ADDRESSES
		? address_row(s, p, row, base, text)
		: stack_row(s, p, c, c->of_row[row], base, part, text);
	const size_t at = (size_t)node * s->n_parts + part;

	if (s->timeline)
		s->spots.at[row] = (struct rowset_spot){node, part};
	s->nodes.at[node].own += r->period;
	s->nodes.at[node].own_samples += r->n_samples;
	s->samples.at[at] += p->is_imported ? r->period : r->n_samples;
	s->periods.at[at] += r->period;
	s->sums.at[part].n_samples += r->n_samples;
	s->sums.at[part].period += r->period;
}

void stackrows_add_part(struct stackrows *s, const char *name, bool is_time)
{
	struct str text = {0};
	const struct rowset_part part = {safe_text(s, name, &text), is_time};

	vec_add(&s->parts, part);
	str_fini(&text);
}

void stackrows_add(struct stackrows *s, const struct profile *p, const struct calls *c, u32 event,
	u32 part)
{
	struct str text = {0};

	if (!s->nodes.n)
		add_node(s, 0, NULL);
	while (s->sums.n < s->n_parts)
		vec_add(&s->sums, (struct stackrows_sum){0});
	while (s->timeline && s->spots.n < p->rows.n)
		vec_add(&s->spots, (struct rowset_spot){0});
	s->known.n = 0;
	table_clear(&s->known_index);
	s->part = part;
	/* Of several profiles: frames and symbols are of this one. */
	if (s->has_builds) {
		s->codes.n = 0;
		table_clear(&s->code_index);
	}
	vec_each(row, &p->rows)
		if (row->event == event)
			add_row(s, p, c, (size_t)(row - p->rows.at), part, &text);
	str_fini(&text);
}

bool stackrows_has_thread(const struct stackrows *s, const char *name)
{
	struct str text = {0};
	bool has_it = false;

	str_add_safe(&text, name, strlen(name));
	vec_each(place, &s->places)
		has_it |= place->is_thread && !strcmp(place->name, str_text(&text));
	str_fini(&text);
	return has_it;
}

static void cell_of(const struct rowset *r, const struct rowset_column *c, size_t row, u32 part,
	struct str *room, struct cell *ret)
{
	const struct stackrows *s = r->of;

	(void)room;
	if (c->kind == CELL_TEXT)
		cell_text(ret, s->names.at[row]);
	else
		cell_number(ret, CELL_COUNT,
			(c->id == PERIOD ? s->periods.at : s->samples.at)[row * s->n_parts + part]);
}

static void head_cell(const struct rowset *r, const struct rowset_column *c, size_t row, u32 part,
	struct str *room, struct cell *ret)
{
	const struct stackrows *s = r->of;
	const struct stackrows_sum *sum = &s->sums.at[part];

	(void)row;
	(void)room;
	if (c->kind == CELL_TEXT)
		cell_text(ret, s->parts.at[part].name);
	else
		cell_number(ret, CELL_COUNT, c->id == PERIOD ? sum->period : sum->n_samples);
}

void stackrows_finish(struct stackrows *s)
{
	for (size_t i = s->nodes.n; i-- > 0;) {
		struct rowset_node *node = &s->nodes.at[i], *parent = &s->nodes.at[node->parent];

		node->total += node->own;
		node->total_samples += node->own_samples;
		parent->total += i ? node->total : 0;
		parent->total_samples += i ? node->total_samples : 0;
	}
	s->head = (struct rowset){.columns = head_columns,
		.n_columns = ARRAY_SIZE(head_columns),
		.n = 1,
		.n_parts = s->n_parts,
		.of = s,
		.cell = head_cell};
	s->times = (struct rowset_times){s->timeline, s->spots.at};
	s->rows = (struct rowset){.columns = columns,
		.n_columns = ARRAY_SIZE(columns),
		.head = s->parts.n ? &s->head : NULL,
		.n = s->nodes.n,
		.n_parts = s->n_parts,
		.has_foreign_names = s->are_imports,
		.nodes = s->nodes.at,
		.places = s->detail ? s->places.at : NULL,
		.n_places = s->places.n,
		.n_functions = s->n_functions,
		.parts = s->parts.at,
		.times = s->timeline ? &s->times : NULL,
		.of = s,
		.cell = cell_of};
}

void stackrows_fini(struct stackrows *s)
{
	vec_fini(&s->nodes);
	vec_fini(&s->names);
	vec_fini(&s->samples);
	vec_fini(&s->periods);
	vec_fini(&s->parts);
	vec_fini(&s->sums);
	vec_fini(&s->places);
	vec_fini(&s->codes);
	table_fini(&s->code_index);
	table_fini(&s->function_index);
	vec_fini(&s->code);
	table_fini(&s->index);
	intern_fini(&s->strings);
	vec_fini(&s->spots);
	vec_fini(&s->path);
	vec_fini(&s->known);
	table_fini(&s->known_index);
}
