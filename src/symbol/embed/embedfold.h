/*
 * embedfold.h - transforms tables and code so that they compress better, and back.
 *
 * In       bytes, which are changed in place; their number stays the same
 * Out      a table member by member instead of entry by entry, each as the difference to the one before; code
 *          with absolute addresses in place of distances, so that all calls of a function look the same
 * Errors   none: unfolding restores exactly what was folded, and accepts any bytes
 * Threads  any number, each with its own bytes
 * Source   AMD64 Architecture Programmer's Manual 3: CALL, JMP, Jcc, RIP-relative addressing
 */
#ifndef PACE_SYMBOL_EMBEDFOLD_H
#define PACE_SYMBOL_EMBEDFOLD_H

#include <elf.h>

#include "base/types.h"

/* `n` entries of `each` bytes; tables whose entries have an odd size are left alone. */
void embedfold_table(u8 *at, u32 each, u64 n);
void embedfold_table_back(u8 *at, u32 each, u64 n);

/* Whether code of a machine (EM_*) is folded. The format says so for x86-64 only. */
static inline bool embedfold_has_code(u32 machine)
{
	return machine == EM_X86_64;
}

/* x86-64 code at `address`. */
void embedfold_code(u8 *at, u64 n, u64 address);
void embedfold_code_back(u8 *at, u64 n, u64 address);

#endif
