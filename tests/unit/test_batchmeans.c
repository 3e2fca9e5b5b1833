#include "profile/rows/batchmeans.h"

#include <math.h>

#include "profile/maths/tdist.h"
#include "test.h"

/*
 * Simulated programs whose true shares are known, sampled again and again: how often the interval
 * holds the truth.
 */
enum { BLOCKS = 64, TRIALS = 2000 };

static u64 state = 88172645463325252ULL;

static double chance(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) / (double)(1ULL << 53);
}

/* A function that a thread is in for so many samples in a row; whether sample i of n is in it. */
struct program {
	double share;
	double run;   /* samples, on average, that it stays */
	double early; /* of the first half of the recording its share is so much more */
	bool is_weighted;
};

static double share_at(const struct program *p, unsigned i, unsigned n)
{
	return i < n / 2 ? p->share + p->early : p->share - p->early;
}

/* The part of the trials in which the interval held the truth; *ret_width is its mean. */
static double coverage(const struct program *p, unsigned n, double *ret_width)
{
	double t = tdist_quantile(0.05, batchmeans_freedom(BLOCKS));
	unsigned held = 0;

	*ret_width = 0;
	for (unsigned trial = 0; trial < TRIALS; trial++) {
		double found[BLOCKS] = {0}, of[BLOCKS] = {0}, all = 0, mine = 0;
		bool is_in = chance() < share_at(p, 0, n);
		struct batchmeans d = {0};
		struct batchmeans_range r;

		for (unsigned i = 0; i < n; i++) {
			double weight = p->is_weighted ? -log(1 - chance()) : 1;

			if (chance() * p->run < 1)
				is_in = chance() < share_at(p, i, n);
			found[(u64)i * BLOCKS / n] += is_in ? weight : 0;
			of[(u64)i * BLOCKS / n] += weight;
			mine += is_in ? weight : 0;
			all += weight;
		}
		for (unsigned b = 0; b < BLOCKS; b++) {
			d.now = found[b];
			batchmeans_end_block(&d, mine / all * of[b]);
		}
		r = batchmeans_range(mine / all, batchmeans_variance(&d) / all / all, n, t);
		held += r.low <= p->share && p->share <= r.high;
		*ret_width += (r.high - r.low) / TRIALS;
	}
	return (double)held / TRIALS;
}

static void check_coverage(const struct program *p, unsigned n, int line)
{
	double width, held = coverage(p, n, &width);

	if (held < 0.93 || held > 0.97)
		test_failed(__FILE__, line,
			"share %g, runs of %g, %g more in the first half, %u samples: %.2f%% of the intervals (%.4f wide) hold the truth",
			p->share, p->run, p->early, n, 100 * held, width);
}

TEST(batchmeans_range_holds_the_truth_of_independent_samples)
{
	static const double shares[] = {0.003, 0.02, 0.1, 0.5, 0.9};

	for (size_t i = 0; i < ARRAY_SIZE(shares); i++) {
		check_coverage(&(struct program){.share = shares[i], .run = 1}, 2000, __LINE__);
		check_coverage(&(struct program){.share = shares[i], .run = 1}, 20000, __LINE__);
	}
}

TEST(batchmeans_range_holds_the_truth_where_samples_depend_on_those_before)
{
	static const double runs[] = {1.2, 3, 10, 20};

	for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
		check_coverage(&(struct program){.share = 0.2, .run = runs[i]}, 20000, __LINE__);
}

TEST(batchmeans_range_holds_the_truth_of_weighted_samples)
{
	check_coverage(&(struct program){.share = 0.05, .run = 1, .is_weighted = true}, 4000,
		__LINE__);
	check_coverage(&(struct program){.share = 0.3, .run = 5, .is_weighted = true}, 10000,
		__LINE__);
}

/* One step from block to block is larger; that blocks differ, is not held against it. */
TEST(batchmeans_range_is_hardly_wider_for_programs_that_do_one_thing_after_the_other)
{
	struct program steady = {.share = 0.5, .run = 1},
		       phases = {.share = 0.5, .run = 1, .early = 0.4};
	double narrow, width;

	coverage(&steady, 4000, &narrow);
	CHECK(coverage(&phases, 4000, &width) > 0.93);
	CHECK(width < 1.5 * narrow);
}

TEST(batchmeans_range_ends_where_shares_end)
{
	struct batchmeans_range all = batchmeans_range(1, 0, 100, 2),
				none = batchmeans_range(0, 0, 100, 2),
				nothing = batchmeans_range(0, 0, 0, 2);

	CHECK(all.high == 1 && all.low > 0.9 && all.low < 1);
	CHECK(none.low == 0 && none.high > 0 && none.high < 0.1);
	CHECK(nothing.low == 0 && nothing.high == 1);
}
