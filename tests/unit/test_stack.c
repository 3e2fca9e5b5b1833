#include "test.h"

#include "event/abi.h"
#include "record/regs.h"
#include "unit/cfimaker.h"
#include "unwind/stack.h"

enum {
	BIAS = 0x400000,
	STACK = 0x7000,
	NO_CFI = 7, /* dso: mapped, but nothing is said of it */
	WITH_CFI = 3,
};

/* Registers BP, SP and IP of x86-64. */
enum { MASK = 1 << 6 | 1 << 7 | 1 << 8 };

struct world {
	struct cfimaker maker;
	struct cfi cfi;
	struct stack stack;
	bool has_jit; /* code from 0xc000 on was made at run time */
	u64 dump[64];
	const u8 *end; /* of the first function: two bytes */
	const u8 *
		keeper; /* the one that keeps rbp: 13 bytes, up to behind a call; NULL: not known */
	bool has_bare;  /* the code from 0x9000 on is known */
	bool has_push;  /* the code of 0x6000 is known: it pushes something */
	bool is_live;   /* the process can be asked for what it made at 0xd000 */
	bool has_trampoline; /* the code from 0x9100 on calls sigreturn(2) */
	u64 dyn_size;        /* 0: all of the dump */
	u32 n_dump;          /* words of the dump; 0: all */
	bool is_empty;
	u64 regs[40];
	u32 max_frames;
	u64 kernel[8]; /* its chain */
	u32 n_kernel;
	u64 main; /* rva; 0: unknown */
	const struct arch *arch;
	u64 mask;
};

/*
 * Code lies at BIAS: of [0x1000, 0x8000) there is CFI, of the rest below 0x10000 not. A program starts
 * at 0xa000.
 */
static void find(void *ctx, u64 ip, struct stack_code *ret_code)
{
	struct world *w = ctx;
	u64 rva = ip - BIAS;

	*ret_code = (struct stack_code){.ending = STACK_NO_MAP};
	if (rva >= 0x10000)
		return;
	*ret_code = (struct stack_code){.rva = rva,
		.dso = NO_CFI,
		.ending = STACK_NO_FILE,
		.is_code = true,
		.is_lasting = true};
	if (rva >= 0xc000 && w->has_jit)
		ret_code->ending = STACK_NO_CODE_FILE;
	if (rva < 0x8000) {
		ret_code->cfi = &w->cfi;
		ret_code->dso = WITH_CFI;
		ret_code->ending = STACK_NO_CFI;
	}
}

/* push %rbp; mov %rsp,%rbp; push $0x2c; two nops, at 0x9000; nops before and behind 0x9800, where one begins. */
static void look_at_bare(u64 rva, struct stack_bytes *ret_bytes)
{
	static const u8 frame[] = {0x55, 0x48, 0x89, 0xe5, 0x6a, 0x2c, 0x90, 0x90};
	static const u8 nops[] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90};

	if (rva == 0x9008)
		*ret_bytes = (struct stack_bytes){frame + 8, 8, 0, 8, false};
	if (rva == 0x9800)
		*ret_bytes = (struct stack_bytes){nops + 8, 8, 2, 0, false};
}

/* Nothing is known of the code but, before 0x1100, the end of the first function. */
static void look(void *ctx, u64 ip, struct stack_bytes *ret_bytes)
{
	static const u8 push[] = {0x50, 0x90, 0x90}; /* push %rax; nop */
	static const u8 sigreturn[] = {0xb8, 15, 0, 0, 0, 0x0f, 0x05};
	const struct world *w = ctx;

	*ret_bytes = (struct stack_bytes){.into = STACK_START_UNKNOWN,
		.is_entry = ip - BIAS >= 0xa000 && ip - BIAS < 0xc000,
		.is_main = w->main && (ip - BIAS) >> 8 == w->main >> 8};
	if (ip == BIAS + 0x1100 && w->end) {
		ret_bytes->at = w->end + 2;
		ret_bytes->n_before = 2;
	}
	if (w->has_bare)
		look_at_bare(ip - BIAS, ret_bytes);
	if (w->has_trampoline && ip == BIAS + 0x9100)
		*ret_bytes = (struct stack_bytes){sigreturn, 0, sizeof(sigreturn), 0, false};
	if (w->has_push && ip == BIAS + 0x6002)
		*ret_bytes = (struct stack_bytes){push + 2, 2, 1, 2, false};
	if (w->keeper && ip == BIAS + 0x200d)
		*ret_bytes = (struct stack_bytes){w->keeper + 13, 13, 0, 13, false};
}

