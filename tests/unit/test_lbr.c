#include "test.h"

#include "event/abi.h"
#include "unwind/lbr.h"

enum { DEPTH = 16, CALLS_MAX = 64 };

struct thread {
	struct lbr lbr;
	u64 entries[3 * CALLS_MAX]; /* newest first */
	struct sample_branches branches;
};

/* Call n is from 0x1000 + n to 0x2000 + n; the stack is that of calls 1..n, of which DEPTH are kept. */
static void calls(struct thread *t, u64 n)
{
	u64 kept = MIN(n, (u64)DEPTH);

	for (u64 i = 0; i < kept; i++) {
		t->entries[3 * i] = 0x1000 + n - i;
		t->entries[3 * i + 1] = 0x2000 + n - i;
	}
	t->branches = (struct sample_branches){.n = kept, .entries = (const u8 *)t->entries};
}

static enum stack_ending walk(struct thread *t, u64 hw_index, u64 ip)
{
	struct lbr_input in = {7, &t->branches, hw_index, ip};

	return lbr_walk(&t->lbr, &in);
}

/* From the address that was interrupted to call `last`. */
static void check_chain(const struct thread *t, u64 ip, u64 n, u64 last)
{
	CHECK_EQ(t->lbr.chain.n, 2 * (n - last + 2));
	CHECK_EQ(t->lbr.chain.at[0], (u64)PERF_CONTEXT_USER);
	CHECK_EQ(t->lbr.chain.at[1], ip);
	for (u64 i = 0; i <= n - last; i++) {
		CHECK_EQ(t->lbr.chain.at[2 * i + 2], (u64)PERF_CONTEXT_USER);
		CHECK_EQ(t->lbr.chain.at[2 * i + 3], 0x1000 + n - i);
	}
}

TEST(lbr_is_the_stack_of_calls_under_the_interrupted_address)
{
	struct thread t = {0};

	calls(&t, 5);
	CHECK_EQ(walk(&t, LBR_NO_INDEX, 0x3000), STACK_COMPLETE);
	check_chain(&t, 0x3000, 5, 1);
	CHECK_EQ(walk(&t, LBR_NO_INDEX, 0), STACK_COMPLETE);
	check_chain(&t, 0x2005, 5, 1);
	lbr_fini(&t.lbr);
}

TEST(lbr_that_is_full_has_forgotten_what_is_deeper)
{
	struct thread t = {0};

	calls(&t, 20);
	CHECK_EQ(walk(&t, LBR_NO_INDEX, 0x3000), STACK_CALLS_FORGOTTEN);
	check_chain(&t, 0x3000, 20, 5);
	/* A processor with more registers is not full. */
	t.lbr.depth = 32;
	CHECK_EQ(walk(&t, LBR_NO_INDEX, 0x3000), STACK_COMPLETE);
	lbr_fini(&t.lbr);
}

TEST(lbr_is_stitched_to_the_stack_before_of_the_same_thread)
{
	struct thread t = {0};

	t.lbr.stitches = true;
	calls(&t, 10);
	CHECK_EQ(walk(&t, LBR_NO_INDEX, 0x3000), STACK_COMPLETE);
	calls(&t, 20);
	CHECK_EQ(walk(&t, LBR_NO_INDEX, 0x3000), STACK_COMPLETE);
	check_chain(&t, 0x3000, 20, 1);
	/* and that in turn */
	calls(&t, 33);
	CHECK_EQ(walk(&t, LBR_NO_INDEX, 0x3000), STACK_COMPLETE);
	check_chain(&t, 0x3000, 33, 1);
	CHECK_EQ(t.lbr.n_stitched, 2);
	/* What has nothing in common with it, or but one call, is not. */
	calls(&t, 60);
	CHECK_EQ(walk(&t, LBR_NO_INDEX, 0x3000), STACK_CALLS_FORGOTTEN);
	check_chain(&t, 0x3000, 60, 45);
	lbr_fini(&t.lbr);
}

TEST(lbr_is_not_stitched_where_recursion_leaves_more_than_one_place)
{
	struct thread t = {0};

	t.lbr.stitches = true;
	calls(&t, 16);
	for (unsigned i = 0; i < DEPTH; i++) {
		t.entries[3 * i] = 0x1001;
		t.entries[3 * i + 1] = 0x2001;
	}
	t.branches.n = 15;
	CHECK_EQ(walk(&t, 14, 0x3000), STACK_COMPLETE);
	t.branches.n = DEPTH;
	CHECK_EQ(walk(&t, LBR_NO_INDEX, 0x3000), STACK_CALLS_FORGOTTEN);
	CHECK_EQ(t.lbr.chain.n, 2 * 17);
	lbr_fini(&t.lbr);

	/* The numbers of the registers tell them apart: three calls more than before. */
	t.lbr = (struct lbr){.stitches = true};
	t.branches.n = 15;
	CHECK_EQ(walk(&t, 14, 0x3000), STACK_COMPLETE);
	t.branches.n = DEPTH;
	CHECK_EQ(walk(&t, 1, 0x3000), STACK_COMPLETE);
	CHECK_EQ(t.lbr.chain.n, 2 * 19);
	lbr_fini(&t.lbr);
}
