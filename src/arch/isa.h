/*
 * isa.h - properties of instruction sets that are needed to display code.
 *
 * In       an instruction as a disassembler writes it
 * Out      the disassemblers' names for the instruction set; the control flow of an instruction
 * Owns     nothing
 * Source   the manuals of the processors
 */
#ifndef PACE_ARCH_ISA_H
#define PACE_ARCH_ISA_H

#include "base/types.h"

/* Where execution continues after an instruction. */
enum isa_flow {
	ISA_ON,     /* at the next one */
	ISA_JUMP,   /* always elsewhere */
	ISA_BRANCH, /* elsewhere or at the next one */
	ISA_CALL,   /* elsewhere, then at the next one */
	ISA_RETURN,
	ISA_FLOWS,
};

struct isa_flow_word {
	const char *mnemonic; /* a trailing '*' matches any suffix */
	enum isa_flow flow;
};

struct isa {
	const char *name;
	const char *triple, *llvm, *features; /* LLVM's; features "" */
	const char *bfd;                      /* objdump's */
	const char *objdumps[3];              /* names of the program, the likeliest first */
	u8 unit;                              /* bytes that are skipped if they cannot be decoded */
	bool has_syntaxes;                    /* AT&T's and Intel's */
	const struct isa_flow_word *words;    /* the first match is used; terminated by NULL */
};

enum isa_flow isa_flow(const struct isa *isa, const char *mnemonic, size_t n);

/* The name in machine-readable output: "jumps", "calls"... */
const char *isa_flow_name(enum isa_flow flow);

#endif
