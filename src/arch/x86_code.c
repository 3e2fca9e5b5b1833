#include "arch/x86.h"

#include <string.h>

#include "arch/x86_decode.h"

/* ---- frames ---- */

static const u8 endbr[] = {0xf3, 0x0f, 0x1e};

/* Converts a register number of an instruction to DWARF's. */
static u8 dwarf_of(const struct arch *a, unsigned n)
{
	static const u8 of_64[] = {0, 2, 1, 3, 7, 6, 4, 5};

	return a->word == 8 && n < 8 ? of_64[n] : (u8)n;
}

/* Instructions that set the stack pointer, or load a register from near it. */
static struct arch_op of_memory(const struct arch *a, const u8 *p, u32 n, unsigned rex)
{
	unsigned reg = (p[1] >> 3 & 7) | (rex & 4) << 1, mode = p[1] >> 6, base = p[1] & 7;
	u32 at = 2 + (base == 4), width = mode == 1 ? 1 : 4;
	struct arch_op op = {.reg = dwarf_of(a, reg),
		.reg2 = ARCH_NO_REG,
		.from = dwarf_of(a, base)};
	s32 disp;

	/* The base must be the stack pointer or the frame pointer, with or without a displacement. */
	if ((base != 4 && base != 5) || mode == 3 || (mode == 0 && base != 4) || rex & 3 ||
		(base == 4 && (n < 3 || p[2] != 0x24)))
		return (struct arch_op){ARCH_OP_NONE};
	if (mode == 0)
		width = 0;
	if (n < at + width)
		return (struct arch_op){ARCH_OP_NONE};
	disp = width == 1 ? (signed char)p[at] : width ? (s32)load_u32(p + at) : 0;
	op.size = (u8)(at + width);
	op.value = disp;
	if (p[0] == 0x8b) /* mov */
		op.kind = op.reg == a->sp ? ARCH_OP_NONE : ARCH_OP_LOAD;
	else /* lea */
		op.kind = op.reg == a->sp ? ARCH_OP_SET : ARCH_OP_LOST;
	return op;
}

/* add and sub $n,%rsp; moves between registers; xor of a register with itself. */
static struct arch_op of_registers(const struct arch *a, const u8 *p, u32 n, unsigned rex,
	bool is_wide)
{
	struct arch_op op = {.size = 2, .reg2 = ARCH_NO_REG};

	if (n >= 3 && p[0] == 0x83 && p[1] == 0xc4 && is_wide)
		return (struct arch_op){ARCH_OP_SET, 3, a->sp, ARCH_NO_REG, a->sp,
			(signed char)p[2], 0};
	/* _fini makes and undoes its frame this way. */
	if (n >= 3 && p[0] == 0x83 && p[1] == 0xec && is_wide)
		return (struct arch_op){ARCH_OP_SET, 3, a->sp, ARCH_NO_REG, a->sp,
			-(signed char)p[2], 0};
	if (n >= 6 && p[0] == 0x81 && p[1] == 0xc4 && is_wide)
		return (struct arch_op){ARCH_OP_SET, 6, a->sp, ARCH_NO_REG, a->sp,
			(s32)load_u32(p + 2), 0};
	if (p[1] >> 6 != 3 || (p[0] != 0x89 && p[0] != 0x31))
		return (struct arch_op){ARCH_OP_NONE};
	op.reg = dwarf_of(a, (p[1] & 7) | (rex & 1) << 3);
	op.from = dwarf_of(a, (p[1] >> 3 & 7) | (rex & 4) << 1);
	op.kind = p[0] == 0x89 && is_wide ? ARCH_OP_SET : ARCH_OP_LOST;
	/* A computed stack pointer is not supported. */
	if (op.reg == a->sp && op.kind == ARCH_OP_LOST)
		op.kind = ARCH_OP_NONE;
	return op;
}

static struct arch_op plain(const struct arch *a, const u8 *p, u32 n, unsigned rex)
{
	bool is_wide = a->word == 4 || rex & 8;
	struct arch_op op = {.size = 1, .reg2 = ARCH_NO_REG};

