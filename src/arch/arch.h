/*
 * arch.h - architectures: all in which one processor differs from another.
 *
 * Each is a file of this folder that holds a `const struct arch`, and a row of `archs` in arch.c. What is not known of an
 * architecture is 0 or NULL in it: its recordings are read all the same, but their stacks are not walked, their code is not shown.
 *
 * In       the name of a machine, e_machine of an ELF file
 * Out      constants
 * Source   arch/{x86,arm64,riscv}/include/uapi/asm/perf_regs.h; register numbers: the DWARF sections of the
 *          ABI supplements
 */
#ifndef PACE_ARCH_ARCH_H
#define PACE_ARCH_ARCH_H

#include "arch/isa.h"
#include "base/types.h"

/* A register that no sample has: frame pointers lie otherwise, and nobody follows them. */
enum { ARCH_NO_FP = 39 };

/* No register. */
enum { ARCH_NO_REG = 255 };

struct arch_reg {
	const char *name; /* as perf writes it */
	u8 dwarf;         /* ARCH_NO_REG: nothing of the sort */
};

/* The code that a signal handler returns to, and where the registers are when it begins. */
struct arch_trampoline {
	u8 code[12];
	u8 n_code;
	u8 pointer; /* there, above the stack pointer, is the ucontext's address; 0: there is none */
	u16 context;        /* from the stack pointer, or from the ucontext, to its registers */
	const u16 *offsets; /* by DWARF's numbers */
	u8 n_offsets;
};

struct arch {
	const char *names[4];       /* as uname -m says them */
	const struct arch *sibling; /* the same processors with words of another size; NULL */
	u16 machine;                /* EM_* */
	u8 word;                    /* bytes of an address */

	/* Registers of samples, by the number in their masks; the names of others are a letter and the number. */
	const struct arch_reg *regs;
	u8 n_regs;
	char letter;
	bool has_vectors; /* numbers from 32 on are the halves of XMM0 to XMM15 */
	u64 caller_regs;  /* those that finding callers takes; 0: nobody can */
	u8 sp, ip;        /* DWARF numbers; ip: where the sampled address is put */
	u8 fp;   /* it points to the caller's, the return address is behind that; ARCH_NO_FP */
	u8 link; /* where a call leaves its return address; ARCH_NO_REG: on the stack */
	u64 va_mask; /* bits of an address that are address: the others sign it (pointer authentication) */

	/* Code. */
	bool is_x86;   /* arch/x86_decode reads its instructions */
	bool has_code; /* unwind/prologue reads its instructions; else only rows lead to callers */
	const struct arch_trampoline *trampolines;
	u8 n_trampolines;
	const struct isa *isa; /* how it is shown; NULL: nobody can */
};

extern const struct arch arch_x86_64, arch_i386, arch_arm64, arch_riscv64;

#define ARCH_REGS(of)        .regs = (of), .n_regs = ARRAY_SIZE(of)
#define ARCH_TRAMPOLINES(of) .trampolines = (of), .n_trampolines = ARRAY_SIZE(of)

/* The machine that pace was built for; NULL: none of those known. */
const struct arch *arch_of_host(void);

/* A machine as uname -m says it, NULL: this one; NULL: none of those known. */
const struct arch *arch_of_name(const char *name);

/* The files of a machine, EM_*; of those that have it the first in the table. NULL: none of those known. */
const struct arch *arch_of_machine(u16 machine);

/* The architecture, or its sibling, whose words have that many bytes; NULL: there is none. */
const struct arch *arch_with_word(const struct arch *a, u8 word);

#endif
