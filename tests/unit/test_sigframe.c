#include "test.h"

#include "arch/arch.h"
#include "unwind/sigframe.h"

enum { STACK = 0x7000, CODE_AT = 0x1000, IP = 0x2345, SP = 0x6780, DUMP = 1024 };

struct code {
	const u8 *at;
	u32 n;
};

static void look(void *ctx, u64 ip, struct stack_bytes *ret_bytes)
{
	const struct code *code = ctx;

	if (ip == CODE_AT)
		*ret_bytes = (struct stack_bytes){code->at, 0, code->n, 0, false};
}

/* A walk in code, with `dump` at the stack pointer. */
static struct walk walk_of(const struct arch *arch, const struct stack_places *places,
	const struct sample_stack *dump)
{
	struct walk w = {.arch = arch,
		.places = places,
		.dump = dump,
		.dump_start = STACK,
		.cfa = STACK};

	w.regs[w.arch->sp] = STACK;
	w.regs[w.arch->ip] = CODE_AT;
	w.known = 1ull << w.arch->sp | 1ull << w.arch->ip;
	return w;
}

/*
 * Of all bytes of the stack only those at `ip`, `sp` and `fp` are not 0. All that a kernel wrote is
 * found, and what is not in the copy leaves the walk as it was.
 */
static void check(const struct arch *arch, struct code code, u8 *bytes, u32 ip, u32 sp, u32 fp)
{
	struct sample_stack dump = {{bytes, DUMP}, DUMP};
	struct stack_places places = {.look = look, .ctx = &code};
	struct walk w = walk_of(arch, &places, &dump);
	const u64 values[] = {IP, SP, SP + 64};
	const u32 at[] = {ip, sp, fp};

	for (unsigned i = 0; i < 3; i++)
		memcpy(bytes + at[i], &values[i], w.arch->word);
	CHECK(sigframe_is_trampoline(arch, &(struct stack_bytes){code.at, 0, code.n, 0, false}));
	CHECK(sigframe_step(&w));
	CHECK_EQ(w.regs[w.arch->ip], IP);
	CHECK_EQ(w.regs[w.arch->sp], SP);
	CHECK_EQ(w.cfa, SP);
	CHECK_EQ(w.regs[w.arch->fp], SP + 64);
	CHECK(w.has_left); /* SP is below STACK */
	/* Each register has its place: the others are 0. */
	for (unsigned i = 0; i < ROW_REGS; i++)
		if (i != w.arch->ip && i != w.arch->sp && i != w.arch->fp)
			CHECK_EQ(w.regs[i], 0);
	dump.dyn_size = ip;
	w = walk_of(arch, &places, &dump);
	CHECK(!sigframe_step(&w));
	CHECK_EQ(w.regs[w.arch->ip], CODE_AT);
	/* Other code is no trampoline, nor is half of one. */
	code.n--;
	CHECK(!sigframe_is_trampoline(arch, &(struct stack_bytes){code.at, 0, code.n, 0, false}));
	dump.dyn_size = DUMP;
	CHECK(!sigframe_step(&w));
}

#define BYTES(...)                                                           \
	(struct code)                                                        \
	{                                                                    \
		(const u8[]){__VA_ARGS__}, sizeof((const u8[]){__VA_ARGS__}) \
	}

TEST(sigframe_of_x86_64_is_behind_a_ucontext)
{
	u8 stack[DUMP] = {0};

	check(&arch_x86_64, BYTES(0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05), stack, 168, 160, 120);
	check(&arch_x86_64, BYTES(0xb8, 15, 0, 0, 0, 0x0f, 0x05), stack, 168, 160, 120);
}

TEST(sigframe_of_i386_has_a_number_first)
{
	u8 stack[DUMP] = {0};

	check(&arch_i386, BYTES(0x58, 0xb8, 119, 0, 0, 0, 0xcd, 0x80), stack, 4 + 56, 4 + 28,
		4 + 24);
}

TEST(sigframe_of_i386_with_siginfo_points_to_a_ucontext)
{
	u8 stack[DUMP] = {0};
	u32 context = STACK + 200;

	memcpy(stack + 8, &context, sizeof(context));
	check(&arch_i386, BYTES(0xb8, 173, 0, 0, 0, 0xcd, 0x80), stack, 220 + 56, 220 + 28,
		220 + 24);
}

TEST(sigframe_of_arm64_is_behind_siginfo)
{
	u8 stack[DUMP] = {0};
	/* uc_mcontext lies at 176, behind its fault_address x0; x29, x31 (sp), pc */
	u32 x0 = 128 + 176 + 8;

	check(&arch_arm64, BYTES(0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4), stack,
		x0 + 8 * 32, x0 + 8 * 31, x0 + 8 * 29);
}
