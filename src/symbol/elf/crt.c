#include "symbol/elf/crt.h"

#include <elf.h>

#include "symbol/elf/elfword.h"
#include "arch/x86_decode.h"

/* Longer than _start is anywhere. */
enum { LONGEST = 96 };

static bool is_loaded_code(const struct elf *elf, u64 va)
{
	for (u32 i = 0; i < elf->n_segments; i++) {
		const struct elf_segment *s = &elf->segments[i];

		if (s->type == PT_LOAD && s->flags & PF_X && va >= s->va &&
			va - s->va < s->file_size)
			return true;
	}
	return false;
}

/* What is loaded from `va` on, up to LONGEST bytes, and how many. */
static const u8 *code_at(const struct elf *elf, u64 va, u32 *ret_n)
{
	for (u32 n = LONGEST; n >= 16; n -= 16) {
		const u8 *code = elf_bytes_at(elf, va, n);

		*ret_n = n;
		if (code)
			return code;
	}
	return NULL;
}

/* What _start has done before an instruction. */
struct state {
	u64 at;          /* the next instruction */
	u64 first;       /* what the first argument is by now; 0: nothing known */
	u64 eax, ebx;    /* i386: numbers made of constants; 0: unknown */
	u64 came_from;   /* i386: behind the last call */
	bool is_outmost; /* the frame pointer was cleared: there is no caller */
};

static bool is_zeroing_of_bp(const struct x86_op *op)
{
	return op->map == X86_ONE && (op->opcode == 0x31 || op->opcode == 0x33) && op->mode == 3 &&
		op->reg == 5 && op->rm == 5;
}

/* lea main(%rip), %rdi; mov $main, %rdi or %edi; mov main@GOT(%rip), %rdi. */
static void take_x86_64(const struct elf *elf, const struct x86_op *op, struct state *s)
{
	enum { RDI = 7 };
	bool is_rip = op->has_modrm && op->mode == 0 && op->rm == 5;
	u64 there = is_rip ? s->at + op->size + (u64)(s64)op->disp : 0;

	if (op->map != X86_ONE)
		return;
	if (op->opcode == 0x8d && op->reg == RDI && is_rip)
		s->first = there;
	else if (op->opcode == 0x8b && op->reg == RDI && is_rip)
		s->first = elfword_at(elf, there);
	else if (op->opcode == 0xc7 && op->mode == 3 && op->rm == RDI)
		s->first = (u64)op->imm;
	else if (op->opcode == 0xbf && op->reg == RDI)
		s->first = (u32)op->imm;
}

/*
 * push $main; mov $main, %eax, push %eax; push main@GOT(%ebx); lea main@GOTOFF(%ebx), %eax, push
 * %eax: it is pushed last. %ebx is where a call came from, and a number.
 */
static void take_i386(const struct elf *elf, const struct x86_op *op, struct state *s)
{
	enum { EAX = 0, EBX = 3 };
	bool is_from_ebx = op->has_modrm && op->mode == 2 && op->rm == EBX && s->ebx;

	if (op->map != X86_ONE)
		return;
	if (op->opcode == 0x81 && op->mode == 3 && op->reg == 0 && op->rm == EBX)
		s->ebx = (u32)(s->came_from + (u64)op->imm);
	else if (op->opcode == 0xb8 || (op->opcode == 0xc7 && op->mode == 3 && op->rm == EAX))
		s->eax = (u32)op->imm;
	else if (op->opcode == 0x8d && op->reg == EAX && is_from_ebx)
		s->eax = (u32)(s->ebx + (u64)(s64)op->disp);
	else if (op->opcode == 0x68)
		s->first = (u32)op->imm;
	else if (op->opcode == 0xff && op->reg == 6)
		s->first = is_from_ebx ? elfword_at(elf, (u32)(s->ebx + (u64)(s64)op->disp)) : 0;
	else if (op->opcode >> 3 == 0x50 >> 3)
		s->first = op->reg == EAX ? s->eax : 0;
}

/*
 * musl's _start hands its stack pointer to _start_c, in C, and that main to the C library. It calls that,
 * or jumps there.
 */
static u64 musl_main(const struct elf *elf, u64 start_c)
{
	struct state s = {.at = start_c};
	struct x86_op op;
	const u8 *code;
	u32 n;

	code = code_at(elf, start_c, &n);
	for (u32 i = 0; code && x86_decode(code + i, n - i, true, &op); i += op.size) {
		bool is_end = op.map == X86_ONE &&
			(op.opcode == 0xe8 || op.opcode == 0xe9 || op.opcode == 0xeb ||
				op.opcode == 0xc3 || (op.opcode == 0xff && (op.reg & 7) == 2) ||
				(op.opcode == 0xff && (op.reg & 7) == 4));

		s.at = start_c + i;
		if (is_end)
			return op.opcode == 0xc3 ? 0 : s.first;
		take_x86_64(elf, &op, &s);
	}
	return 0;
}

/* mov %rsp, %rdi */
static bool is_stack_to_rdi(const struct x86_op *op)
{
	return op->map == X86_ONE && op->opcode == 0x89 && op->is_wide && op->mode == 3 &&
		op->reg == 4 && op->rm == 7;
}

/*
 * crt1.o of i386 hands over a jump to main that stands behind _start and what _start calls to learn
 * where it is, for programs at a fixed address.
 */