	if (p[0] >= 0x58 && p[0] <= 0x5f) {
		op.kind = ARCH_OP_LOAD;
		op.reg = dwarf_of(a, (unsigned)(p[0] - 0x58) | (rex & 1) << 3);
		op.from = a->sp;
		op.after = a->word;
		if (op.reg == a->sp)
			return (struct arch_op){ARCH_OP_NONE};
		return op;
	}
	if (p[0] == 0xc9)
		return (struct arch_op){ARCH_OP_LEAVE, 1, ARCH_NO_REG, ARCH_NO_REG, 0, 0, 0};
	if (p[0] == 0xc3)
		return (struct arch_op){ARCH_OP_RETURN, 1, ARCH_NO_REG, ARCH_NO_REG, 0, 0, 0};
	if (n < 2)
		return op;
	if ((p[0] == 0x8d || p[0] == 0x8b) && is_wide)
		return of_memory(a, p, n, rex);
	return of_registers(a, p, n, rex, is_wide);
}

static u32 endbr_size(const u8 *p, u32 n)
{
	return n >= 4 && !memcmp(p, endbr, sizeof(endbr)) && (p[3] == 0xfa || p[3] == 0xfb) ? 4 : 0;
}

/*
 * The size of a jump to an address that is in memory, but not in a table: a PLT entry (in static programs
 * without call frame information), or a tail call.
 */
static u32 jump_elsewhere(const u8 *p, u32 n)
{
	u32 prefix = endbr_size(p, n);

	if (n > prefix && p[prefix] == 0xf2) /* bnd */
		prefix++;
	return n >= prefix + 6 && p[prefix] == 0xff && p[prefix + 1] == 0x25 ? prefix + 6 : 0;
}

static struct arch_op op_at(const struct arch *a, const u8 *p, u32 n)
{
	unsigned rex = 0;
	u32 prefix = 0, jump = jump_elsewhere(p, n);
	struct arch_op op;

	if (jump)
		return (struct arch_op){ARCH_OP_RETURN, (u8)jump, ARCH_NO_REG, ARCH_NO_REG, 0, 0,
			0};
	if (n >= 2 && (p[0] == 0xf3 || p[0] == 0xf2) && p[1] == 0xc3)
		return (struct arch_op){ARCH_OP_RETURN, 2, ARCH_NO_REG, ARCH_NO_REG, 0, 0, 0};
	if (n >= 3 && p[0] == 0xc2)
		return (struct arch_op){ARCH_OP_RETURN, 3, ARCH_NO_REG, ARCH_NO_REG, 0,
			load_u16(p + 1), 0};
	if (n >= 3 && p[0] == 0xc5 && p[1] == 0xf8 && p[2] == 0x77) /* vzeroupper */
		return (struct arch_op){ARCH_OP_SKIP, 3, ARCH_NO_REG, ARCH_NO_REG, 0, 0, 0};
	if (a->word == 8 && n && p[0] >> 4 == 4) {
		rex = p[0] & 15;
		prefix = 1;
	}
	if (n <= prefix)
		return (struct arch_op){ARCH_OP_NONE};
	op = plain(a, p + prefix, n - prefix, rex);
	op.size = (u8)(op.size + prefix);
	return op;
}

/* The size of `mov %rsp,%rbp` at p, or 0. */
static u32 move_to_fp(const struct arch *a, const u8 *p, u32 n)
{
	u32 prefix = a->word == 8;

	if (n < 2 + prefix || (prefix && p[0] != 0x48))
		return 0;
	p += prefix;
	return (p[0] == 0x89 && p[1] == 0xe5) || (p[0] == 0x8b && p[1] == 0xec) ? 2 + prefix : 0;
}

/*
 * The first instructions of _init, which glibc puts into every program and library without call frame
 * information: sub $8,%rsp; mov __gmon_start__(%rip),%rax; test %rax,%rax; je; call *%rax.
 */
static bool is_init(const u8 *p, u32 n)
{
	static const u8 head[] = {0x48, 0x83, 0xec, 0x08, 0x48, 0x8b, 0x05},
			tail[] = {0x48, 0x85, 0xc0, 0x74, 0x02, 0xff, 0xd0};
	u32 between = 4;

	return n >= sizeof(head) + between + sizeof(tail) && !memcmp(p, head, sizeof(head)) &&
		!memcmp(p + sizeof(head) + between, tail, sizeof(tail));
}

/* Before or after push %rbp, with mov %rsp,%rbp still to be executed; endbr may be first. */
static struct arch_op entry(const struct arch *a, const u8 *p, u32 n_before, u32 n)
{
	u32 skip = endbr_size(p, n);

