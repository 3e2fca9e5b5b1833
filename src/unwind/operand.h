/*
 * operand.h - one instruction as far as types of data are concerned: which memory it accesses, what
 * it makes of the general registers, and where the processor goes on.
 *
 * In       bytes of code and their instruction set: x86-64 or i386
 * Out      struct operand; registers by x86-64's DWARF numbers in code of either
 * Owns     nothing
 * Errors   0: no instruction that is known, or it is not all there
 * Source   Intel SDM, volume 2; System V ABI for x86-64, figure 3.36, and for i386, table 2.14 (DWARF
 *          numbers)
 */
#ifndef PACE_UNWIND_OPERAND_H
#define PACE_UNWIND_OPERAND_H

#include "base/types.h"

enum {
	OPERAND_REGS = 16,
	OPERAND_RAX = 0,
	OPERAND_RBP = 6,
	OPERAND_RSP = 7,
	OPERAND_NO_REG = 0xff,
};

enum operand_access {
	OPERAND_NOTHING, /* no memory */
	OPERAND_MEMORY,  /* at base + index * 2^scale + disp */
	OPERAND_STACK,   /* where the stack pointer is, by pushing or popping */
};

enum operand_effect {
	EFFECT_NONE,    /* no register changes, or only such as hold no addresses */
	EFFECT_LOAD,    /* target = `bytes` of the memory, extended */
	EFFECT_COPY,    /* target = source */
	EFFECT_STORE,   /* the memory = source, all of it */
	EFFECT_ADDRESS, /* target = base + index * 2^scale + disp */
	EFFECT_ADD,     /* target += imm */
	EFFECT_MOVE_BY, /* target += or -= source; OPERAND_NO_REG: what was in memory */
	EFFECT_SET,     /* target = imm */
	EFFECT_OTHER,   /* target, and what is in `spoilt`, hold something else */
};

enum operand_flow {
	OPERAND_ON,     /* to the next instruction */
	OPERAND_BRANCH, /* there, or to `to` */
	OPERAND_JUMP,   /* to `to` */
	OPERAND_CALL,   /* there, after a call */
	OPERAND_TABLE, /* to where a register or memory says: switches, and calls that are the last */
	OPERAND_END,   /* not on: returns, traps */
};

struct operand {
	u8 size;
	u8 word;   /* bytes of an address: 8 or 4 */
	u8 access; /* enum operand_access */
	/* Of OPERAND_MEMORY and EFFECT_ADDRESS; without a register: OPERAND_NO_REG. */
	u8 base, index, scale;
	u8 segment;       /* 'f', 'g' or 0 */
	bool is_relative; /* to the instruction's end */
	bool is_vague;    /* disp or an index is not known: of vectors */
	s64 disp;
	u8 effect;           /* enum operand_effect */
	bool is_compare;     /* cmp, test: only the flags change */
	bool is_conditional; /* the target keeps its value, or gets the other: both are live */
	u8 target, source;
	u8 bytes;   /* of EFFECT_LOAD, and of EFFECT_MOVE_BY from memory */
	u32 spoilt; /* other registers that are overwritten: a bit for each */
	s64 imm;
	u8 flow;        /* enum operand_flow */
	bool is_direct; /* a jump, a branch or a call to `to` */
	s64 to;         /* where a jump or a branch leads to, counted from the instruction's end */
};

/* What begins at p, with n bytes: its size, or 0. */
unsigned operand_decode(const u8 *p, u32 n, bool is_64, struct operand *ret);

/* A register as debug information for such code numbers it, as operands have it. */
u8 operand_reg(u8 dwarf_number, bool is_64);

#endif
