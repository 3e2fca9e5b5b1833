/*
 * caught.h - a sample of this very program: what the kernel would have copied, and which callers are known to be right.
 *
 * Out      registers in the order of perf's, the stack, the program's code in memory; the callers as the C library
 *          finds them
 * Owns     all of it; there is one in each process
 */
#ifndef PACE_TESTS_UNIT_CAUGHT_H
#define PACE_TESTS_UNIT_CAUGHT_H

#include "base/types.h"

#if defined(__x86_64__)

enum { CAUGHT_STACK = 32 << 10, CAUGHT_FRAMES = 64 };

struct caught_code {
	u64 start, end, pgoff;
	char path[512];
};

struct caught {
	u64 regs[24];
	u64 sp, stack_end, n_stack;
	u8 stack[CAUGHT_STACK];
	void *found[CAUGHT_FRAMES];
	void *const *callers; /* [1] is the first one's; n_callers with [0] */
	int n_callers;
	struct caught_code code[32];
	size_t n_code;
};

const struct caught *caught(void);

#endif

#endif
