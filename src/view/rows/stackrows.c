#include "view/rows/stackrows.h"

#include <string.h>

#include "base/hash.h"
#include "event/abi.h"
#include "machine/dso.h"
#include "profile/rows/codekind.h"
#include "profile/rows/key.h"

enum { COLUMN_PERIOD = 1, COLUMN_DSO, COLUMN_KIND };

static const struct rowset_column columns[] = {
	{"name", "Function", ROWSET_KEY, CELL_TEXT},
	{"samples", "Samples", ROWSET_VALUE, CELL_COUNT, true},
	{"period", "Period", ROWSET_VALUE, CELL_COUNT, true, .id = COLUMN_PERIOD},
	{"dso", "DSO", ROWSET_FACT, CELL_TEXT, .id = COLUMN_DSO},
	{"kind", "Kind", ROWSET_FACT, CELL_TEXT, .id = COLUMN_KIND},
};

/* Columns that only has_places adds come last; a byte that is in no name, because names are safe to show. */
enum { N_PLACELESS = 3, END_OF_PLACE = '\x01' };

static const struct rowset_column head_columns[] = {
	{"event", "Event", ROWSET_PART, CELL_TEXT, true},
	{"samples", "Samples", ROWSET_VALUE, CELL_COUNT, true},
	{"period", "Period", ROWSET_VALUE, CELL_COUNT, true, .id = COLUMN_PERIOD},
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
	if (!s->are_imports || !symbol->name) {
		key_add_symbol(symbol, text);
		return;
	}
	str_add_safe(text, symbol->name, strlen(symbol->name));
	str_add(text, symbol->mark ? symbol->mark : "");
}

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

/* Puts what tells functions of the same name apart before a name: its kind, its DSO, and the mark that ends them. */
static void add_place(const struct stackrows *s, const char *dso, enum codekind kind,
	struct str *text)
{
	if (!s->has_places)
		return;
	str_addc(text, (char)kind);
	str_add_safe(text, dso, strlen(dso));
	str_addc(text, END_OF_PLACE);
}

static u32 task_row(struct stackrows *s, const struct profile *p, size_t row, struct str *text)
{
	const char *comm = profile_text(profile_label(p, row, LABEL_COMM));

	if (!comm || !(*comm || p->is_imported))
		return 0;
	str_clear(text);
	add_place(s, "", CODEKIND_TASK, text);
	str_add(text, comm);
	return child_of(s, 0, text);
}

static u32 function_row(struct stackrows *s, const struct profile *p, u32 symbol_id, u32 part,
	u32 parent, struct str *text)
{
	const struct profile_symbol *symbol = &p->symbols.at[symbol_id];

	str_clear(text);
	add_place(s, p->dsos.at[symbol->dso].name, kind_of(p, symbol), text);
	add_name(s, symbol, text);
	if (s->has_builds)
		add_build(s, p, symbol, part, text);
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

/* The row of a stack; of stacks that begin in the same way, each call is looked up once. */
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
		const u32 next = s->path.at[i];

		node = function_row(s, p, c->nodes.at[next].symbol, part, node, text);
		note_known(s, next, base, node);
	}
	return node;
}

static void add_row(struct stackrows *s, const struct profile *p, const struct calls *c, size_t row,
	u32 part, struct str *text)
{
	const struct profile_row *r = &p->rows.at[row];
	const u32 node = stack_row(s, p, c, c->of_row[row], task_row(s, p, row, text), part, text);
	const size_t at = (size_t)node * s->n_parts + part;

	s->nodes.at[node].own += r->period;
	s->nodes.at[node].own_samples += r->n_samples;
	s->samples.at[at] += p->is_imported ? r->period : r->n_samples;
	s->periods.at[at] += r->period;
	s->parts.at[part].n_samples += r->n_samples;
	s->parts.at[part].period += r->period;
}

void stackrows_add(struct stackrows *s, const struct profile *p, const struct calls *c, u32 event,
	u32 part)
{
	struct str text = {0};

	if (!s->nodes.n)
		add_node(s, 0, NULL);
	while (s->parts.n < s->n_parts)
		vec_add(&s->parts, (struct stackrows_part){0});
	s->parts.at[part].name = p->events.at[event].name;
	s->known.n = 0;
	table_clear(&s->known_index);
	vec_each(row, &p->rows)
		if (row->event == event)
			add_row(s, p, c, (size_t)(row - p->rows.at), part, &text);
	str_fini(&text);
}

static const char *part_text(struct str *room, const char *text, size_t n)
{
	str_addn(room, text, n);
	return str_text(room);
}

static void cell_of(const struct rowset *r, const struct rowset_column *c, size_t row, u32 part,
	struct str *room, struct cell *ret)
{
	const struct stackrows *s = r->of;

	const char *text = s->names.at[row];
	const char *end = text && s->has_places ? strchr(text, END_OF_PLACE) : NULL;

	if (c->id == COLUMN_KIND || (c->id == COLUMN_DSO && !end))
		cell_text(ret, end ? part_text(room, text, 1) : NULL);
	else if (c->id == COLUMN_DSO)
		cell_text(ret, part_text(room, text + 1, (size_t)(end - text - 1)));
	else if (c->kind == CELL_TEXT)
		cell_text(ret, end ? end + 1 : text);
	else
		cell_number(ret, CELL_COUNT,
			(c->id == COLUMN_PERIOD ? s->periods.at
						: s->samples.at)[row * s->n_parts + part]);
}

static void head_cell(const struct rowset *r, const struct rowset_column *c, size_t row, u32 part,
	struct str *room, struct cell *ret)
{
	const struct stackrows_part *p = &((const struct stackrows *)r->of)->parts.at[part];

	(void)row;
	(void)room;
	if (c->kind == CELL_TEXT)
		cell_text(ret, p->name);
	else
		cell_number(ret, CELL_COUNT, c->id == COLUMN_PERIOD ? p->period : p->n_samples);
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
	s->rows = (struct rowset){.columns = columns,
		.n_columns = s->has_places ? ARRAY_SIZE(columns) : N_PLACELESS,
		.head = &s->head,
		.n = s->nodes.n,
		.n_parts = s->n_parts,
		.has_foreign_names = s->are_imports,
		.nodes = s->nodes.at,
		.of = s,
		.cell = cell_of};
}

void stackrows_fini(struct stackrows *s)
{
	vec_fini(&s->nodes);
	vec_fini(&s->names);
	vec_fini(&s->samples);
	vec_fini(&s->periods);
	vec_fini(&s->known);
	vec_fini(&s->parts);
	table_fini(&s->known_index);
	table_fini(&s->index);
	intern_fini(&s->strings);
	vec_fini(&s->path);
}
