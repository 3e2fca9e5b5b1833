/*
 * form_json.c - tables and trees as JSON, for programs. The members are in the commands' man pages.
 */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "view/forms/forms.h"

static void add_beside(struct str *text, const char *name, const char *suffix, const char *value)
{
	struct str beside = {0};

	str_addf(&beside, "%s_%s", name, suffix);
	json_text(text, str_text(&beside), value);
	str_fini(&beside);
}

static bool is_null(const struct cell *c)
{
	return c->reason || (c->kind == CELL_TEXT && !c->text) ||
		(c->kind == CELL_REAL && !isfinite(c->real));
}

static void add_made(struct str *text, const struct cell *cell)
{
	struct str value = {0};

	cell_add_data(cell, &value);
	json_string(text, str_text(&value));
	str_fini(&value);
}

static void add_name(struct str *text, const char *column, const char *name)
{
	struct str safe = {0};

	str_add_safe(&safe, name, strlen(name));
	add_beside(text, column, "name", str_text(&safe));
	str_fini(&safe);
}

/*
 * Unknown values are null, with the reason in a member next to them; a cell of kind NONE without a reason has no
 * member.
 */
static void add_cell(struct str *text, const char *name, bool is_key, const struct cell *cell)
{
	if (cell->kind == CELL_NONE && !cell->reason)
		return;
	json_key(text, name);
	if (is_null(cell)) {
		str_add(text, "null");
	} else if (cell->kind == CELL_TEXT && !is_key) {
		json_string(text, cell->text);
	} else if (cell_is_number(cell->kind)) {
		cell_add_data(cell, text);
	} else if (cell->kind == CELL_BOOL) {
		str_add(text, cell->n ? "true" : "false");
	} else if (cell->kind == CELL_ADDRESS) {
		str_addc(text, '"');
		cell_add_data(cell, text);
		str_addc(text, '"');
	} else {
		add_made(text, cell);
	}
	str_addc(text, ',');
	if (cell->reason)
		add_beside(text, name, "reason", cell->reason);
	if (cell->name)
		add_name(text, name, cell->name);
}

static void add_table(struct out *out, const char *name, const struct rowset *r);

static void add_any(struct out *out, const struct rowset *r, size_t row, const char *name,
	bool is_key, const struct cell *cell)
{
	struct rowset below;

	if (cell->kind != CELL_ROWS) {
		add_cell(&out->text, name, is_key, cell);
		return;
	}
	r->below(r, cell, row, &below);
	add_table(out, name, &below);
	rowset_close(&below);
}

static void add_column(struct out *out, const struct rowset *r, const struct rowset_column *c,
	size_t row, u32 part, struct str *room)
{
	struct cell cell;

	rowset_cell(r, c, row, part, room, &cell);
	add_any(out, r, row, c->name, c->group == ROWSET_KEY, &cell);
}

static void add_row_cells(struct out *out, const struct rowset *r, size_t row, struct str *room)
{
	const struct rowset_cell *cells;
	size_t n;

	if (!r->cells) {
		for (size_t i = 0; i < r->n_columns; i++)
			add_column(out, r, &r->columns[i], row, 0, room);
		return;
	}
	cells = r->cells(r, row, &n);
	for (size_t i = 0; i < n; i++)
		if (!cells[i].part)
			add_any(out, r, row, cells[i].name, false, &cells[i].cell);
}

static void add_object(struct out *out, const struct rowset *r, size_t row, struct str *room)
{
	str_addc(&out->text, '{');
	add_row_cells(out, r, row, room);
	json_end(&out->text, '}');
}

static void add_element(struct str *text, const struct rowset *r, size_t row, struct str *room)
{
	struct str value = {0};
	struct cell cell;

	rowset_cell(r, &r->columns[0], row, 0, room, &cell);
	cell_add_data(&cell, cell_is_number(cell.kind) ? text : &value);
	if (is_null(&cell))
		str_add(text, "null,");
	else if (cell_is_number(cell.kind))
		str_addc(text, ',');
	else
		json_element(text, str_text(&value));
	str_fini(&value);
}

static void close_node(const struct rowset_node *n, struct str *text)
{
	if (n->first_child)
		json_close(text, ']');
	json_close(text, '}');
}

/* Follows the links, because trees may be deeper than the C stack. */
static void add_nodes(struct out *out, const struct rowset *r, struct str *room)
{
	const struct rowset_node *nodes = r->nodes;
	u32 node = nodes[0].first_child;

	while (node) {
		str_addc(&out->text, '{');
		add_row_cells(out, r, node, room);
		if (nodes[node].first_child) {
			json_open(&out->text, "nodes", '[');
			node = nodes[node].first_child;
			continue;
		}
		for (; node; node = nodes[node].parent) {
			close_node(&nodes[node], &out->text);
			if (nodes[node].next_sibling)
				break;
		}
		node = node ? nodes[node].next_sibling : 0;
	}
}

static void add_rows(struct out *out, const struct rowset *r, struct str *room)
{
	const char *between = "\n";

	for (size_t row = 0; row < r->n; row++) {
		if (!rowset_shows(r, row))
			continue;
		if (r->is_spread) {
			/* Flush before the comma, which may have to be removed. */
			str_add(&out->text, between);
			out_flush_some(out);
			between = ",\n";
		}
		if (r->is_list) {
			add_element(&out->text, r, row, room);
			continue;
		}
		add_object(out, r, row, room);
		str_add(&out->text, r->is_spread ? "" : ",");
	}
	if (r->is_spread)
		str_addc(&out->text, '\n');
}

