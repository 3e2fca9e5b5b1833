#include "test.h"

#include <fcntl.h>
#include <unistd.h>

#include "unit/keyscripts.h"
#include "unit/profilemaker.h"
#include "view/rows/histrows.h"
#include "view/screen/browser.h"

#define EVIL "e\033[2J\xe2\x80\xae\xe6\xbc\xa2"

/* Two events: of the first, rows by function, with callees below them. */
struct scene {
	struct profilemaker maker;
	struct hist_options hist_options;
	struct histrows_options row_options;
	struct drawing_options drawing;
	struct calls calls;
	struct hist hist;
	struct histrows rows;
	bool is_open, is_group;
	struct browser_source source;
	struct browser browser;
	struct grid grid;
};

static const struct browser_page pages[] = {
	{BROWSER_KEY_LEDGER, "Lost", "one thing\nanother thing\n"},
	{BROWSER_KEY_HEADER, "Header", "hostname: x\n"}};

static bool offer(void *of, const struct browser_spot *at, struct str *title)
{
	(void)of;
	str_addf(title, "Mark row %u", at->row);
	if (at->tree)
		str_addf(title, ", node %u", at->node);
	return true;
}

static bool offer_nothing(void *of, const struct browser_spot *at, struct str *title)
{
	(void)of;
	(void)at;
	str_add(title, "not this line");
	return false;
}

static void mark(void *of, struct browser *b, const struct browser_spot *at)
{
	struct str text = {0};

	CHECK(of == b->source->of);
	str_addf(&text, "marked row %u", at->row);
	browser_say(b, str_text(&text));
	str_fini(&text);
}

static void name_main(void *of, struct browser *b, const struct browser_spot *at)
{
	(void)of;
	(void)at;
	browser_search(b, "main");
}

static const struct browser_action actions[] = {
	{'x', "x", "mark the line", offer, false, mark},
	{'z', "z", "do nothing", offer_nothing, false, mark},
	{0, NULL, NULL, offer, false, name_main},
};

static const struct rowset *open_table(void *of, size_t table)
{
	struct scene *s = of;

	if (s->is_open) {
		histrows_fini(&s->rows);
		hist_fini(&s->hist);
	}
	s->is_open = true;
	hist_init_table(&s->hist, &s->maker.profile, &s->calls,
		&(struct hist_events){(u32)table, s->is_group ? 2 : 1}, &s->hist_options);
	histrows_init(&s->rows, &s->hist, &s->row_options);
	return &s->rows.rows;
}

static void add(struct scene *s, u32 event, const char *comm, const char *stack, u64 period)
{
	profilemaker_add(&s->maker,
		&(struct profilemaker_sample){.event = event,
			.comm = comm,
			.stack = stack,
			.period = period});
}

static struct scene *scene_new(unsigned columns, unsigned rows)
{
	struct scene *s = mem_zalloc(sizeof(*s));
	struct err err;

	profilemaker_init(&s->maker, LABEL_BIT(LABEL_COUNT) - 2);
	profilemaker_event(&s->maker, "cycles");
	profilemaker_event(&s->maker, "faults");
	add(s, 0, "sh", "main;parse;read_file", 600);
	add(s, 0, "sh", "main;parse;read_line", 200);
	add(s, 0, "sh", "main;" EVIL "@libx.so", 150);
	add(s, 0, "sh", "main;Parse2@liby.so", 50);
	add(s, 1, "sh", "main;fault", 7);
	calls_init(&s->calls, &s->maker.profile);
	s->hist_options.has_children = true;
	CHECK_EQ(key_parse_list("symbol", s->hist_options.keys, HIST_KEYS_MAX,
			 &s->hist_options.n_keys, &err),
		0);
	CHECK_EQ(key_parse_list("overhead_children,overhead,dso,symbol", s->row_options.columns,
			 HIST_KEYS_MAX, &s->row_options.n_columns, &err),
		0);
	s->row_options.has_graph = true;
	s->row_options.order = GRAPH_CALLER;
	s->source = (struct browser_source){.title = "perf.data",
		.n = 2,
		.open = open_table,
		.of = s,
		.drawing = &s->drawing,
		.pages = pages,
		.n_pages = ARRAY_SIZE(pages),
		.actions = actions,
		.n_actions = ARRAY_SIZE(actions)};
	s->drawing.skips_first_node = true;
	browser_init(&s->browser, &s->source);
	grid_resize(&s->grid, columns, rows);
	return s;
}

