/*
 * isa.h - what is to know about an instruction set in order to show code.
 *
 * In       an instruction as a disassembler writes it
 * Out      the names that disassemblers have for the set; where an instruction goes
 * Owns     nothing
 * Source   the manuals of the processors
 */
#ifndef PACE_ARCH_ISA_H
#define PACE_ARCH_ISA_H

#include "base/types.h"

/* Where the processor goes after an instruction. */
enum isa_flow {
	ISA_ON,     /* to the next one */
	ISA_JUMP,   /* elsewhere, always */
	ISA_BRANCH, /* elsewhere or on */
	ISA_CALL,   /* elsewhere and back */
	ISA_RETURN,
	ISA_FLOWS,
};

struct isa_flow_word {
	const char *mnemonic; /* with a '*' at its end: what begins so */
	enum isa_flow flow;
};

struct isa {
	const char *name;
	const char *triple, *llvm, *features; /* LLVM's; features "" */
	const char *bfd;                      /* objdump's */
	const char *objdumps[3];              /* where it is, the likeliest first */
	u8 unit;                              /* bytes that are skipped if they make no sense */
	bool has_syntaxes;                    /* AT&T's and Intel's */
	const struct isa_flow_word *words;    /* the first that fits; closed by NULL */
};

enum isa_flow isa_flow(const struct isa *isa, const char *mnemonic, size_t n);

/* "jumps", "calls"...: what machine output calls it. */
const char *isa_flow_name(enum isa_flow flow);

#endif