static u64 past_wrapper(const u8 *code, u32 n, u64 start_end, const struct state *s, u64 entry)
{
	enum { NEAR = 16, ENDBR_SIZE = 4 };
	u64 i = s->first - entry;
	struct x86_op op;

	if (s->first < start_end || s->first - start_end > NEAR || i + ENDBR_SIZE >= n)
		return s->first;
	if (load_u32(code + i) == 0xfb1e0ff3)
		i += ENDBR_SIZE;
	if (!x86_decode(code + i, n - (u32)i, false, &op) || op.map != X86_ONE || op.opcode != 0xe9)
		return s->first;
	return (u32)(entry + i + op.size + (u64)op.imm);
}

/* Up to a call with hlt behind it: only what never returns is called so. */
static void walk_x86(const struct elf *elf, const u8 *code, u32 n, struct crt *ret)
{
	enum { HLT = 0xf4 };
	struct state s = {.at = elf->entry};
	bool has_stack = false;
	struct x86_op op;

	for (u32 i = 0; x86_decode(code + i, n - i, elf->is_64, &op); i += op.size) {
		bool is_call = op.map == X86_ONE &&
			(op.opcode == 0xe8 || (op.opcode == 0xff && op.reg == 2));

		s.is_outmost |= is_zeroing_of_bp(&op);
		has_stack |= elf->is_64 && is_stack_to_rdi(&op);
		s.at = elf->entry + i;
		if (is_call && i + op.size < n && code[i + op.size] == HLT) {
			if (!s.is_outmost || !s.first)
				return;
			ret->start_end = s.at + op.size + 1;
			ret->main = elf->is_64
				? s.first
				: past_wrapper(code, n, ret->start_end, &s, elf->entry);
			return;
		}
		if (is_call && has_stack && s.is_outmost && op.opcode == 0xe8) {
			ret->main = musl_main(elf, s.at + op.size + (u64)op.imm);
			ret->start_end = ret->main ? s.at + op.size : 0;
			return;
		}
		if (is_call)
			s.came_from = s.at + op.size;
		else if (elf->is_64)
			take_x86_64(elf, &op, &s);
		else
			take_i386(elf, &op, &s);
	}
}

/* ---- arm64 ---- */

/* The number in `bits` bits of an instruction from `low` on, with its sign. */
static s64 signed_field(u32 op, unsigned low, unsigned bits)
{
	return (s64)((u64)(op >> low) << (64 - bits)) >> (64 - bits);
}

/* adrp, add, ldr, movz and movk to x0. */
static void take_arm64(const struct elf *elf, u32 op, struct state *s)
{
	if ((op & 0x9f00001f) == 0x90000000)
		s->first = (s->at & ~(u64)0xfff) +
			((u64)(signed_field(op, 5, 19) * 4 + (op >> 29 & 3)) << 12);
	else if ((op & 0xffc003ff) == 0x91000000)
		s->first += op >> 10 & 0xfff;
	else if ((op & 0xffc003ff) == 0xf9400000)
		s->first = elfword_at(elf, s->first + (op >> 10 & 0xfff) * 8);
	else if ((op & 0xff80001f) == 0xd2800000)
		s->first = (u64)(op >> 5 & 0xffff) << (op >> 21 & 3) * 16;
	else if ((op & 0xff80001f) == 0xf2800000)
		s->first |= (u64)(op >> 5 & 0xffff) << (op >> 21 & 3) * 16;
}

static bool is_branch(u32 op, bool is_call)
{
	return (op & 0xfc000000) == (is_call ? 0x94000000u : 0x14000000u);
}

/* What is behind _start itself is a way to main, for programs that are linked statically. */
static u64 way_to_main(const u8 *code, u32 n, u32 i, u64 at)
{
	enum { NOP = 0xd503201f, BTI_C = 0xd503245f };

	for (; i + 4 <= n; i += 4, at += 4) {
		u32 op = load_u32(code + i);

		if (is_branch(op, false))
			return at + (u64)signed_field(op, 0, 26) * 4;
		if (op != NOP && op != BTI_C)
			break;
	}
	return 0;
}

/* Up to two calls one behind the other: the second, of abort(), is for nothing. */
static void walk_arm64(const struct elf *elf, const u8 *code, u32 n, struct crt *ret)
{
	enum { CLEAR_FP = 0xd280001d };
	struct state s = {.at = elf->entry};

	for (u32 i = 0; i + 8 <= n; i += 4, s.at += 4) {
		u32 op = load_u32(code + i);
		u64 way;

		s.is_outmost |= op == CLEAR_FP;
		take_arm64(elf, op, &s);
		if (!is_branch(op, true))
			continue;
		if (!s.is_outmost || !s.first || !is_branch(load_u32(code + i + 4), true))
			return;
		ret->start_end = s.at + 8;
		ret->main = s.first;
		way = s.first == ret->start_end ? way_to_main(code, n, i + 8, s.at + 8) : 0;
		if (way)
			ret->main = way;
		return;
	}
}

struct crt crt_of(const struct elf *elf)
{
	struct crt crt = {0};
	const u8 *code;
	u32 n;

	if (elf->swap || (elf->type != ET_EXEC && elf->type != ET_DYN) ||
		!is_loaded_code(elf, elf->entry) || !(code = code_at(elf, elf->entry, &n)))
		return crt;
	if ((elf->machine == EM_X86_64 && elf->is_64) || (elf->machine == EM_386 && !elf->is_64))
		walk_x86(elf, code, n, &crt);
	else if (elf->machine == EM_AARCH64 && elf->is_64)
		walk_arm64(elf, code, n, &crt);
	crt.start = crt.start_end ? elf->entry : 0;
	if (!crt.start || !is_loaded_code(elf, crt.main))
		crt.main = 0;
	return crt;
}