static void scene_free(struct scene *s)
{
	browser_fini(&s->browser);
	histrows_fini(&s->rows);
	hist_fini(&s->hist);
	calls_fini(&s->calls);
	profilemaker_fini(&s->maker);
	grid_fini(&s->grid);
	mem_free(s);
}

static void press(struct scene *s, u32 key)
{
	browser_take(&s->browser, &(struct screen_event){.kind = EVENT_KEY, .key = key});
}

static void type(struct scene *s, const char *text)
{
	while (*text)
		press(s, (u8)*text++);
}

/* The screen as text. */
static const char *screen(struct scene *s)
{
	static struct str text;

	grid_clear(&s->grid);
	browser_draw(&s->browser, &s->grid);
	str_cut(&text, 0);
	grid_add_text(&s->grid, &text);
	return str_text(&text);
}

/* The line that the cursor is on: the only one that is drawn reversed, below the title. */
static const char *at_cursor(struct scene *s)
{
	static struct str text;

	screen(s);
	str_cut(&text, 0);
	for (unsigned row = 1; row < s->grid.rows; row++)
		if (grid_at(&s->grid, row, 0)->style.attributes & GRID_REVERSE ||
			grid_at(&s->grid, row, 2)->style.attributes & GRID_REVERSE)
			grid_add_row(&s->grid, row, &text);
	return str_text(&text);
}

/* ---- a script for each key ---- */

static const struct keyscript scripts[] = {
	{KEY_UP, BROWSER_ROWS, "jj", "parse", NULL},
	{'k', BROWSER_ROWS, "jj", "parse", NULL},
	{KEY_DOWN, BROWSER_ROWS, "", "parse", NULL},
	{'j', BROWSER_ROWS, "", "parse", NULL},
	{KEY_PAGE_UP, BROWSER_ROWS, ">", "main", NULL},
	{'B' - '@', BROWSER_ROWS, ">", "main", NULL},
	{KEY_PAGE_DOWN, BROWSER_ROWS, "", "Parse2", NULL},
	{' ', BROWSER_ROWS, "", "Parse2", NULL},
	{KEY_HOME, BROWSER_ROWS, "jj", "main", NULL},
	{'<', BROWSER_ROWS, "jj", "main", NULL},
	{KEY_END, BROWSER_ROWS, "", "Parse2", NULL},
	{'>', BROWSER_ROWS, "", "Parse2", NULL},
	{KEY_LEFT, BROWSER_ROWS, "R", "[.] main", NULL},
	{KEY_RIGHT, BROWSER_ROWS, "jj", "e", "[.] r"},
	{KEY_ENTER, BROWSER_ROWS, "", "*+ parse", NULL},
	{KEY_ENTER, BROWSER_ROWS, "\rj\rj", "*What to do with this line", NULL},
	{'+', BROWSER_ROWS, "", "*+ parse", NULL},
	{'m', BROWSER_ROWS, "jj", "Mark row 2  [x]", "parse"},
	{'e', BROWSER_ROWS, "", "*60.00%      read_file", NULL},
	{'E', BROWSER_ROWS, "", "*60.00%      read_file", NULL},
	{'H', BROWSER_ROWS, "", "60.00%", "[.]"},
	{'/', BROWSER_ROWS, "", "*/", "h: help"},
	{'f', BROWSER_ROWS, "/read\r", "*[.] main", NULL},
	{'n', BROWSER_ROWS, "/read_\rf", "read_line", NULL},
	{'N', BROWSER_ROWS, "/read_\rfn", "read_file", NULL},
	{'r', BROWSER_ROWS, "", "*Sort rows by", NULL},
	{'o', BROWSER_ROWS, "", "*the table is of one event", NULL},
	{KEY_ENTER, BROWSER_MENU, "rkk", "libx.so", NULL},
	{'q', BROWSER_MENU, "r", "main", NULL},
	{KEY_ESC, BROWSER_MENU, "r", "main", NULL},
	{KEY_TAB, BROWSER_ROWS, "", "*fault", "parse"},
	{KEY_BACK_TAB, BROWSER_ROWS, "", "*fault", "parse"},
	{BROWSER_KEY_LEDGER, BROWSER_ROWS, "", "*another thing", "main"},
	{BROWSER_KEY_HEADER, BROWSER_ROWS, "", "*hostname: x", "main"},
	{'P', BROWSER_ROWS, "", "*to 'pace.hist.0'", NULL},
	{'h', BROWSER_ROWS, "", "*go to the last line", "main"},
	{'?', BROWSER_ROWS, "", "*go to the last line", "main"},
	{KEY_ESC, BROWSER_ROWS, "/read\r", "*main", NULL},
	{'q', BROWSER_ROWS, "", "main", NULL},
};

