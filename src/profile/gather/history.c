#include "profile/gather/history.h"

#include <string.h>

#include "base/bytes.h"
#include "record/branch.h"

/* CALL_MAX: bytes of the longest call instruction. LOOP_MAX: branches of the longest loop that is found. */
enum { CALL_MAX = 8, LOOP_MAX = 64 };

enum { ITERATIONS_MAX = UINT8_MAX };

/* Adds one iteration of a loop to its last branch. */
static void add_iteration(struct history_note *note, u64 cycles)
{
	if (note->n_iterations == ITERATIONS_MAX || cycles + note->loop_cycles > UINT32_MAX)
		return;
	note->n_iterations++;
	note->loop_cycles += (u32)cycles;
}

static bool is_same_branch(const u64 *words, u64 i, u64 k)
{
	return !memcmp(words + i * HISTORY_WORDS, words + k * HISTORY_WORDS,
		HISTORY_WORDS * sizeof(*words));
}

/* The least number of final branches, of n, that repeat the same number of branches right before them; or 0. */
static u64 repeated(const u64 *words, u64 n)
{
	for (u64 length = 1; length <= MIN(n / 2, (u64)LOOP_MAX); length++) {
		u64 same = 0;

		while (same < length && is_same_branch(words, n - 1 - same, n - 1 - same - length))
			same++;
		if (same == length)
			return length;
	}
	return 0;
}

static void take_branch(struct history *h, struct branch b)
{
	h->words[h->n * HISTORY_WORDS + HISTORY_TO] = b.to;
	h->words[h->n * HISTORY_WORDS + HISTORY_FROM] = b.from;
	h->notes[h->n] =
		(struct history_note){.is_told = b.flags & (BRANCH_MISPREDICTED | BRANCH_PREDICTED),
			.is_predicted = b.flags & BRANCH_PREDICTED,
			.is_abort = b.flags & BRANCH_ABORT,
			.cycles = branch_cycles(b.flags)};
	h->n++;
}

void history_take(struct history *h, const u8 *entries, u64 n, u64 max)
{
	h->n = 0;
	for (u64 i = 0; i < MIN(n, (u64)HISTORY_MAX) && h->n < max; i++) {
		u64 length, cycles = 0;

		take_branch(h, branch_at(entries, i));
		length = repeated(h->words, h->n);
		if (!length)
			continue;
		for (u64 k = h->n - length; k < h->n; k++)
			cycles += h->notes[k].cycles;
		h->n -= length;
		add_iteration(&h->notes[h->n - 1], cycles);
	}
}

bool history_has_call(const u64 *words, u64 n, u64 return_address, u64 *at)
{
	for (u64 i = *at; i < n; i++) {
		u64 from = words[i * HISTORY_WORDS + HISTORY_FROM];

		if (from >= return_address || return_address - from > CALL_MAX)
			continue;
		*at = i + 1;
		return true;
	}
	return false;
}
