#include "profile/rows/rowmaker.h"

#include <string.h>

void rowmaker_row(struct rowmaker *m)
{
	vec_add(&m->rows, m->cells.n);
	m->next = 0;
}

static struct rowset_column column_of(const char *name)
{
	return (struct rowset_column){.name = name, .title = name, .group = ROWSET_FACT};
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (*a == *b && !strcmp(a, b));
}

/* Sets m->next past the column of that name, inserting it if new. Rows are alike, so it is mostly the next one. */
static void find_column(struct rowmaker *m, const char *name)
{
	for (size_t n = 0; n < m->columns.n; n++) {
		const size_t i = (m->next + n) % m->columns.n;

		if (!is_same(m->columns.at[i].name, name))
			continue;
		m->next = MAX(m->next, i + 1);
		return;
	}
	vec_add(&m->columns, column_of(name));
	memmove(&m->columns.at[m->next + 1], &m->columns.at[m->next],
		(m->columns.n - 1 - m->next) * sizeof(*m->columns.at));
	m->columns.at[m->next++] = column_of(name);
}

void rowmaker_columns(struct rowmaker *m, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		find_column(m, names[i]);
}

static void note_column(struct rowmaker *m, const char *name)
{
	if (m->next < m->columns.n && m->columns.at[m->next].name == name)
		m->next++;
	else if (m->rows.n == 1 && m->columns.n == m->cells.n && !m->part)
		vec_add(&m->columns, column_of(name)); /* one row does not name it twice */
	else
		find_column(m, name);
}

struct cell *rowmaker_add(struct rowmaker *m, const char *name)
{
	struct rowset_cell *c;

	if (!m->make)
		note_column(m, name);
	c = vec_push(&m->cells);
	*c = (struct rowset_cell){.name = name, .part = m->part};
	return &c->cell;
}

struct rowmaker *rowmaker_below(struct rowmaker *m, const char *name, enum rowmaker_shape shape)
{
	struct cell *c = rowmaker_add(m, name);
	struct rowmaker *below;

	if (m->n_below == m->below.n)
		vec_add(&m->below, mem_zalloc(sizeof(*below)));
	below = m->below.at[m->n_below++];
	below->shape = shape;
	if (shape == ROWMAKER_OBJECT)
		rowmaker_row(below);
	c->kind = CELL_ROWS;
	c->below = below;
	return below;
}

void rowmaker_lazy(struct rowmaker *m, void (*make)(struct rowmaker *m, const void *of, size_t row),
	const void *of, size_t n)
{
	m->is_spread = true;
	m->make = make;
	m->of = of;
	m->n_made = n;
}

struct rowset *rowmaker_tree(struct rowmaker *m, const char *name)
{
	struct rowmaker *below = rowmaker_below(m, name, ROWMAKER_ROWS);

	below->tree = mem_zalloc(sizeof(*below->tree));
	return below->tree;
}

const char *rowmaker_copy(struct rowmaker *m, const char *text)
{
	return arena_strdup(&m->texts, text, strlen(text));
}

void rowmaker_text(struct rowmaker *m, const char *name, const char *text)
{
	cell_text(rowmaker_add(m, name), text);
}

void rowmaker_note(struct rowmaker *m, const char *name, const char *text)
{
	struct cell *c = rowmaker_add(m, name);

	if (text && *text)
		cell_text(c, text);
}

void rowmaker_u64(struct rowmaker *m, const char *name, u64 n)
{
	cell_number(rowmaker_add(m, name), CELL_COUNT, n);
}

void rowmaker_share(struct rowmaker *m, const char *name, u64 part, u64 whole)
{
	cell_share(rowmaker_add(m, name), part, whole);
}

void rowmaker_hex(struct rowmaker *m, const char *name, u64 address)
{
	cell_number(rowmaker_add(m, name), CELL_ADDRESS, address);
}

void rowmaker_bool(struct rowmaker *m, const char *name, bool is)
{
	cell_number(rowmaker_add(m, name), CELL_BOOL, is);
}

