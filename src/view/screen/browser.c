#include "view/screen/browser.h"

#include <string.h>

#include "view/screen/prompt.h"
#include "view/screen/printout.h"

void browser_say(struct browser *b, const char *text)
{
	str_cut(&b->message, 0);
	str_add(&b->message, text);
}

/* ---- moving ---- */

static void move(struct browser *b, long by)
{
	if (b->mode == BROWSER_MENU)
		b->choice = textpage_moved(b->choice, by, b->menu.n);
	else
		b->line = textpage_moved(b->line, by, b->lineup.lines.n);
}

static void up(struct browser *b)
{
	move(b, -1);
}

static void down(struct browser *b)
{
	move(b, 1);
}

static void page_up(struct browser *b)
{
	move(b, -(long)MAX(b->height, 1u));
}

static void page_down(struct browser *b)
{
	move(b, (long)MAX(b->height, 1u));
}

static void to_start(struct browser *b)
{
	move(b, -TEXTPAGE_FAR);
}

static void to_end(struct browser *b)
{
	move(b, TEXTPAGE_FAR);
}

static void left(struct browser *b)
{
	textpage_shift(&b->shift, false);
}

static void right(struct browser *b)
{
	textpage_shift(&b->shift, true);
}

/* ---- what is below ---- */

static const struct lineup_line *at_cursor(const struct browser *b)
{
	return b->line < b->lineup.lines.n ? &b->lineup.lines.at[b->line] : NULL;
}

static void toggle(struct browser *b)
{
	const struct lineup_line *line = at_cursor(b);
	struct lineup_line was;

	if (!line)
		return;
	was = *line;
	lineup_toggle(&b->lineup, b->line);
	b->line = lineup_find(&b->lineup, was.row, was.head);
	if (!was.node && !b->lineup.lines.at[b->line].has_more)
		browser_say(b, "nothing is below this row");
}

static void toggle_row(struct browser *b)
{
	const struct lineup_line *line = at_cursor(b);
	u32 row;

	if (!line)
		return;
	row = line->row;
	lineup_set_row(&b->lineup, row, !b->lineup.trees[row].is_shown);
	b->line = lineup_find(&b->lineup, row, 0);
}

static void toggle_all(struct browser *b)
{
	const struct lineup_line *line = at_cursor(b);
	bool is_any_open = false;
	u32 row;

	if (!line)
		return;
	row = line->row;
	vec_each(l, &b->lineup.lines)
		is_any_open |= l->is_open;
	lineup_set_all(&b->lineup, !is_any_open);
	b->line = lineup_find(&b->lineup, row, 0);
}

static void to_hottest(struct browser *b)
{
	const struct lineup_line *line = at_cursor(b);

	if (line)
		b->line = lineup_open_hottest(&b->lineup, line->row);
}

/* ---- search ---- */

/* The cursor stays on its row if the row is still there. */
static void search(struct browser *b)
{
	const struct lineup_line *line = at_cursor(b);
	const u32 row = line ? line->row : 0, node = line ? line->node : 0;

	lineup_search(&b->lineup, str_text(&b->search), b->filters);
	b->line = lineup_find(&b->lineup, row, node);
}

void browser_search(struct browser *b, const char *pattern)
{
	str_cut(&b->search, 0);
	str_add(&b->search, pattern);
	b->filters = true;
	search(b);
}

static void begin_search(struct browser *b)
{
	b->mode = BROWSER_SEARCH;
	str_cut(&b->kept, 0);
	str_add(&b->kept, str_text(&b->search));
	b->filters = true;
	search(b);
}

static void toggle_filter(struct browser *b)
{
	b->filters = !b->filters;
	search(b);
	browser_say(b,
		b->filters ? "only rows that are found"
			   : "all rows; n and N go to those that are found");
}