static void run(const struct keyscript *script)
{
	struct scene *s = scene_new(80, 24);
	screen(s);
	for (const char *key = script->before; *key; key++) {
		press(s, *key == 'R' ? (u32)KEY_RIGHT : (u8)*key);
		screen(s);
	}
	CHECK_EQ(s->browser.mode, script->mode);
	press(s, script->key);
	keyscripts_judge(script, keyscripts_is_anywhere(script) ? screen(s) : at_cursor(s));
	CHECK_EQ(s->browser.is_over, script->key == 'q' && script->mode == BROWSER_ROWS);
	scene_free(s);
}

TEST(a_long_title_at_the_right_covers_no_part_of_a_number)
{
	static const char path[] = "a/very/long/path/of/a/recording/perf.data";
	static const struct {
		unsigned columns;
		const char *left;
	} widths[] = {{100, " event cycles  Samples 4  Event count 1000  [1 of 2: Tab]  "},
		{90, " event cycles  Samples 4  [1 of 2: Tab]  "},
		{72, " event cycles  [1 of 2: Tab]  "}};

	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		struct scene *s = scene_new(widths[i].columns, 10);
		const char *text;

		s->source.title = path;
		text = screen(s);
		CHECK_HAS(text, widths[i].left);
		CHECK_HAS(text, path);
		CHECK(strstr(text, path) < strchr(text, '\n'));
		scene_free(s);
	}
}

TEST(browser_keys_each_do_what_their_script_says)
{
	CHECK_EQ(chdir(test_dir()), 0);
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		keyscripts_say(&scripts[i]);
		unlink("pace.hist.0");
		run(&scripts[i]);
	}
}

TEST(browser_keys_all_have_a_script_and_a_line_in_the_help_and_no_other_meaning)
{
	struct scene *s = scene_new(80, 24);

	press(s, 'h');
	keyscripts_check(&browser_keys, scripts, ARRAY_SIZE(scripts),
		str_text(&s->browser.page.text));
	scene_free(s);
}

/* ---- actions ---- */

TEST(browser_does_with_a_line_what_its_key_or_the_menu_says)
{
	struct scene *s = scene_new(80, 12);

	screen(s);
	type(s, "jx");
	CHECK_HAS(screen(s), "marked row 1");
	type(s, "z");
	CHECK_HAS(screen(s), "not this line");
	type(s, "jm");
	CHECK_HAS(screen(s), " What to do with this line\n\n   Mark row 2  [x]\n   Mark row 2\n\n");
	press(s, KEY_ENTER);
	CHECK_HAS(screen(s), "marked row 2");
	type(s, "mj\r");
	CHECK_HAS(screen(s), "1 of 6 rows have /main");
	press(s, KEY_ESC);
	type(s, "<\rjm");
	CHECK_HAS(screen(s), "Mark row 0, node ");
	press(s, KEY_ESC);
	press(s, 'h');
	CHECK_HAS(str_text(&s->browser.page.text), "x             mark the line\n");
	scene_free(s);
}

/* ---- orders ---- */

static void add_orders(void *of, struct browser *b)
{
	CHECK(of == b->source->of);
	browser_menu_add_order(b, "by moon", 0);
	browser_menu_refuse(b, "the moon is not recorded");
	browser_menu_add_order(b, "by name", 1);
}

static void take_order(void *of, struct browser *b, size_t order)
{
	CHECK(of == b->source->of);
	CHECK_EQ(order, 1);
	browser_renew(b);
	CHECK(browser_sort(b, "symbol"));
	CHECK(!browser_sort(b, "moon"));
}

