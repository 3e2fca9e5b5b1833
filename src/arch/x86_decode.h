/*
 * x86_decode.h - decodes one x86 instruction: its length and its parts.
 *
 * It does not say what the instruction means: only what is needed to go from one to the next, to recognise
 * the few that callers look for, and to find the memory that it accesses.
 * In       bytes of code
 * Out      struct x86_op
 * Errors   0: the instruction is unknown or incomplete
 * Source   Intel SDM, volume 2: 2.1-2.7 (formats, VEX, EVEX), appendix A (opcode maps); AMD's manual,
 *          volume 4 (XOP)
 */
#ifndef PACE_ARCH_X86_DECODE_H
#define PACE_ARCH_X86_DECODE_H

#include "base/types.h"

enum x86_map {
	X86_ONE,    /* opcodes of one byte */
	X86_0F,     /* after 0f */
	X86_0F38,   /* after 0f 38 */
	X86_0F3A,   /* after 0f 3a */
	X86_VECTOR, /* VEX, EVEX, XOP: none of them changes the stack pointer */
};

enum { X86_NO_REG = 0xff };

struct x86_op {
	u8 size;
	u8 map; /* enum x86_map */
	u8 opcode;
	bool is_wide;  /* 64-bit operands (32-bit in 32-bit code) */
	bool is_short; /* 16-bit operands */
	bool has_modrm;
	u8 mode, reg,
		rm; /* of modrm; reg and rm include the REX bits; with a SIB byte rm is the base */
	bool has_base; /* memory at [rm + disp] and nothing else */
	s32 disp;
	/* Memory at [base + index << scale + disp]; X86_NO_REG: no such register. */
	bool has_memory;
	bool is_relative;      /* disp counts from the instruction's end */
	bool has_vector_index; /* the index is a vector of addresses: `index` is X86_NO_REG */
	bool has_packed_disp;  /* EVEX: disp is in units of the accessed size, not bytes */
	u8 base, index, scale;
	u8 segment; /* segment prefix: 0x64 is fs, 0x65 gs; 0: none */
	/* For X86_VECTOR: the opcode map (1 is 0f, 2 is 0f 38, 3 is 0f 3a) and the third register. */
	u8 vector_map, other;
	/* The immediate; a jump's distance from the instruction's end; or the address of mov a0 to a3. */
	s64 imm;
};

/* Decodes the instruction at p, of at most n bytes. Returns its size, or 0. */
unsigned x86_decode(const u8 *p, u32 n, bool is_64, struct x86_op *ret_op);

/* nop, in all its lengths: the padding that compilers put between functions. */
static inline bool x86_is_padding(const struct x86_op *op)
{
	return (op->map == X86_ONE && op->opcode == 0x90) ||
		(op->map == X86_0F && op->opcode == 0x1f);
}

#endif
