#include "unwind/ending.h"

#include "event/abi.h"

const char *ending_text(enum stack_ending ending)
{
	static const char *const texts[STACK_ENDINGS] = {
		[STACK_COMPLETE] = "complete",
		[STACK_DUMP_TOO_SMALL] = "stack dump too small",
		[STACK_NO_CFI] = "no unwind information",
		[STACK_NO_FILE] = "file missing",
		[STACK_NO_CODE_FILE] = "code without a file",
		[STACK_NO_MAP] = "no such code",
		[STACK_NO_FRAME_POINTER] = "no frame pointers",
		[STACK_TOO_DEEP] = "too many frames",
		[STACK_CORRUPT] = "corrupt",
		[STACK_OTHER_ARCH] = "unknown machine",
		[STACK_ELSEWHERE] = "on another stack",
		[STACK_NOT_COPIED] = "stack not in memory",
		[STACK_NO_REGISTER] = "registers not known",
		[STACK_CALLS_FORGOTTEN] = "branch records full",
	};

	return ending == STACK_GAP_ABORT ? "transaction aborted" : texts[ending];
}

/*
 * The numbers are stored in files and therefore never change: new endings get the next number. There are
 * digits for numbers up to 15.
 */
static const u8 numbers[STACK_ENDINGS] = {
	[STACK_COMPLETE] = 0,
	[STACK_DUMP_TOO_SMALL] = 1,
	[STACK_NO_CFI] = 2,
	[STACK_NO_FILE] = 3,
	[STACK_NO_CODE_FILE] = 4,
	[STACK_NO_MAP] = 5,
	[STACK_TOO_DEEP] = 6,
	[STACK_CORRUPT] = 7,
	[STACK_OTHER_ARCH] = 8,
	[STACK_NO_FRAME_POINTER] = 9,
	[STACK_ELSEWHERE] = 10,
	[STACK_NOT_COPIED] = 11,
	[STACK_CALLS_FORGOTTEN] = 12,
	[STACK_NO_REGISTER] = 13,
};

u32 ending_words(enum stack_ending ending, u64 words[ENDING_WORDS])
{
	u32 n = 0, digits = 0, number = numbers[ending];

	while (number >> digits)
		digits++;
	words[n++] = PERF_CONTEXT_HV;
	while (digits--)
		words[n++] = number >> digits & 1 ? PERF_CONTEXT_USER : PERF_CONTEXT_KERNEL;
	return n;
}

static bool find_ending(u32 number, enum stack_ending *ret_ending)
{
	for (unsigned i = 0; i < STACK_ENDINGS; i++) {
		if (numbers[i] != number)
			continue;
		*ret_ending = (enum stack_ending)i;
		return true;
	}
	return false;
}

/* per sample */
bool ending_take(struct sample_words *chain, enum stack_ending *ret_ending)
{
	u32 number = 0;

	for (u32 n = 0; n < ENDING_WORDS && n < chain->n; n++) {
		u64 word = load_u64(chain->at + 8 * (chain->n - 1 - n));

		if (word == PERF_CONTEXT_HV) {
			if (!find_ending(number, ret_ending))
				return false;
			chain->n -= n + 1;
			return true;
		}
		if (word != PERF_CONTEXT_USER && word != PERF_CONTEXT_KERNEL)
			return false;
		number |= (u32)(word == PERF_CONTEXT_USER) << n;
	}
	return false;
}
