#include "test.h"

#include "unwind/prologue.h"
#include "unwind/rows.h"

enum { STACK = 0x7000 };

struct world {
	u64 dump[16];
	u64 regs[ROW_REGS], known;
	struct prologue edge;
};

static bool read_dump(void *ctx, u64 va, unsigned size, u64 *ret_v)
{
	struct world *w = ctx;

	if (va < STACK || va - STACK + size > sizeof(w->dump))
		return false;
	*ret_v = 0;
	memcpy(ret_v, (const u8 *)w->dump + (va - STACK), size);
	return true;
}

/* Every register is known and has 1000 and its number; every word of the stack 100 and its. */
static void world_init(struct world *w, const struct arch *arch)
{
	memset(w, 0, sizeof(*w));
	for (unsigned i = 0; i < ROW_REGS; i++)
		w->regs[i] = 1000 + i;
	for (unsigned i = 0; i < ARRAY_SIZE(w->dump); i++)
		w->dump[i] = 100 + i;
	w->known = (1ull << ROW_REGS) - 1;
	w->edge = (struct prologue){.arch = arch,
		.regs = w->regs,
		.known = &w->known,
		.read = read_dump,
		.ctx = w};
	w->regs[arch->sp] = STACK;
	w->regs[arch->fp] = STACK + 64;
}

static void at(struct world *w, const void *code, u32 n, u32 into)
{
	w->edge.code = (struct stack_bytes){(const u8 *)code + into, into, n - into, into};
}

#define AT(into, ...) at(&w, (const u8[]){__VA_ARGS__}, sizeof((const u8[]){__VA_ARGS__}), into)
#define AT_WORDS(into, ...) \
	at(&w, (const u32[]){__VA_ARGS__}, sizeof((const u32[]){__VA_ARGS__}), 4 * (into))

TEST(prologue_plays_the_end_of_a_function_of_x86_64)
{
	struct world w;
	u64 ip;

	world_init(&w, &arch_x86_64);
	/* mov %rbx,%rax; add $16,%rsp; pop %rbx; pop %r12; pop %rbp; ret */
	AT(0, 0x48, 0x89, 0xd8, 0x48, 0x83, 0xc4, 16, 0x5b, 0x41, 0x5c, 0x5d, 0xc3);
	CHECK(prologue_return(&w.edge, &ip));
	CHECK_EQ(ip, 105);
	CHECK(w.regs[7] == STACK + 48 && w.regs[3] == 102 && w.regs[12] == 103 && w.regs[6] == 104);
	CHECK_EQ(w.regs[0], 1003);
	CHECK_EQ(w.regs[13], 1013);

	world_init(&w, &arch_x86_64);
	/* xor %eax,%eax; mov -8(%rbp),%rbx; leave; repz ret */
	AT(0, 0x31, 0xc0, 0x48, 0x8b, 0x5d, 0xf8, 0xc9, 0xf3, 0xc3);
	CHECK(prologue_return(&w.edge, &ip));
	CHECK(ip == 109 && w.regs[6] == 108 && w.regs[3] == 107 && w.regs[7] == STACK + 80);
	CHECK(!(w.known & 1));

	world_init(&w, &arch_x86_64);
	/* lea -16(%rbp),%rsp; pop %r13; pop %rbx; ret $8 */
	AT(0, 0x48, 0x8d, 0x65, 0xf0, 0x41, 0x5d, 0x5b, 0xc2, 8, 0);
	CHECK(prologue_return(&w.edge, &ip));
	CHECK(ip == 108 && w.regs[13] == 106 && w.regs[3] == 107 && w.regs[7] == STACK + 80);

	world_init(&w, &arch_x86_64);
	/* pop %rbx; jmp *elsewhere(%rip) */
	AT(0, 0x5b, 0xff, 0x25, 1, 2, 3, 4);
	CHECK(prologue_return(&w.edge, &ip));
	CHECK(ip == 101 && w.regs[3] == 100 && w.regs[7] == STACK + 16);

	/* Through a register or a table it may stay in the function. */
	world_init(&w, &arch_x86_64);
	AT(0, 0xff, 0xe0);
	CHECK(!prologue_return(&w.edge, &ip));
	world_init(&w, &arch_x86_64);
	AT(0, 0xff, 0x24, 0xc5, 1, 2, 3, 4);
	CHECK(!prologue_return(&w.edge, &ip));
}

