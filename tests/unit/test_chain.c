#include "unwind/chain.h"

#include "event/abi.h"
#include "test.h"
#include "unit/recording.h"

struct expected {
	u64 ip;
	u8 mode;
	bool is_return;
};

/* Walks the words, from a place that is not aligned and in a block that ends with them. */
static void check_chain(const u64 *words, size_t n, u8 mode, const struct expected *expected,
	size_t n_expected)
{
	u8 *block = malloc(n * 8 + 1);
	struct sample_words view = {block + 1, n};
	struct chain_walk walk = chain_walk(&view, mode);
	struct chain_step step;

	CHECK(block);
	if (n)
		memcpy(block + 1, words, n * 8);
	for (size_t i = 0; i < n_expected; i++) {
		CHECK(chain_next(&walk, &step));
		CHECK(step.ip == expected[i].ip);
		CHECK_EQ(step.mode, expected[i].mode);
		CHECK_EQ(step.is_return, expected[i].is_return);
	}
	CHECK(!chain_next(&walk, &step));
	/* The end stays the end. */
	CHECK(!chain_next(&walk, &step));
	free(block);
}

#define CHECK_CHAIN(words, mode, expected) \
	check_chain(words, ARRAY_SIZE(words), mode, expected, ARRAY_SIZE(expected))

TEST(chain_without_words_has_no_steps)
{
	check_chain(NULL, 0, PERF_RECORD_MISC_USER, NULL, 0);
}

TEST(chain_of_markers_only_has_no_steps)
{
	static const u64 words[] = {PERF_CONTEXT_KERNEL, PERF_CONTEXT_USER, PERF_CONTEXT_USER};

	check_chain(words, ARRAY_SIZE(words), PERF_RECORD_MISC_USER, NULL, 0);
}

TEST(chain_first_address_of_each_mode_is_no_return_address)
{
	static const u64 words[] = {PERF_CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000020,
		0xffffffff81000030, PERF_CONTEXT_USER, 0x401000, 0x402000};
	static const struct expected expected[] = {
		{0xffffffff81000010, PERF_RECORD_MISC_KERNEL, false},
		{0xffffffff81000020, PERF_RECORD_MISC_KERNEL, true},
		{0xffffffff81000030, PERF_RECORD_MISC_KERNEL, true},
		{0x401000, PERF_RECORD_MISC_USER, false},
		{0x402000, PERF_RECORD_MISC_USER, true},
	};

	CHECK_CHAIN(words, PERF_RECORD_MISC_CPUMODE_UNKNOWN, expected);
}

TEST(chain_before_the_first_marker_ran_in_the_mode_of_the_sample)
{
	static const u64 words[] = {0x10, 0x20, PERF_CONTEXT_USER, 0x30};
	static const struct expected expected[] = {
		{0x10, PERF_RECORD_MISC_HYPERVISOR, false},
		{0x20, PERF_RECORD_MISC_HYPERVISOR, true},
		{0x30, PERF_RECORD_MISC_USER, false},
	};

	CHECK_CHAIN(words, PERF_RECORD_MISC_HYPERVISOR, expected);
}

TEST(chain_knows_every_marker_the_kernel_writes)
{
	static const struct {
		u64 marker;
		u8 mode;
	} markers[] = {
		{PERF_CONTEXT_HV, PERF_RECORD_MISC_HYPERVISOR},
		{PERF_CONTEXT_KERNEL, PERF_RECORD_MISC_KERNEL},
		{PERF_CONTEXT_USER, PERF_RECORD_MISC_USER},
		{PERF_CONTEXT_GUEST, PERF_RECORD_MISC_GUEST_USER},
		{PERF_CONTEXT_GUEST_KERNEL, PERF_RECORD_MISC_GUEST_KERNEL},
		{PERF_CONTEXT_GUEST_USER, PERF_RECORD_MISC_GUEST_USER},
	};

	for (size_t i = 0; i < ARRAY_SIZE(markers); i++) {
		const u64 words[] = {0x1, markers[i].marker, 0x2, 0x3};
		const struct expected expected[] = {
			{0x1, PERF_RECORD_MISC_CPUMODE_UNKNOWN, false},
			{0x2, markers[i].mode, false},
			{0x3, markers[i].mode, true},
		};

		CHECK_CHAIN(words, PERF_RECORD_MISC_CPUMODE_UNKNOWN, expected);
	}
}

TEST(chain_ends_at_a_marker_that_nobody_knows)
{
	static const u64 markers[] = {PERF_CONTEXT_MAX, PERF_CONTEXT_MAX + 1, (u64)-1, (u64)-31,
		(u64)-33, (u64)-129, (u64)-511, PERF_CONTEXT_USER_DEFERRED, (u64)-2049, (u64)-3000};

	for (size_t i = 0; i < ARRAY_SIZE(markers); i++) {
		const u64 words[] = {PERF_CONTEXT_USER, 0x1, 0x2, markers[i], 0x3,
			PERF_CONTEXT_USER, 0x4};
		const struct expected expected[] = {
			{0x1, PERF_RECORD_MISC_USER, false},
			{0x2, PERF_RECORD_MISC_USER, true},
		};

		CHECK_CHAIN(words, PERF_RECORD_MISC_USER, expected);
	}
}

TEST(chain_addresses_right_below_the_markers_are_addresses)
{
	static const u64 words[] = {PERF_CONTEXT_KERNEL, PERF_CONTEXT_MAX - 1, 0,
		UINT64_MAX - 8192};
	static const struct expected expected[] = {
		{PERF_CONTEXT_MAX - 1, PERF_RECORD_MISC_KERNEL, false},
		{0, PERF_RECORD_MISC_KERNEL, true},
		{UINT64_MAX - 8192, PERF_RECORD_MISC_KERNEL, true},
	};

	CHECK_CHAIN(words, PERF_RECORD_MISC_KERNEL, expected);
}

TEST(chain_marker_twice_in_a_row_counts_once)
{
	static const u64 words[] = {PERF_CONTEXT_KERNEL, PERF_CONTEXT_USER, 0x1, PERF_CONTEXT_USER,
		0x2, 0x3};
	static const struct expected expected[] = {
		{0x1, PERF_RECORD_MISC_USER, false},
		{0x2, PERF_RECORD_MISC_USER, false},
		{0x3, PERF_RECORD_MISC_USER, true},
	};

	CHECK_CHAIN(words, PERF_RECORD_MISC_KERNEL, expected);
}
