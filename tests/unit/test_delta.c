#include "test.h"

#include <math.h>

#include "profile/diff/delta.h"
#include "profile/gather/filter.h"
#include "profile/diff/loosename.h"
#include "unit/profilemaker.h"
#include "view/diff/diff.h"
#include "view/forms/forms.h"
#include "view/rows/stackrows.h"

/* Recordings as lists of "stack period", each of them one sample a unit of period. */
enum { RECORDINGS_MAX = 4 };

struct comparing {
	struct delta delta;
	const struct key *keys[HIST_KEYS_MAX];
	size_t n_keys;
	size_t n;
	const char *build; /* of the files of the recordings that follow; NULL: not known */
};

static void comparing_init(struct comparing *c, const char *keys, const char *sides)
{
	struct delta_recording recordings[RECORDINGS_MAX] = {0};
	struct err err;

	memset(c, 0, sizeof(*c));
	CHECK_EQ(key_parse_list(keys, c->keys, HIST_KEYS_MAX, &c->n_keys, &err), 0);
	for (size_t i = 0; sides[i]; i++)
		recordings[i] = (struct delta_recording){.name = "perf.data",
			.side = sides[i] == 'A' ? DELTA_A : DELTA_B};
	delta_init(&c->delta, c->keys, c->n_keys, recordings, strlen(sides));
}

struct line {
	const char *stack;
	u64 period;
};

static void compare(struct comparing *c, const struct line *lines, bool has_children)
{
	struct hist_options options = {.n_keys = c->n_keys, .has_children = has_children};
	struct profilemaker maker;
	struct calls calls;
	struct hist hist;

	memcpy(options.keys, c->keys, sizeof(options.keys));
	profilemaker_init(&maker, 0);
	profilemaker_event(&maker, "cycles");
	for (; lines->stack; lines++)
		profilemaker_add(&maker,
			&(struct profilemaker_sample){.stack = lines->stack,
				.n_samples = lines->period,
				.period = lines->period});
	vec_each(dso, &maker.profile.dsos)
		dso->build = c->build;
	calls_init(&calls, &maker.profile);
	hist_init(&hist, &maker.profile, &calls, 0, &options);
	delta_add(&c->delta, c->n++, &hist);
	hist_fini(&hist);
	calls_fini(&calls);
	profilemaker_fini(&maker);
}

/* "cell,cell: period period (was)", a row a line, in the order of the first recording's periods. */
static void check(struct comparing *c, const char *expected)
{
	const struct diff_options by_baseline = {.order = 0};
	u32 *order = diff_order(&c->delta, &by_baseline);
	struct str text = {0};

	for (size_t i = 0; i < c->delta.rows.n; i++) {
		const struct delta_row *row = &c->delta.rows.at[order[i]];

		for (size_t k = 0; k < c->n_keys; k++)
			str_addf(&text, "%s%s", k ? "," : "", row->names[k]);
		str_addc(&text, ':');
		for (size_t k = 0; k < c->n; k++)
			str_addf(&text, " %llu", (unsigned long long)row->values[k].period);
		if (row->was)
			str_addf(&text, " (%s)", row->was);
		str_addc(&text, '\n');
	}
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
	mem_free(order);
	delta_fini(&c->delta);
}

TEST(delta_puts_the_same_rows_of_all_recordings_beside_each_other)
{
	struct comparing c;

	comparing_init(&c, "dso,symbol", "ABB");
	compare(&c, (struct line[]){{"main;f", 30}, {"main;g@lib.so", 20}, {"gone", 7}, {0}},
		false);
	compare(&c, (struct line[]){{"main;f", 31}, {"main;x;f", 2}, {"g@lib.so", 9}, {0}}, false);
	compare(&c, (struct line[]){{"new", 5}, {"f", 1}, {0}}, false);
	check(&c,
		"prog,[.] f: 30 33 1\n"
		"lib.so,[.] g: 20 9 0\n"
		"prog,[.] gone: 7 0 0\n"
		"prog,[.] new: 0 0 5\n");
}

TEST(delta_compares_functions_with_all_they_called)
{
	struct comparing c;

	comparing_init(&c, "symbol", "AB");
	compare(&c, (struct line[]){{"main;f;g", 30}, {"main;g", 20}, {0}}, true);
	compare(&c, (struct line[]){{"main;f;g", 40}, {0}}, true);
	check(&c, "[.] g: 50 40\n[.] main: 50 40\n[.] f: 30 40\n");
}

