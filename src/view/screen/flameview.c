#include "view/screen/flameview.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "view/screen/heat.h"
#include "view/screen/prompt.h"

enum { HEAD_LINES = 1, FOOT_LINES = 2 };

static const struct grid_style plain, dim = {.attributes = GRID_DIM},
				      bold = {.attributes = GRID_BOLD},
				      reverse = {.attributes = GRID_REVERSE};

static void say(struct flameview *v, const char *text)
{
	str_cut(&v->message, 0);
	str_add(&v->message, text);
}

static const struct rowset_node *node_of(const struct flameview *v, u32 node)
{
	return &v->tree->nodes[node];
}

/* The name of a node; valid until the next call with the same room. */
static const char *name_of(const struct flameview *v, u32 node, struct str *room)
{
	struct cell cell;

	if (!node)
		return "all";
	rowset_cell(v->tree, &v->tree->columns[0], node, 0, room, &cell);
	return cell.text ? cell.text : "";
}

/* ---- the order of siblings ---- */

struct ordering {
	const struct flameview *view;
	struct str a, b;
};

static int by_weight(const void *x, const void *y, void *ctx)
{
	struct ordering *o = ctx;
	const struct flameview *v = o->view;
	const u32 a = *(const u32 *)x, b = *(const u32 *)y;
	const u64 s = node_of(v, a)->total, t = node_of(v, b)->total;

	if (!v->is_by_name && s != t)
		return s > t ? -1 : 1;
	const int r = strcmp(name_of(v, a, &o->a), name_of(v, b, &o->b));

	return r ? r : (a > b) - (a < b);
}

static void order(struct flameview *v)
{
	struct ordering o = {.view = v};
	u32 n = 0;

	for (u32 node = 0; node < v->tree->n; node++) {
		v->first[node] = n;
		for (u32 child = node_of(v, node)->first_child; child;
			child = node_of(v, child)->next_sibling)
			if (node_of(v, child)->total)
				v->children[n++] = child;
		if (n > v->first[node] + 1)
			qsort_r(&v->children[v->first[node]], n - v->first[node],
				sizeof(*v->children), by_weight, &o);
	}
	v->first[v->tree->n] = n;
	str_fini(&o.a);
	str_fini(&o.b);
}

/* ---- drawing ---- */

struct drawer {
	struct flameview *view;
	struct grid *g;
	struct str room;
};

static struct grid_style style_of(const struct flameview *v, u32 node)
{
	const u64 whole = node_of(v, 0)->total;
	struct grid_style style = {
		.bg = heat_style(whole ? (double)node_of(v, node)->total / (double)whole : 0).fg,
		.fg = GRID_RGB(0x000000)};

	if (v->search.words.n && !v->is_found[node])
		style.attributes = GRID_DIM;
	if (v->search.words.n && v->is_found[node]) {
		style.bg = GRID_RGB(0xd787ff);
		style.attributes = GRID_BOLD | GRID_UNDERLINE;
	}
	if (node == v->at)
		style.attributes |= GRID_REVERSE;
	return style;
}

/* A frame begins with a bar, so that it is seen where there are no colours. */
static void draw_frame(struct drawer *d, u32 node, unsigned row, unsigned from, unsigned end)
{
	struct flameview *v = d->view;
	const struct grid_style style = style_of(v, node);
	const char *name = name_of(v, node, &d->room);

	grid_blank(d->g, row, from, end, style);
	grid_puts(d->g, row, from, d->g->is_ascii ? "|" : "\u258f", style);
	grid_put(d->g, row, from + 1, end, name, strlen(name), style);
	for (unsigned column = from; column < end; column++)
		v->hits[(size_t)row * v->columns + column] = node;
}

/* The row of a node, which may be out of sight. */
static bool row_of(const struct flameview *v, u32 node, unsigned *ret_row)
{
	if (v->depths[node] < v->top)
		return false;
	*ret_row = HEAD_LINES + v->depths[node] - v->top;
	return *ret_row + FOOT_LINES < v->rows;
}

