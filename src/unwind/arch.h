/*
 * arch.h - the architectures whose stacks can be walked: their registers and calling conventions.
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
	STACK_OTHER, /* not supported by the unwinder */
};

struct arch {
	const u8 *dwarf; /* DWARF numbers, by bit number in the samples' register mask */
	u8 n_regs;
	u8 sp, ip; /* DWARF numbers; ip: where walks keep the sampled address */
	u8 fp;   /* points to the saved caller's fp, the return address follows it; or ARCH_NO_FP */
	u8 link; /* where a call leaves its return address; 255: on the stack */
	u8 word;
	u64 code; /* mask of the address bits: the other bits are a signature (pointer authentication) */
	bool has_code; /* unwind/prologue can read its instructions; otherwise only CFI rows lead to callers */
};

/*
 * A register that no sample has, for architectures whose frame pointers have another layout and are not
 * followed.
 */
enum { ARCH_NO_FP = 39 };

/* Indexed by enum stack_arch, without STACK_OTHER. */
extern const struct arch archs[];

/* Returns the architecture of samples with these registers, recorded on `machine` (a name from uname -m). */
enum stack_arch arch_of(const char *machine, u64 regs_abi);

#endif