/* add $8, %rsp; ret */
static void peek(void *ctx, u64 ip, struct stack_bytes *ret_bytes)
{
	static const u8 end[] = {0x48, 0x83, 0xc4, 0x08, 0xc3};

	(void)ctx;
	*ret_bytes = (struct stack_bytes){.into = STACK_START_UNKNOWN};
	if (ip == BIAS + 0xd000)
		*ret_bytes = (struct stack_bytes){end, 0, sizeof(end), STACK_START_UNKNOWN, false};
}

/*
 * At 0x1000 a function of 16 bytes of stack; at 0x2000 one that keeps rbp; at 0x3000 the outermost;
 * at 0x4000 a signal's trampoline whose caller's registers lie in memory; at 0x5000 the end of a
 * function that has popped rbp; at 0x6000 one without a frame.
 */
static void world_init(struct world *w)
{
	struct cfi_input in;

	memset(w, 0, sizeof(*w));
	w->max_frames = 100;
	w->arch = &arch_x86_64;
	w->mask = MASK;
	w->regs[1] = STACK;
	w->regs[2] = BIAS + 0x1004;
	cfimaker_cie(&w->maker, "z", -8, 16, CODE(0x0c, 7, 8, 0x90, 1));
	cfimaker_fde(&w->maker, 0x1000, 0x100, CODE(0x0e, 24));
	cfimaker_fde(&w->maker, 0x2000, 0x100, CODE(0x0c, 6, 16, 0x86, 2));
	cfimaker_fde(&w->maker, 0x3000, 0x100, CODE(0x07, 16));
	cfimaker_fde(&w->maker, 0x5000, 0x100, CODE(0x86, 2));
	cfimaker_fde(&w->maker, 0x6000, 0x100, CODE(0));
	cfimaker_cie(&w->maker, "zS", -8, 16, CODE(0x0f, 3, 0x77, 32, 6, 0));
	cfimaker_fde(&w->maker, 0x3fff, 0x100, CODE(0x10, 16, 2, 0x77, 8, 0x10, 6, 2, 0x77, 16));
	in = cfimaker_input(&w->maker);
	cfi_init(&w->cfi, &in);
	stack_init(&w->stack);
}

static void world_fini(struct world *w)
{
	stack_fini(&w->stack);
	cfi_fini(&w->cfi);
	str_fini(&w->maker.bytes);
}

static struct stack_end walk(struct world *w)
{
	struct sample_regs regs = {PERF_SAMPLE_REGS_ABI_64,
		{(const u8 *)w->regs, (u64)__builtin_popcountll(w->mask)}};
	u64 bytes = w->n_dump ? 8 * w->n_dump : sizeof(w->dump);
	struct sample_stack stack = {{(const u8 *)w->dump, bytes},
		w->is_empty           ? 0
			: w->dyn_size ? w->dyn_size
				      : bytes};
	struct sample_words chain = {(const u8 *)w->kernel, w->n_kernel};
	struct stack_input in = {w->arch, w->mask, &regs, &stack, w->max_frames,
		w->n_kernel ? &chain : NULL};

	return stack_walk(&w->stack, &in,
		&(struct stack_places){.find = find,
			.ctx = w,
			.space = 1,
			.look = look,
			.peek = w->is_live ? peek : NULL});
}

static void check_chain(const struct world *w, const u64 *expected, size_t n)
{
	CHECK_EQ(w->stack.chain.n, n);
	for (size_t i = 0; i < n; i++)
		CHECK_EQ(w->stack.chain.at[i], expected[i]);
}

#define CHAIN(...) (const u64[]){__VA_ARGS__}, sizeof((const u64[]){__VA_ARGS__}) / sizeof(u64)

