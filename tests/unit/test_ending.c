#include "unwind/ending.h"

#include "event/abi.h"
#include "test.h"

static struct sample_words words_of(const u64 *words, u64 n)
{
	return (struct sample_words){(const u8 *)words, n};
}

TEST(ending_comes_off_the_chain_that_it_was_put_behind)
{
	for (unsigned e = 0; e < STACK_ENDINGS; e++) {
		u64 chain[3 + ENDING_WORDS] = {PERF_CONTEXT_USER, 0x1000, 0x2000};
		struct sample_words words =
			words_of(chain, 3 + ending_words((enum stack_ending)e, chain + 3));
		enum stack_ending found = STACK_ENDINGS;

		CHECK(ending_take(&words, &found));
		CHECK_EQ(found, e);
		CHECK_EQ(words.n, 3);
		CHECK(!ending_take(&words, &found));
	}
}

TEST(ending_is_not_found_in_what_the_kernel_writes)
{
	static const u64 chains[][5] = {
		{PERF_CONTEXT_KERNEL, 0x1000, PERF_CONTEXT_USER, 0x2000, 0x3000},
		{PERF_CONTEXT_KERNEL, 0x1000, 0x2000, 0x3000, PERF_CONTEXT_USER},
		{PERF_CONTEXT_USER, PERF_CONTEXT_KERNEL, PERF_CONTEXT_USER, PERF_CONTEXT_KERNEL,
			PERF_CONTEXT_USER},
		{PERF_CONTEXT_HV, 0x1000, 0x2000, 0x3000, 0x4000},
		/* no ending has the number 15 */
		{PERF_CONTEXT_HV, PERF_CONTEXT_USER, PERF_CONTEXT_USER, PERF_CONTEXT_USER,
			PERF_CONTEXT_USER},
	};

	for (size_t i = 0; i < ARRAY_SIZE(chains); i++) {
		struct sample_words words = words_of(chains[i], 5);
		enum stack_ending found;

		CHECK(!ending_take(&words, &found));
		CHECK_EQ(words.n, 5);
	}
	for (u64 n = 0; n < 2; n++) {
		struct sample_words words = words_of(chains[0], n);
		enum stack_ending found;

		CHECK(!ending_take(&words, &found));
	}
}
