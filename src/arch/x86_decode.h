/*
 * x86_decode.h - one instruction of x86: how long it is, and its parts.
 *
 * What it means is not told: only what is needed to walk from one to the next, to recognise the few
 * that somebody looks for, and where the memory is that it accesses.
 * In       bytes of code
 * Out      struct x86_op
 * Errors   0: no instruction that is known, or it is not all there
 * Source   Intel SDM, volume 2: 2.1-2.7 (formats, VEX, EVEX), appendix A (opcode maps); AMD's manual,
 *          volume 4 (XOP)
 */
#ifndef PACE_ARCH_X86_DECODE_H
#define PACE_ARCH_X86_DECODE_H

#include "base/types.h"

enum x86_map {
	X86_ONE,    /* opcodes of one byte */
	X86_0F,     /* behind 0f */
	X86_0F38,   /* behind 0f 38 */
	X86_0F3A,   /* behind 0f 3a */
	X86_VECTOR, /* VEX, EVEX, XOP: whatever they do, not to the stack pointer */
};

enum { X86_NO_REG = 0xff };

struct x86_op {
	u8 size;
	u8 map; /* enum x86_map */
	u8 opcode;
	bool is_wide;  /* operands of 64 bits (of 32 in code of 32 bits) */
	bool is_short; /* operands of 16 bits */
	bool has_modrm;
	u8 mode, reg,
		rm;    /* of modrm; reg and rm with the bits of REX; rm of a plain base register */
	bool has_base; /* memory at [rm + disp], nothing else */
	s32 disp;
	/* Memory at [base + index << scale + disp]; without registers: X86_NO_REG. */
	bool has_memory;
	bool is_relative;      /* to the instruction's end */
	bool has_vector_index; /* a register of addresses: index is none */
	bool has_packed_disp;  /* of EVEX: disp counts what the instruction accesses, not bytes */
	u8 base, index, scale;
	u8 segment; /* its prefix: 0x64 is fs, 0x65 gs; else 0 */
	/* Of X86_VECTOR: 1 is 0f, 2 is 0f 38, 3 is 0f 3a; and its third register. */
	u8 vector_map, other;
	/* The immediate, how far a jump leads from the instruction's end, the address of mov a0 to a3. */
	s64 imm;
};

/* Decodes what begins at p, with n bytes: its size, or 0. */
unsigned x86_decode(const u8 *p, u32 n, bool is_64, struct x86_op *ret_op);

/* nop, in all its lengths: what compilers fill up with between functions. */
static inline bool x86_is_padding(const struct x86_op *op)
{
	return (op->map == X86_ONE && op->opcode == 0x90) ||
		(op->map == X86_0F && op->opcode == 0x1f);
}

#endif
