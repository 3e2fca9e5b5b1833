#include "test.h"

#include "arch/arch.h"
#include "unwind/flow.h"

#define FIND(arch, ret, into, ...) \
	find(arch, (const u8[]){__VA_ARGS__}, sizeof((const u8[]){__VA_ARGS__}), into, ret)

static bool find(const struct arch *arch, const u8 *code, u32 n, u32 into, struct flow *ret)
{
	struct stack_bytes bytes = {code + into, into, n - into, into, false};

	*ret = (struct flow){-1, -1, -1};
	return flow_find(arch, &bytes, ret);
}

TEST(flow_counts_what_is_pushed_in_a_function_without_a_frame)
{
	struct flow f;

	/* push %rcx; push %rdi; push 0x18(%rsp); sub $16,%rsp; mov %r10,0x20(%rsp); add $8,%rsp; pop %rcx */
#define LEAF                                                                                      \
	0x51, 0x57, 0xff, 0x74, 0x24, 0x18, 0x48, 0x83, 0xec, 0x10, 0x4c, 0x89, 0x54, 0x24, 0x20, \
		0x48, 0x83, 0xc4, 0x08, 0x59, 0x90
	static const struct {
		u32 into;
		s64 sp;
	} known[] = {{0, 0}, {1, 8}, {2, 16}, {6, 24}, {10, 40}, {15, 40}, {19, 32}, {20, 24}};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		CHECK(FIND(&arch_x86_64, &f, known[i].into, LEAF));
		CHECK_EQ(f.sp, known[i].sp);
		CHECK(f.fp == FLOW_UNKNOWN && f.saved == 0);
	}
	/* in the middle of an instruction there is none */
	CHECK(!FIND(&arch_x86_64, &f, 4, LEAF));
}

