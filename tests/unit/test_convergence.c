#include "test.h"

#include <math.h>

#include "collect/record/convergence.h"

static void add(struct convergence *e, u64 ip, unsigned n)
{
	while (n--)
		convergence_add(e, ip);
}

TEST(convergence_says_nothing_of_few_samples)
{
	struct convergence e = {0};

	CHECK(isinf(convergence_width(&e)) && convergence_share(&e) == 0);
	add(&e, 64, CONVERGENCE_LEAST - 1);
	CHECK(isinf(convergence_width(&e)));
	add(&e, 64, 1);
	/* Whoever was always there leaves no doubt. */
	CHECK(convergence_width(&e) == 0 && convergence_share(&e) == 1);
	convergence_fini(&e);
}

TEST(convergence_of_a_share_is_that_of_the_binomial_distribution)
{
	struct convergence e = {0};

	/* 400 of 1000 in one piece of 64 bytes: 1.96 sqrt(0.6 / (1000 * 0.4)). */
	add(&e, 0x1000, 200);
	add(&e, 0x103f, 200);
	for (u64 i = 0; i < 600; i++)
		convergence_add(&e, 0x2000 + 64 * i);
	CHECK(convergence_share(&e) == 0.4);
	CHECK(fabs(convergence_width(&e) - 0.07591) < 0.00001);
	CHECK_EQ(e.pieces.n, 601);
	convergence_fini(&e);
}

TEST(convergence_gets_twice_as_sure_with_four_times_the_samples)
{
	struct convergence e = {0};
	double was;

	add(&e, 0, 50);
	add(&e, 64, 40);
	was = convergence_width(&e);
	add(&e, 0, 150);
	add(&e, 64, 120);
	CHECK(fabs(convergence_width(&e) * 2 - was) < 1e-9);
	convergence_fini(&e);
}
