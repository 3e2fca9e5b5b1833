#include "test.h"

#include "unit/keyscripts.h"
#include "unit/profilemaker.h"
#include "view/rows/stackrows.h"
#include "view/screen/flameview.h"

struct scene {
	struct profilemaker maker;
	struct calls calls;
	struct stackrows stacks;
	struct flameview view;
	struct grid grid;
};

static void add(struct scene *s, const char *stack, u64 period)
{
	profilemaker_add(&s->maker,
		&(struct profilemaker_sample){.comm = "sh", .stack = stack, .period = period});
}

static struct scene *scene_new(unsigned columns, unsigned rows)
{
	struct scene *s = mem_zalloc(sizeof(*s));

	profilemaker_init(&s->maker, 0);
	profilemaker_event(&s->maker, "cycles");
	add(s, "main;zeta;read", 600);
	add(s, "main;zeta;write", 200);
	add(s, "main;alpha", 190);
	add(s, "main;e\033[2J\xe6\xbc\xa2", 10);
	calls_init(&s->calls, &s->maker.profile);
	s->stacks = (struct stackrows){.is_one_recording = true, .n_parts = 1};
	stackrows_add(&s->stacks, &s->maker.profile, &s->calls, 0, 0);
	stackrows_finish(&s->stacks);
	flameview_init(&s->view, &s->stacks.rows, "cycles");
	grid_resize(&s->grid, columns, rows);
	return s;
}

static void scene_free(struct scene *s)
{
	flameview_fini(&s->view);
	stackrows_fini(&s->stacks);
	calls_fini(&s->calls);
	profilemaker_fini(&s->maker);
	grid_fini(&s->grid);
	mem_free(s);
}

static void press(struct scene *s, u32 key)
{
	flameview_take(&s->view, &(struct screen_event){.kind = EVENT_KEY, .key = key});
}

static const char *screen(struct scene *s)
{
	static struct str text;

	grid_clear(&s->grid);
	flameview_draw(&s->view, &s->grid);
	str_cut(&text, 0);
	grid_add_text(&s->grid, &text);
	return str_text(&text);
}

/* 'D', 'U', 'L', 'R': the arrow keys. */
static void type(struct scene *s, const char *keys)
{
	static const struct {
		char name;
		u32 key;
	} arrows[] = {{'D', KEY_DOWN}, {'U', KEY_UP}, {'L', KEY_LEFT}, {'R', KEY_RIGHT}};

	for (; *keys; keys++) {
		u32 key = (u8)*keys;

		for (size_t i = 0; i < ARRAY_SIZE(arrows); i++)
			key = *keys == arrows[i].name ? arrows[i].key : key;
		screen(s);
		press(s, key);
	}
}

/* What stands on the screen after the key. */
static const struct keyscript scripts[] = {
	{KEY_LEFT, 1, "DDR", "*80.00% of all, 0.00% own, 2 samples  zeta", NULL},
	{KEY_RIGHT, 1, "DD", "*19.00% of all, 19.00% own, 1 samples  alpha", NULL},
	{KEY_UP, 1, "DD", "*100.00% of all, 0.00% own, 4 samples  main", NULL},
	{'k', 1, "DD", "*100.00% of all, 0.00% own, 4 samples  main", NULL},
	{KEY_DOWN, 1, "DD", "*60.00% of all, 60.00% own, 1 samples  read", NULL},
	{'j', 1, "DD", "*60.00% of all, 60.00% own, 1 samples  read", NULL},
	{KEY_ENTER, 1, "DD", "*cycles > zeta", NULL},
	{KEY_HOME, 1, "DD\r", "*Flame view of cycles\n", NULL},
	{'0', 1, "DD\r", "*Flame view of cycles\n", NULL},
	{'o', 1, "D", "*by name", NULL},
	{'/', 1, "", "*/  0.00% found", NULL},
	{'n', 1, "/alpha\r", "*19.00% of all", NULL},
	{'N', 1, "/zeta\r", "*80.00% of all", NULL},
	{'h', 1, "", "*go to the caller", NULL},
	{'?', 1, "", "*go to the caller", NULL},
	{KEY_ESC, 1, "DD\r", "*Flame view of cycles\n", NULL},
	{'q', 1, "", "*all", NULL},
	{'w', 1, "", "*all", NULL},
};

