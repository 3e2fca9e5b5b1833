#include "arch/arch.h"

#include <elf.h>

static const struct arch_reg regs[] = {{"x0", 0}, {"x1", 1}, {"x2", 2}, {"x3", 3}, {"x4", 4},
	{"x5", 5}, {"x6", 6}, {"x7", 7}, {"x8", 8}, {"x9", 9}, {"x10", 10}, {"x11", 11},
	{"x12", 12}, {"x13", 13}, {"x14", 14}, {"x15", 15}, {"x16", 16}, {"x17", 17}, {"x18", 18},
	{"x19", 19}, {"x20", 20}, {"x21", 21}, {"x22", 22}, {"x23", 23}, {"x24", 24}, {"x25", 25},
	{"x26", 26}, {"x27", 27}, {"x28", 28}, {"x29", 29}, {"LR", 30}, {"SP", 31}, {"PC", 32}};

/* ---- frames ---- */

enum { FP = 29, LINK = 30, SP = 31, ZERO = 31, MOVE_SP_TO_FP = 0x910003fd };

/* nop, bti, paciasp, autiasp and the like: hints, which older processors ignore. */
static bool is_hint(u32 v)
{
	return (v & 0xfffff01f) == 0xd503201f;
}

static bool is_return(u32 v)
{
	return v == 0xd65f03c0 || v == 0xd65f0bff || v == 0xd65f0fff;
}

static s64 sign_extended(u32 v, unsigned low, unsigned bits)
{
	return (s64)((u64)(v >> low) << (64 - bits)) >> (64 - bits);
}

/* Loads from the stack: of one register or a pair, of integers or halves of vectors. */
static struct arch_op load_of(u32 v)
{
	struct arch_op op = {ARCH_OP_LOAD, 4, v & 31, ARCH_NO_REG, SP, 0, 0};
	bool is_vector = v >> 26 & 1;

	if ((v & 0xfbc00000) == (is_vector ? 0x68c00000u : 0xa8c00000u) ||
		(is_vector && (v & 0xffc00000) == 0x6cc00000))
		op.after = sign_extended(v, 15, 7) * 8;
	else if ((v & 0xffc00000) == 0xa9400000 || (v & 0xffc00000) == 0x6d400000)
		op.value = sign_extended(v, 15, 7) * 8;
	else if ((v & 0xffe00c00) == 0xf8400400 || (v & 0xffe00c00) == 0xfc400400)
		op.after = sign_extended(v, 12, 9);
	else if ((v & 0xffc00000) == 0xf9400000 || (v & 0xffc00000) == 0xfd400000)
		op.value = (v >> 10 & 0xfff) * 8;
	else
		return (struct arch_op){ARCH_OP_NONE};
	if ((v >> 5 & 31) != SP)
		return (struct arch_op){ARCH_OP_NONE};
	if ((v >> 27 & 7) == 5) /* pairs */
		op.reg2 = v >> 10 & 31;
	/* Register 31 is the zero register here. */
	if (is_vector || op.reg == ZERO)
		op.reg = ARCH_NO_REG;
	if (is_vector || op.reg2 == ZERO)
		op.reg2 = ARCH_NO_REG;
	return op;
}

static struct arch_op op_of(u32 v)
{
	s64 value = (v >> 10 & 0xfff) << (v >> 22 & 1 ? 12 : 0);
	u8 to = v & 31, from = v >> 5 & 31;

	if (is_return(v))
		return (struct arch_op){ARCH_OP_RETURN, 4, ARCH_NO_REG, ARCH_NO_REG, 0, 0, 0};
	if (is_hint(v))
		return (struct arch_op){ARCH_OP_SKIP, 4, ARCH_NO_REG, ARCH_NO_REG, 0, 0, 0};
	/* add and sub of a constant, to the stack pointer */
	if ((v & 0xff800000) == 0x91000000 && to == SP)
		return (struct arch_op){ARCH_OP_SET, 4, to, ARCH_NO_REG, from, value, 0};
	if ((v & 0xff800000) == 0xd1000000 && to == SP)
		return (struct arch_op){ARCH_OP_SET, 4, to, ARCH_NO_REG, from, -value, 0};
	if ((v & 0xffe0ffe0) == 0xaa0003e0 && to < FP) /* mov */
		return (struct arch_op){ARCH_OP_LOST, 4, to, ARCH_NO_REG, 0, 0, 0};
	return load_of(v);
}

