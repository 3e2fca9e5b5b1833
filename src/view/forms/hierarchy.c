#include "view/forms/hierarchy.h"

#include <string.h>

#include "view/text/celltext.h"
#include "view/text/colour.h"

enum { INDENT = 3 };

struct hierarchy {
	const struct rowset *rows;
	const struct text_options *options;
	const struct rowset_column *below; /* NULL: no graphs */
	struct celltext *layouts;          /* by column */
	size_t *widths;                    /* likewise, for figures */
	size_t n_keys;
	struct str cell, room;
};

static bool is_key(const struct hierarchy *y, size_t column)
{
	return y->rows->shown[column].group == ROWSET_KEY;
}

static void make_cell(struct hierarchy *y, size_t column, u32 row)
{
	str_clear(&y->cell);
	celltext_add_row(&y->layouts[column], y->rows, &y->rows->shown[column], row, &y->room,
		&y->cell);
}

static size_t columns(const struct str *cell)
{
	return colour_columns(str_text(cell), cell->n);
}

static void choose_widths(struct hierarchy *y)
{
	const struct rowset *r = y->rows;

	for (size_t i = 0; i < r->n_shown; i++) {
		y->layouts[i] = celltext_of_column(&r->shown[i]);
		y->layouts[i].has_colour = y->options->has_colour && y->layouts[i].is_right;
		y->n_keys += is_key(y, i);
		y->widths[i] = MAX(strlen(y->layouts[i].title),
			(size_t)y->layouts[i].width * rowset_n_cells(r, &r->shown[i]));
		for (u32 row = 1; row < r->n && !is_key(y, i); row++) {
			make_cell(y, i, row);
			y->widths[i] = MAX(y->widths[i], columns(&y->cell));
		}
	}
}

static void add_header(struct hierarchy *y, struct str *text)
{
	const char *between = " ";

	str_add(text, "#");
	for (size_t i = 0; i < y->rows->n_shown; i++) {
		if (is_key(y, i))
			continue;
		str_add(text, between);
		str_add_right(text, y->layouts[i].title, y->widths[i]);
		between = "  ";
	}
	str_fill(text, ' ', INDENT * (y->n_keys - 1) + 2);
	between = "";
	for (size_t i = 0; i < y->rows->n_shown; i++) {
		if (!is_key(y, i))
			continue;
		str_addf(text, "%s%s", between, y->layouts[i].title);
		between = " / ";
	}
	str_add(text, "\n#\n");
}

/* The name of the row: only one of the keys has a cell. */
static void add_name(struct hierarchy *y, u32 row, struct str *text)
{
	struct cell cell;

	for (size_t i = 0; i < y->rows->n_shown; i++) {
		if (!is_key(y, i))
			continue;
		rowset_cell(y->rows, &y->rows->shown[i], row, 0, &y->room, &cell);
		cell_add_text(&cell, text);
	}
	str_addc(text, '\n');
}

static void add_below(struct hierarchy *y, u32 row, struct str *text)
{
	struct rowset tree;
	struct cell cell;

	if (!y->below)
		return;
	rowset_cell(y->rows, y->below, row, 0, &y->room, &cell);
	if (cell.kind != CELL_ROWS)
		return;
	y->rows->below(y->rows, &cell, row, &tree);
	drawing_add(text, &tree, &y->options->drawing);
	rowset_close(&tree);
}

static void add_rows(struct hierarchy *y, u32 parent, size_t level, struct out *out)
{
	const struct rowset_node *nodes = y->rows->nodes;
	struct str *text = &out->text;
	bool has_any = false;

	for (u32 row = nodes[parent].first_child; row; row = nodes[row].next_sibling) {
		if (!rowset_shows(y->rows, row))
			continue;
		has_any = true;
		str_fill(text, ' ', INDENT * level);
		for (size_t i = 0; i < y->rows->n_shown; i++) {
			if (is_key(y, i))
				continue;
			make_cell(y, i, row);
			str_fill(text, ' ', 2 + y->widths[i] - columns(&y->cell));
			str_addn(text, str_text(&y->cell), y->cell.n);
		}
		str_fill(text, ' ', INDENT * (y->n_keys - 1) + 2);
		add_name(y, row, text);
		if (level + 1 < y->n_keys)
			add_rows(y, row, level + 1, out);
		else
			add_below(y, row, text);
		out_flush_some(out);
	}
	if (has_any || !parent)
		return;
	str_fill(text, ' ', INDENT * (level + y->n_keys - 1) + 2);
	for (size_t i = 0; i < y->rows->n_shown; i++)
		str_fill(text, ' ', is_key(y, i) ? 0 : y->widths[i] + 2);
	str_addf(text, "no entry >= %.2f%%\n", y->options->row_limit);
}

void hierarchy_add(struct out *out, const struct rowset *r, const struct text_options *o)
{
	struct hierarchy y = {.rows = r,
		.options = o,
		.below = rowset_below(r),
		.layouts = mem_zalloc((r->n_shown + 1) * sizeof(*y.layouts)),
		.widths = mem_zalloc((r->n_shown + 1) * sizeof(*y.widths))};

	choose_widths(&y);
	if (!o->is_bare)
		add_header(&y, &out->text);
	add_rows(&y, 0, 0, out);
	mem_free(y.layouts);
	mem_free(y.widths);
	str_fini(&y.cell);
	str_fini(&y.room);
}
