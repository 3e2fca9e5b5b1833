/*
 * regs.h - the names of the registers that samples carry, by their numbers in register masks.
 *
 * Source   arch/{x86,arm64,riscv}/include/uapi/asm/perf_regs.h
 */
#ifndef PACE_RECORD_REGS_H
#define PACE_RECORD_REGS_H

#include "base/err.h"
#include "base/str.h"
#include "base/types.h"

enum regs_arch {
	REGS_UNKNOWN,
	REGS_X86,
	REGS_ARM64,
	REGS_RISCV64,
#if defined(__x86_64__) || defined(__i386__)
	REGS_THIS_MACHINE = REGS_X86,
#elif defined(__aarch64__)
	REGS_THIS_MACHINE = REGS_ARM64,
#elif defined(__riscv) && __riscv_xlen == 64
	REGS_THIS_MACHINE = REGS_RISCV64,
#else
	REGS_THIS_MACHINE = REGS_UNKNOWN,
#endif
};

/* The architecture of a machine as uname names it; NULL: this machine. */
enum regs_arch regs_arch_of(const char *machine);

/*
 * The mask of the registers that unwinding needs: all but segments, as in perf; 0 if pace cannot
 * unwind there.
 */
u64 regs_for_callers(enum regs_arch arch);

/*
 * The registers that can be sampled: those that the kernel has of every program and, with
 * `has_vectors`, those that only a CPU with PEBS adds.
 */
u64 regs_available(enum regs_arch arch, bool has_vectors);

/* The name of register `number`, into buf if it has to be made up ("r17"). */
const char *regs_name(enum regs_arch arch, unsigned number, char *buf, size_t size);

/*
 * The mask of "ax,bx,XMM0": letter case is ignored; XMM0 is both of its halves. ERR_INVAL, with the names
 * that there are, if one is not in `available`.
 */
int regs_parse(enum regs_arch arch, const char *text, u64 available, u64 *ret_mask,
	struct err *err);

/* Adds the names in the mask, each vector register once, with spaces between them. */
void regs_add_names(enum regs_arch arch, u64 mask, struct str *text);

#endif
