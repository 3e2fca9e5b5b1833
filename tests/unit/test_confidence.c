#include "profile/rows/confidence.h"

#include "profile/rows/key.h"
#include "test.h"
#include "unit/profilemaker.h"

/* A recording of `n_quanta` times, and what is counted of it. */
struct judging {
	struct profilemaker maker;
	struct calls calls;
	struct hist_options options;
	struct hist hist;
	struct confidence_whole whole;
	struct confidence confidence;
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

static void significance(struct judging *j, bool has_children)
{
	struct err err;

	if (key_parse_list("symbol", j->options.keys, HIST_KEYS_MAX, &j->options.n_keys, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	j->options.has_children = has_children;
	j->options.has_row_groups = true;
	if (!j->whole.quanta.n)
		confidence_whole_init(&j->whole, &j->maker.profile);
	calls_init(&j->calls, &j->maker.profile);
	hist_init(&j->hist, &j->maker.profile, &j->calls, 0, &j->options);
	confidence_init(&j->confidence, &j->hist, &j->whole);
}

static const struct confidence_row *row_of(const struct judging *j, const char *name)
{
	vec_each(e, &j->hist.entries)
		if (!strcmp(j->hist.profile->symbols.at[e->symbol].name, name))
			return &j->confidence.rows[e - j->hist.entries.at];
	test_failed(__FILE__, __LINE__, "no row '%s'", name);
	return NULL;
}

static void judging_fini(struct judging *j)
{
	confidence_fini(&j->confidence);
	confidence_whole_fini(&j->whole);
	hist_fini(&j->hist);
	calls_fini(&j->calls);
	profilemaker_fini(&j->maker);
}

TEST(confidence_of_what_is_steady_is_that_of_independent_samples)
{
	struct judging j;
	const struct confidence_row *f;

	judging_init(&j);
	for (u64 time = 0; time < 64; time++) {
		add(&j, time, "main;f", 20);
		add(&j, time, "main;g", 80);
	}
	significance(&j, true);
	CHECK_EQ(j.confidence.n_blocks, 64);
	/* 20 % of 6400: 2 * sqrt(0.2 * 0.8 / 6400) = 0.01 */
	f = row_of(&j, "f");
	CHECK(f->self.low > 0.189 && f->self.low < 0.191);
	CHECK(f->self.high > 0.209 && f->self.high < 0.211);
	CHECK(f->total.low == f->self.low && f->total.high == f->self.high);
	CHECK(row_of(&j, "main")->total.high > 0.99999);
	CHECK(row_of(&j, "g")->is_decided);
	judging_fini(&j);
}

TEST(confidence_is_less_where_time_makes_a_difference)
{
	struct judging j;
	const struct confidence_row *f;

	judging_init(&j);
	for (u64 time = 0; time < 64; time++)
		add(&j, time, time % 2 ? "main;f" : "main;g", 100);
	significance(&j, false);
	f = row_of(&j, "f");
	CHECK(f->self.high - f->self.low > 0.2);
	/* As much as f, and nobody knows which is more. */
	CHECK(!j.confidence.rows[0].is_decided);
	judging_fini(&j);
}

TEST(confidence_of_an_order_takes_into_account_that_one_row_is_part_of_the_other)
{
	struct judging j;

	judging_init(&j);
	for (u64 time = 0; time < 64; time++) {
		add(&j, time, "main;f", 99);
		add(&j, time, "main", 1);
		add(&j, time, "main;f;h", time % 3 ? 10 : 9);
	}
	significance(&j, true);
	CHECK(row_of(&j, "main")->is_decided);
	judging_fini(&j);
	judging_init(&j);
	for (u64 time = 0; time < 64; time++)
		add(&j, time, "main;f", 7);
	significance(&j, true);
	/* Always the same: there is nothing to decide. */
	CHECK(j.confidence.rows[0].is_decided);
	judging_fini(&j);
}

static bool is_of_f(void *profile, size_t row)
{
	return ((struct profile *)profile)->rows.at[row].n_samples == 20;
}

TEST(confidence_is_of_the_whole_that_was_before_filters)
{
	struct judging j;
	const struct confidence_row *f;

	judging_init(&j);
	for (u64 time = 0; time < 64; time++) {
		add(&j, time, "main;f", 20);
		add(&j, time, "main;g", 80);
	}
	confidence_whole_init(&j.whole, &j.maker.profile);
	/* Only f is left; shares are of all. */
	profile_keep_rows(&j.maker.profile, is_of_f, &j.maker.profile);
	significance(&j, false);
	f = row_of(&j, "f");
	CHECK(f->self.low > 0.189 && f->self.high < 0.211);
	judging_fini(&j);
}

TEST(confidence_of_a_short_recording_takes_samples_as_independent)
{
	struct judging j;

	judging_init(&j);
	add(&j, 0, "main;f", 5);
	add(&j, 1, "main;g", 5);
	significance(&j, false);
	CHECK(j.confidence.n_blocks < CONFIDENCE_BLOCKS_MIN);
	CHECK(row_of(&j, "f")->self.low > 0.2 && row_of(&j, "f")->self.high < 0.8);
	judging_fini(&j);
}
