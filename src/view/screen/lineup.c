#include "view/screen/lineup.h"

#include <stdlib.h>
#include <string.h>

/* ---- trees ---- */

static bool is_above(const struct lineup *l, const struct rowset *tree, u32 node)
{
	const u64 whole = l->drawing->style == DRAWING_FRACTAL ? tree->part : tree->whole;

	return (double)tree->nodes[node].total >= (double)whole * l->drawing->limit / 100;
}

/* The node, or the first of its siblings behind it, that is large enough; 0: none is. */
static u32 next_shown(const struct lineup *l, const struct rowset *tree, u32 node)
{
	while (node && !is_above(l, tree, node))
		node = tree->nodes[node].next_sibling;
	return node;
}

/* What follows a node where no sample ended and nothing branches off: it is part of the same line of calls. */
static u32 only_child(const struct rowset *tree, u32 node)
{
	const u32 child = tree->nodes[node].first_child;

	return child && !tree->nodes[child].next_sibling && !tree->nodes[node].own ? child : 0;
}

/* What a row or node calls its function; nothing if it has none. */
static void add_function(struct lineup *l, const struct rowset *r, u32 row, struct str *text)
{
	struct cell cell;

	for (size_t i = 0; i < r->n_shown; i++) {
		if (strcmp(r->shown[i].name, "symbol"))
			continue;
		rowset_cell(r, &r->shown[i], row, 0, &l->room, &cell);
		if (cell.kind == CELL_FUNCTION)
			cell_add_data(&cell, text);
		return;
	}
}

/* Where the tree begins: a row's function that all its samples go through is not repeated below it. */
static u32 top_of(struct lineup *l, const struct rowset *tree, u32 row)
{
	const u32 top = next_shown(l, tree, tree->nodes[0].first_child);
	struct str own = {0}, below = {0};
	bool is_same;

	if (!top || tree->nodes[top].total != tree->part || tree->nodes[top].next_sibling)
		return 0;
	add_function(l, l->rows, row, &own);
	add_function(l, tree, top, &below);
	is_same = own.n && !strcmp(str_text(&own), str_text(&below));
	str_fini(&own);
	str_fini(&below);
	return is_same ? top : 0;
}

static struct lineup_tree *tree_of(struct lineup *l, u32 row)
{
	struct lineup_tree *t = &l->trees[row];
	struct cell cell;

	if (t->is_open || t->is_empty)
		return t;
	t->is_empty = true;
	if (!l->below)
		return t;
	rowset_cell(l->rows, l->below, row, 0, &l->room, &cell);
	if (cell.kind != CELL_ROWS)
		return t;
	l->rows->below(l->rows, &cell, row, &t->tree);
	t->is_open = mem_zalloc(t->tree.n + 1);
	t->top = t->tree.n ? top_of(l, &t->tree, row) : 0;
	t->is_empty = !t->tree.n || !next_shown(l, &t->tree, t->tree.nodes[t->top].first_child);
	return t;
}

/* ---- lines ---- */

static void add_children(struct lineup *l, u32 row, u32 parent, u16 depth);

/* A node, the run of nodes that nothing branches off from, and what is below. */
static void add_node(struct lineup *l, u32 row, u32 head, u16 depth)
{
	const struct lineup_tree *t = &l->trees[row];
	u32 last = head;

	vec_add(&l->lines,
		((struct lineup_line){.row = row,
			.node = head,
			.head = head,
			.depth = depth,
			.has_more = next_shown(l, &t->tree, t->tree.nodes[head].first_child),
			.is_open = t->is_open[head]}));
	if (!t->is_open[head])
		return;
	for (u32 next; (next = only_child(&t->tree, last)) != 0 && is_above(l, &t->tree, next);
		last = next)
		vec_add(&l->lines,
			((struct lineup_line){.row = row,
				.node = next,
				.head = head,
				.depth = depth}));
	add_children(l, row, last, (u16)(depth + 1));
}

static void add_children(struct lineup *l, u32 row, u32 parent, u16 depth)
{
	const struct rowset *tree = &l->trees[row].tree;
	u64 n = 0;

	for (u32 node = next_shown(l, tree, tree->nodes[parent].first_child); node;
		node = next_shown(l, tree, tree->nodes[node].next_sibling)) {
		add_node(l, row, node, depth);
		if (++n == l->drawing->entries)
			break;
	}
}