TEST(delta_pairs_functions_that_a_compiler_named_otherwise)
{
	struct comparing c;

	comparing_init(&c, "dso,symbol", "AB");
	compare(&c,
		(struct line[]){{"f.isra.0", 50}, {"g", 40}, {"mine::h0123456789abcdef", 30},
			{"two.part.0", 20}, {"two.part.1", 10}, {0}},
		false);
	compare(&c,
		(struct line[]){{"f.constprop.0.isra.3", 5}, {"g.llvm.1234", 4},
			{"mine::hfedcba9876543210", 3}, {"two.cold", 2}, {0}},
		false);
	delta_pair(&c.delta);
	/* Of two that would fit none is chosen. */
	check(&c,
		"prog,[.] f.isra.0: 50 5 ([.] f.constprop.0.isra.3)\n"
		"prog,[.] g: 40 4 ([.] g.llvm.1234)\n"
		"prog,[.] mine::h0123456789abcdef: 30 3 ([.] mine::hfedcba9876543210)\n"
		"prog,[.] two.part.0: 20 0\n"
		"prog,[.] two.part.1: 10 0\n"
		"prog,[.] two.cold: 0 2\n");
}

TEST(delta_pairs_addresses_within_one_build_only)
{
	static const char *const builds[] = {"a1b2", "c3d4", NULL};

	for (size_t i = 0; i < ARRAY_SIZE(builds); i++) {
		bool is_same = i == 0;
		struct comparing c;

		comparing_init(&c, "dso,symbol", "AB");
		c.build = builds[i] ? builds[0] : NULL;
		compare(&c, (struct line[]){{"f", 10}, {"0x1140", 30}, {"0x1180", 20}, {0}}, false);
		c.build = builds[i];
		compare(&c, (struct line[]){{"f", 11}, {"0x1140", 5}, {0}}, false);
		delta_pair(&c.delta);
		CHECK_EQ(c.delta.unpaired[DELTA_A].n_rows, is_same ? 0 : 2);
		CHECK_EQ(c.delta.unpaired[DELTA_B].n_rows, is_same ? 0 : 1);
		if (!is_same)
			CHECK_EQ((int)(100 * c.delta.unpaired[DELTA_A].share + 0.5), 83);
		check(&c,
			is_same ? "prog,[.] 0x0000000000001140: 30 5\n"
				  "prog,[.] 0x0000000000001180: 20 0\n"
				  "prog,[.] f: 10 11\n"
				: "prog,[.] 0x0000000000001140: 30 0\n"
				  "prog,[.] 0x0000000000001180: 20 0\n"
				  "prog,[.] f: 10 11\n"
				  "prog,[.] 0x0000000000001140: 0 5\n");
	}
}

TEST(delta_knows_new_functions_without_names_of_a_build_that_both_have)
{
	struct comparing c;

	comparing_init(&c, "dso,symbol", "AB");
	c.build = "a1b2";
	compare(&c, (struct line[]){{"f", 10}, {"0x1140", 30}, {0}}, false);
	compare(&c, (struct line[]){{"f", 10}, {"0x1180", 30}, {0}}, false);
	delta_pair(&c.delta);
	vec_each(row, &c.delta.rows)
		CHECK(!row->is_unpaired);
	delta_fini(&c.delta);
}

TEST(delta_pairs_files_of_another_version_and_programs_of_another_name)
{
	struct comparing c;

	comparing_init(&c, "dso,symbol", "AB");
	compare(&c,
		(struct line[]){{"f@libz.so.1.2.11", 50}, {"main@old", 40}, {"work@old", 30},
			{"help@both", 20}, {0}},
		false);
	compare(&c,
		(struct line[]){{"f@libz.so.1.3", 5}, {"main@new", 4}, {"work@new", 3},
			{"more@new", 2}, {"help@both", 1}, {"main@both", 6}, {0}},
		false);
	delta_pair(&c.delta);
	check(&c,
		"libz.so.1.2.11,[.] f: 50 5\n"
		"old,[.] main: 40 4\n"
		"old,[.] work: 30 3\n"
		"both,[.] help: 20 1\n"
		"both,[.] main: 0 6\n"
		"new,[.] more: 0 2\n");
}

TEST(delta_levels_recordings_by_what_most_of_their_rows_changed)
{
	struct comparing c;

	comparing_init(&c, "symbol", "AB");
	compare(&c,
		(struct line[]){{"a", 100}, {"b", 200}, {"c", 300}, {"d", 400}, {"e", 500}, {0}},
		false);
	/* All took twice as long, one of them four times. */
	compare(&c,
		(struct line[]){{"a", 200}, {"b", 800}, {"c", 600}, {"d", 800}, {"e", 1000}, {0}},
		false);
	CHECK(delta_level(&c.delta));
	CHECK(fabs(c.delta.recordings.at[0].level - 1) < 1e-9);
	CHECK(fabs(c.delta.recordings.at[1].level - 2) < 1e-9);
	delta_fini(&c.delta);
	/* Too few rows say nothing of the machine. */
	comparing_init(&c, "symbol", "AB");
	compare(&c, (struct line[]){{"a", 100}, {"b", 200}, {0}}, false);
	compare(&c, (struct line[]){{"a", 200}, {"b", 400}, {0}}, false);
	CHECK(!delta_level(&c.delta));
	CHECK(c.delta.recordings.at[1].level == 1);
	delta_fini(&c.delta);
}