TEST(browser_sorts_by_columns_and_by_what_its_source_offers_and_says_why_not)
{
	static const struct browser_orders orders = {add_orders, take_order};
	struct scene *s = scene_new(80, 16);

	s->source.orders = &orders;
	screen(s);
	type(s, "r");
	CHECK_HAS(screen(s), "   Symbol\n   as the report does\n   by moon\n   by name\n");
	type(s, "j");
	CHECK(grid_at(&s->grid, 2, 3)->style.attributes == 0);
	CHECK(grid_at(&s->grid, 7, 3)->style.attributes & GRID_DIM);
	press(s, KEY_ENTER);
	CHECK_HAS(screen(s), "the moon is not recorded");
	CHECK_EQ(s->browser.mode, BROWSER_MENU);
	type(s, "j\r");
	CHECK_EQ(s->browser.mode, BROWSER_ROWS);
	CHECK_HAS(at_cursor(s), "Parse2");
	scene_free(s);
}

/* ---- several events ---- */

TEST(browser_shows_events_side_by_side_and_sorts_by_each_of_them)
{
	struct scene *s = scene_new(90, 10);
	u32 fault = 0;

	add(s, 1, "sh", "main;Parse2@liby.so", 3);
	s->source.n = 1;
	s->is_group = true;
	calls_fini(&s->calls);
	calls_init(&s->calls, &s->maker.profile);
	browser_renew(&s->browser);
	CHECK_HAS(screen(s), "events cycles, faults  ");
	CHECK_HAS(screen(s), " Children      2       Self      2   Shared Object  Symbol\n");
	CHECK_HAS(screen(s), "  80.00%   0.00%     0.00%   0.00%  prog           [.] parse\n");
	type(s, "o");
	CHECK_HAS(screen(s), "sorted by faults");
	CHECK_HAS(screen(s), "      1 Children        1     Self  Shared Object  Symbol\n");
	/* The bar, the order and the heat are those of the second event. */
	CHECK_HAS(screen(s), "70.00%     0.00%  70.00%  prog           [.] fault\n");
	while (!strstr(at_cursor(s), "[.] fault") && fault++ < 4)
		press(s, KEY_DOWN);
	CHECK_EQ(fault, 1);
	CHECK_HAS(at_cursor(s), "\u2588\u2588\u2588\u2588\u2588\u258b      0.00%  70.00%");
	press(s, '<');
	CHECK(grid_at(&s->grid, 3, 15)->style.fg != grid_at(&s->grid, 3, 23)->style.fg);
	type(s, "r");
	CHECK_HAS(screen(s), "   Children of cycles\n   Children of faults\n   Self of cycles\n");
	CHECK_HAS(at_cursor(s), "Children of faults");
	type(s, "j\r");
	CHECK_HAS(at_cursor(s), "60.00%");
	type(s, "oo");
	CHECK_HAS(screen(s), "sorted by cycles");
	CHECK_HAS(at_cursor(s), "read_file");
	scene_free(s);
}

TEST(browser_shows_the_last_column_where_others_leave_it_no_room)
{
	struct scene *s = scene_new(60, 9);

	s->source.n = 1;
	s->is_group = true;
	browser_renew(&s->browser);
	check_lacks(screen(s), "[.] read_file");
	press(s, KEY_RIGHT);
	CHECK_HAS(screen(s), "     Self      2   Shared Object  Symbol\n");
	CHECK_HAS(screen(s), "60.00%   0.00%  prog           [.] read_file\n");
	press(s, KEY_LEFT);
	check_lacks(screen(s), "[.] read_file");
	scene_free(s);
}

TEST(browser_says_as_much_about_keys_as_there_is_room_for)
{
	static const struct {
		unsigned columns;
		const char *last;
	} widths[] = {{34, "\n1 of 6 lines   h: help  q: quit\n"},
		{31, "\n1 of 6 lines   h: help  q: quit\n"}, {30, "\n1 of 6 lines   h: help\n"},
		{20, "\n1 of 6 lines\n"}};

	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		struct scene *s = scene_new(widths[i].columns, 9);

		CHECK_HAS(screen(s), widths[i].last);
		scene_free(s);
	}
}