	if ((n > skip && p[skip] == 0x55 && move_to_fp(a, p + skip + 1, n - skip - 1)) ||
		is_init(p + skip, n - skip))
		return (struct arch_op){ARCH_OP_SKIP};
	if (n_before && p[-1] == 0x55 && move_to_fp(a, p, n))
		return (struct arch_op){ARCH_OP_LOAD, 0, a->fp, ARCH_NO_REG, a->sp, 0, a->word};
	return (struct arch_op){ARCH_OP_NONE};
}

/* Whether a jump before `end` leads past it, but not beyond `limit`. It may report a jump that is none. */
static bool jumps_over(const u8 *p, u32 end, u64 limit)
{
	for (u32 i = 0; i + 1 < end; i++) {
		s64 to = -1;

		if (p[i] >> 4 == 7 || p[i] == 0xeb)
			to = (s64)i + 2 + (signed char)p[i + 1];
		else if (p[i] == 0x0f && p[i + 1] >> 4 == 8 && i + 6 <= end)
			to = (s64)i + 6 + (s32)load_u32(p + i + 2);
		else if (p[i] == 0xe9 && i + 5 <= end)
			to = (s64)i + 5 + (s32)load_u32(p + i + 1);
		if (to > (s64)end && to <= (s64)limit)
			return true;
	}
	return false;
}

/* Whether the code undoes its frame (mov %rbp,%rsp; pop %rbp) and then continues. */
static bool goes_on_without_frame(const u8 *p, u32 n)
{
	for (u32 i = 0; i + 4 < n; i++) {
		bool is_undone = p[i] == 0x48 && p[i + 3] == 0x5d &&
			((p[i + 1] == 0x8b && p[i + 2] == 0xe5) ||
				(p[i + 1] == 0x89 && p[i + 2] == 0xec));
		u8 next = p[i + 4];

		if (is_undone && next != 0xc3 && next != 0xc2 && next != 0xe9 && next != 0xeb &&
			next != 0xff && next != 0x41)
			return true;
	}
	return false;
}

/* Whether the function begins with a jump to the code that makes its frame (regular expressions of V8). */
static bool enters_by_jump(const struct arch *a, const u8 *start, u64 n)
{
	u64 to = 0;

	if (n >= 2 && start[0] == 0xeb)
		to = 2 + (u64)(s64)(signed char)start[1];
	else if (n >= 5 && start[0] == 0xe9)
		to = 5 + (u64)(s64)(s32)load_u32(start + 1);
	return to && to < n && start[to] == 0x55 &&
		move_to_fp(a, start + to + 1, (u32)MIN(n - to - 1, (u64)8));
}

/*
 * The frame may be made some instructions after the start (generated code first checks whether it is
 * still valid), but then no jump may bypass it.
 */
static enum arch_frame frame(const struct arch *a, const u8 *start, u32 n, u32 n_after)
{
	enum { LATEST = 64 };
	u32 at = endbr_size(start, n);

	/* Nothing can have been done before the very first instruction. */
	if (n == 0 || n == at)
		return ARCH_FRAME_LEAF;
	if (enters_by_jump(a, start, (u64)n + n_after))
		return ARCH_FRAME_MADE;
	for (; at < n; at++) {
		u32 move = start[at] == 0x55 ? move_to_fp(a, start + at + 1, n - at - 1) : 0;

		if (!move)
			continue;
		return at > LATEST || jumps_over(start, at, n) ||
				goes_on_without_frame(start + at, n - at)
			? ARCH_FRAME_SOMETIMES
			: ARCH_FRAME_MADE;
	}
	return ARCH_FRAME_UNKNOWN;
}

/* call *...: opcode ff /2, in all its lengths. */
static bool is_call_before(const u8 *p, u32 n)
{
	static const struct {
		u8 size, mode;
		bool has_sib;
	} forms[] = {{2, 3, false}, {2, 0, false}, {3, 1, false}, {6, 2, false}, {3, 0, true},
		{4, 1, true}, {7, 2, true}};

	if (n >= 5 && p[-5] == 0xe8)
		return true;
	if (n >= 6 && p[-6] == 0xff && p[-5] == 0x15) /* relative to the instruction, or absolute */
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const u8 *call = p - forms[i].size;

		if (n >= forms[i].size && call[0] == 0xff && (call[1] >> 3 & 7) == 2 &&
			call[1] >> 6 == forms[i].mode &&
			(forms[i].mode == 3 || ((call[1] & 7) == 4) == forms[i].has_sib))
			return true;
	}
	return n >= 7 && p[-7] == 0xff && p[-6] == 0x14 && (p[-5] & 7) == 5;
}

/* ---- one instruction ---- */

