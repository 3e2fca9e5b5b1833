/*
 * objdump.h - disassembles with the objdump program, if LLVM is not available.
 *
 * In       code, which the program gets as plain bytes in memory: its command line has no untrusted names or
 *          files, and it reads no more than the function
 * Out      a listing
 * Errors   ERR_NOENT: the program is not in the usual places ($PATH is not searched); ERR_SYS;
 *          ERR_UNSUPPORTED: it does not support the instruction set
 * Source   objdump(1): -D -b binary -m --adjust-vma
 */
#ifndef PACE_SYMBOL_OBJDUMP_H
#define PACE_SYMBOL_OBJDUMP_H

#include <limits.h>

#include "base/err.h"
#include "symbol/code/code.h"
#include "symbol/code/listing.h"

/*
 * The program that would be run: `wanted`, which without a folder is looked for in PATH, or the first of the usual ones;
 * NULL: none is installed. `found` may be what is returned.
 */
const char *objdump_path(const struct isa *isa, const char *wanted, char found[PATH_MAX]);

int objdump_list(const struct code *c, bool is_intel, const char *path, struct listing *ret,
	struct err *err);

#endif