/* Whether the row may have something below it: its tree is only made when it is opened. */
static bool may_have_more(struct lineup *l, u32 row)
{
	struct cell cell;

	if (!l->below || l->trees[row].is_empty || l->trees[row].is_open)
		return l->below && !l->trees[row].is_empty;
	rowset_cell(l->rows, l->below, row, 0, &l->room, &cell);
	return cell.kind == CELL_ROWS;
}

static void set_lines(struct lineup *l)
{
	l->lines.n = 0;
	vec_each(row, &l->order) {
		const struct lineup_tree *t = &l->trees[*row];

		if (l->filters && l->search.words.n && !l->is_found[*row])
			continue;
		vec_add(&l->lines,
			((struct lineup_line){.row = *row,
				.has_more = may_have_more(l, *row),
				.is_open = t->is_shown}));
		if (t->is_shown)
			add_children(l, *row, t->top, 0);
	}
}

size_t lineup_find(const struct lineup *l, u32 row, u32 node)
{
	size_t found = 0;

	for (size_t i = 0; i < l->lines.n; i++) {
		if (l->lines.at[i].row != row)
			continue;
		if (l->lines.at[i].node == node)
			return i;
		found = l->lines.at[i].node ? found : i;
	}
	return found;
}

/* ---- opening ---- */

void lineup_toggle(struct lineup *l, size_t line)
{
	const struct lineup_line at = l->lines.at[line];
	struct lineup_tree *t = tree_of(l, at.row);

	if (at.node)
		t->is_open[at.head] = !t->is_open[at.head];
	else
		t->is_shown = !t->is_shown && !t->is_empty;
	set_lines(l);
}

static void set_row(struct lineup *l, u32 row, bool is_open)
{
	struct lineup_tree *t = is_open ? tree_of(l, row) : &l->trees[row];

	t->is_shown = is_open && !t->is_empty;
	if (t->is_open)
		memset(t->is_open, is_open, t->tree.n);
}

void lineup_set_row(struct lineup *l, u32 row, bool is_open)
{
	set_row(l, row, is_open);
	set_lines(l);
}

void lineup_set_all(struct lineup *l, bool is_open)
{
	vec_each(row, &l->order)
		set_row(l, *row, is_open);
	set_lines(l);
}

size_t lineup_open_hottest(struct lineup *l, u32 row)
{
	struct lineup_tree *t = tree_of(l, row);
	u32 node = 0, next;

	t->is_shown = !t->is_empty;
	if (t->is_empty)
		return lineup_find(l, row, 0);
	for (next = next_shown(l, &t->tree, t->tree.nodes[t->top].first_child); next;
		next = next_shown(l, &t->tree, t->tree.nodes[node].first_child)) {
		node = next;
		t->is_open[node] = true;
	}
	set_lines(l);
	return lineup_find(l, row, node);
}

struct lineup_tree *lineup_show(struct lineup *l, u32 row)
{
	struct lineup_tree *t = tree_of(l, row);

	t->is_shown = !t->is_empty;
	return t->is_shown ? t : NULL;
}

void lineup_update(struct lineup *l)
{
	set_lines(l);
}

/* ---- order ---- */

struct rank {
	double value;
	size_t text; /* offset in the texts */
	u32 row;
};

struct ranks {
	const char *texts;
	bool is_number;
};

static double value_of(const struct cell *c)
{
	switch (c->kind) {
	case CELL_NONE:
		return -1e300;
	case CELL_REAL:
	case CELL_RANGE:
	case CELL_TEXT:
		return c->real;
	case CELL_SIGNED:
		return (double)(s64)c->n;
	case CELL_SHARE:
		return c->whole ? (double)c->n / (double)c->whole : 0;
	default:
		return (double)c->n;
	}
}

static int by_rank(const void *a, const void *b, void *ctx)
{
	const struct rank *x = a, *y = b;
	const struct ranks *r = ctx;
	int order = r->is_number ? (x->value < y->value) - (x->value > y->value)
				 : strcmp(r->texts + x->text, r->texts + y->text);

	return order ? order : (x->row > y->row) - (x->row < y->row);
}