TEST(prologue_knows_entries_of_the_plt)
{
	static const u8 stub[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 1, 2, 3, 4, 0x90};
	struct world w;
	u64 ip;

	for (u32 skip = 0; skip <= 5; skip++) {
		if (skip && skip < 4)
			continue;
		world_init(&w, &arch_x86_64);
		at(&w, stub, sizeof(stub), skip);
		CHECK(prologue_return(&w.edge, &ip));
		CHECK(w.regs[7] == STACK + 8);
	}
}

TEST(prologue_knows_what_is_in_every_program)
{
	static const u8 init[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 8, 0x48, 0x8b, 0x05, 1,
		2, 3, 4, 0x48, 0x85, 0xc0, 0x74, 2, 0xff, 0xd0, 0x48, 0x83, 0xc4, 8, 0xc3};
	struct world w;
	u64 ip;

	/* _init, with endbr64 and without */
	for (u32 skip = 0; skip <= 4; skip += 4) {
		world_init(&w, &arch_x86_64);
		at(&w, init, sizeof(init), skip);
		CHECK(!prologue_return(&w.edge, &ip));
		world_init(&w, &arch_x86_64);
		at(&w, init, sizeof(init), skip);
		CHECK(prologue_entry(&w.edge, &ip) && ip == 100 && w.regs[7] == STACK + 8);
	}
	/* _fini */
	world_init(&w, &arch_x86_64);
	AT(0, 0x48, 0x83, 0xec, 8, 0x48, 0x83, 0xc4, 8, 0xc3);
	CHECK(prologue_return(&w.edge, &ip) && ip == 100 && w.regs[7] == STACK + 8);
}

TEST(prologue_does_not_return_through_what_it_cannot_follow)
{
	struct world w;
	u64 ip;

	world_init(&w, &arch_x86_64);
	AT(0, 0x5b, 0xe8, 0, 0, 0, 0, 0xc3); /* a call on the way */
	CHECK(!prologue_return(&w.edge, &ip));
	world_init(&w, &arch_x86_64);
	AT(0, 0x5b, 0x74, 2, 0xc3); /* a jump */
	CHECK(!prologue_return(&w.edge, &ip));
	world_init(&w, &arch_x86_64);
	AT(0, 0x5b, 0x48, 0x83); /* the bytes end */
	CHECK(!prologue_return(&w.edge, &ip));
	world_init(&w, &arch_x86_64);
	AT(0, 0x48, 0x81, 0xc4, 0, 1, 0, 0, 0xc3); /* the dump ends */
	CHECK(!prologue_return(&w.edge, &ip));
	world_init(&w, &arch_x86_64);
	w.edge.code = (struct stack_bytes){0};
	CHECK(!prologue_return(&w.edge, &ip) && !prologue_entry(&w.edge, &ip));
}

TEST(prologue_knows_how_much_of_a_frame_is_made)
{
	static const u8 code[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x90, 0x90};
	struct world w;
	u64 ip;

	world_init(&w, &arch_x86_64);
	at(&w, code, sizeof(code), 0);
	CHECK_EQ(prologue_frame(w.edge.arch, &w.edge.code), ARCH_FRAME_LEAF);
	CHECK(prologue_entry(&w.edge, &ip) && ip == 100 && w.regs[7] == STACK + 8);
	CHECK_EQ(w.regs[6], STACK + 64);

	world_init(&w, &arch_x86_64);
	at(&w, code, sizeof(code), 5);
	CHECK(prologue_entry(&w.edge, &ip) && ip == 101 && w.regs[7] == STACK + 16);
	CHECK_EQ(w.regs[6], 100);

	world_init(&w, &arch_x86_64);
	at(&w, code, sizeof(code), 8);
	CHECK(!prologue_entry(&w.edge, &ip));
	CHECK_EQ(prologue_frame(w.edge.arch, &w.edge.code), ARCH_FRAME_MADE);
	AT(2, 0x31, 0xc0, 0x90);
	CHECK_EQ(prologue_frame(w.edge.arch, &w.edge.code), ARCH_FRAME_UNKNOWN);
	/* cmp; jne far away; push %rbp; mov %rsp,%rbp: the frame is made by all that come here */
	AT(14, 0x85, 0xc0, 0x0f, 0x85, 0, 1, 0, 0, 0x90, 0x55, 0x48, 0x89, 0xe5, 0x90, 0x90);
	CHECK_EQ(prologue_frame(w.edge.arch, &w.edge.code), ARCH_FRAME_MADE);
	/* je over it */
	AT(9, 0x85, 0xc0, 0x74, 4, 0x55, 0x48, 0x89, 0xe5, 0x90, 0x90);
	CHECK_EQ(prologue_frame(w.edge.arch, &w.edge.code), ARCH_FRAME_SOMETIMES);
	/* mov %rbp,%rsp; pop %rbp, and more */
	AT(10, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x8b, 0xe5, 0x5d, 0x90, 0x90, 0x90);
	CHECK_EQ(prologue_frame(w.edge.arch, &w.edge.code), ARCH_FRAME_SOMETIMES);
	AT(10, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x8b, 0xe5, 0x5d, 0xc3, 0x90, 0x90);
	CHECK_EQ(prologue_frame(w.edge.arch, &w.edge.code), ARCH_FRAME_MADE);
	w.edge.code.into = STACK_START_UNKNOWN;
	CHECK_EQ(prologue_frame(w.edge.arch, &w.edge.code), ARCH_FRAME_UNKNOWN);
}

