/*
 * form_csv.c - tables as comma separated values, with a header before the first.
 */
#include <string.h>

#include "view/forms.h"

/* What each row begins with, for each part; then what its parts have in common. */
static const enum rowset_group of_one[] = {ROWSET_PART, ROWSET_VALUE, ROWSET_CERTAINTY, ROWSET_KEY,
	ROWSET_SUM},
			       of_parts[] = {ROWSET_PART, ROWSET_VALUE, ROWSET_SUM},
			       in_common[] = {ROWSET_KEY};

static void add_word(struct str *text, const char *cell)
{
	bool is_quoted = strpbrk(cell, ",\"\n\r") != NULL;

	if (is_quoted)
		str_addc(text, '"');
	for (; *cell; cell++) {
		if (*cell == '"')
			str_addc(text, '"');
		str_addc(text, *cell);
	}
	str_add(text, is_quoted ? "\"," : ",");
}

static void end_line(struct str *text)
{
	str_cut(text, text->n - 1);
	str_addc(text, '\n');
}

/* Empty where nothing is known. */
static void add_cell(struct str *text, const struct rowset_column *c, const struct cell *cell)
{
	struct str value = {0};

	cell_add_data(cell, &value);
	add_word(text, str_text(&value));
	if (c->has_name) {
		str_cut(&value, 0);
		str_add_safe(&value, cell->name, strlen(cell->name));
		add_word(text, str_text(&value));
	}
	str_fini(&value);
}

static size_t add_groups(struct str *text, const struct rowset *r, size_t row, u32 part,
	const enum rowset_group *groups, size_t n, struct str *room)
{
	size_t n_cells = 0;
	struct cell cell;

	for (size_t g = 0; g < n; g++)
		for (size_t i = 0; i < r->n_columns; i++) {
			const struct rowset_column *c = &r->columns[i];

			if (c->group != groups[g] || c->kind == CELL_RANGE)
				continue;
			rowset_cell(r, c, row, part, room, &cell);
			add_cell(text, c, &cell);
			n_cells++;
		}
	return n_cells;
}

/* number: of the part, from 1; 0: there is one only. */
static void add_names(struct str *text, const struct rowset *r, u32 number,
	const enum rowset_group *groups, size_t n)
{
	for (size_t g = 0; g < n; g++)
		for (size_t i = 0; i < r->n_columns; i++) {
			const struct rowset_column *c = &r->columns[i];

			if (c->group != groups[g] || c->kind == CELL_RANGE)
				continue;
			if (number)
				str_addf(text, "%s_%u,", c->name, number);
			else
				add_word(text, c->name);
			if (c->has_name)
				str_addf(text, "%s_name,", c->name);
		}
}

static void add_header(struct page *p, const struct rowset *r)
{
	struct str *text = &p->out->text;

	for (u32 part = 1; part <= p->n_parts; part++)
		add_names(text, r, part, of_parts, ARRAY_SIZE(of_parts));
	if (p->n_parts)
		add_names(text, r, 0, in_common, ARRAY_SIZE(in_common));
	else
		add_names(text, r, 0, of_one, ARRAY_SIZE(of_one));
	end_line(text);
	p->has_head = true;
}

/* Tables of fewer parts have empty cells. */
static void add_row(struct page *p, const struct rowset *r, size_t row, struct str *room)
{
	struct str *text = &p->out->text;
	size_t n = 0;

	if (!p->n_parts) {
		add_groups(text, r, row, 0, of_one, ARRAY_SIZE(of_one), room);
	} else {
		for (u32 part = 0; part < MIN(r->n_parts, p->n_parts); part++)
			n = add_groups(text, r, row, part, of_parts, ARRAY_SIZE(of_parts), room);
		str_fill(text, ',', p->n_parts > r->n_parts ? n * (p->n_parts - r->n_parts) : 0);
		add_groups(text, r, row, 0, in_common, ARRAY_SIZE(in_common), room);
	}
	end_line(text);
	out_flush_some(p->out);
}

static void csv_form_table(struct page *p, const struct rowset *r)
{
	struct str room = {0};

	if (!p->has_head)
		add_header(p, r);
	for (size_t row = 0; row < r->n; row++)
		if (rowset_shows(r, row))
			add_row(p, r, row, &room);
	str_fini(&room);
}

const struct form form_csv = {.name = "csv",
	.extension = "csv",
	.help = "all rows as comma separated values",
	.wants = FORM_SPLITS_COLUMNS | FORM_HAS_NO_TREE,
	.table = csv_form_table};
