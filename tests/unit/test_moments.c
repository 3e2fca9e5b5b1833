#include "test.h"

#include "profile/gather/idle.h"
#include "unit/profilemaker.h"
#include "view/rows/histrows.h"
#include "view/screen/place.h"

/* ---- counts that fade ---- */

enum { SMALL = 800 };

static u64 sum(const struct profile *p, bool is_small)
{
	u64 n = 0;

	vec_each(row, &p->rows)
		n += (row->callers == 0) == is_small ? row->n_samples : 0;
	return n;
}

TEST(fade_takes_the_same_share_from_many_small_rows_as_from_a_large_one)
{
	struct profilemaker m;
	u64 rest = 0, sums[2];
	double expected = SMALL;

	profilemaker_init(&m, 0);
	profilemaker_event(&m, "cycles");
	for (int i = 0; i < SMALL; i++)
		profilemaker_add(&m, &(struct profilemaker_sample){.stack = "f", .period = 10});
	profilemaker_add(&m,
		&(struct profilemaker_sample){.stack = "main;g",
			.n_samples = SMALL,
			.period = 10 * SMALL});
	for (int i = 0; i < 20; i++) {
		profile_fade(&m.profile, 7, 8, &rest);
		expected *= 7.0 / 8;
		for (int is_small = 0; is_small < 2; is_small++) {
			sums[is_small] = sum(&m.profile, is_small);
			CHECK((double)sums[is_small] > expected - 2 - i);
			CHECK((double)sums[is_small] < expected + 2 + i);
		}
		CHECK_EQ(m.profile.events.at[0].n_samples, sums[0] + sums[1]);
		vec_each(row, &m.profile.rows) {
			CHECK(row->period <= 10 * row->n_samples);
			CHECK(row->n_samples || !row->period);
		}
		CHECK(rest < 8);
	}
	profile_compact(&m.profile);
	CHECK_EQ(m.profile.events.at[0].n_samples, sums[0] + sums[1]);
	for (int i = 0; i < 60; i++)
		profile_fade(&m.profile, 7, 8, &rest);
	profile_compact(&m.profile);
	CHECK_EQ(m.profile.rows.n, 0);
	CHECK_EQ(m.profile.frames.n, 0);
	profilemaker_fini(&m);
}

TEST(idle_samples_are_those_of_the_kernels_waiting_only)
{
	static const struct {
		const char *stack;
		bool is_idle;
	} rows[] = {{"k:do_idle;k:pv_native_safe_halt", true},
		{"k:mwait_idle_with_hints.constprop.0", true}, {"k:default_idle", true},
		{"main;default_idle", false}, {"k:default_idle_enter", false},
		{"k:pv_native_safe_halt;k:handle_irq", false}, {"main", false}};
	u64 n_idle = 0, n = 0, period = 0;
	struct profilemaker m;

	profilemaker_init(&m, 0);
	profilemaker_event(&m, "cycles");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const u64 samples = 1ull << i;

		profilemaker_add(&m,
			&(struct profilemaker_sample){.stack = rows[i].stack,
				.n_samples = samples,
				.period = 3 * samples});
		n_idle += rows[i].is_idle ? samples : 0;
		n += rows[i].is_idle ? 0 : samples;
	}
	CHECK_EQ(idle_remove(&m.profile), n_idle);
	vec_each(row, &m.profile.rows)
		period += row->period;
	CHECK_EQ(period, 3 * n);
	CHECK_EQ(m.profile.events.at[0].n_samples, n);
	CHECK_EQ(m.profile.events.at[0].period, 3 * n);
	CHECK_EQ(idle_remove(&m.profile), 0);
	profilemaker_fini(&m);
}

/* ---- a browser over tables that change ---- */

struct taken {
	struct profilemaker maker;
	struct calls calls;
};

struct live {
	struct taken moments[2];
	int now;
	bool is_open;
	struct hist_options hist_options;
	struct histrows_options row_options;
	struct drawing_options drawing;
	struct hist hist;
	struct histrows rows;
	struct browser_source source;
	struct browser browser;
	struct grid grid;
};

static const struct rowset *open_table(void *of, size_t table)
{
	struct live *l = of;
	struct taken *t = &l->moments[l->now];

	if (l->is_open) {
		histrows_fini(&l->rows);
		hist_fini(&l->hist);
	}
	l->is_open = true;
	hist_init(&l->hist, &t->maker.profile, &t->calls, (u32)table, &l->hist_options);
	histrows_init(&l->rows, &l->hist, &l->row_options);
	return &l->rows.rows;
}

static void add(struct live *l, int moment, const char *stack, u64 period)
{
	profilemaker_add(&l->moments[moment].maker,
		&(struct profilemaker_sample){.stack = stack, .period = period});
}