TEST(prologue_plays_the_end_of_a_function_of_arm64)
{
	struct world w;
	u64 ip;

	world_init(&w, &arch_arm64);
	/* mov x0,x19; ldr x19,[sp,#16]; ldp x29,x30,[sp],#32; autiasp; ret */
	AT_WORDS(0, 0xaa1303e0, 0xf9400bf3, 0xa8c27bfd, 0xd50323bf, 0xd65f03c0);
	CHECK(prologue_return(&w.edge, &ip));
	CHECK(ip == 101 && w.regs[29] == 100 && w.regs[19] == 102 && w.regs[31] == STACK + 32);

	world_init(&w, &arch_arm64);
	/* ldp x19,x20,[sp,#16]; ldp d8,d9,[sp,#32]; add sp,sp,#64; ret */
	AT_WORDS(0, 0xa94153f3, 0x6d4227e8, 0x910103ff, 0xd65f03c0);
	CHECK(prologue_return(&w.edge, &ip));
	CHECK(ip == 1030 && w.regs[19] == 102 && w.regs[20] == 103 && w.regs[8] == 1008);
	CHECK_EQ(w.regs[31], STACK + 64);
	/* a call on the way */
	AT_WORDS(0, 0x94000010, 0xd65f03c0);
	CHECK(!prologue_return(&w.edge, &ip));
}

TEST(prologue_knows_how_much_of_a_frame_of_arm64_is_made)
{
	/* paciasp; stp x29,x30,[sp,#-48]!; mov x29,sp; nop; bl */
	static const u32 frame[] = {0xd503233f, 0xa9bd7bfd, 0x910003fd, 0xd503201f, 0x94000010};
	/* cmp x0,x1; ldr x2,[x0]; add x3,x2,#1; str x3,[x0]; ret */
	static const u32 leaf[] = {0xeb01001f, 0xf9400002, 0x91000443, 0xf9000003, 0xd65f03c0};
	/* sub sp,sp,#16; str x0,[sp] */
	static const u32 moved[] = {0xd10043ff, 0xf90003e0, 0xd503201f};
	struct world w;
	u64 ip;

	world_init(&w, &arch_arm64);
	at(&w, frame, sizeof(frame), 0);
	CHECK(prologue_entry(&w.edge, &ip) && ip == 1030 && w.regs[31] == STACK);
	at(&w, frame, sizeof(frame), 8);
	CHECK(prologue_entry(&w.edge, &ip) && ip == 101 && w.regs[29] == 100);
	CHECK_EQ(w.regs[31], STACK + 48);
	at(&w, frame, sizeof(frame), 16);
	CHECK_EQ(prologue_frame(w.edge.arch, &w.edge.code), ARCH_FRAME_MADE);
	at(&w, leaf, sizeof(leaf), 12);
	CHECK_EQ(prologue_frame(w.edge.arch, &w.edge.code), ARCH_FRAME_LEAF);
	at(&w, moved, sizeof(moved), 8);
	CHECK_EQ(prologue_frame(w.edge.arch, &w.edge.code), ARCH_FRAME_UNKNOWN);
}

