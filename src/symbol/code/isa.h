/*
 * isa.h - what is to know about an instruction set in order to show code.
 *
 * In       e_machine of an ELF file; an instruction as a disassembler writes it
 * Out      the names that disassemblers have for the set; where an instruction goes
 * Owns     nothing
 * Source   System V ABI: e_machine; the manuals of the processors for the mnemonics
 */
#ifndef PACE_SYMBOL_ISA_H
#define PACE_SYMBOL_ISA_H

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
	u16 machine; /* EM_* */
	const char *name;
	const char *triple, *llvm, *features; /* LLVM's; features "" */
	const char *bfd;                      /* objdump's */
	const char *objdumps[3];              /* where it is, the likeliest first */
	u8 unit;                              /* bytes that are skipped if they make no sense */
	bool has_syntaxes;                    /* AT&T's and Intel's */
	const struct isa_flow_word *words;    /* the first that fits; closed by NULL */
};

/* NULL if the set is none of those known. */
const struct isa *isa_find(u16 machine);

/* EM_* of the machine that pace runs on; EM_NONE: none of those known. */
u16 isa_of_this_machine(void);

enum isa_flow isa_flow(const struct isa *isa, const char *mnemonic, size_t n);

/* "jumps", "calls"...: what machine output calls it. */
const char *isa_flow_name(enum isa_flow flow);

#endif