void lineup_sort(struct lineup *l, size_t column, u32 part)
{
	const bool is_back = column >= l->rows->n_shown;
	const struct rowset_column *c = is_back ? NULL : &l->rows->shown[column];
	VEC(struct rank) all = {0};
	struct str texts = {0};
	struct ranks ranks = {.is_number = is_back || cell_is_number(c->kind)};

	vec_each(row, &l->order) {
		struct rank rank = {.row = *row, .text = texts.n};
		struct cell cell;

		if (!is_back) {
			rowset_cell(l->rows, c, *row, c->is_of_part ? part : 0, &l->room, &cell);
			rank.value = value_of(&cell);
			if (!ranks.is_number)
				cell_add_text(&cell, &texts);
			str_addc(&texts, '\0');
		}
		vec_add(&all, rank);
	}
	ranks.texts = str_text(&texts);
	if (all.n)
		qsort_r(all.at, all.n, sizeof(*all.at), by_rank, &ranks);
	for (size_t i = 0; i < all.n; i++)
		l->order.at[i] = all.at[i].row;
	vec_fini(&all);
	str_fini(&texts);
	set_lines(l);
}

/* ---- search ---- */

/* The columns that say what the words with fields are about; other keys are names if there are no functions. */
static int field_of(const struct rowset_column *c)
{
	static const struct {
		const char *name;
		enum namesearch_field field;
	} columns[] = {{"symbol", NAMESEARCH_NAME}, {"dso", NAMESEARCH_DSO},
		{"srcfile", NAMESEARCH_FILE}, {"srcline", NAMESEARCH_FILE},
		{"comm", NAMESEARCH_THREAD}};

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		if (!strcmp(c->name, columns[i].name))
			return columns[i].field;
	return -1;
}

static bool has_functions(const struct rowset *r)
{
	for (size_t i = 0; i < r->n_shown; i++)
		if (field_of(&r->shown[i]) == NAMESEARCH_NAME)
			return true;
	return false;
}

static void add_field(struct lineup *l, const struct rowset *r, const struct rowset_column *c,
	u32 row, int field)
{
	struct cell cell;

	rowset_cell(r, c, row, 0, &l->room, &cell);
	if (l->names[field].n)
		str_addc(&l->names[field], ' ');
	cell_add_data(&cell, &l->names[field]);
}

static bool matches(struct lineup *l)
{
	const char *names[NAMESEARCH_FIELDS];

	for (size_t i = 0; i < NAMESEARCH_FIELDS; i++)
		names[i] = l->names[i].n ? str_text(&l->names[i]) : NULL;
	return namesearch_matches(&l->search, names);
}

static void clear_names(struct lineup *l)
{
	for (size_t i = 0; i < NAMESEARCH_FIELDS; i++)
		str_cut(&l->names[i], 0);
}

/* Adds what a row is called to l->names. */
static void name_row(struct lineup *l, u32 row, bool is_by_function)
{
	clear_names(l);
	for (size_t i = 0; i < l->rows->n_shown; i++) {
		const struct rowset_column *c = &l->rows->shown[i];
		const int field = field_of(c);

		if (c->group != ROWSET_KEY && c->group != ROWSET_FACT)
			continue;
		if (field >= 0)
			add_field(l, l->rows, c, row, field);
		if (field != NAMESEARCH_NAME && !is_by_function)
			add_field(l, l->rows, c, row, NAMESEARCH_NAME);
	}
}

/* Each name is made once, not at each key. */
bool lineup_prepare(struct lineup *l, size_t n)
{
	const bool is_by_function = has_functions(l->rows);

	if (!l->name_at) {
		l->name_at = mem_alloc((l->rows->n + 1) * NAMESEARCH_FIELDS * sizeof(*l->name_at));
		l->to_name = mem_alloc((l->order.n + 1) * sizeof(*l->to_name));
		if (l->order.n)
			memcpy(l->to_name, l->order.at, l->order.n * sizeof(*l->to_name));
	}
	for (; n && l->n_named < l->order.n; n--, l->n_named++) {
		const u32 row = l->to_name[l->n_named];

		name_row(l, row, is_by_function);
		for (size_t i = 0; i < NAMESEARCH_FIELDS; i++) {
			l->name_at[row * NAMESEARCH_FIELDS + i] = l->row_names.n;
			str_addn(&l->row_names, str_text(&l->names[i]), l->names[i].n + 1);
		}
	}
	return l->n_named < l->order.n;
}

