#include "test.h"

#include "unit/keyscripts.h"
#include "view/screen/timestrip.h"

enum { S = 1000000000 };

struct scene {
	struct timestrip strip;
	struct grid grid;
};

/* 80 columns without names: 10 s, so that a column is an eighth of a second; two threads. */
static struct scene *scene_new(unsigned columns, unsigned rows)
{
	struct scene *s = mem_zalloc(sizeof(*s));
	u32 busy, idle;

	timestrip_init(&s->strip, "perf.data");
	idle = timestrip_add_lane(&s->strip, "i\033dle", 7);
	busy = timestrip_add_lane(&s->strip, "busy", 8);
	timestrip_add(&s->strip, 100ull * S, idle, 1);
	for (unsigned i = 0; i < 40; i++)
		timestrip_add(&s->strip, 102ull * S + i * (S / 40ull), busy, 1);
	timestrip_add(&s->strip, 110ull * S - 1, idle, 3);
	grid_resize(&s->grid, columns, rows);
	return s;
}

static void scene_free(struct scene *s)
{
	timestrip_fini(&s->strip);
	grid_fini(&s->grid);
	mem_free(s);
}

static const char *screen(struct scene *s)
{
	static struct str text;

	grid_clear(&s->grid);
	timestrip_draw(&s->strip, &s->grid);
	str_cut(&text, 0);
	grid_add_text(&s->grid, &text);
	return str_text(&text);
}

static void press(struct scene *s, u32 key)
{
	timestrip_take(&s->strip, &(struct screen_event){.kind = EVENT_KEY, .key = key});
}

/* What stands on the screen after the key; '>' goes to the end first, 'm' begins a range. */
static const struct keyscript scripts[] = {
	{KEY_LEFT, 1, ">", "*109.750000 to 109.874999, 0.125 s: 0 samples", NULL},
	{KEY_RIGHT, 1, "", "*100.125000 to 100.249999, 0.125 s: 0 samples", NULL},
	{KEY_PAGE_UP, 1, ">", "*108.625000 to 108.749999, 0.125 s: 0 samples", NULL},
	{KEY_UP, 1, ">", "*108.625000 to 108.749999, 0.125 s: 0 samples", NULL},
	{KEY_PAGE_DOWN, 1, "", "*101.250000 to 101.374999, 0.125 s: 0 samples", NULL},
	{KEY_DOWN, 1, "", "*101.250000 to 101.374999, 0.125 s: 0 samples", NULL},
	{KEY_HOME, 1, ">", "*100.000000 to 100.124999, 0.125 s: 1 samples", NULL},
	{'<', 1, ">", "*100.000000 to 100.124999, 0.125 s: 1 samples", NULL},
	{KEY_END, 1, "", "*109.875000 to 109.999999, 0.125 s: 3 samples", NULL},
	{'>', 1, "m", "*100.000000 to 109.999999, 10.000 s: 44 samples", NULL},
	{' ', 1, "", "*the range begins here", NULL},
	{'m', 1, "", "*the range begins here", NULL},
	{KEY_ENTER, 1, "m>", "*44 samples", NULL},
	{'h', 1, "", "*go ten columns back", NULL},
	{'?', 1, "", "*go ten columns back", NULL},
	{KEY_ESC, 1, "m>", "*0.125 s: 3 samples", NULL},
	{'q', 1, "", "*1 samples", NULL},
	{'T', 1, "", "*1 samples", NULL},
};

TEST(timestrip_keys_each_do_what_their_script_says)
{
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		struct scene *s = scene_new(80 + 18, 20);
		const u32 key = scripts[i].key;

		keyscripts_say(&scripts[i]);
		screen(s);
		for (const char *before = scripts[i].before; *before; before++)
			press(s, (u8)*before);
		press(s, key);
		keyscripts_judge(&scripts[i], screen(s));
		CHECK_EQ(s->strip.is_over, key == 'q' || key == 'T' || key == KEY_ENTER);
		CHECK_EQ(s->strip.is_taken, key == KEY_ENTER);
		if (key == KEY_ENTER) {
			CHECK_EQ(s->strip.from, 100ull * S);
			CHECK_EQ(s->strip.to, 110ull * S - 1);
		}
		scene_free(s);
	}
}

TEST(timestrip_keys_all_have_a_script_and_a_line_in_the_help_and_no_other_meaning)
{
	struct scene *s = scene_new(80, 20);

	press(s, 'h');
	keyscripts_check(&timestrip_keys, scripts, ARRAY_SIZE(scripts),
		str_text(&s->strip.page.text));
	scene_free(s);
}

TEST(timestrip_draws_the_busiest_thread_first)
{
	struct scene *s = scene_new(20, 16);

	/* Too narrow for names: 20 columns of half a second. */
	CHECK_STR(screen(s),
		" Samples over time\n"
		"    \u2588\u2588\n    \u2588\u2588\n    \u2588\u2588\n    \u2588\u2588\n    \u2588\u2588\n"
		"\u2582   \u2588\u2588             \u2587\n"
		"\u2501\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\n"
		"100.000000\n"
		"    \u2588\u2588\n"
		"\u2592                  \u2588\n"
		"\n\n\n"
		"100.000000 to 100.49\n"
		"Space: begin a range\n");
	grid_resize(&s->grid, 98, 16);
	CHECK_HAS(screen(s), "\n8 busy   ");
	CHECK_HAS(screen(s), "\n7 i\\x1bdle   ");
	s->grid.is_ascii = true;
	CHECK_HAS(screen(s), "\n8 busy                            ########");
	scene_free(s);
}

TEST(timestrip_ranges_cover_every_sample_once_at_every_width)
{
	for (unsigned columns = 10; columns < 200; columns += 13) {
		struct scene *s = scene_new(columns, 14);
		u64 next = 100ull * S, n = 0;

		screen(s);
		for (unsigned column = 0; column < s->strip.columns; column++) {
			struct timestrip copy = s->strip;

			copy.at = column;
			timestrip_take(&copy,
				&(struct screen_event){.kind = EVENT_KEY, .key = KEY_ENTER});
			CHECK_EQ(copy.from, next);
			next = copy.to + 1;
			for (size_t i = 0; i < s->strip.samples.n; i++)
				n += s->strip.samples.at[i].time >= copy.from &&
						s->strip.samples.at[i].time <= copy.to
					? s->strip.samples.at[i].n
					: 0;
			n -= s->strip.counts[column];
		}
		CHECK_EQ(next, 110ull * S);
		CHECK_EQ(n, 0);
		scene_free(s);
	}
}

TEST(timestrip_takes_the_mouse_and_every_size)
{
	struct scene *s = scene_new(98, 16);

	screen(s);
	timestrip_take(&s->strip,
		&(struct screen_event){.kind = EVENT_CLICK, .column = 18 + 16, .row = 3});
	timestrip_take(&s->strip,
		&(struct screen_event){.kind = EVENT_CLICK, .column = 18 + 23, .row = 3});
	CHECK_HAS(screen(s), "102.000000 to 102.999999, 1.000 s: 40 samples");
	grid_resize(&s->grid, 58, 16);
	CHECK_HAS(screen(s), "102.000000 to 102.999999, 1.000 s: 40 samples");
	for (unsigned rows = 1; rows < 20; rows++)
		for (unsigned columns = 1; columns < 120; columns += 7) {
			grid_resize(&s->grid, columns, rows);
			screen(s);
			press(s, KEY_RIGHT);
		}
	scene_free(s);
}
