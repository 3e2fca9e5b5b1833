/*
 * arch.h - architectures whose stacks can be walked: their registers and calls.
 *
 * Source   arch/{x86,arm64,riscv}/include/uapi/asm/perf_regs.h; register numbers: the DWARF sections of the
 *          ABI supplements
 */
#ifndef PACE_UNWIND_ARCH_H
#define PACE_UNWIND_ARCH_H

#include "base/types.h"

enum stack_arch {
	STACK_X86_64,
	STACK_I386,
	STACK_ARM64,
	STACK_RISCV64,
	STACK_OTHER, /* nobody can walk these */
};

struct arch {
	const u8 *dwarf; /* by the number in sample masks */
	u8 n_regs;
	u8 sp, ip; /* DWARF numbers; ip: where the sampled address is put */
	u8 fp;     /* it points to the caller's, the return address is behind that; ARCH_NO_FP */
	u8 link;   /* where a call leaves its return address; 255: on the stack */
	u8 word;
	u64 code; /* bits of an address that are address: the others sign it (pointer authentication) */
	bool has_code; /* unwind/prologue reads its instructions; else only rows lead to callers */
};

/* A register that no sample has: frame pointers lie otherwise, and nobody follows them. */
enum { ARCH_NO_FP = 39 };

/* By enum stack_arch; none of STACK_OTHER. */
extern const struct arch archs[];

/* The architecture of samples with these registers, recorded on `machine` (as uname -m says). */
enum stack_arch arch_of(const char *machine, u64 regs_abi);

#endif
