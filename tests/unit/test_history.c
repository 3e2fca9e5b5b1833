#include "test.h"

#include "profile/gather/history.h"

struct entry {
	u64 from, to, flags;
};

enum { PREDICTED = 2, MISPREDICTED = 1, ABORT = 8 };

#define CYCLES(n) ((u64)(n) << 4)

static struct history h;

static u64 from_of(u64 i)
{
	return h.words[i * HISTORY_WORDS + HISTORY_FROM];
}

/* How many branches are taken of n. */
static u64 take(const struct entry *entries, u64 n, u64 max)
{
	history_take(&h, (const u8 *)entries, n, max);
	return h.n;
}

TEST(history_has_branches_with_what_is_known_of_them)
{
	const struct entry entries[] = {{0x10, 0x20, PREDICTED | CYCLES(7)},
		{0x30, 0x40, MISPREDICTED | ABORT | CYCLES(65535)}, {0x50, 0x60, 0}};

	CHECK(take(entries, 3, UINT64_MAX) == 3);
	CHECK(h.words[HISTORY_TO] == 0x20 && h.words[HISTORY_FROM] == 0x10);
	CHECK(h.notes[0].is_told && h.notes[0].is_predicted && !h.notes[0].is_abort);
	CHECK(h.notes[0].cycles == 7);
	CHECK(h.notes[1].is_told && !h.notes[1].is_predicted && h.notes[1].is_abort);
	CHECK(h.notes[1].cycles == 65535 && !h.notes[1].n_iterations);
	CHECK(!h.notes[2].is_told && !h.notes[2].cycles);
	CHECK(take(entries, 0, UINT64_MAX) == 0);
	/* The newest, if not all are wanted. */
	CHECK(take(entries, 3, 2) == 2 && from_of(1) == 0x30);
}

TEST(history_tells_loops_once_with_their_iterations)
{
	/* a a b, again, again, then c; the newest first: of the inner loop one is left, of the outer too. */
	struct entry entries[10] = {{0}};
	u64 n = 0;

	for (int i = 0; i < 3; i++) {
		entries[n++] = (struct entry){0xb0, 0xa1, CYCLES(5)};
		entries[n++] = (struct entry){0xa0, 0xa1, CYCLES(1)};
		entries[n++] = (struct entry){0xa0, 0xa1, CYCLES(2)};
	}
	entries[n++] = (struct entry){0xc0, 0xa1, CYCLES(9)};
	CHECK(take(entries, n, UINT64_MAX) == 3);
	CHECK(from_of(0) == 0xb0 && from_of(1) == 0xa0 && from_of(2) == 0xc0);
	/* Once the inner one while it was there, twice the outer one, whose inner was not told yet. */
	CHECK(h.notes[1].n_iterations == 5 && h.notes[1].loop_cycles == 3 * 2 + 2 * (5 + 1));
	CHECK(!h.notes[0].n_iterations && !h.notes[2].n_iterations);
	/* Where a branch goes is part of it: a function that returns to two places is no loop. */
	entries[0] = (struct entry){0xa0, 1, 0};
	entries[1] = (struct entry){0xa0, 2, 0};
	CHECK(take(entries, 2, UINT64_MAX) == 2);
}

TEST(history_counts_iterations_only_as_far_as_there_is_room)
{
	static struct entry entries[HISTORY_MAX + 10];

	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		entries[i] = (struct entry){0xa0, 0xa1, CYCLES(65535)};
	CHECK(take(entries, ARRAY_SIZE(entries), UINT64_MAX) == 1);
	CHECK(h.notes[0].n_iterations == 255 && h.notes[0].loop_cycles == 255 * 65535u);
	CHECK(h.notes[0].cycles == 65535);
}

TEST(history_has_the_calls_that_return_to_an_address)
{
	const struct entry entries[] = {{0x1000, 0x2000, 0}, {0x3000, 0x4000, 0},
		{0x1000, 0x5000, 0}};
	u64 n = take(entries, 3, UINT64_MAX), at = 0;

	CHECK(n == 3 && history_has_call(h.words, n, 0x3005, &at) && at == 2);
	/* Calls of callers come before. */
	CHECK(!history_has_call(h.words, n, 0x3005, &at) && at == 2);
	CHECK(history_has_call(h.words, n, 0x1002, &at) && at == 3);
	at = 0;
	CHECK(!history_has_call(h.words, n, 0x1000, &at) &&
		!history_has_call(h.words, n, 0x1009, &at));
}
