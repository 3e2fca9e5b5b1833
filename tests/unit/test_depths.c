#include "test.h"

#include "profile/gather/depths.h"

TEST(depths_are_how_far_stack_pointers_were_from_the_top)
{
	struct depths d = {0}, more = {0};

	CHECK_EQ(depths_enough(&d, 0.95), 0);
	depths_add_cut(&d, 1, 1, 0x9000);
	CHECK_EQ(depths_enough(&d, 0.95), 0);
	/* Another thread's stack says nothing, the same one's does whenever it comes. */
	depths_add_top(&d, 1, 2, 0x20000);
	CHECK_EQ(depths_enough(&d, 0.95), 0);
	depths_add_top(&more, 1, 1, 0xf000);
	depths_add_top(&more, 1, 1, 0xe000);
	depths_merge(&d, &more);
	CHECK_EQ(depths_enough(&d, 0.95), 0x6000 + 256);
	depths_fini(&d);
	depths_fini(&more);
}

TEST(depths_that_few_reach_are_not_asked_for)
{
	struct depths d = {0};

	depths_add_top(&d, 1, 1, 1 << 20);
	for (unsigned i = 0; i < 98; i++)
		depths_add_cut(&d, 1, 1, (1 << 20) - 10000);
	depths_add_cut(&d, 1, 1, (1 << 20) - 500000);
	depths_add_cut(&d, 1, 1, (1 << 20) - 900000);
	CHECK_EQ(depths_enough(&d, 0.95), 10256);
	CHECK_EQ(depths_enough(&d, 1), 900256);
	depths_fini(&d);
}
