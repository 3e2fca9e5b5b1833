#include "view/rows/stackrows.h"

#include "base/hash.h"
#include "profile/rows/key.h"

static const struct rowset_column columns[] = {
	{"name", "Function", ROWSET_KEY, CELL_TEXT},
	{"samples", "Samples", ROWSET_VALUE, CELL_COUNT, true},
};

static u32 add_node(struct stackrows *s, u32 parent, const char *name)
{
	const u32 node = (u32)s->nodes.n;

	vec_add(&s->nodes, ((struct rowset_node){.parent = parent}));
	vec_add(&s->names, name);
	for (u32 part = 0; part < s->n_parts; part++)
		vec_add(&s->samples, 0);
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

static void add_row(struct stackrows *s, const struct profile *p, const struct calls *c, size_t row,
	u32 part, struct str *text)
{
	const char *comm = profile_text(profile_label(p, row, LABEL_COMM));
	const struct profile_row *r = &p->rows.at[row];
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
	s->nodes.at[node].own += r->period;
	s->nodes.at[node].own_samples += r->n_samples;
	s->samples.at[(size_t)node * s->n_parts + part] +=
		p->is_imported ? r->period : r->n_samples;
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
		cell_number(ret, CELL_COUNT, s->samples.at[row * s->n_parts + part]);
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
		.of = s,
		.cell = cell_of};
}

void stackrows_fini(struct stackrows *s)
{
	vec_fini(&s->nodes);
	vec_fini(&s->names);
	vec_fini(&s->samples);
	table_fini(&s->index);
	intern_fini(&s->strings);
	vec_fini(&s->path);
}
