#include "unwind/outermost.h"

#include "arch/arch.h"
#include "arch/x86_decode.h"

enum { STEPS_MAX = 6, AX = 0 };

/* exit and exit_group */
static bool is_exit(const struct arch *arch, u32 number)
{
	return arch == &arch_x86_64  ? number == 60 || number == 231
		: arch == &arch_i386 ? number == 1 || number == 252
				     : number == 93 || number == 94;
}

/* What an instruction puts into eax, of those that compilers take for small numbers; false: another. */
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
	*number += code == 0x40; /* inc, in code of 32 bits */
	return code == 0x40;
}

static bool x86_is_exit(const struct arch *arch, const struct stack_bytes *code)
{
	const u8 *p = code->at;
	u32 left = code->n_after;
	bool is_known = false;
	u64 number = 0;
	struct x86_op op;

	for (unsigned i = 0; i < STEPS_MAX; i++) {
		unsigned size = x86_decode(p, left, arch == &arch_x86_64, &op);

		if (!size)
			return false;
		if ((op.map == X86_0F && op.opcode == 0x05) ||
			(op.map == X86_ONE && op.opcode == 0xcd && (u8)op.imm == 0x80))
			return is_known && is_exit(arch, (u32)number);
		if (!follow(&op, &number, &is_known))
			return false;
		p += size;
		left -= size;
	}
	return false;
}

/* movz x8, #number, and then svc; moves of other registers between. */
static bool arm64_is_exit(const struct stack_bytes *code)
{
	u32 number = UINT32_MAX;

	for (u32 i = 0; i < STEPS_MAX && 4 * i + 4 <= code->n_after; i++) {
		u32 op = load_u32(code->at + 4 * i);

		if (op == 0xd4000001)
			return is_exit(&arch_arm64, number);
		if ((op & 0x7fe0001f) == 0x52800008)
			number = op >> 5 & 0xffff;
		else if ((op & 0x7fe0ffe0) != 0x2a0003e0) /* mov */
			return false;
	}
	return false;
}

bool outermost_is_exit(const struct arch *arch, const struct stack_bytes *code)
{
	if (!code->at)
		return false;
	if (arch == &arch_x86_64 || arch == &arch_i386)
		return x86_is_exit(arch, code);
	return arch == &arch_arm64 && arm64_is_exit(code);
}

/* nop; call */
bool outermost_is_goexit(const struct arch *arch, const struct stack_bytes *code)
{
	return arch == &arch_x86_64 && code->at && code->into == 1 && code->n_before &&
		code->n_after && code->at[-1] == 0x90 && code->at[0] == 0xe8;
}