static void find(struct browser *b, bool is_back)
{
	const size_t n = b->lineup.lines.n;

	if (!b->lineup.search.words.n) {
		browser_say(b, "/ searches first");
		return;
	}
	for (size_t i = 1; i <= n; i++) {
		const size_t line = (b->line + (is_back ? n - i : i)) % n;

		if (lineup_is_found(&b->lineup, &b->lineup.lines.at[line])) {
			b->line = line;
			return;
		}
	}
	browser_say(b, "no line is found");
}

static void find_next(struct browser *b)
{
	find(b, false);
}

static void find_before(struct browser *b)
{
	find(b, true);
}

/* Keys while something is typed: Enter keeps it, Esc brings back what was searched for before. */
static void type(struct browser *b, u32 key)
{
	struct str *s = &b->search;

	if (key == KEY_ENTER || key == KEY_ESC) {
		if (key == KEY_ESC) {
			str_cut(s, 0);
			str_add(s, str_text(&b->kept));
		}
		b->mode = BROWSER_ROWS;
	} else if (key == KEY_UP || key == KEY_DOWN) {
		b->line = textpage_moved(b->line, key == KEY_UP ? -1 : 1, b->lineup.lines.n);
		return;
	} else if (!prompt_take(s, key)) {
		return;
	}
	search(b);
}

/* ---- pages, the menu, tables ---- */

void browser_show_page(struct browser *b, const char *title, const char *text)
{
	b->mode = BROWSER_ROWS;
	textpage_show(&b->page, title, text);
}

static void show_help(struct browser *b)
{
	struct str text = {0};

	b->mode = BROWSER_ROWS;
	for (size_t i = 0; i < b->source->n_actions; i++)
		if (b->source->actions[i].key)
			keytable_add_line(b->source->actions[i].name, b->source->actions[i].what,
				"", &text);
	keytable_add_line("mouse", "click: go to a line, again: open it; wheel: up and down", "",
		&text);
	textpage_show_help(&b->page, &browser_keys, str_text(&text));
	str_fini(&text);
}

static void show_page_of(struct browser *b, u32 key)
{
	for (size_t i = 0; i < b->source->n_pages; i++)
		if (b->source->pages[i].key == key) {
			browser_show_page(b, b->source->pages[i].title, b->source->pages[i].text);
			return;
		}
	browser_say(b, "this file has none");
}

static void show_ledger(struct browser *b)
{
	show_page_of(b, BROWSER_KEY_LEDGER);
}

static void show_file_header(struct browser *b)
{
	show_page_of(b, BROWSER_KEY_HEADER);
}

/* ---- menus ---- */

void browser_menu_clear(struct browser *b)
{
	vec_each(item, &b->menu) {
		str_fini(&item->title);
		str_fini(&item->why);
	}
	b->menu.n = 0;
}

void browser_menu_add(struct browser *b, const char *title, size_t what)
{
	struct browser_item item = {.what = what};

	str_add(&item.title, title);
	vec_add(&b->menu, item);
}

void browser_menu_refuse(struct browser *b, const char *why)
{
	str_add(&b->menu.at[b->menu.n - 1].why, why);
}

void browser_menu_show(struct browser *b, const char *title,
	void (*choose)(struct browser *b, size_t what))
{
	b->menu_title = title;
	b->choose = choose;
	b->choice = 0;
	b->mode = BROWSER_MENU;
}

static void choose(struct browser *b)
{
	const struct browser_item *item = &b->menu.at[b->choice];

	if (item->why.n) {
		browser_say(b, str_text(&item->why));
		return;
	}
	b->mode = BROWSER_ROWS;
	b->choose(b, item->what);
}

static void sort_column(struct browser *b, size_t column, u32 part)
{
	b->order = column;
	b->part = part;
	lineup_sort(&b->lineup, column, part);
	b->line = b->first = 0;
}

/* How many lines of the menu are columns: those of several events have a line for each. */
static size_t n_columns(const struct browser *b)
{
	return b->rows->n_shown * browser_n_parts(b);
}

