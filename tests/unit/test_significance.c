#include "test.h"

#include <math.h>

#include "unit/chance.h"
#include "profile/diff/significance.h"
#include "profile/maths/tdist.h"

/* ---- distributions ---- */

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fmax(1, fabs(b));
}

TEST(tdist_has_the_tails_that_tables_have)
{
	/* Fisher and Yates. */
	CHECK(fabs(tdist_both_tails(12.706, 1) - 0.05) < 1e-5);
	CHECK(fabs(tdist_both_tails(2.306, 8) - 0.05) < 1e-4);
	CHECK(fabs(tdist_both_tails(3.355, 8) - 0.01) < 1e-4);
	CHECK(fabs(tdist_both_tails(1.96, INFINITY) - 0.05) < 1e-4);
	CHECK(is_near(tdist_both_tails(0, 5), 1));
	CHECK(tdist_both_tails(1e9, 5) < 1e-30);
	CHECK(is_near(tdist_both_tails(-2, 7), tdist_both_tails(2, 7)));
	for (double freedom = 1; freedom < 2000; freedom *= 3)
		CHECK(is_near(tdist_both_tails(tdist_quantile(0.05, freedom), freedom), 0.05));
}

TEST(digamma_and_trigamma_have_known_values_and_an_inverse)
{
	CHECK(is_near(digamma(1), -0.57721566490153));
	CHECK(is_near(digamma(0.5), -1.96351002602142));
	CHECK(is_near(trigamma(1), M_PI * M_PI / 6));
	CHECK(is_near(trigamma(0.5), M_PI * M_PI / 2));
	for (double x = 0.1; x < 1000; x *= 2)
		CHECK(is_near(trigamma_inverse(trigamma(x)), x));
}

TEST(false_discovery_makes_q_values_of_p_values)
{
	const double p[] = {0.04, 0.001, NAN, 0.03, 0.9};
	double q[5];

	false_discovery(p, q, 5);
	CHECK(is_near(q[1], 0.004));
	/* No q is above that of a greater p. */
	CHECK(is_near(q[3], 0.04 * 4 / 3));
	CHECK(is_near(q[0], 0.04 * 4 / 3));
	CHECK(is_near(q[4], 0.9));
	CHECK(isnan(q[2]));
}

/* ---- experiments ---- */

enum { FUNCTIONS = 50, PERIOD = 200000 };

/* About Poisson's. */
static u64 draw(struct random *r, double mean)
{
	double sum = -log(1 - random_share(r));
	u64 n = 0;

	for (; sum < mean; n++)
		sum -= log(1 - random_share(r));
	return n;
}

struct experiment {
	size_t n_a, n_b;
	double changed;  /* what the first function takes of B, as a ratio */
	double busy;     /* how much longer all takes in a recording, at most */
	double restless; /* how much longer a function takes in one, at most */
};

static void make(struct delta *d, struct random *r, const struct experiment *e)
{
	static const struct key *const no_keys[1];
	struct delta_recording recordings[16] = {0};
	size_t n = e->n_a + e->n_b;

	for (size_t i = e->n_a; i < n; i++)
		recordings[i].side = DELTA_B;
	delta_init(d, no_keys, 0, recordings, n);
	for (size_t f = 0; f < FUNCTIONS; f++) {
		struct delta_row *row = vec_push(&d->rows);

		*row = (struct delta_row){.values =
						  arena_zalloc(&d->arena, n * sizeof(*row->values)),
			.is_in = {true, true}};
	}
	for (size_t i = 0; i < n; i++) {
		double busy = 1 + e->busy * random_share(r);

		for (size_t f = 0; f < FUNCTIONS; f++) {
			double mean = (50 + 8 * (double)f) * busy *
				(1 + e->restless * random_share(r)) *
				(f == 10 && i >= e->n_a ? e->changed : 1);
			struct delta_value *v = &d->rows.at[f].values[i];

			v->n_samples = draw(r, mean);
			v->period = v->n_samples * PERIOD;
			d->recordings.at[i].n_samples += v->n_samples;
			d->recordings.at[i].period += v->period;
		}
	}
}

/* How many rows are called different, and whether the changed one is. */
static size_t run(struct random *r, const struct experiment *e, bool *ret_found)
{
	struct delta d;
	struct significance j;
	size_t n = 0;

	make(&d, r, e);
	delta_level(&d);
	significance_init(&j, &d);
	vec_each(row, &j.rows)
		n += row->is_significant;
	*ret_found = j.rows.at[10].is_significant;
	significance_fini(&j);
	delta_fini(&d);
	return n;
}

TEST(significance_finds_the_one_function_of_fifty_that_is_slower_by_a_fifth)
{
	const struct experiment e = {.n_a = 5, .n_b = 5, .changed = 1.5, .busy = 0.5},
				small = {.n_a = 5, .n_b = 5, .changed = 1.2, .busy = 0.5};
	struct random r = {7};
	size_t n_found = 0, n_small = 0, n_others = 0;
	bool found;

	for (int i = 0; i < 40; i++) {
		n_others += run(&r, &e, &found) - found;
		n_found += found;
		n_others += run(&r, &small, &found) - found;
		n_small += found;
	}
	CHECK_EQ(n_found, 40);
	/* 130 samples a recording: 20 % are 3.6 deviations, about what 50 tests at once ask for. */
	CHECK(n_small > 20);
	CHECK(n_others < 8);
}

TEST(significance_calls_nothing_different_where_nothing_is)
{
	const struct experiment calm = {.n_a = 5, .n_b = 5, .changed = 1, .busy = 0.5},
				restless = {.n_a = 3,
					.n_b = 4,
					.changed = 1,
					.busy = 0.2,
					.restless = 0.3};
	struct random r = {11};
	size_t n_calm = 0, n_restless = 0;
	bool found;

	for (int i = 0; i < 60; i++) {
		n_calm += run(&r, &calm, &found) > 0;
		n_restless += run(&r, &restless, &found) > 0;
	}
	/* In 1 of 20 experiments something is. */
	CHECK(n_calm <= 8);
	CHECK(n_restless <= 8);
}

TEST(significance_learns_from_all_functions_how_restless_the_machine_is)
{
	const struct experiment calm = {.n_a = 5, .n_b = 5, .changed = 1},
				restless = {.n_a = 5, .n_b = 5, .changed = 1, .restless = 0.6};
	struct random r = {3};
	struct delta d;
	struct significance j;

	make(&d, &r, &calm);
	significance_init(&j, &d);
	CHECK(j.has_variance);
	CHECK(j.factor < 1.3);
	significance_fini(&j);
	delta_fini(&d);
	make(&d, &r, &restless);
	significance_init(&j, &d);
	CHECK(j.factor > 2);
	significance_fini(&j);
	delta_fini(&d);
}

TEST(significance_tells_of_single_recordings_intervals_but_no_verdicts)
{
	const struct experiment e = {.n_a = 1, .n_b = 1, .changed = 2};
	struct random r = {5};
	struct delta d;
	struct significance j;
	size_t n_within = 0;

	make(&d, &r, &e);
	significance_init(&j, &d);
	CHECK(!j.has_variance);
	vec_each(row, &j.rows) {
		CHECK(!row->is_significant && isnan(row->p));
		CHECK(row->half > 0);
		n_within += fabs(row->ratio - 1) < row->half;
	}
	CHECK(fabs(j.rows.at[10].ratio - 2) < j.rows.at[10].half);
	/* 95 % of the other 49. */
	CHECK(n_within > 42);
	significance_fini(&j);
	delta_fini(&d);
}
