#include "view/rows/stackrows.h"

#include "base/hash.h"
#include "profile/rows/key.h"

enum { PERIOD = 1 };

static const struct rowset_column columns[] = {
	{"name", "Function", ROWSET_KEY, CELL_TEXT},
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

/* The number of the place's function, new if no other place has its name and file. */
static u32 function_of(struct stackrows *s, const struct rowset_place *place)
{
	const u64 hash = hash_mix((u64)(uintptr_t)place->name, (u64)(uintptr_t)place->dso);
	struct table_probe probe = table_probe(&s->function_index, hash);
	const struct rowset_place *other;
	u32 i;

	while ((i = table_next(&s->function_index, &probe)) != TABLE_NONE) {
		other = &s->places.at[i];
		if (other->name == place->name && other->dso == place->dso &&
			other->is_thread == place->is_thread)
			return other->function;
	}
	table_add(&s->function_index, hash, (u32)s->places.n);
	return s->n_functions++;
}

static const char *safe_text(struct stackrows *s, const char *foreign, struct str *text)
{
	str_clear(text);
	str_add_safe(text, foreign, strlen(foreign));
	return intern_add(&s->strings, str_text(text), text->n);
}

static u32 add_place(struct stackrows *s, const struct rowset_place *place,
	const struct stackrows_code *code)
{
	const u32 function = function_of(s, place);

	vec_add(&s->places, *place);
	s->places.at[s->places.n - 1].function = function;
	vec_add(&s->codes, *code);
	return (u32)s->places.n - 1;
}

/* What is equal of two places: with functions only, addresses do not count. */
static struct stackrows_code identity_of(const struct stackrows *s,
	const struct stackrows_code *code)
{
	return s->detail == STACKROWS_ADDRESSES
		? *code
		: (struct stackrows_code){.symbol = code->symbol, .nth = code->nth != 0};
}

static u32 code_place(struct stackrows *s, const struct profile *p,
	const struct stackrows_code *code, struct str *text)
{
	const struct stackrows_code id = identity_of(s, code);
	const u64 hash = hash_mix((u64)id.frame << 32 | id.symbol, id.nth);
	struct table_probe probe = table_probe(&s->place_index, hash);
	const struct profile_symbol *symbol = &p->symbols.at[code->symbol];
	const struct profile_dso *dso = &p->dsos.at[symbol->dso];
	struct rowset_place place = {.is_inlined = code->nth != 0};
	u32 i;

	while ((i = table_next(&s->place_index, &probe)) != TABLE_NONE)
		if (s->codes.at[i].frame == id.frame && s->codes.at[i].symbol == id.symbol &&
			s->codes.at[i].nth == id.nth)
			return i;
	str_clear(text);
	add_name(s, symbol, text);
	place.name = intern_add(&s->strings, str_text(text), text->n);
	place.dso = safe_text(s, dso->path, text);
	place.build = dso->build ? safe_text(s, dso->build, text) : NULL;
	if (s->detail == STACKROWS_ADDRESSES)
		place.address = p->frames.at[code->frame].address;
	table_add(&s->place_index, hash, (u32)s->places.n);
	return add_place(s, &place, &id);
}

static u32 thread_place(struct stackrows *s, const char *comm, struct str *text)
{
	const struct stackrows_code none = {.frame = PROFILE_NO_FRAME};
	const struct rowset_place place = {.name = safe_text(s, comm, text), .is_thread = true};
	const u64 hash = hash_u64((u64)(uintptr_t)place.name);
	struct table_probe probe = table_probe(&s->place_index, hash);
	u32 i;

	while ((i = table_next(&s->place_index, &probe)) != TABLE_NONE)
		if (s->places.at[i].is_thread && s->places.at[i].name == place.name)
			return i;
	table_add(&s->place_index, hash, (u32)s->places.n);
	return add_place(s, &place, &none);
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

static u32 placed_node_of(struct stackrows *s, const struct profile *p, size_t row,
	struct str *text)
{
	const char *comm = profile_text(profile_label(p, row, LABEL_COMM));
	const struct profile_row *r = &p->rows.at[row];
	u32 node = 0;

	s->code.n = 0;
	add_frame_code(s, p, r->frame);
	for (u32 stack = r->callers; stack; stack = p->stacks.at[stack].parent)
		add_frame_code(s, p, p->stacks.at[stack].frame);
	if (comm && (*comm || p->is_imported))
		node = placed_child_of(s, node, thread_place(s, comm, text));
	for (size_t i = s->code.n; i-- > 0;)
		node = placed_child_of(s, node, code_place(s, p, &s->code.at[i], text));
	return node;
}

/* ---- rows ---- */

static u32 named_node_of(struct stackrows *s, const struct profile *p, const struct calls *c,
	size_t row, u32 part, struct str *text)
{
	const char *comm = profile_text(profile_label(p, row, LABEL_COMM));
	u32 node = 0;

	s->path.n = 0;
	for (u32 call = c->of_row[row]; call; call = c->nodes.at[call].parent)
		vec_add(&s->path, c->nodes.at[call].symbol);
	str_clear(text);
	if (comm && (*comm || p->is_imported)) {
		str_add(text, comm);
		node = child_of(s, node, text);
	}
	for (size_t i = s->path.n; i-- > 0;) {
		const struct profile_symbol *symbol = &p->symbols.at[s->path.at[i]];

		str_clear(text);
		add_name(s, symbol, text);
		if (s->has_builds)
			add_build(s, p, symbol, part, text);
		node = child_of(s, node, text);
	}
	return node;
}

static void add_row(struct stackrows *s, const struct profile *p, const struct calls *c, size_t row,
	u32 part, struct str *text)
{
	const struct profile_row *r = &p->rows.at[row];
	const u32 node = s->detail ? placed_node_of(s, p, row, text)
				   : named_node_of(s, p, c, row, part, text);

	s->nodes.at[node].own += r->period;
	s->nodes.at[node].own_samples += r->n_samples;
	s->samples.at[(size_t)node * s->n_parts + part] +=
		p->is_imported ? r->period : r->n_samples;
	s->periods.at[(size_t)node * s->n_parts + part] += r->period;
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
	vec_each(row, &p->rows)
		if (row->event == event)
			add_row(s, p, c, (size_t)(row - p->rows.at), part, &text);
	str_fini(&text);
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

void stackrows_finish(struct stackrows *s)
{
	for (size_t i = s->nodes.n; i-- > 0;) {
		struct rowset_node *node = &s->nodes.at[i], *parent = &s->nodes.at[node->parent];

		node->total += node->own;
		node->total_samples += node->own_samples;
		parent->total += i ? node->total : 0;
		parent->total_samples += i ? node->total_samples : 0;
	}
	s->rows = (struct rowset){.columns = columns,
		.n_columns = ARRAY_SIZE(columns),
		.n = s->nodes.n,
		.n_parts = s->n_parts,
		.has_foreign_names = s->are_imports,
		.nodes = s->nodes.at,
		.places = s->detail ? s->places.at : NULL,
		.n_places = s->places.n,
		.n_functions = s->n_functions,
		.parts = s->parts.at,
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
	vec_fini(&s->places);
	table_fini(&s->place_index);
	vec_fini(&s->codes);
	table_fini(&s->function_index);
	vec_fini(&s->code);
	table_fini(&s->index);
	intern_fini(&s->strings);
	vec_fini(&s->path);
}