/* Two recordings a side: f takes twice as much in B, where it has another name; others are alike. */
static void compare_words(struct comparing *c, const char *wanted)
{
	const struct diff_options options = {.has_sides = true, .per = DIFF_PER_RUN};
	struct str text = {0};
	struct significance significance;

	comparing_init(c, "symbol", "AABB");
	for (u64 i = 0; i < 4; i++)
		compare(c,
			(struct line[]){{i < 2 ? "f" : "f.isra.0", (i < 2 ? 1000 : 2000) + i},
				{"a", 1000 + i}, {"b", 1000 - i}, {"c", 900 + i}, {"d", 900 - i},
				{0}},
			false);
	delta_pair(&c->delta);
	c->delta.is_time = wanted[0] == 's';
	significance_init(&significance, &c->delta);
	diff_add_words(&c->delta, &significance, "syscalls:sys_enter_clock_nanosleep", &options,
		&text);
	CHECK_HAS(str_text(&text), wanted + 2);
	significance_fini(&significance);
	str_fini(&text);
	delta_fini(&c->delta);
}

TEST(words_speak_of_speed_only_where_periods_are_time)
{
	struct comparing c;

	compare_words(&c, "- # f takes 100% +- 12 more (1000 -> 2002), now f.isra.0\n");
	compare_words(&c, "s # f is slower by 100% +- 12 (0.00 ms -> 0.00 ms), now f.isra.0\n");
}

static void check_loose(const char *name, const char *expected)
{
	struct str text = {0};

	loosename_add_function(name, &text);
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
}

TEST(delta_takes_off_names_only_what_compilers_hang_behind_them)
{
	check_loose("f.isra.0.cold", "f");
	check_loose("f.part.0.constprop.12", "f");
	check_loose("f [clone .cold]", "f");
	check_loose("core::fmt::write::h0123456789abcdef", "core::fmt::write");
	check_loose("core::fmt::write::hash", "core::fmt::write::hash");
	check_loose(".cold", ".cold");
	check_loose("sse4.2", "sse4.2");
	check_loose("", "");
}

TEST(filter_keeps_rows_of_files_and_functions_and_says_what_the_whole_is)
{
	const struct profile_filter absolute = {.dsos = "other,lib.so", .symbols = "g"},
				    relative = {.symbols = "f,g", .is_relative = true};
	struct profilemaker m;

	profilemaker_init(&m, 0);
	profilemaker_event(&m, "cycles");
	profilemaker_add(&m, &(struct profilemaker_sample){.stack = "f", .period = 10});
	profilemaker_add(&m, &(struct profilemaker_sample){.stack = "g@lib.so", .period = 20});
	profilemaker_add(&m, &(struct profilemaker_sample){.stack = "g", .period = 30});
	profilemaker_add(&m, &(struct profilemaker_sample){.stack = "h", .period = 40});
	profile_filter_apply(&m.profile, &relative);
	CHECK_EQ(m.profile.rows.n, 3);
	CHECK_EQ(m.profile.events.at[0].period, 60);
	CHECK_EQ(m.profile.events.at[0].n_samples, 3);
	profile_filter_apply(&m.profile, &absolute);
	CHECK_EQ(m.profile.rows.n, 1);
	CHECK_EQ(m.profile.rows.at[0].period, 20);
	CHECK_EQ(m.profile.events.at[0].period, 60);
	profilemaker_fini(&m);
}

TEST(folded_has_a_line_for_each_stack_and_a_number_for_each_profile)
{
	struct stackrows s = {.n_parts = 2};
	struct out out = {.fd = -1};
	struct page p = {.form = form_chosen(&(struct form_choice){.name = "folded"}), .out = &out};

	for (unsigned part = 0; part < 2; part++) {
		struct profilemaker m;
		struct calls calls;

		profilemaker_init(&m, LABEL_BIT(LABEL_COMM));
		profilemaker_event(&m, "cycles");
		profilemaker_add(&m,
			&(struct profilemaker_sample){.comm = "a;b",
				.stack = "main;f",
				.n_samples = 3});
		/* A line of its own, and one that reads like the first. */
		profilemaker_add(&m, &(struct profilemaker_sample){.comm = "c", .stack = "main"});
		profilemaker_add(&m,
			&(struct profilemaker_sample){.comm = "a:b", .stack = "main;f"});
		if (part)
			profilemaker_add(&m,
				&(struct profilemaker_sample){.comm = "c", .stack = "main;x"});
		calls_init(&calls, &m.profile);
		stackrows_add(&s, &m.profile, &calls, 0, part);
		calls_fini(&calls);
		profilemaker_fini(&m);
	}
	stackrows_finish(&s);
	CHECK_EQ(s.rows.nodes[0].total_samples, 11);
	p.form->table(&p, &s.rows);
	CHECK_STR(str_text(&out.text), "a:b;main;f 4 4\nc;main 1 1\nc;main;x 0 1\n");
	str_fini(&out.text);
	stackrows_fini(&s);
}
