#include "cmd/test/testwork.h"

/*
 * One function with code of its own and two that are inlined into it. Who tries a reader of lines expects the inlined functions on
 * lines 20 to 29 of this file, and the one around them on lines 30 to 39, whatever stands above.
 */

static volatile u64 rounds;

#line 20
static inline __attribute__((always_inline)) void leaf(void)
{
	rounds++;
	rounds *= 3;
}
static inline __attribute__((always_inline)) void middle(void)
{
	leaf();
}

#line 30
static __attribute__((noinline)) void parent(void)
{
	while (!testwork_is_over)
		middle();
}

int inlineloop_run(const struct testwork_numbers *numbers, struct err *err)
{
	(void)numbers;
	(void)err;
	parent();
	return 0;
}