TEST(stack_is_walked_to_the_function_that_has_no_caller)
{
	struct world w;

	world_init(&w);
	w.dump[2] = BIAS + 0x2010;  /* 0x1000 has 24 bytes: its return address is the last word */
	w.regs[0] = STACK + 8 * 6;  /* rbp of 0x2000 */
	w.dump[6] = STACK + 8 * 10; /* its caller's rbp */
	w.dump[7] = BIAS + 0x2020;
	w.dump[10] = 0;
	w.dump[11] = BIAS + 0x3001;
	for (int again = 0; again < 2; again++) {
		CHECK_EQ(walk(&w).ending, STACK_COMPLETE);
		check_chain(&w,
			CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, BIAS + 0x2010, BIAS + 0x2020,
				BIAS + 0x3001));
	}
	CHECK_EQ(w.stack.n_frames, 8);
	world_fini(&w);
}

TEST(stack_that_goes_on_above_the_dump_says_so)
{
	struct world w;
	struct stack_end end;

	world_init(&w);
	w.regs[0] = STACK + 8 * 64;
	w.dump[2] = BIAS + 0x2010;
	end = walk(&w);
	CHECK_EQ(end.ending, STACK_DUMP_TOO_SMALL);
	CHECK_EQ(end.dso, WITH_CFI);
	check_chain(&w, CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, BIAS + 0x2010));
	/* Of a dump that is not full, all that is above was not there. */
	w.dyn_size = 8 * 40;
	CHECK_EQ(walk(&w).ending, STACK_CORRUPT);
	world_fini(&w);
}

/* A leaf without a frame, and then who keeps rbp: its frame ends above the copy. */
static void world_init_deep(struct world *w)
{
	static const u64 kernel[] = {PERF_CONTEXT_KERNEL, 77, PERF_CONTEXT_USER, BIAS + 0x1004,
		BIAS + 0x2020, BIAS + 0x2030, BIAS + 0x2040, BIAS + 0x3001};

	world_init(w);
	memcpy(w->kernel, kernel, sizeof(kernel));
	w->n_kernel = ARRAY_SIZE(kernel);
	w->dump[2] = BIAS + 0x2010;
	w->regs[0] = STACK + 8 * 6;
	w->dump[6] = STACK + 8 * 63;
	w->dump[7] = BIAS + 0x2020;
}

TEST(stack_goes_on_above_the_dump_by_the_kernels_chain)
{
	struct world w;

	world_init_deep(&w);
	CHECK_EQ(walk(&w).ending, STACK_COMPLETE);
	check_chain(&w,
		CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, BIAS + 0x2010, BIAS + 0x2020, BIAS + 0x2030,
			BIAS + 0x2040, BIAS + 0x3001));
	/* What called main keeps no frame pointer, and is the last. */
	w.kernel[6] = BIAS + 0x6010;
	w.main = 0x2000;
	CHECK_EQ(walk(&w).ending, STACK_COMPLETE);
	check_chain(&w,
		CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, BIAS + 0x2010, BIAS + 0x2020,
			BIAS + 0x2030));
	w.max_frames = 3;
	CHECK_EQ(walk(&w).ending, STACK_TOO_DEEP);
	world_fini(&w);
}

TEST(stack_leaves_the_kernels_chain_where_somebody_keeps_no_frame_pointer)
{
	struct world w;

	world_init_deep(&w);
	w.kernel[5] = BIAS + 0x6010;
	CHECK_EQ(walk(&w).ending, STACK_DUMP_TOO_SMALL);
	check_chain(&w,
		CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, BIAS + 0x2010, BIAS + 0x2020,
			BIAS + 0x6010));
	/* The kernel saw other frames than the copy has, so nothing of its chain is believed. */
	w.kernel[4] = BIAS + 0x2028;
	CHECK_EQ(walk(&w).ending, STACK_DUMP_TOO_SMALL);
	check_chain(&w, CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, BIAS + 0x2010, BIAS + 0x2020));
	/* The kernel's chain does not reach that far. */
	world_fini(&w);
	world_init_deep(&w);
	w.n_kernel = 5;
	CHECK_EQ(walk(&w).ending, STACK_DUMP_TOO_SMALL);
	check_chain(&w, CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, BIAS + 0x2010, BIAS + 0x2020));
	/* Where it goes to is no code. */
	w.n_kernel = 6;
	w.kernel[5] = 12345;
	CHECK_EQ(walk(&w).ending, STACK_DUMP_TOO_SMALL);
	check_chain(&w, CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, BIAS + 0x2010, BIAS + 0x2020));
	world_fini(&w);
}