static void add_table(struct out *out, const char *name, const struct rowset *r)
{
	struct str room = {0};

	json_open(&out->text, name, r->is_object ? '{' : '[');
	if (r->is_object)
		add_row_cells(out, r, 0, &room);
	else if (r->nodes)
		add_nodes(out, r, &room);
	else
		add_rows(out, r, &room);
	json_close(&out->text, r->is_object ? '}' : ']');
	str_fini(&room);
}

void form_json_members(const struct rowset *r, size_t row, struct out *out)
{
	struct str room = {0};

	add_row_cells(out, r, row, &room);
	str_fini(&room);
}

/* Adds the table as the whole document. */
static void add_alone(struct out *out, const struct rowset *r, struct str *room)
{
	struct str *text = &out->text;

	if (r->is_object) {
		add_object(out, r, 0, room);
	} else {
		str_addc(text, '[');
		add_rows(out, r, room);
		json_end(text, ']');
	}
	str_addc(text, '\n');
}

/* Adds the cells of these groups of columns, in their order. */
static void add_groups(struct out *out, const struct rowset *r, size_t row, u32 part,
	const enum rowset_group *groups, size_t n, struct str *room)
{
	for (size_t g = 0; g < n; g++)
		for (size_t i = 0; i < r->n_columns; i++) {
			const struct rowset_column *c = &r->columns[i];

			if (c->group != groups[g] || c->kind == CELL_RANGE)
				continue;
			add_column(out, r, c, row, part, room);
		}
}

/* Adds an object for each part. */
static void add_parts(struct out *out, const struct rowset *r, size_t row,
	const enum rowset_group *groups, size_t n, struct str *room)
{
	json_open(&out->text, r->parts_name, '[');
	for (u32 part = 0; part < r->n_parts; part++) {
		str_addc(&out->text, '{');
		add_groups(out, r, row, part, groups, n, room);
		json_close(&out->text, '}');
	}
	json_close(&out->text, ']');
}

static void add_row(struct page *p, const struct rowset *r, size_t row, struct str *room)
{
	static const enum rowset_group own[] = {ROWSET_KEY, ROWSET_FACT},
				       parts[] = {ROWSET_VALUE, ROWSET_SUM},
				       all[] = {ROWSET_KEY, ROWSET_SUM, ROWSET_VALUE,
					       ROWSET_CERTAINTY, ROWSET_BELOW};
	struct out *out = p->out;

	str_addc(&out->text, '{');
	if (p->n_parts) {
		add_groups(out, r, row, 0, own, ARRAY_SIZE(own), room);
		add_parts(out, r, row, parts, ARRAY_SIZE(parts), room);
	} else {
		add_groups(out, r, row, 0, all, ARRAY_SIZE(all), room);
	}
	json_close(&out->text, '}');
}

static void add_head(struct page *p, const struct rowset *head, struct str *room)
{
	static const enum rowset_group own[] = {ROWSET_FACT}, parts[] = {ROWSET_PART, ROWSET_VALUE},
				       sums[] = {ROWSET_SUM};
	struct out *out = p->out;

	if (p->n_parts) {
		add_groups(out, head, 0, 0, own, ARRAY_SIZE(own), room);
		add_parts(out, head, 0, parts, ARRAY_SIZE(parts), room);
		add_groups(out, head, 0, 0, sums, ARRAY_SIZE(sums), room);
	} else {
		add_groups(out, head, 0, 0, parts, ARRAY_SIZE(parts), room);
	}
}

/* Adds one of several tables, with its head. */
static void add_listed(struct page *p, const struct rowset *r, struct str *room)
{
	struct str *text = &p->out->text;

	str_addc(text, '{');
	add_head(p, r->head, room);
	json_key(text, r->name ? r->name : "rows");
	str_addc(text, '[');
	for (size_t row = 0; row < r->n; row++) {
		if (!rowset_shows(r, row))
			continue;
		/* Flush before a row: the last row's comma is removed. */
		out_flush_some(p->out);
		add_row(p, r, row, room);
	}
	json_end(text, ']');
	str_addc(text, '}');
	str_addc(text, ',');
}

static void json_form_table(struct page *p, const struct rowset *r)
{
	struct str *text = &p->out->text, room = {0};

	if (p->is_lines) {
		for (size_t row = 0; row < r->n; row++) {
			add_object(p->out, r, row, &room);
			str_addc(text, '\n');
		}
	} else if (!p->list) {
		add_alone(p->out, r, &room);
	} else {
		add_listed(p, r, &room);
	}
	str_fini(&room);
}

static void json_form_begin(struct page *p)
{
	struct str *text = &p->out->text;

	if (!p->list)
		return;
	str_addc(text, '{');
	json_u64(text, "version", p->version);
	json_key(text, p->list);
	str_addc(text, '[');
}

static void json_form_end(struct page *p, const struct account *account)
{
	struct str *text = &p->out->text;

	if (!p->list)
		return;
	json_end(text, ']');
	if (account) {
		str_addc(text, ',');
		json_key(text, "ledger");
		str_addc(text, '{');
		account_add_json(account, text);
		json_end(text, '}');
	}
	str_add(text, "}\n");
}

const struct form form_json = {.name = "json",
	.extension = "json",
	.help = "all rows as JSON",
	.wants = FORM_SPLITS_COLUMNS | FORM_NESTS,
	.begin = json_form_begin,
	.table = json_form_table,
	.end = json_form_end};
