#include "arch/x86.h"
#include "arch/x86_decode.h"

/* The effect of _start up to an instruction. */
struct state {
	u64 at;          /* the next instruction */
	u64 first;       /* the first argument at this point; 0: unknown */
	u64 eax, ebx;    /* i386: constants; 0: unknown */
	u64 came_from;   /* i386: the return address of the last call */
	bool is_outmost; /* the frame pointer was cleared: there is no caller */
};

static bool is_zeroing_of_bp(const struct x86_op *op)
{
	return op->map == X86_ONE && (op->opcode == 0x31 || op->opcode == 0x33) && op->mode == 3 &&
		op->reg == 5 && op->rm == 5;
}

/* The ways to load main: lea main(%rip), %rdi; mov $main, %rdi or %edi; mov main@GOT(%rip), %rdi. */
static void take_64(const struct arch_image *image, const struct x86_op *op, struct state *s)
{
	enum { RDI = 7 };
	bool is_rip = op->has_modrm && op->mode == 0 && op->rm == 5;
	u64 there = is_rip ? s->at + op->size + (u64)(s64)op->disp : 0;

	if (op->map != X86_ONE)
		return;
	if (op->opcode == 0x8d && op->reg == RDI && is_rip)
		s->first = there;
	else if (op->opcode == 0x8b && op->reg == RDI && is_rip)
		s->first = image->word_at(image->elf, there);
	else if (op->opcode == 0xc7 && op->mode == 3 && op->rm == RDI)
		s->first = (u64)op->imm;
	else if (op->opcode == 0xbf && op->reg == RDI)
		s->first = (u32)op->imm;
}

/*
 * The ways to push main, last of all: push $main; mov $main, %eax, push %eax; push main@GOT(%ebx);
 * lea main@GOTOFF(%ebx), %eax, push %eax. %ebx is a return address plus a constant.
 */
static void take_32(const struct arch_image *image, const struct x86_op *op, struct state *s)
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
		s->first = is_from_ebx
			? image->word_at(image->elf, (u32)(s->ebx + (u64)(s64)op->disp))
			: 0;
	else if (op->opcode >> 3 == 0x50 >> 3)
		s->first = op->reg == EAX ? s->eax : 0;
}

/*
 * musl's _start passes its stack pointer to _start_c, written in C, and that passes main to the C library. _start
 * calls _start_c, or jumps there.
 */
static u64 musl_main(const struct arch_image *image, u64 start_c)
{
	struct state s = {.at = start_c};
	struct x86_op op;
	const u8 *code;
	u32 n;

	code = image->code_at(image->elf, start_c, &n);
	for (u32 i = 0; code && x86_decode(code + i, n - i, true, &op); i += op.size) {
		bool is_end = op.map == X86_ONE &&
			(op.opcode == 0xe8 || op.opcode == 0xe9 || op.opcode == 0xeb ||
				op.opcode == 0xc3 || (op.opcode == 0xff && (op.reg & 7) == 2) ||
				(op.opcode == 0xff && (op.reg & 7) == 4));

		s.at = start_c + i;
		if (is_end)
			return op.opcode == 0xc3 ? 0 : s.first;
		take_64(image, &op, &s);
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
 * crt1.o of i386, for programs at a fixed address, passes a jump to main that is placed behind _start and the
 * function by which _start gets its own address.
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

/* Walks up to a call with hlt behind it: only a function that never returns is called that way. */
struct arch_start x86_start(const struct arch *a, const struct arch_image *image)
{
	enum { HLT = 0xf4 };
	struct state s = {.at = image->entry};
	bool is_64 = a->word == 8, has_stack = false;
	struct arch_start start = {0};
	const u8 *code = image->code;
	u32 n = image->n;
	struct x86_op op;

	for (u32 i = 0; x86_decode(code + i, n - i, is_64, &op); i += op.size) {
		bool is_call = op.map == X86_ONE &&
			(op.opcode == 0xe8 || (op.opcode == 0xff && op.reg == 2));

		s.is_outmost |= is_zeroing_of_bp(&op);
		has_stack |= is_64 && is_stack_to_rdi(&op);
		s.at = image->entry + i;
		if (is_call && i + op.size < n && code[i + op.size] == HLT) {
			if (!s.is_outmost || !s.first)
				break;
			start.end = s.at + op.size + 1;
			start.main = is_64 ? s.first
					   : past_wrapper(code, n, start.end, &s, image->entry);
			break;
		}
		if (is_call && has_stack && s.is_outmost && op.opcode == 0xe8) {
			start.main = musl_main(image, s.at + op.size + (u64)op.imm);
			start.end = start.main ? s.at + op.size : 0;
			break;
		}
		if (is_call)
			s.came_from = s.at + op.size;
		else if (is_64)
			take_64(image, &op, &s);
		else
			take_32(image, &op, &s);
	}
	return start;
}