TEST(stack_of_go_goes_on_above_the_dump_though_its_rows_tell_of_no_frame_pointer)
{
	/* The frame pointer of who has called somebody is at the top of its frame: 0x1000 has 24 bytes. */
	static const u64 kernel[] = {PERF_CONTEXT_USER, BIAS + 0x1004, BIAS + 0x1020, BIAS + 0x1030,
		BIAS + 0x3001};
	struct world w;

	world_init(&w);
	memcpy(w.kernel, kernel, sizeof(kernel));
	w.n_kernel = ARRAY_SIZE(kernel);
	w.regs[1] = STACK;
	w.regs[0] = STACK + 8; /* its own frame's */
	w.dump[1] = STACK + 32;
	w.dump[2] = BIAS + 0x1020;
	w.dump[4] = STACK + 56;
	w.dyn_size = 40;
	CHECK_EQ(walk(&w).ending, STACK_CORRUPT);
	/* The copy is full, and ends in the second frame. */
	w.n_dump = 5;
	CHECK_EQ(walk(&w).ending, STACK_DUMP_TOO_SMALL);
	check_chain(&w, CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, BIAS + 0x1020));
	w.cfi.keeps_pointers = true;
	CHECK_EQ(walk(&w).ending, STACK_COMPLETE);
	check_chain(&w,
		CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, BIAS + 0x1020, BIAS + 0x1030,
			BIAS + 0x3001));
	/* Who has no frame of his own has no frame pointer there. */
	w.kernel[3] = BIAS + 0x6010;
	CHECK_EQ(walk(&w).ending, STACK_DUMP_TOO_SMALL);
	world_fini(&w);
}

TEST(stack_of_generated_code_that_goes_on_above_the_dump_says_so)
{
	struct world w;

	world_init(&w);
	w.has_jit = true;
	w.regs[2] = BIAS + 0xd000;
	w.regs[0] = STACK + 8 * 64;
	CHECK_EQ(walk(&w).ending, STACK_DUMP_TOO_SMALL);
	check_chain(&w, CHAIN(PERF_CONTEXT_USER, BIAS + 0xd000));
	/* Where the dump ends with the stack, or far from it, a larger one would not help. */
	w.dyn_size = 8 * 32;
	CHECK_EQ(walk(&w).ending, STACK_NO_CODE_FILE);
	w.dyn_size = 0;
	w.regs[0] = STACK + (256 << 20);
	CHECK_EQ(walk(&w).ending, STACK_NO_CODE_FILE);
	/* A file that is not here may use the register for anything. */
	w.has_jit = false;
	w.regs[0] = STACK + 8 * 64;
	w.regs[2] = BIAS + 0x9000;
	CHECK_EQ(walk(&w).ending, STACK_NO_FILE);
	world_fini(&w);
}

TEST(stack_of_generated_code_goes_by_that_code_while_its_process_lives)
{
	struct world w;

	world_init(&w);
	w.has_jit = true;
	w.dump[2] = BIAS + 0xd000;
	w.dump[4] = BIAS + 0x3001;
	/* The frame pointer is that of another function, further up. */
	w.regs[0] = STACK + 8 * 10;
	w.dump[11] = BIAS + 0x3008;
	w.is_live = true;
	CHECK_EQ(walk(&w).ending, STACK_COMPLETE);
	check_chain(&w, CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, BIAS + 0xd000, BIAS + 0x3001));
	/* Of other code nothing can be told so. */
	w.dump[2] = BIAS + 0xd010;
	CHECK_EQ(walk(&w).ending, STACK_COMPLETE);
	check_chain(&w, CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, BIAS + 0xd010, BIAS + 0x3008));
	world_fini(&w);
}

TEST(stack_takes_what_was_popped_from_its_register)
{
	struct world w;

	world_init(&w);
	w.regs[2] = BIAS + 0x5004;
	w.regs[0] = STACK + 8 * 6; /* rbp of 0x2000 */
	w.dump[0] = BIAS + 0x2010;
	w.dump[7] = BIAS + 0x3001;
	CHECK_EQ(walk(&w).ending, STACK_COMPLETE);
	check_chain(&w, CHAIN(PERF_CONTEXT_USER, BIAS + 0x5004, BIAS + 0x2010, BIAS + 0x3001));
	world_fini(&w);
}