static bool saves_frame(u32 v)
{
	return (v & 0xffc07fff) == 0xa9807bfd; /* stp x29,x30,[sp,#-n]! */
}

/* Before or after the instruction that saves both registers, with mov x29,sp still to be executed. */
static struct arch_op entry(const struct arch *a, const u8 *p, u32 n_before, u32 n)
{
	u32 before = n_before >= 4 ? load_u32(p - 4) : 0;

	(void)a;
	if (n >= 4 && load_u32(p) == MOVE_SP_TO_FP && saves_frame(before))
		return (struct arch_op){ARCH_OP_LOAD, 0, FP, LINK, SP, 0,
			-sign_extended(before, 15, 7) * 8};
	while (n >= 4 && is_hint(load_u32(p))) {
		p += 4;
		n -= 4;
	}
	return (struct arch_op){n >= 4 && saves_frame(load_u32(p)) ? ARCH_OP_SKIP : ARCH_OP_NONE};
}

/* Whether an instruction may change the place of the return address, or the stack pointer. */
static bool touches_link(u32 v)
{
	bool is_call = v >> 26 == 0x25 || (v & 0xfffff000) == 0xd63f0000;
	bool is_pair = (v & 0x3a000000) == 0x28000000;
	/*
	 * add and sub without flags, where register 31 is the stack pointer; pre- and post-indexed accesses
	 */
	bool sets_sp = ((v & 0x3f000000) == 0x11000000 || (v & 0x3fe00000) == 0x0b200000) &&
		(v & 31) == SP;
	bool moves_sp =
		(v >> 5 & 31) == SP && ((is_pair && v >> 23 & 1) || (v & 0x3a200400) == 0x38000400);

	return is_call || sets_sp || moves_sp || (v & 31) == LINK ||
		(is_pair && (v >> 10 & 31) == LINK);
}

static enum arch_frame frame(const struct arch *a, const u8 *start, u32 into, u32 n_after)
{
	bool has_saved = false, has_frame = false, has_touched = false;

	(void)a;
	(void)n_after;
	if (into % 4)
		return ARCH_FRAME_UNKNOWN;
	for (u32 at = 0; at < into; at += 4) {
		u32 v = load_u32(start + at);

		has_saved |= saves_frame(v);
		has_frame |= has_saved && v == MOVE_SP_TO_FP;
		has_touched |= !is_hint(v) && touches_link(v);
	}
	return has_frame ? ARCH_FRAME_MADE : has_touched ? ARCH_FRAME_UNKNOWN : ARCH_FRAME_LEAF;
}

static bool is_call_before(const u8 *p, u32 n)
{
	u32 v;

	if (n < 4)
		return false;
	v = load_u32(p - 4);
	return v >> 26 == 0x25 || (v & 0xfffffc1f) == 0xd63f0000 || (v & 0xfefff800) == 0xd63f0800;
}

static bool callee(const u8 *p, u64 ip, u64 *ret_to)
{
	u32 v = load_u32(p - 4);

	*ret_to = ip - 4 + (u64)sign_extended(v, 0, 26) * 4;
	return v >> 26 == 0x25;
}

/* ---- system calls ---- */

enum { SVC = 0xd4000001 };

static bool is_behind_system_call(const u8 *p, u32 n_before)
{
	return n_before >= 4 && load_u32(p - 4) == SVC;
}

/* exit or exit_group: movz x8, #number, and then svc; moves of other registers between. */
static bool is_exit(const struct arch *a, const u8 *p, u32 n)
{
	enum { STEPS_MAX = 6 };
	u32 number = UINT32_MAX;

	(void)a;
	for (u32 i = 0; i < STEPS_MAX && 4 * i + 4 <= n; i++) {
		u32 op = load_u32(p + 4 * i);

		if (op == SVC)
			return number == 93 || number == 94;
		if ((op & 0x7fe0001f) == 0x52800008)
			number = op >> 5 & 0xffff;
		else if ((op & 0x7fe0ffe0) != 0x2a0003e0) /* mov */
			return false;
	}
	return false;
}

