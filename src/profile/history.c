#include "profile/history.h"

#include <string.h>

#include "base/bytes.h"

/* In an entry, and of its flags. */
enum { ENTRY = 24, ENTRY_FROM = 0, ENTRY_TO = 8, ENTRY_FLAGS = 16 };
enum { MISPREDICTED = 1, PREDICTED = 2, ABORT = 8, CYCLES_SHIFT = 4 };
/* Bytes: calls as compilers make them are no longer. Branches: of loops that are found. */
enum { CALL_MAX = 8, LOOP_MAX = 64 };

/* In a note: which of both, then what it says. */
#define IS_TO   ((u64)1 << 63)
#define IS_FROM ((u64)1 << 62)

enum { ITERATIONS_SHIFT = 16, LOOP_CYCLES_SHIFT = 24, ITERATIONS_MAX = UINT8_MAX };

struct history_note history_note(u64 branch)
{
	struct history_note note = {.is_to = branch & IS_TO, .is_from = branch & IS_FROM};

	if (note.is_to) {
		note.is_told = branch & (MISPREDICTED | PREDICTED);
		note.is_predicted = branch & PREDICTED;
		note.is_abort = branch & ABORT;
	}
	if (note.is_from) {
		note.cycles = branch & UINT16_MAX;
		note.n_iterations = branch >> ITERATIONS_SHIFT & UINT8_MAX;
		note.loop_cycles = (u32)(branch >> LOOP_CYCLES_SHIFT);
	}
	return note;
}

/* Adds one time through a loop to its last branch. */
static void add_iteration(u64 *of_from, u64 cycles)
{
	struct history_note note = history_note(*of_from);

	if (note.n_iterations == ITERATIONS_MAX || cycles + note.loop_cycles > UINT32_MAX)
		return;
	*of_from += ((u64)1 << ITERATIONS_SHIFT) + (cycles << LOOP_CYCLES_SHIFT);
}

static bool is_same_branch(const u64 *words, u64 i, u64 k)
{
	return !memcmp(words + i * HISTORY_WORDS, words + k * HISTORY_WORDS, 2 * sizeof(*words));
}

/* How many of the last ones, of n, say the same places as those right before them: the least, or 0. */
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

static void take_branch(const u8 *entry, u64 *words)
{
	u64 flags = load_u64(entry + ENTRY_FLAGS);

	words[HISTORY_TO] = load_u64(entry + ENTRY_TO);
	words[HISTORY_FROM] = load_u64(entry + ENTRY_FROM);
	words[HISTORY_OF_TO] = IS_TO | (flags & (MISPREDICTED | PREDICTED | ABORT));
	words[HISTORY_OF_FROM] = IS_FROM | (flags >> CYCLES_SHIFT & UINT16_MAX);
}

u64 history_take(const u8 *entries, u64 n, u64 *ret_words)
{
	u64 kept = 0;

	for (u64 i = 0; i < MIN(n, (u64)HISTORY_MAX); i++) {
		u64 length, cycles = 0;

		take_branch(entries + i * ENTRY, ret_words + kept++ * HISTORY_WORDS);
		length = repeated(ret_words, kept);
		if (!length)
			continue;
		for (u64 k = kept - length; k < kept; k++)
			cycles +=
				history_note(ret_words[k * HISTORY_WORDS + HISTORY_OF_FROM]).cycles;
		kept -= length;
		add_iteration(&ret_words[(kept - 1) * HISTORY_WORDS + HISTORY_OF_FROM], cycles);
	}
	return kept;
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