static struct cell *add_real(struct rowmaker *m, const char *name, double v, unsigned digits)
{
	struct cell *c = rowmaker_add(m, name);

	if (isfinite(v))
		cell_real(c, v, digits);
	else
		cell_text(c, NULL);
	return c;
}

void rowmaker_fixed(struct rowmaker *m, const char *name, double v, unsigned digits)
{
	add_real(m, name, v, digits);
}

void rowmaker_double(struct rowmaker *m, const char *name, double v, unsigned digits)
{
	add_real(m, name, v, digits)->is_significant = true;
}

/* All but the memory that the next rows need, too. */
static void drop_cells(struct rowmaker *m)
{
	for (size_t i = 0; i < m->n_below; i++) {
		struct rowmaker *below = m->below.at[i];

		drop_cells(below);
		below->columns.n = below->next = below->asked = below->made = below->n_made = 0;
		below->is_spread = false;
		below->make = NULL;
	}
	if (m->tree)
		rowset_close(m->tree);
	mem_free(m->tree);
	m->tree = NULL;
	m->n_below = m->cells.n = m->rows.n = 0;
	m->part = 0;
	if (m->texts.chunks)
		arena_fini(&m->texts);
}

static void make_row(struct rowmaker *m, size_t row)
{
	drop_cells(m);
	rowmaker_row(m);
	m->make(m, m->of, row);
	m->made = row + 1;
}

/* The cells of a row, which are made first if necessary. */
static const struct rowset_cell *cells_of(const struct rowset *r, size_t row, size_t *ret_n)
{
	const struct rowmaker *m = r->of;
	size_t end;

	if (m->make && m->made != row + 1)
		make_row((struct rowmaker *)(uintptr_t)m, row);
	row = m->make ? 0 : row;
	end = row + 1 < m->rows.n ? m->rows.at[row + 1] : m->cells.n;
	*ret_n = end - m->rows.at[row];
	return m->cells.at + m->rows.at[row];
}

/* The search begins after the last cell asked for: that is mostly the next one. */
static void cell_of(const struct rowset *r, const struct rowset_column *c, size_t row, u32 part,
	struct str *room, struct cell *ret)
{
	struct rowmaker *m = (struct rowmaker *)(uintptr_t)r->of;
	size_t n;
	const struct rowset_cell *cells = cells_of(r, row, &n);

	(void)room;
	part = c->is_of_part ? part : c->id;
	for (size_t k = 0, i = m->asked < n ? m->asked : 0; k < n; k++, i = i + 1 < n ? i + 1 : 0) {
		if (cells[i].part != part || !is_same(cells[i].name, c->name))
			continue;
		m->asked = i + 1;
		*ret = cells[i].cell;
		return;
	}
}

static void below(const struct rowset *r, const struct cell *cell, size_t row, struct rowset *ret)
{
	const struct rowmaker *m = cell->below;

	(void)r;
	(void)row;
	*ret = m->tree ? *m->tree : rowmaker_table(m);
	ret->close = NULL;
}

struct rowset rowmaker_table(const struct rowmaker *m)
{
	return (struct rowset){.columns = m->columns.at,
		.shown = m->columns.at,
		.n_columns = m->columns.n,
		.n_shown = m->columns.n,
		.n = m->make ? m->n_made : m->rows.n,
		.n_parts = 1,
		.is_list = m->shape == ROWMAKER_LIST,
		.is_object = m->shape == ROWMAKER_OBJECT,
		.is_serial = true,
		.is_spread = m->is_spread,
		.of = m,
		.cell = cell_of,
		.cells = cells_of,
		.below = below};
}

void rowmaker_fini(struct rowmaker *m)
{
	drop_cells(m);
	vec_each(below, &m->below) {
		rowmaker_fini(*below);
		mem_free(*below);
	}
	vec_fini(&m->below);
	vec_fini(&m->columns);
	vec_fini(&m->cells);
	vec_fini(&m->rows);
}