/* The columns come first, then the table's own order, then those of the source. */
static void sort_by(struct browser *b, size_t what)
{
	const u32 n_parts = browser_n_parts(b);

	if (what < n_columns(b))
		sort_column(b, what / n_parts, (u32)(what % n_parts));
	else if (what == n_columns(b))
		sort_column(b, b->rows->n_shown, 0);
	else
		b->source->orders->take(b->source->of, b, what - n_columns(b) - 1);
}

bool browser_sort(struct browser *b, const char *column)
{
	for (size_t c = 0; c < b->rows->n_shown; c++)
		if (!strcmp(b->rows->shown[c].name, column)) {
			sort_column(b, c, 0);
			return true;
		}
	return false;
}

void browser_menu_add_order(struct browser *b, const char *title, size_t order)
{
	browser_menu_add(b, title, n_columns(b) + 1 + order);
}

void browser_add_part(const struct browser *b, u32 part, struct str *text)
{
	const struct rowset *head = b->rows->head;
	struct str room = {0};
	struct cell cell;

	for (size_t i = 0; head && i < head->n_columns; i++) {
		if (strcmp(head->columns[i].name, "event"))
			continue;
		rowset_cell(head, &head->columns[i], 0, part, &room, &cell);
		cell_add_text(&cell, text);
	}
	str_fini(&room);
}

static void add_columns(struct browser *b)
{
	struct str title = {0};

	for (size_t c = 0; c < b->rows->n_shown; c++) {
		const u32 n = rowset_n_cells(b->rows, &b->rows->shown[c]);

		for (u32 part = 0; *b->layouts[c].title && part < n; part++) {
			str_cut(&title, 0);
			celltext_add_title(&b->layouts[c], &b->rows->shown[c], true, &title);
			str_add(&title, n > 1 ? " of " : "");
			if (n > 1)
				browser_add_part(b, part, &title);
			if (c == b->order && part == MIN(b->part, n - 1))
				b->choice = b->menu.n;
			browser_menu_add(b, str_text(&title), c * browser_n_parts(b) + part);
		}
	}
	str_fini(&title);
}

static void show_columns(struct browser *b)
{
	size_t choice;

	browser_menu_clear(b);
	b->choice = SIZE_MAX;
	add_columns(b);
	choice = MIN(b->choice, b->menu.n);
	browser_menu_add(b, "as the report does", n_columns(b));
	if (b->source->orders)
		b->source->orders->add(b->source->of, b);
	browser_menu_show(b, "Sort rows by", sort_by);
	b->choice = choice;
}

/* By the same figures, or by those that bars are of, of the next of several events. */
static void next_part(struct browser *b)
{
	const size_t n = b->rows->n_shown,
		     column = b->order < n && b->rows->shown[b->order].is_of_part ? b->order
										  : b->heat;
	struct str text = {0};

	if (browser_n_parts(b) == 1 || column == n || !b->rows->shown[column].is_of_part) {
		browser_say(b, "the table is of one event: there is no other to sort by");
		return;
	}
	sort_column(b, column, (b->part + 1) % b->rows->n_parts);
	str_add(&text, "sorted by ");
	browser_add_part(b, b->part, &text);
	browser_say(b, str_text(&text));
	str_fini(&text);
}

/* False: there are no lines. */
static bool spot_of(const struct browser *b, struct browser_spot *ret)
{
	const struct lineup_line *line = at_cursor(b);

	if (!line)
		return false;
	*ret = (struct browser_spot){.rows = b->rows, .row = line->row, .node = line->node};
	ret->tree = line->node ? &b->lineup.trees[line->row].tree : NULL;
	return true;
}

/* Whether an action is something for the line of the cursor. If so, `spot` gets the line, and *ret_at its address or NULL. */
static bool is_offered(struct browser *b, const struct browser_action *a, struct browser_spot *spot,
	const struct browser_spot **ret_at, struct str *title)
{
	*ret_at = spot_of(b, spot) ? spot : NULL;
	if (*ret_at || a->is_general)
		return a->offer(b->source->of, *ret_at, title);
	str_add(title, "there is no line to do this with");
	return false;
}

