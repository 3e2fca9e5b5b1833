/*
 * regs.h - the names of the registers that samples carry, by their numbers in register masks.
 *
 * In       an architecture; NULL: unknown
 */
#ifndef PACE_RECORD_REGS_H
#define PACE_RECORD_REGS_H

#include "arch/arch.h"
#include "base/err.h"
#include "base/str.h"
#include "base/types.h"

/* Returns the architecture of samples with these registers, recorded on `machine`; NULL: unknown. */
const struct arch *regs_arch(const struct arch *machine, u64 abi);

/*
 * The mask of the registers that unwinding needs: all but segments, as in perf; 0 if pace cannot
 * unwind there.
 */
u64 regs_for_callers(const struct arch *arch);

/*
 * The registers that can be sampled: those that the kernel has of every program and, with
 * `has_vectors`, those that only a CPU with PEBS adds.
 */
u64 regs_available(const struct arch *arch, bool has_vectors);

/* The name of register `number`, into buf if it has to be made up ("r17"). */
const char *regs_name(const struct arch *arch, unsigned number, char *buf, size_t size);

/*
 * The mask of "ax,bx,XMM0": letter case is ignored; XMM0 is both of its halves. ERR_INVAL, with the names
 * that there are, if one is not in `available`.
 */
int regs_parse(const struct arch *arch, const char *text, u64 available, u64 *ret_mask,
	struct err *err);

/* Adds the names in the mask, each vector register once, with spaces between them. */
void regs_add_names(const struct arch *arch, u64 mask, struct str *text);

#endif