/* In the second moment other rows come first, a function is gone and the order of callees is another. */
static struct live *live_new(void)
{
	struct live *l = mem_zalloc(sizeof(*l));
	struct err err;

	for (int i = 0; i < 2; i++) {
		profilemaker_init(&l->moments[i].maker, 0);
		profilemaker_event(&l->moments[i].maker, "cycles");
	}
	add(l, 0, "main;parse;read_file;get", 500);
	add(l, 0, "main;parse;read_line", 300);
	add(l, 0, "main;gone", 100);
	add(l, 0, "idle", 10);
	add(l, 1, "idle;a", 3000);
	add(l, 1, "main;parse;read_line", 900);
	add(l, 1, "main;parse;read_file;get", 400);
	for (int i = 0; i < 2; i++)
		calls_init(&l->moments[i].calls, &l->moments[i].maker.profile);
	l->hist_options.has_children = l->hist_options.prefers_callers = true;
	CHECK(!key_parse_list("symbol", l->hist_options.keys, HIST_KEYS_MAX,
		&l->hist_options.n_keys, &err));
	CHECK(!key_parse_list("overhead_children,overhead,symbol", l->row_options.columns,
		HIST_KEYS_MAX, &l->row_options.n_columns, &err));
	l->row_options.has_graph = true;
	l->source = (struct browser_source){.title = "now",
		.n = 1,
		.open = open_table,
		.of = l,
		.drawing = &l->drawing};
	browser_init(&l->browser, &l->source);
	grid_resize(&l->grid, 80, 24);
	return l;
}

static void live_free(struct live *l)
{
	browser_fini(&l->browser);
	histrows_fini(&l->rows);
	hist_fini(&l->hist);
	for (int i = 0; i < 2; i++) {
		calls_fini(&l->moments[i].calls);
		profilemaker_fini(&l->moments[i].maker);
	}
	grid_fini(&l->grid);
	mem_free(l);
}

static void type(struct live *l, const char *keys)
{
	for (; *keys; keys++) {
		browser_draw(&l->browser, &l->grid);
		browser_take(&l->browser,
			&(struct screen_event){.kind = EVENT_KEY, .key = (u8)*keys});
	}
}

static void go_on(struct live *l, int moment)
{
	struct place place;

	place_keep(&place, &l->browser);
	l->now = moment;
	place_bring_back(&place, &l->browser);
}

/* The lines from the top, and which of them the cursor is on. */
static void check(struct live *l, size_t cursor, const char *expected)
{
	struct str text = {0};

	grid_clear(&l->grid);
	browser_draw(&l->browser, &l->grid);
	for (size_t i = 0; i < l->browser.lineup.lines.n; i++) {
		struct str line = {0};
		const char *at;

		browser_add_line(&l->browser, i, &line);
		at = strrchr(str_text(&line), ' ');
		str_add(&text, at ? at + 1 : str_text(&line));
		str_fini(&line);
	}
	for (size_t i = 0; i < text.n; i++)
		text.at[i] = text.at[i] == '\n' ? ' ' : text.at[i];
	CHECK_STR(str_text(&text), expected);
	CHECK_EQ(l->browser.line, cursor);
	str_fini(&text);
}

TEST(place_follows_a_row_to_where_it_is_now)
{
	struct live *l = live_new();

	check(l, 0, "main parse read_file get read_line gone idle ");
	type(l, "jjjj");
	check(l, 4, "main parse read_file get read_line gone idle ");
	go_on(l, 1);
	check(l, 4, "idle a main parse read_line read_file get ");
	go_on(l, 0);
	check(l, 4, "main parse read_file get read_line gone idle ");
	/* What is gone leaves the cursor in its line. */
	type(l, "j");
	go_on(l, 1);
	check(l, 5, "idle a main parse read_line read_file get ");
	live_free(l);
}

TEST(place_stays_at_the_top_unless_something_is_open_there)
{
	struct live *l = live_new();

	go_on(l, 1);
	check(l, 0, "idle a main parse read_line read_file get ");
	go_on(l, 0);
	type(l, "+");
	check(l, 0, "main parse gone parse read_file get read_line gone idle ");
	go_on(l, 1);
	check(l, 2, "idle a main parse parse read_line read_file get ");
	live_free(l);
}

TEST(place_opens_the_same_calls_by_their_names)
{
	struct live *l = live_new();

	/* Below main: parse, below that read_file; read_line stays closed. */
	type(l, "+j+j+");
	check(l, 2,
		"main parse read_file get read_line gone parse read_file get read_line gone idle ");
	go_on(l, 1);
	check(l, 5, "idle a main parse read_line read_file get parse read_line read_file get ");
	go_on(l, 0);
	check(l, 2,
		"main parse read_file get read_line gone parse read_file get read_line gone idle ");
	live_free(l);
}