TEST(stack_goes_by_the_code_where_its_call_frame_information_leads_nowhere)
{
	static const u8 call[] = {0xff, 0xd0}; /* call *%rax */
	struct world w;

	world_init(&w);
	w.end = call;
	w.regs[2] = BIAS + 0x6002;
	w.dump[1] = BIAS + 0x1100;
	w.dump[4] = BIAS + 0x3001;
	/* What was pushed is the caller for the row, which does not know of it: nowhere, or nobody. */
	for (u64 pushed = 0; pushed < 0x100; pushed += 0x80) {
		w.dump[0] = pushed;
		w.has_push = true;
		w.stack.n_frames = 0;
		CHECK_EQ(walk(&w).ending, STACK_COMPLETE);
		check_chain(&w,
			CHAIN(PERF_CONTEXT_USER, BIAS + 0x6002, BIAS + 0x1100, BIAS + 0x3001));
		CHECK_EQ(w.stack.n_frames, 3);
		/* Without the code nothing better is known. */
		w.has_push = false;
		CHECK_EQ(walk(&w).ending, pushed ? STACK_NO_MAP : STACK_COMPLETE);
		w.has_push = true;
		w.dump[1] = 1;
		CHECK_EQ(walk(&w).ending, pushed ? STACK_NO_MAP : STACK_COMPLETE);
		w.dump[1] = BIAS + 0x1100;
	}
	world_fini(&w);
}

TEST(stack_frames_go_up_or_are_corrupt)
{
	struct world w;

	world_init(&w);
	w.regs[2] = BIAS + 0x2004;
	w.regs[0] = STACK + 8 * 4;
	w.dump[4] = STACK; /* back down */
	w.dump[5] = BIAS + 0x2010;
	CHECK_EQ(walk(&w).ending, STACK_CORRUPT);
	check_chain(&w, CHAIN(PERF_CONTEXT_USER, BIAS + 0x2004, BIAS + 0x2010));
	/* The same frame for ever. */
	w.dump[4] = STACK + 8 * 4;
	w.dump[5] = BIAS + 0x2010;
	CHECK_EQ(walk(&w).ending, STACK_CORRUPT);
	world_fini(&w);
}

TEST(stack_has_as_many_frames_as_asked_for)
{
	struct world w;

	world_init(&w);
	for (unsigned i = 2; i < 64; i += 3)
		w.dump[i] = BIAS + 0x1008;
	w.max_frames = 5;
	CHECK_EQ(walk(&w).ending, STACK_TOO_DEEP);
	CHECK_EQ(w.stack.chain.n, 6);
	w.max_frames = 100;
	CHECK_EQ(walk(&w).ending, STACK_DUMP_TOO_SMALL);
	world_fini(&w);
}

TEST(stack_follows_frame_pointers_where_nothing_is_said)
{
	struct world w;
	struct stack_end end;

	world_init(&w);
	w.regs[2] = BIAS + 0x9000;
	w.regs[0] = STACK + 16;
	w.dump[2] = STACK + 64;
	w.dump[3] = BIAS + 0x9010;
	w.dump[8] = STACK + 128;
	w.dump[9] = BIAS + 0x3001;
	CHECK_EQ(walk(&w).ending, STACK_COMPLETE);
	check_chain(&w, CHAIN(PERF_CONTEXT_USER, BIAS + 0x9000, BIAS + 0x9010, BIAS + 0x3001));
	/* What is no code is not returned to. */
	w.dump[9] = 12345;
	end = walk(&w);
	CHECK_EQ(end.ending, STACK_NO_FILE);
	CHECK_EQ(end.dso, NO_CFI);
	check_chain(&w, CHAIN(PERF_CONTEXT_USER, BIAS + 0x9000, BIAS + 0x9010));
	world_fini(&w);
}

TEST(stack_knows_that_signals_interrupt_and_do_not_call)
{
	struct world w;

	world_init(&w);
	w.dump[2] = BIAS + 0x4000; /* a handler returns into the trampoline */
	/* then the stack pointer is STACK + 24; below, what was interrupted, at its first byte */
	w.dump[4] = BIAS + 0x2000;
	w.dump[5] = STACK + 8 * 20;
	w.dump[3 + 4] = STACK + 8 * 16; /* its stack pointer: the CFA */
	w.dump[21] = BIAS + 0x3001;
	CHECK_EQ(walk(&w).ending, STACK_COMPLETE);
	check_chain(&w,
		CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, PERF_CONTEXT_USER, BIAS + 0x4000,
			PERF_CONTEXT_USER, BIAS + 0x2000, BIAS + 0x3001));
	world_fini(&w);
}