static struct arch_op op_at(const struct arch *a, const u8 *p, u32 n)
{
	(void)a;
	return n >= 4 ? op_of(load_u32(p)) : (struct arch_op){ARCH_OP_NONE};
}

static unsigned size(const struct arch *a, const u8 *p, u32 n)
{
	(void)a;
	(void)p;
	return n >= 4 ? 4 : 0;
}

static const struct arch_code arm64_code = {
	.size = size,
	.op = op_at,
	.entry = entry,
	.frame = frame,
	.is_call_before = is_call_before,
	.callee = callee,
	.is_behind_system_call = is_behind_system_call,
	.is_exit = is_exit,
};

/* ---- where a program begins ---- */

enum { NOP = 0xd503201f, BTI_C = 0xd503245f };

/* The effect of _start up to an instruction. */
struct state {
	u64 at;          /* the next instruction */
	u64 first;       /* what the first argument is by now; 0: nothing known */
	bool is_outmost; /* the frame pointer was cleared: there is no caller */
};

/* Follows adrp, add, ldr, movz and movk to x0. */
static void take_argument(const struct arch_image *image, u32 op, struct state *s)
{
	if ((op & 0x9f00001f) == 0x90000000)
		s->first = (s->at & ~(u64)0xfff) +
			((u64)(sign_extended(op, 5, 19) * 4 + (op >> 29 & 3)) << 12);
	else if ((op & 0xffc003ff) == 0x91000000)
		s->first += op >> 10 & 0xfff;
	else if ((op & 0xffc003ff) == 0xf9400000)
		s->first = image->word_at(image->elf, s->first + (op >> 10 & 0xfff) * 8);
	else if ((op & 0xff80001f) == 0xd2800000)
		s->first = (u64)(op >> 5 & 0xffff) << (op >> 21 & 3) * 16;
	else if ((op & 0xff80001f) == 0xf2800000)
		s->first |= (u64)(op >> 5 & 0xffff) << (op >> 21 & 3) * 16;
}

static bool is_branch(u32 op, bool is_call)
{
	return (op & 0xfc000000) == (is_call ? 0x94000000u : 0x14000000u);
}

/* In statically linked programs _start is followed by a stub that jumps to main. */
static u64 way_to_main(const u8 *code, u32 n, u32 i, u64 at)
{
	for (; i + 4 <= n; i += 4, at += 4) {
		u32 op = load_u32(code + i);

		if (is_branch(op, false))
			return at + (u64)sign_extended(op, 0, 26) * 4;
		if (op != NOP && op != BTI_C)
			break;
	}
	return 0;
}

/* Walks up to two adjacent calls: the second one, of abort(), is never reached. */
static struct arch_start find_start(const struct arch *a, const struct arch_image *image)
{
	enum { CLEAR_FP = 0xd280001d };
	struct state s = {.at = image->entry};
	struct arch_start start = {0};

	(void)a;
	for (u32 i = 0; i + 8 <= image->n; i += 4, s.at += 4) {
		u32 op = load_u32(image->code + i);
		u64 way;

		s.is_outmost |= op == CLEAR_FP;
		take_argument(image, op, &s);
		if (!is_branch(op, true))
			continue;
		if (!s.is_outmost || !s.first || !is_branch(load_u32(image->code + i + 4), true))
			break;
		start.end = s.at + 8;
		start.main = s.first;
		way = s.first == start.end ? way_to_main(image->code, image->n, i + 8, start.end)
					   : 0;
		if (way)
			start.main = way;
		break;
	}
	return start;
}

/* ---- stubs of the PLT ---- */

enum { BR_X17 = 0xd61f0220 };

/* adrp x16, maybe after bti c */
static bool is_stub(const u8 *p)
{
	u32 op = load_u32(p);

	if (op == BTI_C)
		op = load_u32(p + 4);
	return (op & 0x9f00001f) == 0x90000010;
}

