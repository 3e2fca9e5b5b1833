#include "view/folded.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "profile/key.h"

/* What stands from `start` on is one name: a ';' would end it. */
static void make_name(struct str *text, size_t start)
{
	for (size_t i = start; i < text->n; i++)
		text->at[i] = text->at[i] == ';' ? ':' : text->at[i];
}

/* The build of a name that tells a function within one build only; in an unknown one the column. */
static void add_build(const struct folded *f, const struct profile *p,
	const struct profile_symbol *s, unsigned column, struct str *text)
{
	const char *build = p->dsos.at[s->dso].build;

	if (profile_is_named(s))
		return;
	if (build)
		str_addf(text, "@%.8s", build);
	else if (!f->is_one_recording)
		str_addf(text, "@%c", 'A' + (char)column);
}

/* As it was read: what divides its frames is nothing that a name of it has. */
static void add_imported(const struct folded *f, const struct profile_symbol *s, struct str *text)
{
	if (s->name)
		str_add_safe(text, s->name, strlen(s->name));
	else
		key_add_symbol(s, text);
	if (f->has_marks && s->mark)
		str_add(text, s->mark);
}

static void add_stack(struct folded *f, const struct profile *p, const struct calls *c,
	const struct profile_row *row, unsigned column, struct str *text)
{
	const char *comm = profile_text(profile_label(p, (size_t)(row - p->rows.at), LABEL_COMM));
	bool is_first = !comm;

	f->path.n = 0;
	for (u32 node = c->of_row[row - p->rows.at]; node; node = c->nodes.at[node].parent)
		vec_add(&f->path, c->nodes.at[node].symbol);
	if (comm)
		str_add_safe(text, comm, strlen(comm));
	if (!p->is_imported)
		make_name(text, 0);
	for (; f->path.n; f->path.n--, is_first = false) {
		const struct profile_symbol *s = &p->symbols.at[f->path.at[f->path.n - 1]];
		size_t start;

		str_add(text, is_first ? "" : ";");
		start = text->n;
		if (p->is_imported)
			add_imported(f, s, text);
		else
			key_add_symbol(s, text);
		if (f->has_builds)
			add_build(f, p, s, column, text);
		if (!p->is_imported)
			make_name(text, start);
	}
}

void folded_add(struct folded *f, const struct profile *p, const struct calls *c, u32 event,
	unsigned column)
{
	struct str text = {0};

	vec_each(row, &p->rows) {
		struct table_probe probe;
		const char *stack;
		u64 hash;
		u32 i;

		if (row->event != event)
			continue;
		str_clear(&text);
		add_stack(f, p, c, row, column, &text);
		stack = intern_add(&f->strings, str_text(&text), text.n);
		hash = hash_mix((u64)(uintptr_t)stack, 1);
		probe = table_probe(&f->index, hash);
		while ((i = table_next(&f->index, &probe)) != TABLE_NONE)
			if (f->lines.at[i].stack == stack)
				break;
		if (i == TABLE_NONE) {
			i = f->lines.n;
			table_add(&f->index, hash, i);
			vec_add(&f->lines, ((struct folded_line){stack, f->counts.n}));
			for (unsigned k = 0; k < f->n_columns; k++)
				vec_add(&f->counts, 0);
		}
		f->counts.at[f->lines.at[i].counts + column] +=
			f->has_periods || p->is_imported ? row->period : row->n_samples;
	}
	str_fini(&text);
}

/* Whether a column is to be shown. */
static bool is_shown(const struct folded *f, unsigned column)
{
	if (!f->skips_empty)
		return true;
	for (size_t i = column; i < f->counts.n; i += f->n_columns)
		if (f->counts.at[i])
			return true;
	return false;
}

static int by_stack(const void *a, const void *b)
{
	return strcmp(((const struct folded_line *)a)->stack,
		((const struct folded_line *)b)->stack);
}

void folded_add_text(struct folded *f, struct str *text)
{
	bool *shown = mem_alloc(f->n_columns + 1);

	for (unsigned i = 0; i < f->n_columns; i++)
		shown[i] = is_shown(f, i);
	/* The index is of no use any more: lines move. */
	table_fini(&f->index);
	memset(&f->index, 0, sizeof(f->index));
	if (f->lines.n)
		qsort(f->lines.at, f->lines.n, sizeof(*f->lines.at), by_stack);
	vec_each(line, &f->lines) {
		str_add(text, line->stack);
		for (unsigned i = 0; i < f->n_columns; i++)
			if (shown[i])
				str_addf(text, " %llu",
					(unsigned long long)f->counts.at[line->counts + i]);
		str_addc(text, '\n');
	}
	mem_free(shown);
}

void folded_fini(struct folded *f)
{
	vec_fini(&f->lines);
	vec_fini(&f->counts);
	vec_fini(&f->path);
	table_fini(&f->index);
	intern_fini(&f->strings);
}