TEST(stack_goes_through_signals_of_libraries_that_say_nothing_of_their_trampoline)
{
	struct world w;

	world_init(&w);
	w.has_trampoline = true;
	w.regs[2] = BIAS + 0x6004;
	w.dump[0] = BIAS + 0x9100;
	/* struct ucontext begins at dump[1] */
	w.dump[1 + 15] = STACK + 8 * 50; /* rbp */
	w.dump[1 + 20] = STACK + 8 * 40; /* rsp */
	w.dump[1 + 21] = BIAS + 0x2000;  /* rip */
	w.dump[51] = BIAS + 0x3001;
	CHECK_EQ(walk(&w).ending, STACK_COMPLETE);
	check_chain(&w,
		CHAIN(PERF_CONTEXT_USER, BIAS + 0x6004, PERF_CONTEXT_USER, BIAS + 0x9100,
			PERF_CONTEXT_USER, BIAS + 0x2000, BIAS + 0x3001));
	/* The signal interrupted what ran on another stack. */
	w.dump[1 + 20] = STACK - 0x4000;
	w.dump[1 + 15] = STACK - 0x4000;
	CHECK_EQ(walk(&w).ending, STACK_ELSEWHERE);
	w.has_trampoline = false;
	CHECK(walk(&w).ending != STACK_COMPLETE);
	check_chain(&w, CHAIN(PERF_CONTEXT_USER, BIAS + 0x6004, BIAS + 0x9100));
	world_fini(&w);
}

TEST(stack_of_a_signal_on_a_stack_of_its_own_goes_on_elsewhere)
{
	struct world w;

	world_init(&w);
	w.dump[2] = BIAS + 0x4000;
	w.dump[4] = BIAS + 0x2000;
	w.dump[5] = STACK + (256 << 20);
	w.dump[3 + 4] = STACK + (256 << 20);
	CHECK_EQ(walk(&w).ending, STACK_ELSEWHERE);
	check_chain(&w,
		CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, PERF_CONTEXT_USER, BIAS + 0x4000,
			PERF_CONTEXT_USER, BIAS + 0x2000));
	/* Near above a full dump it may be the same stack. */
	w.dump[5] = w.dump[3 + 4] = STACK + 8 * 100;
	CHECK_EQ(walk(&w).ending, STACK_DUMP_TOO_SMALL);
	world_fini(&w);
}

TEST(stack_that_was_not_in_memory_is_called_so)
{
	struct world w;

	world_init(&w);
	w.is_empty = true;
	CHECK_EQ(walk(&w).ending, STACK_NOT_COPIED);
	check_chain(&w, CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004));
	world_fini(&w);
}

TEST(stack_of_which_pages_were_not_in_memory_is_called_so)
{
	struct world w;

	world_init(&w);
	/* The frame is known, and lies behind the pages that could be copied. */
	w.regs[1] = STACK + 0x1000 - 16;
	w.dyn_size = 16;
	CHECK_EQ(walk(&w).ending, STACK_NOT_COPIED);
	/* Where no page ends the stack does. */
	w.dyn_size -= 8;
	CHECK_EQ(walk(&w).ending, STACK_CORRUPT);
	world_fini(&w);
}

TEST(stack_ends_where_the_program_starts)
{
	struct world w;

	world_init(&w);
	w.dump[2] = BIAS + 0xa008;
	w.regs[0] = STACK + 8 * 10; /* no frame pointer yet, whatever it looks like */
	w.dump[11] = BIAS + 0x2001;
	CHECK_EQ(walk(&w).ending, STACK_COMPLETE);
	check_chain(&w, CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, BIAS + 0xa008));
	world_fini(&w);
}