static void act(struct browser *b, size_t action)
{
	const struct browser_action *a = &b->source->actions[action];
	const struct browser_spot *at;
	struct browser_spot spot;
	struct str why = {0};

	if (is_offered(b, a, &spot, &at, &why))
		a->act(b->source->of, b, at);
	else
		browser_say(b, why.n ? str_text(&why) : "this line is nothing for this key");
	str_fini(&why);
}

static void show_actions(struct browser *b)
{
	const struct browser_spot *at;
	struct browser_spot spot;
	struct str title = {0};

	browser_menu_clear(b);
	for (size_t i = 0; i < b->source->n_actions; i++) {
		const struct browser_action *a = &b->source->actions[i];

		str_cut(&title, 0);
		if (!is_offered(b, a, &spot, &at, &title))
			continue;
		if (a->key)
			str_addf(&title, "  [%s]", a->name);
		browser_menu_add(b, str_text(&title), i);
	}
	str_fini(&title);
	if (b->menu.n)
		browser_menu_show(b, "What to do with this line", act);
	else
		browser_say(b, "there is nothing to do with this line");
}

/* Opens what is below a line; where there is nothing, shows what can be done with it. */
static void enter(struct browser *b)
{
	const struct lineup_line *line = at_cursor(b);

	if (line && !line->has_more)
		show_actions(b);
	else
		toggle(b);
}

static void back(struct browser *b)
{
	b->mode = BROWSER_ROWS;
}

static void close_table(struct browser *b)
{
	lineup_fini(&b->lineup);
	mem_free(b->layouts);
	mem_free(b->widths);
}

static void open_table(struct browser *b, size_t table)
{
	struct str room = {0}, title = {0};
	struct cell cell;

	b->table = table;
	b->rows = b->source->open(b->source->of, table);
	lineup_init(&b->lineup, b->rows, b->source->drawing);
	b->layouts = mem_zalloc((b->rows->n_shown + 1) * sizeof(*b->layouts));
	b->widths = mem_zalloc((b->rows->n_shown + 1) * sizeof(*b->widths));
	b->heat = b->order = b->rows->n_shown;
	for (size_t c = 0; c < b->rows->n_shown; c++) {
		const struct rowset_column *column = &b->rows->shown[c];

		b->layouts[c] = celltext_of_column(column);
		str_cut(&title, 0);
		celltext_add_title_of(&b->layouts[c], b->rows, c, &title);
		b->widths[c] = column->width
			? column->width
			: MAX(MAX(title.n, strlen(b->layouts[c].title)),
				  (size_t)b->layouts[c].width * rowset_n_cells(b->rows, column));
		if (!b->lineup.order.n)
			continue;
		rowset_cell(b->rows, column, b->lineup.order.at[0], 0, &room, &cell);
		if (cell.spans & CELL_IS_HEAT && b->heat == b->rows->n_shown)
			b->heat = c;
	}
	b->line = b->first = b->shift = 0;
	b->part = 0;
	if (b->search.n)
		search(b);
	str_fini(&room);
	str_fini(&title);
}

void browser_show_table(struct browser *b, size_t table)
{
	close_table(b);
	open_table(b, table % b->source->n);
}

static void to_table(struct browser *b, size_t table)
{
	if (b->source->n == 1)
		browser_say(b, "there is one table");
	else
		browser_show_table(b, table);
}

void browser_renew(struct browser *b)
{
	close_table(b);
	open_table(b, MIN(b->table, b->source->n - 1));
}

static void next_table(struct browser *b)
{
	to_table(b, b->table + 1);
}

static void table_before(struct browser *b)
{
	to_table(b, b->table + b->source->n - 1);
}

/* ---- a file ---- */

