/*
 * operand.h - decodes one instruction as far as data types need it: which memory it accesses, how it
 * changes the general registers, and where execution continues.
 *
 * In       bytes of code and their instruction set: x86-64 or i386
 * Out      struct operand; registers have x86-64's DWARF numbers in both instruction sets
 * Owns     nothing
 * Errors   0: the instruction is unknown or incomplete
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
	OPERAND_STACK,   /* at the stack pointer: a push or a pop */
};

enum operand_effect {
	EFFECT_NONE,    /* no register changes, or only registers that hold no addresses */
	EFFECT_LOAD,    /* target = `bytes` of the memory, extended */
	EFFECT_COPY,    /* target = source */
	EFFECT_STORE,   /* the memory = source, all of it */
	EFFECT_ADDRESS, /* target = base + index * 2^scale + disp */
	EFFECT_ADD,     /* target += imm */
	EFFECT_MOVE_BY, /* target += or -= source; OPERAND_NO_REG: += or -= memory */
	EFFECT_SET,     /* target = imm */
	EFFECT_OTHER,   /* target, and the registers in `spoilt`, get an unknown value */
};

enum operand_flow {
	OPERAND_ON,     /* to the next instruction */
	OPERAND_BRANCH, /* to the next instruction or to `to` */
	OPERAND_JUMP,   /* to `to` */
	OPERAND_CALL,   /* to the next instruction, after a call */
	OPERAND_TABLE,  /* to an address in a register or memory: switches and tail calls */
	OPERAND_END,    /* nowhere: returns, traps */
};

struct operand {
	u8 size;
	u8 word;   /* bytes of an address: 8 or 4 */
	u8 access; /* enum operand_access */
	/* For OPERAND_MEMORY and EFFECT_ADDRESS; OPERAND_NO_REG: no such register. */
	u8 base, index, scale;
	u8 segment;       /* 'f', 'g' or 0 */
	bool is_relative; /* to the instruction's end */
	bool is_vague;    /* disp or the index is unknown: vector instructions */
	s64 disp;
	u8 effect;           /* enum operand_effect */
	bool is_compare;     /* cmp, test: only the flags change */
	bool is_conditional; /* the target keeps its value or gets the new one: both are live */
	u8 target, source;
	u8 bytes;   /* for EFFECT_LOAD, and for EFFECT_MOVE_BY from memory */
	u32 spoilt; /* other registers that are overwritten: a bit for each */
	s64 imm;
	u8 flow;        /* enum operand_flow */
	bool is_direct; /* a jump, a branch or a call to `to` */
	s64 to;         /* target of a jump or a branch, relative to the instruction's end */
};

/* Decodes the instruction at p, of at most n bytes. Returns its size, or 0. */
unsigned operand_decode(const u8 *p, u32 n, bool is_64, struct operand *ret);

/* Maps a register number of the debug information of such code to the numbering of struct operand. */
u8 operand_reg(u8 dwarf_number, bool is_64);

#endif