TEST(stack_ends_at_a_function_that_nobody_has_called)
{
	struct world w;

	world_init(&w);
	w.dump[2] = BIAS + 0x6000; /* no function ends there, one begins */
	CHECK_EQ(walk(&w).ending, STACK_COMPLETE);
	check_chain(&w, CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, PERF_CONTEXT_USER, BIAS + 0x6000));
	w.dump[2] = BIAS + 0x6001;
	w.dump[3] = BIAS + 0x3001;
	CHECK_EQ(walk(&w).ending, STACK_COMPLETE);
	check_chain(&w, CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, BIAS + 0x6001, BIAS + 0x3001));
	/* Unless it returns behind a call, as what Go puts there does. */
	w.dump[2] = BIAS + 0x6000;
	w.dump[3] = BIAS + 0x200d;
	w.dump[4] = 0;
	w.keeper = (const u8[]){0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xe8, 0, 0, 0, 0};
	w.regs[0] = STACK + 8 * 20;
	w.dump[21] = BIAS + 0x3001;
	CHECK_EQ(walk(&w).ending, STACK_COMPLETE);
	check_chain(&w,
		CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, PERF_CONTEXT_USER, BIAS + 0x6000,
			BIAS + 0x200d, BIAS + 0x3001));
	world_fini(&w);
}

TEST(stack_goes_on_where_a_function_was_made_to_return_to_anothers_start)
{
	struct world w;

	world_init(&w);
	w.has_bare = true;
	w.regs[0] = STACK + 8;
	w.regs[2] = BIAS + 0x9008;
	w.dump[0] = 0x2c;
	w.dump[1] = STACK + 8 * 10;
	w.dump[2] = BIAS + 0x9800;
	w.dump[10] = STACK + 8 * 20;
	w.dump[11] = BIAS + 0x3001;
	CHECK_EQ(walk(&w).ending, STACK_COMPLETE);
	check_chain(&w,
		CHAIN(PERF_CONTEXT_USER, BIAS + 0x9008, PERF_CONTEXT_USER, BIAS + 0x9800,
			BIAS + 0x3001));
	world_fini(&w);
}

TEST(stack_of_a_system_call_at_the_end_of_a_function_is_its)
{
	struct world w;

	world_init(&w);
	w.regs[2] = BIAS + 0x1100;
	w.dump[2] = BIAS + 0x3001;
	w.end = (const u8[]){0x0f, 0x05};
	CHECK_EQ(walk(&w).ending, STACK_COMPLETE);
	check_chain(&w, CHAIN(PERF_CONTEXT_USER, BIAS + 0x1100, BIAS + 0x3001));
	/* Else it is the beginning of another one, of which nothing is said. */
	w.end = (const u8[]){0xff, 0xe0};
	CHECK_EQ(walk(&w).ending, STACK_NO_CFI);
	world_fini(&w);
}

TEST(stack_whose_frame_pointer_nobody_told_is_found_by_what_the_code_does)
{
	struct world w;

	world_init(&w);
	/* The stack pointer and the instruction alone: what /proc tells of a thread that waits. */
	w.mask = 1 << 7 | 1 << 8;
	w.regs[0] = STACK;
	w.regs[1] = BIAS + 0x1004;
	w.dump[2] = BIAS + 0x200d;
	w.dump[5] = STACK + 8 * 20;
	w.dump[6] = BIAS + 0x2020;
	w.dump[21] = BIAS + 0x3001;
	CHECK_EQ(walk(&w).ending, STACK_NO_REGISTER);
	check_chain(&w, CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, BIAS + 0x200d));
	/* push %rbp; mov %rsp,%rbp; sub $16,%rsp; call: what it pushed is the caller's. */
	w.keeper = (const u8[]){0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xe8, 0, 0, 0, 0};
	CHECK_EQ(walk(&w).ending, STACK_COMPLETE);
	check_chain(&w,
		CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, BIAS + 0x200d, BIAS + 0x2020,
			BIAS + 0x3001));
	world_fini(&w);
}

TEST(stack_of_a_call_to_nowhere_has_no_code)
{
	struct world w;

	world_init(&w);
	w.regs[2] = 0;
	CHECK_EQ(walk(&w).ending, STACK_NO_MAP);
	w.regs[2] = BIAS + 0x1004;
	w.mask = 1 << 6;
	CHECK_EQ(walk(&w).ending, STACK_CORRUPT);
	w.arch = NULL;
	CHECK_EQ(walk(&w).ending, STACK_OTHER_ARCH);
	w.arch = &arch_s390x;
	CHECK_EQ(walk(&w).ending, STACK_OTHER_ARCH);
	CHECK_EQ(w.stack.chain.n, 0);
	world_fini(&w);
}