/*
 * To the end of its jump and the padding. It is 16, or up to 24 with bti c before it or a signature check,
 * whatever the section header says about entry sizes.
 */
static u64 stub_size(const u8 *p, u64 n)
{
	enum { USUAL = 16, LONGEST = 24 };
	u64 at = 8;

	if (n < USUAL || !is_stub(p))
		return 0;
	n = MIN(n, (u64)LONGEST);
	while (at + 4 <= n && load_u32(p + at) != BR_X17)
		at += 4;
	if (at + 4 > n)
		return USUAL;
	at += 4;
	while (at + 4 <= n && load_u32(p + at) == NOP)
		at += 4;
	return at;
}

/* adrp x16, page; ldr x17, [x16, #offset]; maybe after bti c */
static u64 stub_slot(const struct arch *a, const u8 *p, u64 n, u64 va, u64 got)
{
	(void)a;
	(void)got;
	for (u64 i = 0; i + 8 <= n && i < 8; i += 4) {
		u32 adrp = load_u32(p + i), ldr = load_u32(p + i + 4);
		s64 page;

		if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
			continue;
		page = (s64)(s32)(((adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3)) << 11) >> 11;
		return ((va + i) & ~0xfffULL) + (u64)(page * 4096) + (ldr >> 10 & 0xfff) * 8;
	}
	return 0;
}

static const struct arch_plt plt = {.size = stub_size, .step = 4, .slot = stub_slot};

/* ---- signals ---- */

/* Indexed by DWARF register number. */
static const u16 offsets[] = {8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128,
	136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248, 256, 264};

static const struct arch_trampoline trampolines[] = {
	/* mov x8, #139; svc #0: siginfo, then the ucontext, whose general registers come late */
	{{0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4}, 8, 0, 128 + 176, offsets,
		ARRAY_SIZE(offsets)},
};

/* ---- to show code ---- */

static const struct isa_flow_word words[] = {
	{"b", ISA_JUMP},
	{"br", ISA_JUMP},
	{"braa*", ISA_JUMP},
	{"brab*", ISA_JUMP},
	{"b.*", ISA_BRANCH},
	{"bc.*", ISA_BRANCH},
	{"cbz", ISA_BRANCH},
	{"cbnz", ISA_BRANCH},
	{"tbz", ISA_BRANCH},
	{"tbnz", ISA_BRANCH},
	{"bl", ISA_CALL},
	{"blr*", ISA_CALL},
	{"ret*", ISA_RETURN},
	{"eret*", ISA_RETURN},
	{NULL, ISA_ON},
};

static const struct isa isa = {"arm64", "aarch64-linux-gnu", "AArch64",
	"+v8.5a,+crypto,+fullfp16,+sve,+sve2,+rand,+mte", "aarch64",
	{"/usr/bin/aarch64-linux-gnu-objdump", "/usr/bin/objdump", "/usr/local/bin/objdump"}, 4,
	false, words};

const struct arch arch_arm64 = {
	.names = {"aarch64", "arm64"},
	.sibling = &arch_arm,
	.machine = EM_AARCH64,
	.word = 8,
	ARCH_REGS(regs),
	.letter = 'x',
	.caller_regs = 0x1ffffffff,
	.sp = 31,
	.ip = 32,
	.fp = 29,
	.link = 30,
	.va_mask = (1ull << 48) - 1,
	.code = &arm64_code,
	ARCH_TRAMPOLINES(trampolines),
	.isa = &isa,
	.go = ARCH_GO_DEPTHS,
	.start = find_start,
	.plt = &plt,
	.debug_relocs = {{R_AARCH64_ABS64, 8}, {R_AARCH64_ABS32, 4}},
	.irelative = R_AARCH64_IRELATIVE,
	.relative = R_AARCH64_RELATIVE,
	.kernel_text = "_stext",
	.kernel_ways = {"el0_*", "el0t_64_*", "el1_*", "el1h_64_*", "ret_to_user*",
		"arm64_preempt_schedule*"},
	.has_halves = true,
};