/* Draws a node from x0 to x1, in columns, and what it called; what has no column of its own is left out. */
static void draw_node(struct drawer *d, u32 node, double x0, double x1)
{
	struct flameview *v = d->view;
	const unsigned from = (unsigned)x0, end = (unsigned)x1;
	const double scale =
		node_of(v, node)->total ? (x1 - x0) / (double)node_of(v, node)->total : 0;
	unsigned row;

	if (from >= end || v->depths[node] >= v->top + v->rows)
		return;
	if (row_of(v, node, &row))
		draw_frame(d, node, row, from, end);
	for (u32 i = v->first[node]; i < v->first[node + 1]; i++) {
		const u32 child = v->children[i];
		const double next = x0 + (double)node_of(v, child)->total * scale;

		/* Rounding must not take the last column. */
		draw_node(d, child, x0, next + 1e-9);
		x0 = next;
	}
}

static void draw_callers(struct drawer *d)
{
	struct flameview *v = d->view;
	unsigned row;

	for (u32 node = v->root; node;) {
		node = node_of(v, node)->parent;
		if (row_of(v, node, &row))
			draw_frame(d, node, row, 0, v->columns);
	}
}

static void add_share(const struct flameview *v, u64 n, struct str *text)
{
	num_add_percent(text, n, node_of(v, 0)->total);
}

static void draw_foot(struct drawer *d)
{
	struct flameview *v = d->view;
	struct grid *g = d->g;
	const struct rowset_node *node = node_of(v, v->at);
	struct str text = {0};

	add_share(v, node->total, &text);
	str_add(&text, " of all, ");
	add_share(v, node->own, &text);
	str_add(&text, " own, ");
	num_add_u64(&text, node->total_samples);
	str_addf(&text, " samples  %s", name_of(v, v->at, &d->room));
	grid_puts(g, g->rows - 2, 0, str_text(&text), bold);
	str_cut(&text, 0);
	if (v->is_typing || v->search.words.n) {
		str_addf(&text, "/%s  ", str_text(&v->typed));
		add_share(v, v->found, &text);
		str_add(&text, v->search.is_plain ? " found, as plain text" : " found");
	}
	if (!v->is_typing)
		str_add(&text, text.n ? "   h: help  q: back" : "h: help  q: back");
	grid_puts(g, g->rows - 1, 0, v->message.n ? str_text(&v->message) : str_text(&text),
		v->message.n ? bold : dim);
	str_fini(&text);
}

static void draw_title(struct drawer *d)
{
	struct flameview *v = d->view;
	struct str text = {0};

	str_addf(&text, " Flame view of %s", v->title);
	if (v->root)
		str_addf(&text, " > %s", name_of(v, v->root, &d->room));
	grid_blank(d->g, 0, 0, d->g->columns, reverse);
	grid_puts(d->g, 0, 0, str_text(&text), reverse);
	str_fini(&text);
}

/* The cursor's row is in sight. */
static void scroll(struct flameview *v)
{
	const unsigned height = v->rows - HEAD_LINES - FOOT_LINES;

	if (v->depths[v->at] < v->top)
		v->top = v->depths[v->at];
	if (v->depths[v->at] >= v->top + height)
		v->top = v->depths[v->at] - height + 1;
}

void flameview_draw(struct flameview *v, struct grid *g)
{
	struct drawer d = {.view = v, .g = g};

	mem_free(v->hits);
	v->hits = mem_zalloc(((size_t)g->columns * g->rows + 1) * sizeof(*v->hits));
	v->columns = g->columns;
	v->rows = g->rows;
	if (g->rows <= HEAD_LINES + FOOT_LINES || g->columns < 10) {
		grid_puts(g, 0, 0, "too small", plain);
		return;
	}
	if (v->page.is_open) {
		textpage_draw(&v->page, g);
		return;
	}
	draw_title(&d);
	scroll(v);
	draw_callers(&d);
	draw_node(&d, v->root, 0, g->columns);
	draw_foot(&d);
	str_fini(&d.room);
}

/* ---- moving ---- */

static u32 hit(const struct flameview *v, unsigned row, unsigned column)
{
	return row < v->rows && column < v->columns ? v->hits[(size_t)row * v->columns + column]
						    : 0;
}

/* The frame beside the cursor's in its row, whoever called it. */
static void move_aside(struct flameview *v, int by)
{
	unsigned row;

	if (!v->hits || !row_of(v, v->at, &row))
		return;
	unsigned column = 0;

	while (column < v->columns && hit(v, row, column) != v->at)
		column++;
	for (; column < v->columns; column += (unsigned)by) {
		const u32 node = hit(v, row, column);

		if (node && node != v->at) {
			v->at = node;
			return;
		}
	}
}

static void left(struct flameview *v)
{
	move_aside(v, -1);
}

