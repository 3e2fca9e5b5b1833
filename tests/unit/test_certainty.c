#include "profile/rows/certainty.h"

#include "profile/rows/key.h"
#include "test.h"
#include "unit/profilemaker.h"

/* A recording of `n_quanta` times, and what is counted of it. */
struct judging {
	struct profilemaker maker;
	struct calls calls;
	struct hist_options options;
	struct hist hist;
	struct certainty_whole whole;
	struct certainty certainty;
};

static void judging_init(struct judging *j)
{
	memset(j, 0, sizeof(*j));
	profilemaker_init(&j->maker, LABEL_BIT(LABEL_COMM) | LABEL_BIT(LABEL_TIME));
	profilemaker_event(&j->maker, "cycles");
}

static void add(struct judging *j, u64 time, const char *stack, u64 n)
{
	profilemaker_add(&j->maker,
		&(struct profilemaker_sample){.comm = "comm",
			.time = time,
			.stack = stack,
			.n_samples = n,
			.period = 10 * n});
}

static void judge(struct judging *j, bool has_children)
{
	struct err err;

	if (key_parse_list("symbol", j->options.keys, HIST_KEYS_MAX, &j->options.n_keys, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	j->options.has_children = has_children;
	j->options.has_row_groups = true;
	if (!j->whole.quanta.n)
		certainty_whole_init(&j->whole, &j->maker.profile);
	calls_init(&j->calls, &j->maker.profile);
	hist_init(&j->hist, &j->maker.profile, &j->calls, 0, &j->options);
	certainty_init(&j->certainty, &j->hist, &j->whole);
}

static const struct certainty_row *row_of(const struct judging *j, const char *name)
{
	vec_each(e, &j->hist.entries)
		if (!strcmp(j->hist.profile->symbols.at[e->symbol].name, name))
			return &j->certainty.rows[e - j->hist.entries.at];
	test_failed(__FILE__, __LINE__, "no row '%s'", name);
	return NULL;
}

static void judging_fini(struct judging *j)
{
	certainty_fini(&j->certainty);
	certainty_whole_fini(&j->whole);
	hist_fini(&j->hist);
	calls_fini(&j->calls);
	profilemaker_fini(&j->maker);
}

TEST(certainty_of_what_is_steady_is_that_of_independent_samples)
{
	struct judging j;
	const struct certainty_row *f;

	judging_init(&j);
	for (u64 time = 0; time < 64; time++) {
		add(&j, time, "main;f", 20);
		add(&j, time, "main;g", 80);
	}
	judge(&j, true);
	CHECK_EQ(j.certainty.n_blocks, 64);
	/* 20 % of 6400: 2 * sqrt(0.2 * 0.8 / 6400) = 0.01 */
	f = row_of(&j, "f");
	CHECK(f->self.low > 0.189 && f->self.low < 0.191);
	CHECK(f->self.high > 0.209 && f->self.high < 0.211);
	CHECK(f->total.low == f->self.low && f->total.high == f->self.high);
	CHECK(row_of(&j, "main")->total.high > 0.99999);
	CHECK(row_of(&j, "g")->is_decided);
	judging_fini(&j);
}

TEST(certainty_is_less_where_time_makes_a_difference)
{
	struct judging j;
	const struct certainty_row *f;

	judging_init(&j);
	for (u64 time = 0; time < 64; time++)
		add(&j, time, time % 2 ? "main;f" : "main;g", 100);
	judge(&j, false);
	f = row_of(&j, "f");
	CHECK(f->self.high - f->self.low > 0.2);
	/* As much as f, and nobody knows which is more. */
	CHECK(!j.certainty.rows[0].is_decided);
	judging_fini(&j);
}

TEST(certainty_of_an_order_takes_into_account_that_one_row_is_part_of_the_other)
{
	struct judging j;

	judging_init(&j);
	for (u64 time = 0; time < 64; time++) {
		add(&j, time, "main;f", 99);
		add(&j, time, "main", 1);
		add(&j, time, "main;f;h", time % 3 ? 10 : 9);
	}
	judge(&j, true);
	CHECK(row_of(&j, "main")->is_decided);
	judging_fini(&j);
	judging_init(&j);
	for (u64 time = 0; time < 64; time++)
		add(&j, time, "main;f", 7);
	judge(&j, true);
	/* Always the same: there is nothing to decide. */
	CHECK(j.certainty.rows[0].is_decided);
	judging_fini(&j);
}

static bool is_of_f(void *profile, size_t row)
{
	return ((struct profile *)profile)->rows.at[row].n_samples == 20;
}

TEST(certainty_is_of_the_whole_that_was_before_filters)
{
	struct judging j;
	const struct certainty_row *f;

	judging_init(&j);
	for (u64 time = 0; time < 64; time++) {
		add(&j, time, "main;f", 20);
		add(&j, time, "main;g", 80);
	}
	certainty_whole_init(&j.whole, &j.maker.profile);
	/* Only f is left; shares are of all. */
	profile_keep_rows(&j.maker.profile, is_of_f, &j.maker.profile);
	judge(&j, false);
	f = row_of(&j, "f");
	CHECK(f->self.low > 0.189 && f->self.high < 0.211);
	judging_fini(&j);
}

TEST(certainty_of_a_short_recording_takes_samples_as_independent)
{
	struct judging j;

	judging_init(&j);
	add(&j, 0, "main;f", 5);
	add(&j, 1, "main;g", 5);
	judge(&j, false);
	CHECK(j.certainty.n_blocks < CERTAINTY_BLOCKS_MIN);
	CHECK(row_of(&j, "f")->self.low > 0.2 && row_of(&j, "f")->self.high < 0.8);
	judging_fini(&j);
}