TEST(browser_cuts_names_in_front_of_the_last_column_and_then_the_bar_before_the_last_column)
{
	static const struct {
		unsigned columns;
		const char *header, *row;
	} widths[] = {
		{72, "           Children      Self  Shared Object  Symbol\n",
			"\u258e         15.00%    15.00%  libx.so        [.] e\\x1b[2J\\xe2\\x80\\xae\xe6\xbc\xa2\n"},
		{66, "           Children      Self  Shared O\u2026  Symbol\n",
			"\u258e         15.00%    15.00%  libx.so    [.] e\\x1b[2J\\xe2\\x80\\xa\u2026\n"},
		{48, "\n  Children      Self  Shared \u2026  Symbol\n",
			"\n+   15.00%    15.00%  libx.so   [.] e\\x1b[2J\\xe\u2026\n"}};

	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		struct scene *s = scene_new(widths[i].columns, 9);

		CHECK_HAS(screen(s), widths[i].header);
		CHECK_HAS(screen(s), widths[i].row);
		scene_free(s);
	}
}

/* ---- screens ---- */

TEST(browser_shows_the_rows_of_the_text_with_bars)
{
	struct scene *s = scene_new(80, 9);

	CHECK_STR(screen(s),
		" event cycles  Samples 4  Event count 1000  [1 of 2: Tab]  perf.data\n"
		"           Children      Self  Shared Object  Symbol\n"
		"+ \u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588  100.00%     0.00%  prog           [.] main\n"
		"+ \u2588\u2588\u2588\u2588\u2588\u2588\u258d    80.00%     0.00%  prog           [.] parse\n"
		"+ \u2588\u2588\u2588\u2588\u258a      60.00%    60.00%  prog           [.] read_file\n"
		"+ \u2588\u258b         20.00%    20.00%  prog           [.] read_line\n"
		"+ \u2588\u258e         15.00%    15.00%  libx.so        [.] e\\x1b[2J\\xe2\\x80\\xae\xe6\xbc\xa2\n"
		"+ \u258d           5.00%     5.00%  liby.so        [.] Parse2\n"
		"1 of 6 lines   h: help  q: quit\n");
	scene_free(s);
}

TEST(browser_changes_only_the_cells_of_a_hostile_name)
{
	struct scene *s = scene_new(80, 9);

	screen(s);
	for (unsigned row = 0; row < s->grid.rows; row++)
		for (unsigned column = 0; column < s->grid.columns; column++) {
			const u8 *glyph = (const u8 *)grid_at(&s->grid, row, column)->glyph;

			CHECK(grid_at(&s->grid, row, column)->columns == 0 || glyph[0] >= ' ');
			CHECK(glyph[0] != 0xe2 || glyph[1] != 0x80 || glyph[2] != 0xae);
		}
	CHECK_STR(grid_at(&s->grid, 7, 50)->glyph, "P");
	scene_free(s);
}

TEST(browser_filters_while_a_pattern_is_typed_as_the_page_does)
{
	struct scene *s = scene_new(80, 12);

	screen(s);
	type(s, "jjj/pars");
	CHECK_HAS(screen(s), "/pars   2 found");
	CHECK_HAS(screen(s), "Parse2");
	check_lacks(screen(s), "main");
	/* Upper case matters if there is some. */
	press(s, KEY_BACKSPACE);
	press(s, 'U' - '@');
	type(s, "Pars");
	CHECK_HAS(screen(s), "/Pars   1 found");
	press(s, 'U' - '@');
	type(s, "dso:liby|read_ line");
	CHECK_HAS(screen(s), "2 found");
	/* What is no regular expression is a part of a name. */
	press(s, 'U' - '@');
	type(s, "Parse2[");
	CHECK_HAS(screen(s), "0 found, as plain text");
	press(s, KEY_ESC);
	CHECK_HAS(screen(s), "main");
	CHECK_HAS(at_cursor(s), "main");
	CHECK(!s->browser.is_over);
	press(s, KEY_ESC);
	CHECK(s->browser.is_over);
	scene_free(s);
}

