#include "event/abi.h"
#include "record/oddity.h"
#include "test.h"

static const u64 user_chain[] = {PERF_CONTEXT_USER, 0x401000, 0x402000};

static const struct oddity_limits plain = {
	.n_cpus = 4, .has_halves = true, .first_time = 1000, .last_time = 2000};

static struct sample plain_sample(void)
{
	return (struct sample){.ip = 0x401000,
		.pid = 7,
		.tid = 8,
		.time = 1500,
		.cpu = 3,
		.period = 1000,
		.chain = {(const u8 *)user_chain, 3}};
}

static enum oddity look(const struct sample *s)
{
	return oddity_of(s, PERF_RECORD_MISC_USER, UINT64_MAX, &plain);
}

TEST(oddity_finds_nothing_in_what_kernels_write)
{
	struct sample s = plain_sample();

	CHECK_EQ(look(&s), ODDITY_NONE);
	/* A task that has ended, before and since Linux 4.15; a trace's sample without a CPU. */
	s.pid = s.tid = (u32)-1;
	CHECK_EQ(look(&s), ODDITY_NONE);
	s.pid = 0;
	s.tid = 8;
	CHECK_EQ(look(&s), ODDITY_NONE);
	s.cpu = (u32)-1;
	CHECK_EQ(look(&s), ODDITY_NONE);
	s.ip = 0xffffffffff600400;
	CHECK_EQ(look(&s), ODDITY_NONE);
	s.chain.n = 0;
	CHECK_EQ(look(&s), ODDITY_NONE);
}

TEST(oddity_finds_numbers_that_no_kernel_gives)
{
	struct sample s = plain_sample();

	s.tid = 0x7fffffff;
	CHECK_EQ(look(&s), ODDITY_NUMBER);
	s.tid = 8;
	s.cpu = 4;
	CHECK_EQ(look(&s), ODDITY_CPU);
	s.cpu = 0;
	s.period = 1ULL << 63;
	CHECK_EQ(look(&s), ODDITY_PERIOD);
	s.period = 1;
	s.time = 999;
	CHECK_EQ(look(&s), ODDITY_TIME);
	s.time = 2001;
	CHECK_EQ(look(&s), ODDITY_TIME);
	s.time = 2000;
	CHECK_EQ(look(&s), ODDITY_NONE);
}

TEST(oddity_finds_code_of_programs_among_the_kernels)
{
	struct sample s = plain_sample();
	u64 chain[] = {PERF_CONTEXT_KERNEL, 0x401000};

	s.ip = 0xffffffff81000000;
	CHECK_EQ(look(&s), ODDITY_PLACE);
	s.ip = 0x401000;
	CHECK_EQ(oddity_of(&s, PERF_RECORD_MISC_KERNEL, UINT64_MAX, &plain), ODDITY_PLACE);
	s.chain.at = (const u8 *)chain;
	s.chain.n = 2;
	CHECK_EQ(look(&s), ODDITY_PLACE);
	CHECK_EQ(oddity_of(&s, 0, UINT64_MAX, &(struct oddity_limits){0}), ODDITY_NONE);
}

TEST(oddity_finds_fields_that_contradict_themselves)
{
	struct sample s = plain_sample();
	u64 chain[] = {0x401000, 0x402000};

	s.n_rest = 8;
	CHECK_EQ(look(&s), ODDITY_REST);
	s.user_stack.dyn_size = 1;
	CHECK_EQ(look(&s), ODDITY_STACK);
	s.user_regs.abi = 3;
	CHECK_EQ(look(&s), ODDITY_REGS);
	s.chain.at = (const u8 *)chain;
	CHECK_EQ(look(&s), ODDITY_CHAIN);
	for (enum oddity o = ODDITY_NONE + 1; o < ODDITIES; o++)
		CHECK(oddity_text(o) != NULL);
}

TEST(oddity_looks_only_at_fields_that_are_there)
{
	struct sample s = {.pid = 0x7fffffff, .cpu = 9, .period = UINT64_MAX, .time = 1};

	CHECK_EQ(oddity_of(&s, PERF_RECORD_MISC_USER, 0, &plain), ODDITY_NONE);
}