static void right(struct flameview *v)
{
	move_aside(v, 1);
}

static void up(struct flameview *v)
{
	v->at = node_of(v, v->at)->parent;
}

static bool is_below(const struct flameview *v, u32 node, u32 root)
{
	while (node > root)
		node = node_of(v, node)->parent;
	return node == root;
}

/* The most expensive call; above the root, the way to it. */
static void down(struct flameview *v)
{
	u32 best = 0;

	for (u32 i = v->first[v->at]; i < v->first[v->at + 1]; i++) {
		const u32 child = v->children[i];

		if (v->at != v->root && !is_below(v, v->at, v->root) &&
			!is_below(v, v->root, child))
			continue;
		if (!best || node_of(v, child)->total > node_of(v, best)->total)
			best = child;
	}
	if (best)
		v->at = best;
	else
		say(v, "it called nothing");
}

static void zoom_to(struct flameview *v, u32 node)
{
	if (node == v->root)
		return;
	vec_add(&v->zooms, v->root);
	v->root = v->at = node;
}

static void zoom(struct flameview *v)
{
	zoom_to(v, v->at);
}

static void whole(struct flameview *v)
{
	zoom_to(v, 0);
}

static void change_order(struct flameview *v)
{
	v->is_by_name = !v->is_by_name;
	order(v);
	say(v, v->is_by_name ? "by name" : "the most expensive first");
}

/* ---- search ---- */

/* What goes through a function that is found counts once, however often it is on the way. */
static void search(struct flameview *v)
{
	bool *is_inside = mem_zalloc(v->tree->n + 1);
	struct str room = {0};

	namesearch_set(&v->search, str_text(&v->typed));
	v->found = 0;
	memset(v->is_found, 0, v->tree->n);
	for (u32 i = 1; v->search.words.n && i < v->tree->n; i++) {
		const char *names[NAMESEARCH_FIELDS] = {[NAMESEARCH_NAME] = name_of(v, i, &room)};

		v->is_found[i] = namesearch_matches(&v->search, names);
		is_inside[i] = v->is_found[i] || is_inside[node_of(v, i)->parent];
		v->found += v->is_found[i] && !is_inside[node_of(v, i)->parent]
			? node_of(v, i)->total
			: 0;
	}
	str_fini(&room);
	mem_free(is_inside);
}

static void begin_search(struct flameview *v)
{
	v->is_typing = true;
	str_cut(&v->kept, 0);
	str_add(&v->kept, str_text(&v->typed));
}

static void type(struct flameview *v, u32 key)
{
	if (key == KEY_ENTER) {
		v->is_typing = false;
	} else if (key == KEY_ESC) {
		v->is_typing = false;
		str_cut(&v->typed, 0);
		str_add(&v->typed, str_text(&v->kept));
		search(v);
	} else if (prompt_take(&v->typed, key)) {
		search(v);
	}
}

/* Goes to the next one that is found, and zooms out if it is out of sight. */
static void find(struct flameview *v, bool is_back)
{
	const u32 n = (u32)v->tree->n;

	if (!v->search.words.n) {
		say(v, "/ searches first");
		return;
	}
	for (u32 i = 1; i <= n; i++) {
		const u32 node = (v->at + (is_back ? n - i : i)) % n;

		if (!node || !v->is_found[node] || !node_of(v, node)->total)
			continue;
		v->at = node;
		if (!is_below(v, node, v->root)) {
			vec_add(&v->zooms, v->root);
			v->root = 0;
		}
		return;
	}
	say(v, "nothing is found");
}

static void find_next(struct flameview *v)
{
	find(v, false);
}

static void find_before(struct flameview *v)
{
	find(v, true);
}

/* ---- keys ---- */

static void help(struct flameview *v)
{
	textpage_show_help(&v->page, &flameview_keys, NULL);
}

/* Esc takes back the search, then the zooms, and then the view. */
static void escape(struct flameview *v)
{
	if (v->typed.n) {
		str_cut(&v->typed, 0);
		search(v);
	} else if (v->zooms.n) {
		v->at = v->root;
		v->root = v->zooms.at[--v->zooms.n];
	} else {
		v->is_over = true;
	}
}

static void leave(struct flameview *v)
{
	v->is_over = true;
}

struct flameview_key {
	struct keytable_row row;
	void (*act)(struct flameview *v);
};

