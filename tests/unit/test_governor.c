#include "test.h"

#include <math.h>

#include "collect/record/governor.h"

enum { MS = 1000000 };

/* A look of 100 ms on one CPU. */
static enum governor_reason look(struct governor *g, double overhead, unsigned fill_pct)
{
	return governor_look(g, 100 * MS, (u64)(overhead * 100 * MS), 1, fill_pct);
}

TEST(governor_keeps_the_rate_while_it_costs_what_it_may)
{
	struct governor g = {.most = 0.01, .lowest = 0.001, .rate = 1};

	for (unsigned i = 0; i < 100; i++)
		CHECK_EQ(look(&g, 0.009, 74), GOVERNOR_KEEP);
	/* Of four CPUs it is a quarter. */
	CHECK_EQ(governor_look(&g, 100 * MS, 3 * MS, 4, 0), GOVERNOR_KEEP);
	CHECK(g.rate == 1);
	CHECK_EQ(governor_look(&g, 0, MS, 1, 0), GOVERNOR_KEEP);
}

TEST(governor_lowers_the_rate_by_as_much_as_the_limit_is_passed)
{
	struct governor g = {.most = 0.01, .lowest = 0.001, .rate = 1};

	CHECK_EQ(look(&g, 0.02, 0), GOVERNOR_COSTS_TOO_MUCH);
	CHECK(fabs(g.rate - 0.45) < 1e-9);
	/* And where cost follows, once is enough. */
	for (unsigned i = 0; i < 20; i++)
		CHECK_EQ(look(&g, 0.009, 0), GOVERNOR_KEEP);
	/* One look alone cannot stop it. */
	CHECK_EQ(look(&g, 10, 0), GOVERNOR_COSTS_TOO_MUCH);
	CHECK(fabs(g.rate - 0.45 / 8) < 1e-9);
}

TEST(governor_halves_the_rate_where_a_ring_is_nearly_full)
{
	struct governor g = {.most = 1, .lowest = 0.3, .rate = 1};

	CHECK_EQ(look(&g, 0.6, 75), GOVERNOR_RING_IS_FULL);
	CHECK(g.rate == 0.5);
	CHECK_EQ(look(&g, 0.6, 100), GOVERNOR_RING_IS_FULL);
	CHECK(g.rate == 0.3);
	CHECK_EQ(look(&g, 0.6, 100), GOVERNOR_KEEP);
}

TEST(governor_says_once_that_it_cannot_go_lower)
{
	struct governor g = {.most = 0.001, .lowest = 0.5, .rate = 1};

	CHECK_EQ(look(&g, 0.5, 0), GOVERNOR_COSTS_TOO_MUCH);
	CHECK(g.rate == 0.5);
	CHECK_EQ(look(&g, 0.5, 0), GOVERNOR_IS_LOWEST);
	CHECK_EQ(look(&g, 0.5, 0), GOVERNOR_KEEP);
	CHECK(g.rate == 0.5);
}

TEST(governor_raises_the_rate_slowly_and_not_above_what_was_wanted)
{
	struct governor g = {.most = 0.01, .lowest = 0.001, .rate = 0.9};

	for (unsigned i = 0; i < 9; i++)
		CHECK_EQ(look(&g, 0.001, 0), GOVERNOR_KEEP);
	CHECK_EQ(look(&g, 0.001, 0), GOVERNOR_COSTS_LITTLE);
	CHECK(g.rate == 1);
	for (unsigned i = 0; i < 50; i++)
		CHECK_EQ(look(&g, 0.001, 0), GOVERNOR_KEEP);
}