static bool row_matches(const struct lineup *l, u32 row)
{
	const char *names[NAMESEARCH_FIELDS];

	for (size_t i = 0; i < NAMESEARCH_FIELDS; i++) {
		names[i] = l->row_names.at + l->name_at[row * NAMESEARCH_FIELDS + i];
		names[i] = *names[i] ? names[i] : NULL;
	}
	return namesearch_matches(&l->search, names);
}

/* Words of letters alone that are longer now, with nothing else: what did not match before does not match now. */
static bool is_longer(const struct lineup *l, const char *text)
{
	const size_t n = l->searched.n;

	return n && !strncmp(str_text(&l->searched), text, n) &&
		text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_ ")] == '\0' &&
		text[n - 1] != ' ';
}

static void find_rows(struct lineup *l, const char *text)
{
	const bool is_less = l->has_searched && is_longer(l, text);

	if (l->has_searched && !strcmp(str_text(&l->searched), text))
		return;
	namesearch_set(&l->search, text);
	if (l->search.words.n)
		lineup_prepare(l, l->order.n);
	l->n_found = 0;
	vec_each(row, &l->order) {
		l->is_found[*row] = l->search.words.n && (!is_less || l->is_found[*row]) &&
			row_matches(l, *row);
		l->n_found += l->is_found[*row];
	}
	str_cut(&l->searched, 0);
	str_add(&l->searched, text);
	l->has_searched = true;
}

void lineup_search(struct lineup *l, const char *text, bool filters)
{
	const bool is_same =
		l->filters == filters && l->has_searched && !strcmp(str_text(&l->searched), text);

	find_rows(l, text);
	l->filters = filters;
	if (!is_same)
		set_lines(l);
}

bool lineup_is_found(struct lineup *l, const struct lineup_line *line)
{
	const struct rowset *tree = &l->trees[line->row].tree;

	if (!l->search.words.n || !line->node)
		return l->search.words.n && l->is_found[line->row];
	clear_names(l);
	for (size_t i = 0; i < tree->n_columns; i++) {
		const int field = field_of(&tree->columns[i]);

		if (field >= 0)
			add_field(l, tree, &tree->columns[i], line->node, field);
	}
	return matches(l);
}

/* ---- names ---- */

void lineup_add_name(struct lineup *l, const struct lineup_line *line, struct str *text)
{
	const struct rowset *tree = &l->trees[line->row].tree;
	const size_t start = text->n;
	struct cell cell;

	for (size_t i = 0; i < tree->n_shown; i++) {
		rowset_cell(tree, &tree->shown[i], line->node, 0, &l->room, &cell);
		if (cell.kind == CELL_NONE ||
			(cell.kind == CELL_TEXT && !(cell.text && *cell.text)))
			continue;
		str_add(text, text->n > start ? " " : "");
		cell_add_data(&cell, text);
	}
}

void lineup_init(struct lineup *l, const struct rowset *rows, const struct drawing_options *drawing)
{
	*l = (struct lineup){.rows = rows, .drawing = drawing, .below = rowset_below(rows)};
	l->trees = mem_zalloc((rows->n + 1) * sizeof(*l->trees));
	l->is_found = mem_zalloc(rows->n + 1);
	for (size_t row = 0; row < rows->n; row++)
		if (rowset_shows(rows, row))
			vec_add(&l->order, (u32)row);
	set_lines(l);
}

void lineup_fini(struct lineup *l)
{
	for (size_t row = 0; row < l->rows->n; row++)
		if (l->trees[row].is_open) {
			rowset_close(&l->trees[row].tree);
			mem_free(l->trees[row].is_open);
		}
	mem_free(l->trees);
	mem_free(l->is_found);
	vec_fini(&l->order);
	vec_fini(&l->lines);
	namesearch_fini(&l->search);
	str_fini(&l->room);
	str_fini(&l->row_names);
	str_fini(&l->searched);
	mem_free(l->name_at);
	mem_free(l->to_name);
	for (size_t i = 0; i < NAMESEARCH_FIELDS; i++)
		str_fini(&l->names[i]);
}