/* clang-format off: a row a key */
static const struct flameview_key keys[] = {
	{{KEY_LEFT, 0, 1, "Left", "go to the function on the left in the same row"}, left},
	{{KEY_RIGHT, 0, 1, "Right", "go to the function on the right in the same row"}, right},
	{{KEY_UP, 'k', 1, "Up, k", "go to the caller"}, up},
	{{KEY_DOWN, 'j', 1, "Down, j", "go to the most expensive call"}, down},
	{{KEY_ENTER, 0, 1, "Enter", "give the function the whole width"}, zoom},
	{{KEY_HOME, '0', 1, "Home, 0", "give the whole recording the whole width"}, whole},
	{{'o', 0, 1, "o", "order functions by name, or by cost"}, change_order},
	{{'/', 0, 1, "/", "search: words, choices with |"}, begin_search},
	{{'n', 0, 1, "n", "go to the next function that is found"}, find_next},
	{{'N', 0, 1, "N", "go to the function before that is found"}, find_before},
	{{'h', '?', 1, "h, ?", "show these keys"}, help},
	{{KEY_ESC, 0, 1, "Esc", "take back the search, the last zoom, or go back to the rows"},
		escape},
	{{'q', 'w', 1, "q, w", "go back to the rows"}, leave},
};
/* clang-format on */
const struct keytable flameview_keys = {KEYTABLE(keys)};

static void press(struct flameview *v, u32 key)
{
	const struct flameview_key *k = keytable_find(&flameview_keys, 1, key);

	if (k)
		k->act(v);
	else
		say(v, "this key means nothing: h shows those that do");
}

/* A click goes to a function; another one there zooms. */
static void click(struct flameview *v, unsigned row, unsigned column)
{
	if (!v->hits || row < HEAD_LINES || row + FOOT_LINES >= v->rows || column >= v->columns)
		return;
	const u32 node = hit(v, row, column);

	/* The whole is node 0, and so is a cell without one. */
	if (!node && HEAD_LINES + v->depths[0] != row + v->top)
		return;
	if (node == v->at)
		zoom_to(v, node);
	v->at = node;
}

void flameview_take(struct flameview *v, const struct screen_event *e)
{
	if (e->kind != EVENT_RESIZE && e->kind != EVENT_TICK)
		str_cut(&v->message, 0);
	if (textpage_take(&v->page, e))
		return;
	if (e->kind == EVENT_KEY && v->is_typing)
		type(v, e->key);
	else if (e->kind == EVENT_KEY)
		press(v, e->key);
	else if (e->kind == EVENT_CLICK)
		click(v, e->row, e->column);
	else if (e->kind == EVENT_WHEEL_UP)
		up(v);
	else if (e->kind == EVENT_WHEEL_DOWN)
		down(v);
	else if (e->kind == EVENT_END)
		v->is_over = true;
}

void flameview_init(struct flameview *v, const struct rowset *tree, const char *title)
{
	*v = (struct flameview){.tree = tree, .title = title};
	v->children = mem_zalloc((tree->n + 1) * sizeof(*v->children));
	v->first = mem_zalloc((tree->n + 2) * sizeof(*v->first));
	v->depths = mem_zalloc((tree->n + 1) * sizeof(*v->depths));
	v->is_found = mem_zalloc(tree->n + 1);
	for (u32 i = 1; i < tree->n; i++)
		v->depths[i] = v->depths[tree->nodes[i].parent] + 1;
	order(v);
}

void flameview_fini(struct flameview *v)
{
	mem_free(v->children);
	mem_free(v->first);
	mem_free(v->depths);
	mem_free(v->is_found);
	mem_free(v->hits);
	vec_fini(&v->zooms);
	namesearch_fini(&v->search);
	str_fini(&v->typed);
	str_fini(&v->kept);
	str_fini(&v->message);
	textpage_fini(&v->page);
}

static void draw(void *of, struct grid *g)
{
	flameview_draw(of, g);
}

static void take(void *of, const struct screen_event *e)
{
	flameview_take(of, e);
}

static bool is_over(const void *of)
{
	return ((const struct flameview *)of)->is_over;
}

void flameview_run(const struct rowset *tree, const char *title, struct screen *s)
{
	struct flameview v;

	flameview_init(&v, tree, title);
	v.screen = s;
	screen_run(s,
		&(struct screen_view){.of = &v, .draw = draw, .take = take, .is_over = is_over});
	flameview_fini(&v);
}
