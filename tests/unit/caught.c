#include "unit/caught.h"

#if defined(__x86_64__)

#include <execinfo.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "test.h"

static void read_maps(struct caught *c)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[1024], flags[8];

	CHECK(f);
	while (fgets(line, sizeof(line), f)) {
		struct caught_code *code = &c->code[c->n_code];
		unsigned long long start, end, pgoff;

		if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %511[^\n]", &start, &end, flags,
			    &pgoff, code->path) != 5)
			continue;
		if (!strcmp(code->path, "[stack]"))
			c->stack_end = end;
		if (flags[2] != 'x' || (*code->path != '/' && strcmp(code->path, "[vdso]")))
			continue;
		CHECK(c->n_code + 1 < ARRAY_SIZE(c->code));
		code->start = start;
		code->end = end;
		code->pgoff = pgoff;
		c->n_code++;
	}
	fclose(f);
}

/* What the kernel would have put into a sample here; and what the C library says of the callers. */
__attribute__((noinline, no_sanitize("address"))) static void catch_here(struct caught *c)
{
	/* in the order of perf's registers: see record/regs.c */
	static const int order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP,
		REG_RSP, REG_RIP, REG_EFL, -1, -1, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12,
		REG_R13, REG_R14, REG_R15};
	const volatile u8 *from;
	ucontext_t here;

	read_maps(c);
	CHECK(!getcontext(&here));
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		c->regs[i] = order[i] < 0 ? 0 : (u64)here.uc_mcontext.gregs[order[i]];
	c->sp = (u64)here.uc_mcontext.gregs[REG_RSP];
	c->n_stack = MIN(c->stack_end - c->sp, (u64)CAUGHT_STACK);
	from = (const volatile u8 *)(uintptr_t)c->sp;
	for (u64 i = 0; i < c->n_stack; i++)
		c->stack[i] = from[i];
	c->n_callers = backtrace(c->found, CAUGHT_FRAMES);
	/* Sanitizers put a frame of theirs before ours. */
	for (c->callers = c->found; c->callers[1] != __builtin_return_address(0); c->callers++)
		CHECK(--c->n_callers > 4);
}

__attribute__((noinline)) static int deeper(struct caught *c, int n)
{
	int more = n ? deeper(c, n - 1) : 0;

	if (!n)
		catch_here(c);
	return more + 1;
}

const struct caught *caught(void)
{
	static struct caught c;

	CHECK_EQ(deeper(&c, 5), 6);
	return &c;
}

#endif