static bool is_returned_to(const struct arch *arch, const void *code, u32 n, u32 into)
{
	return prologue_is_returned_to(arch,
		&(struct stack_bytes){(const u8 *)code + into, into, n - into, 0});
}

/* Of the call before byte n of the code, which is at 0x1000. */
static enum prologue_call call_to(const struct arch *arch, const void *code, u32 n, u64 function)
{
	return prologue_call(arch, &(struct stack_bytes){(const u8 *)code + n, n, 0, 0}, 0x1000,
		function);
}

TEST(prologue_knows_the_instructions_that_enter_the_kernel)
{
	static const u8 syscall[] = {0x90, 0x0f, 0x05}, other[] = {0x90, 0x90, 0x05};
	static const u32 svc[] = {0xd4000001, 0xd503201f};

	CHECK(prologue_is_behind_system_call(&arch_x86_64,
		&(struct stack_bytes){syscall + 3, 3, 0, 0}));
	CHECK(!prologue_is_behind_system_call(&arch_x86_64,
		&(struct stack_bytes){other + 3, 3, 0, 0}));
	CHECK(!prologue_is_behind_system_call(&arch_x86_64,
		&(struct stack_bytes){syscall + 3, 1, 0, 0}));
	CHECK(prologue_is_behind_system_call(&arch_arm64,
		&(struct stack_bytes){(const u8 *)(svc + 1), 4, 4, 0}));
	CHECK(!prologue_is_behind_system_call(&arch_arm64, &(struct stack_bytes){0}));
}

TEST(prologue_returns_only_behind_calls_and_to_trampolines)
{
	static const u8 calls[][8] = {{0x90, 0x90, 0xe8, 1, 2, 3, 4},
		{0x90, 0xff, 0x15, 1, 2, 3, 4}, {0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0},
		{0x90, 0x90, 0x90, 0x90, 0xff, 0x50, 8}, {0x90, 0x90, 0x90, 0xff, 0x54, 0x24, 8},
		{0xff, 0x94, 0x24, 1, 2, 3, 4}, {0xff, 0x14, 0xc5, 1, 2, 3, 4},
		{0x90, 0x90, 0x90, 0x90, 0xff, 0x14, 0xc2}};
	static const u8 others[][8] = {{0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90},
		{0x90, 0x90, 0xe9, 1, 2, 3, 4}, {0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xe0}};
	static const u8 restorer[] = {0x90, 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
	static const u32 arms[] = {0, 0x94000010, 0xd503201f, 0xd63f0020, 0xd2801168, 0xd4000001};
	const u32 *arm = arms + 1;

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		CHECK(is_returned_to(&arch_x86_64, calls[i], 7, 7));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		CHECK(!is_returned_to(&arch_x86_64, others[i], 7, 7));
	CHECK(is_returned_to(&arch_x86_64, restorer, sizeof(restorer), 1));
	CHECK(is_returned_to(&arch_arm64, arm, sizeof(arms) - 4, 4));
	CHECK(!is_returned_to(&arch_arm64, arm, sizeof(arms) - 4, 8));
	CHECK(is_returned_to(&arch_arm64, arm, sizeof(arms) - 4, 12));
	CHECK(prologue_is_returned_to(&arch_x86_64, &(struct stack_bytes){0}));
	/* which function is called: the displacement counts from behind the call */
	CHECK_EQ(call_to(&arch_x86_64, calls[0], 7, 0x1000 + 0x04030201), PROLOGUE_CALL_HERE);
	CHECK_EQ(call_to(&arch_x86_64, calls[0], 7, 0x1000), PROLOGUE_CALL_ELSEWHERE);
	CHECK_EQ(call_to(&arch_x86_64, calls[2], 7, 0x1000), PROLOGUE_CALL_UNKNOWN);
	CHECK_EQ(call_to(&arch_arm64, arm - 1, 8, 0x1000 - 4 + 0x40), PROLOGUE_CALL_HERE);
	CHECK_EQ(call_to(&arch_arm64, arm + 1, 8, 0x1000), PROLOGUE_CALL_UNKNOWN);
}
