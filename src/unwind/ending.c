#include "unwind/ending.h"

#include "event/abi.h"

_Static_assert(STACK_ENDINGS <= 1 << (ENDING_WORDS - 1), "more endings than there are digits for");

u32 ending_words(enum stack_ending ending, u64 words[ENDING_WORDS])
{
	u32 n = 0, digits = 0;

	while (ending >> digits)
		digits++;
	words[n++] = PERF_CONTEXT_HV;
	while (digits--)
		words[n++] = ending >> digits & 1 ? PERF_CONTEXT_USER : PERF_CONTEXT_KERNEL;
	return n;
}

/* per sample */
bool ending_take(struct sample_words *chain, enum stack_ending *ret_ending)
{
	unsigned ending = 0;

	for (u32 n = 0; n < ENDING_WORDS && n < chain->n; n++) {
		u64 word = load_u64(chain->at + 8 * (chain->n - 1 - n));

		if (word == PERF_CONTEXT_HV && ending < STACK_ENDINGS) {
			chain->n -= n + 1;
			*ret_ending = (enum stack_ending)ending;
			return true;
		}
		if (word != PERF_CONTEXT_USER && word != PERF_CONTEXT_KERNEL)
			return false;
		ending |= (unsigned)(word == PERF_CONTEXT_USER) << n;
	}
	return false;
}
