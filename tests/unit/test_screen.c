#include "test.h"

#include "unit/keyscripts.h"
#include "view/screen/screen.h"

/* An end that has all events at once, and forgets what is drawn. */
struct fake {
	const u32 *keys;
	size_t n, at;
	unsigned n_suspended, n_taken, n_whole;
	bool is_over;
};

static int opened(struct screen *s, struct err *err)
{
	(void)s;
	(void)err;
	return 0;
}

static void closed(struct screen *s)
{
	(void)s;
}

static void size(struct screen *s, unsigned *ret_columns, unsigned *ret_rows)
{
	(void)s;
	*ret_columns = 20;
	*ret_rows = 4;
}

static void read_key(struct screen *s, int wait_ms, struct screen_event *ret)
{
	struct fake *f = s->of;

	(void)wait_ms;
	*ret = f->at < f->n ? (struct screen_event){.kind = EVENT_KEY, .key = f->keys[f->at++]}
			    : (struct screen_event){.kind = EVENT_END};
}

/* All that is on the screen is drawn again only if it is not known. */
static bool written(struct screen *s, const char *text, size_t n)
{
	struct fake *f = s->of;

	(void)n;
	f->n_whole += strstr(text, "hello") != NULL;
	return true;
}

static void suspended(struct screen *s)
{
	((struct fake *)s->of)->n_suspended++;
}

static const struct screen_end end = {"fake", opened, closed, size, read_key, written, suspended};

static void draw(void *of, struct grid *g)
{
	(void)of;
	grid_puts(g, 0, 0, "hello", (struct grid_style){0});
}

static void take(void *of, const struct screen_event *e)
{
	struct fake *f = of;

	f->n_taken += e->kind == EVENT_KEY;
}

static bool is_over(const void *of)
{
	return ((const struct fake *)of)->is_over;
}

static struct fake run(const u32 *keys, size_t n)
{
	struct fake f = {.keys = keys, .n = n};
	struct err err = {0};
	struct screen s;

	CHECK_EQ(screen_open(&s, &end, &err), 0);
	s.of = &f;
	screen_run(&s,
		&(struct screen_view){.of = &f, .draw = draw, .take = take, .is_over = is_over});
	CHECK(s.is_gone);
	screen_close(&s);
	return f;
}

TEST(screen_keys_are_those_of_all_views_and_no_view_gets_them)
{
	const u32 keys[] = {'a', 'L' - '@', 'b', 'Z' - '@', 'c'};
	const struct fake f = run(keys, ARRAY_SIZE(keys));

	CHECK_EQ(f.n_taken, 3);
	CHECK_EQ(f.n_suspended, 1);
	/* The first time, after Ctrl-L and after the shell's fg. */
	CHECK_EQ(f.n_whole, 3);
}

TEST(screen_draws_only_what_changed_for_other_keys)
{
	const u32 keys[] = {'a', 'b'};

	CHECK_EQ(run(keys, ARRAY_SIZE(keys)).n_whole, 1);
}

TEST(screen_keys_have_no_second_meaning)
{
	static const struct keyscript scripts[] = {
		{'L' - '@', 1, "", "", NULL},
		{'Z' - '@', 1, "", "", NULL},
	};
	struct str help = {0};

	keytable_add_help(&screen_keys, &help);
	keyscripts_check(&screen_keys, scripts, ARRAY_SIZE(scripts), str_text(&help));
	str_fini(&help);
}