static unsigned size(const struct arch *a, const u8 *p, u32 n)
{
	struct x86_op op;

	return x86_decode(p, n, a->word == 8, &op);
}

static bool is_branch(const struct arch *a, const u8 *p, u32 n)
{
	struct x86_op op;

	if (!x86_decode(p, n, a->word == 8, &op))
		return false;
	if (op.map == X86_0F)
		return (op.opcode & 0xf0) == 0x80 || op.opcode == 0x05 || op.opcode == 0x07 ||
			op.opcode == 0x34 || op.opcode == 0x35;
	return op.map == X86_ONE &&
		((op.opcode & 0xf0) == 0x70 || op.opcode == 0xc2 || op.opcode == 0xc3 ||
			op.opcode == 0xca || op.opcode == 0xcb ||
			(op.opcode >= 0xcc && op.opcode <= 0xcf) ||
			(op.opcode >= 0xe0 && op.opcode <= 0xe3) ||
			(op.opcode >= 0xe8 && op.opcode <= 0xeb && op.opcode != 0xea) ||
			(op.opcode == 0xff && (op.reg & 7) >= 2 && (op.reg & 7) <= 5));
}

/* ---- calls ---- */

static bool callee(const u8 *p, u64 ip, u64 *ret_to)
{
	*ret_to = ip + (u64)(s64)(s32)load_u32(p - 4);
	return p[-5] == 0xe8;
}

/* syscall, sysenter, int $0x80 */
static bool is_behind_system_call(const u8 *p, u32 n_before)
{
	return n_before >= 2 &&
		((p[-2] == 0x0f && (p[-1] == 0x05 || p[-1] == 0x34)) ||
			(p[-2] == 0xcd && p[-1] == 0x80));
}

/* ---- ends of threads ---- */

enum { STEPS_MAX = 6, AX = 0 };

/* exit and exit_group */
static bool is_number_of_exit(const struct arch *a, u32 number)
{
	return a->word == 8 ? number == 60 || number == 231 : number == 1 || number == 252;
}

/* Follows an instruction that compilers use to put a small number into eax. Returns false for any other. */
static bool follow(const struct x86_op *op, u64 *number, bool *is_known)
{
	u8 code = op->opcode;
	bool is_move = code == 0x89 || code == 0x8b;

	if (op->map != X86_ONE)
		return false;
	if ((code == 0x31 || code == 0x33) && op->mode == 3 && op->reg == op->rm) {
		if (op->rm == AX)
			*number = 0;
		*is_known |= op->rm == AX;
		return true;
	}
	if (is_move && op->mode == 3) {
		*is_known &= (code == 0x89 ? op->rm : op->reg) != AX;
		return true;
	}
	if (code == 0xb0 && op->reg == AX) { /* al */
		*number = (*number & ~0xffull) | (u8)op->imm;
		return *is_known;
	}
	if (code >> 3 == 0xb8 >> 3) {
		if (op->reg == AX)
			*number = (u32)op->imm;
		*is_known |= op->reg == AX;
		return true;
	}
	if (code == 0xff && op->mode == 3 && (op->reg & 7) == 0) { /* inc */
		*number += op->rm == AX;
		return true;
	}
	*number += code == 0x40; /* inc, in 32-bit code */
	return code == 0x40;
}

static bool is_exit(const struct arch *a, const u8 *p, u32 left)
{
	bool is_known = false;
	u64 number = 0;
	struct x86_op op;

	for (unsigned i = 0; i < STEPS_MAX; i++) {
		unsigned size = x86_decode(p, left, a->word == 8, &op);

		if (!size)
			return false;
		if ((op.map == X86_0F && op.opcode == 0x05) ||
			(op.map == X86_ONE && op.opcode == 0xcd && (u8)op.imm == 0x80))
			return is_known && is_number_of_exit(a, (u32)number);
		if (!follow(&op, &number, &is_known))
			return false;
		p += size;
		left -= size;
	}
	return false;
}

/* nop; call */
static bool is_goexit(const struct arch *a, const u8 *p, u32 n_before, u32 n)
{
	return a->word == 8 && n_before && n && p[-1] == 0x90 && p[0] == 0xe8;
}

const struct arch_code x86_code = {
	.size = size,
	.is_branch = is_branch,
	.op = op_at,
	.entry = entry,
	.frame = frame,
	.is_call_before = is_call_before,
	.callee = callee,
	.is_behind_system_call = is_behind_system_call,
	.is_exit = is_exit,
	.is_goexit = is_goexit,
};
