/*
 * objdump.h - instructions decoded by the objdump program: what is left where LLVM is not.
 *
 * In       code, which it gets as bare bytes in memory: no name or file of anybody's is on its command
 *          line, and it reads no more than the function
 * Out      a listing
 * Errors   ERR_NOENT: it is not in the usual places ($PATH is not asked); ERR_SYS; ERR_UNSUPPORTED: it
 *          does not know the instruction set
 * Source   objdump(1): -D -b binary -m --adjust-vma
 */
#ifndef PACE_SYMBOL_OBJDUMP_H
#define PACE_SYMBOL_OBJDUMP_H

#include "base/err.h"
#include "symbol/code/code.h"
#include "symbol/code/listing.h"

/* The program that would be run: `wanted`, or the first of the usual ones; NULL: none is here. */
const char *objdump_path(const struct isa *isa, const char *wanted);

int objdump_list(const struct code *c, bool is_intel, const char *path, struct listing *ret,
	struct err *err);

#endif