TEST(browser_opens_calls_level_by_level)
{
	struct scene *s = scene_new(80, 14);

	screen(s);
	press(s, KEY_ENTER);
	CHECK_HAS(screen(s),
		"- \u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588  100.00%     0.00%");
	CHECK_HAS(screen(s), "80.00%  + parse\n");
	CHECK_HAS(screen(s), "15.00%    e\\x1b[2J");
	press(s, KEY_DOWN);
	press(s, '+');
	CHECK_HAS(screen(s), "80.00%  - parse\n");
	CHECK_HAS(screen(s), "60.00%      read_file\n");
	CHECK_HAS(at_cursor(s), "- parse");
	press(s, '+');
	CHECK_HAS(screen(s), "80.00%  + parse\n");
	press(s, '<');
	press(s, 'e');
	CHECK_HAS(screen(s), "+ \u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588  100.00%");
	CHECK_HAS(screen(s), "+ \u2588\u2588\u2588\u2588\u2588\u2588\u258d    80.00%");
	scene_free(s);
}

TEST(browser_does_not_repeat_a_row_below_itself)
{
	for (int skips = 0; skips < 2; skips++) {
		struct scene *s = scene_new(80, 20);

		s->drawing.skips_first_node = skips;
		type(s, "E");
		/* All of main's samples go through it; read_file's came from main, which is no repetition. */
		CHECK_HAS(screen(s),
			"[.] main\n  \u2588\u2588\u2588\u2588\u2588\u2588\u258d    80.00%  - parse\n");
		type(s, "/read_file\r");
		CHECK_HAS(screen(s),
			"[.] read_file\n  \u2588\u2588\u2588\u2588\u258a      60.00%  - main\n");
		scene_free(s);
	}
}

TEST(browser_sorts_by_any_column_and_back)
{
	struct scene *s = scene_new(80, 10);
	struct str first = {0};

	str_add(&first, screen(s));
	type(s, "r<jj\r");
	CHECK_HAS(at_cursor(s), "libx.so");
	type(s, "r<j\r");
	CHECK_HAS(at_cursor(s), "read_file");
	type(s, "r>\r");
	CHECK_STR(screen(s), str_text(&first));
	str_fini(&first);
	scene_free(s);
}

TEST(browser_keeps_the_cursor_on_every_size)
{
	struct scene *s = scene_new(80, 24);

	screen(s);
	type(s, "E>");
	for (unsigned rows = 1; rows < 30; rows++)
		for (unsigned columns = 1; columns < 120; columns += 7) {
			grid_resize(&s->grid, columns, rows);
			screen(s);
			CHECK(rows < 4 || columns < 10 || *at_cursor(s));
		}
	scene_free(s);
}

TEST(browser_writes_whole_lines_to_a_new_file)
{
	struct scene *s = scene_new(30, 6);
	char text[2048] = "";
	int fd;

	CHECK_EQ(chdir(test_dir()), 0);
	test_write("pace.hist.0", "mine", 4);
	screen(s);
	press(s, 'P');
	fd = open("pace.hist.1", O_RDONLY);
	CHECK(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	CHECK_HAS(text, "60.00%    60.00%  prog           [.] read_file\n");
	CHECK_HAS(text, "5.00%     5.00%  liby.so        [.] Parse2\n");
	fd = open("pace.hist.0", O_RDONLY);
	CHECK_EQ(read(fd, text, sizeof(text) - 1), 4);
	close(fd);
	scene_free(s);
}

TEST(browser_takes_the_mouse)
{
	struct scene *s = scene_new(80, 9);

	screen(s);
	browser_take(&s->browser,
		&(struct screen_event){.kind = EVENT_CLICK, .row = 3, .column = 5});
	CHECK_HAS(at_cursor(s), "[.] parse");
	browser_take(&s->browser,
		&(struct screen_event){.kind = EVENT_CLICK, .row = 3, .column = 5});
	CHECK_HAS(screen(s), "60.00%    read_file");
	browser_take(&s->browser, &(struct screen_event){.kind = EVENT_WHEEL_UP});
	CHECK_HAS(at_cursor(s), "main");
	browser_take(&s->browser, &(struct screen_event){.kind = EVENT_CLICK, .row = 4000000000u});
	browser_take(&s->browser, &(struct screen_event){.kind = EVENT_CLICK, .row = 0});
	browser_take(&s->browser, &(struct screen_event){.kind = EVENT_CLICK, .row = 8});
	CHECK_HAS(at_cursor(s), "main");
	scene_free(s);
}
