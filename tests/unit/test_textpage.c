#include "test.h"

#include "unit/keyscripts.h"
#include "view/screen/screen.h"
#include "view/screen/textpage.h"

/* A page of 20 lines, of which 7 are shown. */
struct scene {
	struct textpage page;
	struct grid grid;
};

static struct scene *scene_new(void)
{
	struct scene *s = mem_zalloc(sizeof(*s));
	struct str text = {0};

	for (int i = 0; i < 20; i++)
		str_addf(&text, "line %02d beginning of a line, its end\n", i);
	grid_resize(&s->grid, 44, 10);
	textpage_show(&s->page, "Title", str_text(&text));
	str_fini(&text);
	return s;
}

static void scene_free(struct scene *s)
{
	textpage_fini(&s->page);
	grid_fini(&s->grid);
	mem_free(s);
}

static const char *screen(struct scene *s)
{
	static struct str text;

	grid_clear(&s->grid);
	textpage_draw(&s->page, &s->grid);
	str_cut(&text, 0);
	grid_add_text(&s->grid, &text);
	return str_text(&text);
}

static bool take(struct scene *s, u8 kind, u32 key)
{
	screen(s);
	return textpage_take(&s->page, &(struct screen_event){.kind = kind, .key = key});
}

static const struct keyscript scripts[] = {
	{KEY_UP, 1, "jj", "*\n\n line 01", "line 00"},
	{'k', 1, "jj", "*\n\n line 01", "line 00"},
	{KEY_DOWN, 1, "", "*\n\n line 01", "line 00"},
	{'j', 1, "", "*\n\n line 01", "line 00"},
	{KEY_PAGE_UP, 1, "> ", "*\n\n line 06", NULL},
	{'B' - '@', 1, ">", "*\n\n line 06", NULL},
	{KEY_PAGE_DOWN, 1, "", "*\n\n line 07", "line 06"},
	{' ', 1, "", "*\n\n line 07", "line 06"},
	{KEY_HOME, 1, "  ", "*\n\n line 00", NULL},
	{'<', 1, "  ", "*\n\n line 00", NULL},
	{KEY_END, 1, "", "* line 19", "line 12"},
	{'>', 1, "", "* line 19", "line 12"},
	{'q', 1, "", "*line 00", NULL},
	{KEY_ESC, 1, "", "*line 00", NULL},
};

TEST(textpage_keys_each_do_what_their_script_says)
{
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		struct scene *s = scene_new();
		const u32 key = scripts[i].key;

		keyscripts_say(&scripts[i]);
		for (const char *before = scripts[i].before; *before; before++)
			take(s, EVENT_KEY, (u8)*before);
		CHECK(take(s, EVENT_KEY, key));
		keyscripts_judge(&scripts[i], screen(s));
		CHECK_EQ(s->page.is_open, key != 'q' && key != KEY_ESC);
		scene_free(s);
	}
}

TEST(textpage_keys_all_have_a_script_and_a_line_in_the_help_and_no_other_meaning)
{
	struct str help = {0};

	keytable_add_help(&textpage_keys, &help);
	keyscripts_check(&textpage_keys, scripts, ARRAY_SIZE(scripts), str_text(&help));
	str_fini(&help);
}

TEST(textpage_has_keys_and_the_mouse_while_it_is_open_and_nothing_else)
{
	struct scene *s = scene_new();

	CHECK(take(s, EVENT_KEY, 'x'));
	CHECK(take(s, EVENT_CLICK, 0));
	CHECK_HAS(screen(s), "\n\n line 00");
	CHECK(take(s, EVENT_WHEEL_DOWN, 0));
	CHECK_HAS(screen(s), "\n\n line 03");
	CHECK(take(s, EVENT_WHEEL_UP, 0));
	CHECK_HAS(screen(s), "\n\n line 00");
	CHECK(!take(s, EVENT_RESIZE, 0));
	CHECK(!take(s, EVENT_TICK, 0));
	CHECK(!take(s, EVENT_END, 0));
	CHECK(take(s, EVENT_KEY, 'q'));
	CHECK(!take(s, EVENT_KEY, 'j'));
	scene_free(s);
}

TEST(textpage_folds_long_lines_between_words_and_below_their_last_column)
{
	struct scene *s = scene_new();

	textpage_show(&s->page, "Title",
		"Left, Right  show the beginning of names that are long\n"
		"\n"
		" a line of many words, which goes on and on, and has an end\n"
		"0123456789012345678901234567890123456789012345678901234567\n"
		"end\n");
	CHECK_STR(screen(s),
		" Title\n"
		"\n"
		" Left, Right  show the beginning of names\n"
		"              that are long\n"
		"\n"
		"  a line of many words, which goes on and\n"
		"    on, and has an end\n"
		" 012345678901234567890123456789012345678901\n"
		"   2345678901234567\n"
		"lines 1 to 7 of 8   q: back\n");
	CHECK(take(s, EVENT_KEY, KEY_END));
	CHECK_HAS(screen(s), "\n end\nlines 2 to 8 of 8   q: back\n");
	grid_resize(&s->grid, 80, 10);
	CHECK_HAS(screen(s), "  a line of many words, which goes on and on, and has an end\n");
	CHECK_HAS(screen(s), "\nq: back\n");
	scene_free(s);
}

TEST(textpage_help_ends_with_the_keys_of_all_views)
{
	static const struct keytable none = {0};
	struct scene *s = scene_new();

	textpage_show_help(&s->page, &none, "mouse  click\n");
	for (size_t i = 0; i < screen_keys.n; i++)
		CHECK_HAS(screen(s), keytable_at(&screen_keys, i)->what);
	CHECK_HAS(screen(s), " Keys\n\n mouse  click\n");
	scene_free(s);
}