static void snapshot(struct browser *b)
{
	struct printout s;

	if (!printout_open(&s, "pace.hist", &b->message))
		return;
	/* The second time, all columns have their widths. */
	for (int round = 0; round < 2; round++) {
		str_cut(&s.out.text, 0);
		for (size_t i = 0; i < b->lineup.lines.n; i++)
			browser_add_line(b, i, &s.out.text);
	}
	printout_close(&s, b->lineup.lines.n, &b->message);
}

/* ---- keys ---- */

static void quit(struct browser *b)
{
	b->is_over = true;
}

/* Esc takes back the search first, then what actions changed. */
static void escape(struct browser *b)
{
	if (!b->search.n) {
		b->is_over = !b->source->back || !b->source->back(b->source->of, b);
		return;
	}
	str_cut(&b->search, 0);
	search(b);
}

#define ROWS   BROWSER_ROWS
#define MENU   BROWSER_MENU
#define MOVING (ROWS | MENU)

struct browser_key {
	struct keytable_row row;
	void (*act)(struct browser *b);
};

/* clang-format off: a row a key */
static const struct browser_key keys[] = {
	{{KEY_UP, 'k', MOVING, "Up, k", "go up a line"}, up},
	{{KEY_DOWN, 'j', MOVING, "Down, j", "go down a line"}, down},
	{{KEY_PAGE_UP, 'B' - '@', MOVING, "PgUp, Ctrl-B", "go up a screen"}, page_up},
	{{KEY_PAGE_DOWN, ' ', MOVING, "PgDn, Space", "go down a screen"}, page_down},
	{{KEY_HOME, '<', MOVING, "Home, <", "go to the first line"}, to_start},
	{{KEY_END, '>', MOVING, "End, >", "go to the last line"}, to_end},
	{{KEY_LEFT, 0, ROWS, "Left", "show the beginning of long names and lines again"}, left},
	{{KEY_RIGHT, 0, ROWS, "Right", "show the end of long names and lines"}, right},
	{{KEY_ENTER, 0, ROWS, "Enter",
		 "open or close the calls below the line; where there are none, what m does"},
		enter},
	{{'+', 0, ROWS, "+", "open or close the calls below the line"}, toggle},
	{{'m', 0, ROWS, "m", "show a menu of what can be done with the line"}, show_actions},
	{{'e', 0, ROWS, "e", "open or close everything below the row"}, toggle_row},
	{{'E', 0, ROWS, "E", "open or close everything below all rows"}, toggle_all},
	{{'H', 0, ROWS, "H", "open the most expensive calls of the row, down to their end"},
		to_hottest},
	{{'/', 0, ROWS, "/", "search: words, choices with |, dso: file: thread: in front"},
		begin_search},
	{{'f', 0, ROWS, "f", "show only rows that are found, or all"}, toggle_filter},
	{{'n', 0, ROWS, "n", "go to the next line that is found"}, find_next},
	{{'N', 0, ROWS, "N", "go to the line before that is found"}, find_before},
	{{'r', 0, ROWS, "r", "sort the rows by another column, or make others by another key"},
		show_columns},
	{{'o', 0, ROWS, "o", "of events side by side: sort the rows by the next event"}, next_part},
	{{KEY_ENTER, 0, MENU, "Enter", "take this line"}, choose},
	{{KEY_TAB, 0, ROWS, "Tab", "show the next event"}, next_table},
	{{KEY_BACK_TAB, 0, ROWS, "Shift-Tab", "show the event before"}, table_before},
	{{BROWSER_KEY_LEDGER, 0, ROWS, "l", "show what was lost or has no name, with causes"},
		show_ledger},
	{{BROWSER_KEY_HEADER, 0, ROWS, "i", "show the header of the file"}, show_file_header},
	{{'P', 0, ROWS, "P", "write all lines to a new file pace.hist.N"}, snapshot},
	{{'h', '?', ROWS, "h, ?", "show these keys"}, show_help},
	{{'q', KEY_ESC, MENU, "q, Esc", "go back to the rows"}, back},
	{{KEY_ESC, 0, ROWS, "Esc", "take back the search, else the last zoom or choice, else quit"},
		escape},
	{{'q', 0, ROWS, "q", "quit"}, quit},
};
/* clang-format on */
static const struct keytable_mode modes[] = {{MENU, " (in a menu)"}, {0}};
const struct keytable browser_keys = {KEYTABLE(keys), modes};