TEST(stack_of_arm64_is_walked_through_the_link_register_and_signed_addresses)
{
	struct world w;
	struct cfi_input in;

	world_init(&w);
	cfi_fini(&w.cfi);
	str_clear(&w.maker.bytes);
	cfimaker_cie(&w.maker, "", -8, 30, CODE(0x0c, 31, 0));
	cfimaker_fde(&w.maker, 0x1000, 0x100, CODE(0)); /* a leaf */
	/* signs its return address, keeps x29 and x30 */
	cfimaker_fde(&w.maker, 0x2000, 0x100, CODE(0x2d, 0x0e, 16, 0x9d, 2, 0x9e, 1));
	cfimaker_fde(&w.maker, 0x3000, 0x100, CODE(0x07, 30));
	in = cfimaker_input(&w.maker);
	cfi_init(&w.cfi, &in);
	w.arch = &arch_arm64;
	w.mask = (1ull << 33) - 1;
	w.regs[30] = BIAS + 0x2010;
	w.regs[31] = STACK;
	w.regs[32] = BIAS + 0x1004;
	w.dump[1] = 0x2a000000000000 | (BIAS + 0x3010);
	CHECK_EQ(walk(&w).ending, STACK_COMPLETE);
	check_chain(&w, CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, BIAS + 0x2010, BIAS + 0x3010));
	world_fini(&w);
}

/*
 * The program counter is the sample's first register. A leaf, then as gcc 12 -O2 keeps registers: the frame's
 * size, ra and s0 below its top.
 */
TEST(stack_of_riscv64_by_rows_and_the_return_register)
{
	struct cfi_input in;
	struct world w;

	world_init(&w);
	cfi_fini(&w.cfi);
	str_clear(&w.maker.bytes);
	cfimaker_cie(&w.maker, "", -4, 1, CODE(0x0c, 2, 0));
	cfimaker_fde(&w.maker, 0x1000, 0x100, CODE(0)); /* a leaf */
	cfimaker_fde(&w.maker, 0x2000, 0x100, CODE(0x0e, 32, 0x81, 2, 0x88, 4));
	/* Its CFA is what s0 was: the row before has restored it. */
	cfimaker_fde(&w.maker, 0x3000, 0x100, CODE(0x0c, 8, 0, 0x81, 2));
	cfimaker_fde(&w.maker, 0x4000, 0x100, CODE(0x07, 1));
	in = cfimaker_input(&w.maker);
	cfi_init(&w.cfi, &in);
	w.arch = &arch_riscv64;
	w.mask = (1ull << 32) - 1;
	w.regs[0] = BIAS + 0x1004;
	w.regs[1] = BIAS + 0x2010;
	w.regs[2] = STACK;
	w.regs[8] = 0;
	w.dump[2] = STACK + 64;    /* s0 */
	w.dump[3] = BIAS + 0x3010; /* ra */
	w.dump[7] = BIAS + 0x4010; /* below STACK + 64 */
	CHECK_EQ(walk(&w).ending, STACK_COMPLETE);
	check_chain(&w,
		CHAIN(PERF_CONTEXT_USER, BIAS + 0x1004, BIAS + 0x2010, BIAS + 0x3010,
			BIAS + 0x4010));
	world_fini(&w);
}

TEST(stack_arch_is_of_the_recording_and_the_registers)
{
	CHECK(regs_arch(arch_of_name("x86_64"), PERF_SAMPLE_REGS_ABI_64) == &arch_x86_64);
	CHECK(regs_arch(arch_of_name("x86_64"), PERF_SAMPLE_REGS_ABI_32) == &arch_i386);
	CHECK(regs_arch(arch_of_name("aarch64"), PERF_SAMPLE_REGS_ABI_64) == &arch_arm64);
	CHECK(regs_arch(arch_of_name("riscv64"), PERF_SAMPLE_REGS_ABI_64) == &arch_riscv64);
	CHECK(!regs_arch(arch_of_name("s390x"), PERF_SAMPLE_REGS_ABI_64)->n_regs);
	CHECK(regs_arch(arch_of_name("i686"), PERF_SAMPLE_REGS_ABI_64) == &arch_x86_64);
	CHECK(!regs_arch(arch_of_name("vax"), PERF_SAMPLE_REGS_ABI_64));
	CHECK(!regs_arch(&arch_riscv64, PERF_SAMPLE_REGS_ABI_32));
	CHECK(regs_arch(arch_of_name("x86_64"), PERF_SAMPLE_REGS_ABI_NONE) == NULL);
}