TEST(flow_follows_the_frame_pointer_through_the_making_and_undoing_of_a_frame)
{
	struct flow f;

	/* push %rbp; mov %rsp,%rbp; push %rbx; and $-32,%rsp; lea -8(%rbp),%rsp; pop %rbx; leave; ret */
#define FRAME                                                                                     \
	0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xe4, 0xe0, 0x48, 0x8d, 0x65, 0xf8, 0x5b, 0xc9, \
		0xc3
	static const struct {
		u32 into;
		struct flow flow;
	} known[] = {
		{0, {0, FLOW_UNKNOWN, 0}},
		{1, {8, FLOW_UNKNOWN, 8}},
		{4, {8, 8, 8}},
		{5, {16, 8, 8}},
		{9, {FLOW_UNKNOWN, 8, 8}},
		{13, {16, 8, 8}},
		{14, {8, 8, 8}},
		{15, {0, FLOW_UNKNOWN, 0}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		CHECK(FIND(&arch_x86_64, &f, known[i].into, FRAME));
		CHECK(!memcmp(&f, &known[i].flow, sizeof(f)));
	}
	/* push %ebp; mov %esp,%ebp; sub $8,%esp */
	CHECK(FIND(&arch_i386, &f, 6, 0x55, 0x89, 0xe5, 0x83, 0xec, 0x08, 0x90));
	CHECK(f.sp == 12 && f.fp == 4 && f.saved == 4);
	/* push %rbp; xor %ebp,%ebp: a register like others, saved all the same */
	CHECK(FIND(&arch_x86_64, &f, 3, 0x55, 0x31, 0xed, 0x90));
	CHECK(f.sp == 8 && f.fp == FLOW_UNKNOWN && f.saved == 8);
	/* xor %ebp,%ebp: the caller's is nowhere */
	CHECK(FIND(&arch_x86_64, &f, 2, 0x31, 0xed, 0x90));
	CHECK(f.sp == 0 && f.saved == FLOW_UNKNOWN);
	/* enter $16,$0: the frame pointer is another one; push %rbp, mov %rsp,%rbp, xchg %eax,%ebp: too */
	CHECK(!FIND(&arch_x86_64, &f, 4, 0xc8, 0x10, 0x00, 0x00, 0x90));
	CHECK(!FIND(&arch_x86_64, &f, 5, 0x55, 0x48, 0x89, 0xe5, 0x95, 0x90));
	/* or %al,%ch: 5 is no register of addresses there */
	CHECK(FIND(&arch_x86_64, &f, 2, 0x0a, 0xe8, 0x90));
	CHECK(f.saved == 0);
}

TEST(flow_knows_behind_a_jump_what_was_known_before_it)
{
	struct flow f;

	/* 0: push %rbx; je 6; pop %rbx; ret; int3; 6: mov %rax,%rdx; jmp 13; push %rcx; ret; 13: nop */
#define JUMPS \
	0x53, 0x74, 0x03, 0x5b, 0xc3, 0xcc, 0x48, 0x89, 0xc2, 0xeb, 0x02, 0x51, 0xc3, 0x90, 0x90

	CHECK(FIND(&arch_x86_64, &f, 6, JUMPS) && f.sp == 8);
	CHECK(FIND(&arch_x86_64, &f, 4, JUMPS) && f.sp == 0);
	CHECK(FIND(&arch_x86_64, &f, 13, JUMPS) && f.sp == 8);
	/* behind a jump or a return, where nobody comes from */
	CHECK(!FIND(&arch_x86_64, &f, 5, JUMPS));
	CHECK(!FIND(&arch_x86_64, &f, 11, JUMPS));
	/* je 3; push %rbx; nop: two ways that contradict each other */
	CHECK(!FIND(&arch_x86_64, &f, 3, 0x74, 0x01, 0x53, 0x90, 0x90));
	/* a jump into the middle of what was taken for an instruction: je 4; mov $0xc3,%eax */
	CHECK(FIND(&arch_x86_64, &f, 7, 0x74, 0x02, 0xb8, 0xc3, 0, 0, 0, 0x90) && f.sp == 0);
}

TEST(flow_knows_the_body_of_a_loop_by_the_jump_back_to_it)
{
	struct flow f;

	/* push %rbx; jmp 5; 3: push %rcx; pop %rcx; 5: test %eax,%eax; jne 3; pop %rbx; ret; int3 */
#define LOOP 0x53, 0xeb, 0x02, 0x51, 0x59, 0x85, 0xc0, 0x75, 0xfa, 0x5b, 0xc3, 0xcc

	CHECK(FIND(&arch_x86_64, &f, 3, LOOP) && f.sp == 8);
	CHECK(FIND(&arch_x86_64, &f, 4, LOOP) && f.sp == 16);
	CHECK(!FIND(&arch_x86_64, &f, 11, LOOP));
	/* jmp 6; 2: nop; jmp 8; 5: nop; 6: jmp 2; 8: a loop within what only a jump back leads to */
	CHECK(FIND(&arch_x86_64, &f, 3, 0xeb, 0x04, 0x90, 0xeb, 0x03, 0x90, 0xeb, 0xfa, 0xc3));
}

TEST(flow_knows_the_cases_of_a_switch_by_the_jump_to_them)
{
	struct flow f;

	/* push %rbx; jmp *%rax; 3: mov %ecx,%edx; pop %rbx; ret; 7: nop; ret; int3 */
#define CASES 0x53, 0xff, 0xe0, 0x89, 0xca, 0x5b, 0xc3, 0x90, 0xc3, 0xcc

	CHECK(FIND(&arch_x86_64, &f, 3, CASES) && f.sp == 8);
	CHECK(FIND(&arch_x86_64, &f, 6, CASES) && f.sp == 0);
	/* jmp *%rax without a frame is a call's tail: what follows is another function's */
	CHECK(!FIND(&arch_x86_64, &f, 3, 0x90, 0xff, 0xe0, 0x53, 0x90));
}

TEST(flow_knows_nothing_of_other_machines_and_of_what_is_no_code)
{
	struct flow f;

	CHECK(!FIND(&arch_arm64, &f, 4, 0xfd, 0x7b, 0xbf, 0xa9, 0, 0, 0, 0));
	CHECK(!FIND(&arch_x86_64, &f, 2, 0x06, 0x90, 0x90));
	CHECK(!flow_find(&arch_x86_64, &(struct stack_bytes){.into = STACK_START_UNKNOWN}, &f));
}
