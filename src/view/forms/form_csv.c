/*
 * form_csv.c - tables as comma separated values, with a header before the first.
 */
#include <string.h>

#include "view/forms/forms.h"

/* Columns in the order of groups: those of a single part; those of each part, and those that parts have in common. */
static const enum rowset_group of_one[] = {ROWSET_PART, ROWSET_VALUE, ROWSET_CERTAINTY, ROWSET_KEY,
	ROWSET_SUM, ROWSET_FACT},
			       of_parts[] = {ROWSET_PART, ROWSET_VALUE, ROWSET_SUM},
			       in_common[] = {ROWSET_KEY};

/* Adds a word in RFC 4180's quotes, if it needs any, and the separator after it. */
static void add_word(const char *word, const char *separator, struct str *text)
{
	struct str safe = {0};
	bool is_quoted;

	str_add_safe(&safe, word, strlen(word));
	is_quoted = strstr(str_text(&safe), separator) || strchr(str_text(&safe), '"');
	if (is_quoted)
		str_addc(text, '"');
	for (const char *p = str_text(&safe); *p; p++) {
		if (*p == '"')
			str_addc(text, '"');
		str_addc(text, *p);
	}
	str_add(text, is_quoted ? "\"" : "");
	str_add(text, separator);
	str_fini(&safe);
}

static const char *separator_of(const struct page *p)
{
	return p->separator ? p->separator : ",";
}

static void end_line(const struct page *p)
{
	struct str *text = &p->out->text;

	str_cut(text, text->n - strlen(separator_of(p)));
	str_addc(text, '\n');
}

/* Unknown values are empty. */
static void add_cell(const struct page *p, const struct rowset_column *c, const struct cell *cell)
{
	struct str *text = &p->out->text, value = {0};

	if (cell_is_number(cell->kind)) {
		cell_add_data(cell, text);
		str_add(text, separator_of(p));
	} else {
		cell_add_data(cell, &value);
		add_word(str_text(&value), separator_of(p), text);
		str_fini(&value);
	}
	if (c->has_name)
		add_word(cell->name ? cell->name : "", separator_of(p), text);
}

/* Cells of a part that the table does not have are empty. */
static void add_groups(const struct page *p, const struct rowset *r, size_t row, u32 part,
	const enum rowset_group *groups, size_t n, struct str *room)
{
	struct cell cell = {0};

	for (size_t g = 0; g < n; g++)
		for (size_t i = 0; i < r->n_columns; i++) {
			const struct rowset_column *c = &r->columns[i];

			if (c->group != groups[g] || c->kind == CELL_RANGE)
				continue;
			if (!part || part < r->n_parts)
				rowset_cell(r, c, row, part, room, &cell);
			add_cell(p, c, &cell);
		}
}

/* number: the part, from 1; 0: there is only one. */
static void add_names(const struct page *p, const struct rowset *r, u32 number,
	const enum rowset_group *groups, size_t n)
{
	const char *separator = separator_of(p);
	struct str *text = &p->out->text;

	for (size_t g = 0; g < n; g++)
		for (size_t i = 0; i < r->n_columns; i++) {
			const struct rowset_column *c = &r->columns[i];

			if (c->group != groups[g] || c->kind == CELL_RANGE)
				continue;
			for (int k = 0; k < (c->has_name ? 2 : 1); k++) {
				str_addf(text, "%s%s", c->name, k ? "_name" : "");
				if (number)
					str_addf(text, "_%u", number);
				str_add(text, separator);
			}
		}
}

static void add_header(struct page *p, const struct rowset *r)
{
	for (u32 part = 1; part <= p->n_parts; part++)
		add_names(p, r, part, of_parts, ARRAY_SIZE(of_parts));
	if (p->n_parts)
		add_names(p, r, 0, in_common, ARRAY_SIZE(in_common));
	else
		add_names(p, r, 0, of_one, ARRAY_SIZE(of_one));
	end_line(p);
	p->has_head = true;
}

static void add_row(struct page *p, const struct rowset *r, size_t row, struct str *room)
{
	if (!p->n_parts) {
		add_groups(p, r, row, 0, of_one, ARRAY_SIZE(of_one), room);
	} else {
		for (u32 part = 0; part < p->n_parts; part++)
			add_groups(p, r, row, part, of_parts, ARRAY_SIZE(of_parts), room);
		add_groups(p, r, row, 0, in_common, ARRAY_SIZE(in_common), room);
	}
	end_line(p);
	if (!p->is_lines)
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
