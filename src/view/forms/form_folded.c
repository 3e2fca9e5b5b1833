/*
 * form_folded.c - stacks on one line each, root first: what flame graphs are drawn from.
 *
 *     sqlite3;main;sqlite3_step;sqlite3VdbeExec 120 143
 *
 * Source   Brendan Gregg's stackcollapse and difffolded formats
 */
#include <stdlib.h>
#include <string.h>

#include "view/forms/forms.h"

struct line {
	size_t start, n; /* of its stack, in the text of all stacks */
	size_t row;
	const struct str *text;
};

/* Replaces ';', which would end a name; names that were read from folded stacks have none. */
static void add_name(const struct rowset *r, size_t row, struct str *room, struct str *text)
{
	const size_t start = text->n;
	struct cell cell;

	rowset_cell(r, &r->columns[0], row, 0, room, &cell);
	cell_add_data(&cell, text);
	for (size_t i = start; i < text->n && !r->has_foreign_names; i++)
		text->at[i] = text->at[i] == ';' ? ':' : text->at[i];
}

static struct line add_stack(const struct rowset *r, size_t row, struct str *room, struct str *text)
{
	struct line line = {.start = text->n, .row = row, .text = text};
	VEC(size_t) path = {0};

	for (size_t node = row; node; node = r->nodes[node].parent)
		vec_add(&path, node);
	for (size_t i = path.n; i-- > 0;) {
		add_name(r, path.at[i], room, text);
		str_add(text, i ? ";" : "");
	}
	vec_fini(&path);
	line.n = text->n - line.start;
	str_addc(text, '\0');
	return line;
}

static const char *stack_of(const struct line *l)
{
	return str_text(l->text) + l->start;
}

static int by_stack(const void *a, const void *b)
{
	return strcmp(stack_of(a), stack_of(b));
}

/* Stacks that read the same become one line. */
static size_t add_line(struct page *p, const struct rowset *r, const struct line *lines, size_t n,
	struct str *room)
{
	struct str *text = &p->out->text;
	size_t same = 1;
	struct cell cell;

	while (same < n && !by_stack(&lines[0], &lines[same]))
		same++;
	str_addn(text, stack_of(lines), lines->n);
	for (u32 part = 0; part < r->n_parts; part++) {
		u64 sum = 0;

		for (size_t i = 0; i < same; i++) {
			rowset_cell(r, &r->columns[1], lines[i].row, part, room, &cell);
			sum += cell.n;
		}
		str_addf(text, " %llu", (unsigned long long)sum);
	}
	str_addc(text, '\n');
	out_flush_some(p->out);
	return same;
}

static void folded_form_table(struct page *p, const struct rowset *r)
{
	struct str room = {0}, text = {0};
	VEC(struct line) lines = {0};

	for (size_t row = 0; row < r->n; row++)
		if (r->nodes[row].own || r->nodes[row].own_samples)
			vec_add(&lines, add_stack(r, row, &room, &text));
	if (lines.n)
		qsort(lines.at, lines.n, sizeof(*lines.at), by_stack);
	for (size_t i = 0; i < lines.n;)
		i += add_line(p, r, &lines.at[i], lines.n - i, &room);
	vec_fini(&lines);
	str_fini(&room);
	str_fini(&text);
}

const struct form form_folded = {.name = "folded",
	.extension = "folded",
	.help = "one line per stack with its samples, for flame graphs",
	.wants = FORM_WANTS_STACKS | FORM_SKIPS_EMPTY | FORM_HAS_NO_TREE,
	.table = folded_form_table};
