/*
 * embedfold.h - tables and code in an order in which they pack better, and back.
 *
 * In       bytes, which are changed in place; the same number stays
 * Out      a table member by member instead of entry by entry, each less the one before; code with addresses
 *          where it has distances, so that calls of the same function look the same
 * Errors   none: what was folded comes back as it was, and any bytes can be unfolded
 * Threads  any number, each with bytes of its own
 * Source   AMD64 Architecture Programmer's Manual 3: CALL, JMP, Jcc, RIP-relative addressing
 */
#ifndef PACE_SYMBOL_EMBEDFOLD_H
#define PACE_SYMBOL_EMBEDFOLD_H

#include <elf.h>

#include "base/types.h"

/* `n` entries of `each` bytes; nothing happens to those of an odd size. */
void embedfold_table(u8 *at, u32 each, u64 n);
void embedfold_table_back(u8 *at, u32 each, u64 n);

/* Whether the code of files of a machine (EM_*) is folded: x86-64's. A fact of the format, not of who runs pace. */
static inline bool embedfold_has_code(u32 machine)
{
	return machine == EM_X86_64;
}

/* Code of x86-64 that lies at `address`. */
void embedfold_code(u8 *at, u64 n, u64 address);
void embedfold_code_back(u8 *at, u64 n, u64 address);

#endif