TEST(flameview_keys_each_do_what_their_script_says)
{
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		struct scene *s = scene_new(80, 20);

		keyscripts_say(&scripts[i]);
		type(s, scripts[i].before);
		screen(s);
		press(s, scripts[i].key);
		keyscripts_judge(&scripts[i], screen(s));
		CHECK_EQ(s->view.is_over, scripts[i].key == 'q' || scripts[i].key == 'w');
		scene_free(s);
	}
}

TEST(flameview_keys_all_have_a_script_and_a_line_in_the_help_and_no_other_meaning)
{
	struct scene *s = scene_new(80, 20);

	press(s, 'h');
	keyscripts_check(&flameview_keys, scripts, ARRAY_SIZE(scripts),
		str_text(&s->view.page.text));
	scene_free(s);
}

TEST(flameview_draws_functions_as_wide_as_their_shares)
{
	struct scene *s = scene_new(50, 9);

	CHECK_STR(screen(s),
		" Flame view of cycles\n"
		"\u258fall\n"
		"\u258fmain\n"
		"\u258fzeta                                   \u258falpha   \u258f\n"
		"\u258fread                         \u258fwrite\n"
		"\n\n"
		"100.00% of all, 0.00% own, 4 samples  all\n"
		"h: help  q: back\n");
	type(s, "o");
	CHECK_HAS(screen(s), "\n\u258falpha   \u258f\u258fzeta\n          \u258fread");
	type(s, "oDD\r");
	CHECK_HAS(screen(s),
		"\n\u258fall\n\u258fmain\n\u258fzeta\n"
		"\u258fread                                \u258fwrite\n");
	CHECK_HAS(screen(s), "80.00% of all, 0.00% own, 2 samples  zeta");
	s->grid.is_ascii = true;
	CHECK_HAS(screen(s), "\n|read                                |write\n");
	scene_free(s);
}

TEST(flameview_finds_functions_and_counts_each_sample_once)
{
	struct scene *s = scene_new(80, 12);

	type(s, "/e");
	/* zeta and what it called both have an e. */
	CHECK_HAS(screen(s), "/e  81.00% found");
	type(s, "\r");
	CHECK(!s->view.is_typing);
	type(s, "n");
	CHECK_HAS(screen(s), "zeta");
	type(s, "DD\r");
	CHECK_HAS(screen(s), "cycles > read");
	/* What is found outside of the zoom is shown whole. */
	type(s, "/");
	press(s, 'U' - '@');
	type(s, "alpha\rn");
	CHECK_HAS(screen(s), "19.00% of all");
	CHECK_HAS(screen(s), "Flame view of cycles\n");
	press(s, KEY_ESC);
	press(s, KEY_ESC);
	CHECK_HAS(screen(s), "cycles > read");
	scene_free(s);
}

TEST(flameview_takes_the_mouse_and_every_size)
{
	struct scene *s = scene_new(50, 9);

	screen(s);
	flameview_take(&s->view,
		&(struct screen_event){.kind = EVENT_CLICK, .row = 3, .column = 45});
	CHECK_HAS(screen(s), "alpha\n");
	CHECK_HAS(screen(s), "19.00% of all");
	flameview_take(&s->view,
		&(struct screen_event){.kind = EVENT_CLICK, .row = 3, .column = 45});
	CHECK_HAS(screen(s), "cycles > alpha");
	for (unsigned rows = 1; rows < 20; rows++)
		for (unsigned columns = 1; columns < 120; columns += 7) {
			grid_resize(&s->grid, columns, rows);
			screen(s);
			flameview_take(&s->view,
				&(struct screen_event){.kind = EVENT_CLICK,
					.row = rows / 2,
					.column = columns});
			type(s, "DU");
		}
	scene_free(s);
}

TEST(flameview_shows_the_cursor_however_deep_it_is)
{
	struct scene *s = scene_new(60, 6);

	type(s, "DDD");
	CHECK_HAS(screen(s), "\u258fread");
	CHECK_HAS(screen(s), "60.00% of all");
	type(s, "UUU");
	CHECK_HAS(screen(s), "\u258fall");
	scene_free(s);
}
