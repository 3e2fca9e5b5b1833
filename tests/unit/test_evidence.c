#include "test.h"

#include <math.h>

#include "collect/record/evidence.h"

static void add(struct evidence *e, u64 ip, unsigned n)
{
	while (n--)
		evidence_add(e, ip);
}

TEST(evidence_says_nothing_of_few_samples)
{
	struct evidence e = {0};

	CHECK(isinf(evidence_width(&e)) && evidence_share(&e) == 0);
	add(&e, 64, EVIDENCE_LEAST - 1);
	CHECK(isinf(evidence_width(&e)));
	add(&e, 64, 1);
	/* Whoever was always there leaves no doubt. */
	CHECK(evidence_width(&e) == 0 && evidence_share(&e) == 1);
	evidence_fini(&e);
}

TEST(evidence_of_a_share_is_that_of_the_binomial_distribution)
{
	struct evidence e = {0};

	/* 400 of 1000 in one piece of 64 bytes: 1.96 sqrt(0.6 / (1000 * 0.4)). */
	add(&e, 0x1000, 200);
	add(&e, 0x103f, 200);
	for (u64 i = 0; i < 600; i++)
		evidence_add(&e, 0x2000 + 64 * i);
	CHECK(evidence_share(&e) == 0.4);
	CHECK(fabs(evidence_width(&e) - 0.07591) < 0.00001);
	CHECK_EQ(e.pieces.n, 601);
	evidence_fini(&e);
}

TEST(evidence_gets_twice_as_sure_with_four_times_the_samples)
{
	struct evidence e = {0};
	double was;

	add(&e, 0, 50);
	add(&e, 64, 40);
	was = evidence_width(&e);
	add(&e, 0, 150);
	add(&e, 64, 120);
	CHECK(fabs(evidence_width(&e) * 2 - was) < 1e-9);
	evidence_fini(&e);
}