static void press(struct browser *b, u32 key)
{
	const struct browser_key *k = keytable_find(&browser_keys, b->mode, key);

	if (k) {
		k->act(b);
		return;
	}
	for (size_t i = 0; b->mode == ROWS && i < b->source->n_actions; i++)
		if (key && b->source->actions[i].key == key) {
			act(b, i);
			return;
		}
	browser_say(b, "this key means nothing: h shows those that do");
}

/* The rows begin in the third line. */
static void click(struct browser *b, unsigned row)
{
	enum { HEAD_LINES = 2 };
	const size_t line = b->first + row - HEAD_LINES;

	if (b->mode & ~(ROWS | BROWSER_SEARCH) || row < HEAD_LINES ||
		row >= HEAD_LINES + b->height || line >= b->lineup.lines.n)
		return;
	if (line == b->line)
		enter(b);
	else
		b->line = line;
}

void browser_take(struct browser *b, const struct screen_event *e)
{
	enum { WHEEL = 3 };

	if (b->source->live)
		b->source->live->look(b->source->of, b);
	if (e->kind != EVENT_RESIZE && e->kind != EVENT_TICK)
		str_cut(&b->message, 0);
	if (textpage_take(&b->page, e))
		return;
	if (e->kind == EVENT_KEY && b->mode == BROWSER_SEARCH)
		type(b, e->key);
	else if (e->kind == EVENT_KEY)
		press(b, e->key);
	else if (e->kind == EVENT_CLICK)
		click(b, e->row);
	else if (e->kind == EVENT_WHEEL_UP || e->kind == EVENT_WHEEL_DOWN)
		move(b, e->kind == EVENT_WHEEL_UP ? -WHEEL : WHEEL);
	else if (e->kind == EVENT_END)
		b->is_over = true;
}

void browser_init(struct browser *b, const struct browser_source *source)
{
	*b = (struct browser){.source = source, .mode = BROWSER_ROWS, .filters = true};
	open_table(b, 0);
}

void browser_fini(struct browser *b)
{
	close_table(b);
	browser_menu_clear(b);
	vec_fini(&b->menu);
	str_fini(&b->search);
	str_fini(&b->kept);
	str_fini(&b->message);
	textpage_fini(&b->page);
}

static void draw(void *of, struct grid *g)
{
	browser_draw(of, g);
}

static void take(void *of, const struct screen_event *e)
{
	enum { PIECE = 4096 };
	struct browser *b = of;

	browser_take(b, e);
	/* While nobody presses a key, what searching needs is made ready. */
	b->view.wait_ms = lineup_prepare(&b->lineup, e->kind == EVENT_TICK ? PIECE : 0);
}

static bool is_over(const void *of)
{
	const struct browser *b = of;

	return b->is_over;
}

void browser_wait(struct browser *b, const char *text)
{
	struct grid g = {0};

	browser_say(b, text);
	if (!b->screen)
		return;
	screen_fit(b->screen, &g);
	browser_draw(b, &g);
	screen_show(b->screen, &g);
	grid_fini(&g);
}

void browser_run(const struct browser_source *source, struct screen *s)
{
	struct browser b;

	browser_init(&b, source);
	b.screen = s;
	b.view = (struct screen_view){.of = &b,
		.draw = draw,
		.take = take,
		.is_over = is_over,
		.wait_ms = 1};
	screen_run(s, &b.view);
	browser_fini(&b);
}
