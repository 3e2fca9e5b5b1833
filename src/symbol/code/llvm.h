/*
 * llvm.h - disassembles with LLVM, if its library is installed.
 *
 * In       code; nothing of LLVM is needed for building
 * Out      a listing; jumps and references to data as addresses
 * Owns     the library, which stays loaded
 * Errors   ERR_NOENT: no library is installed; ERR_UNSUPPORTED: the installed one does not support the
 *          instruction set
 * Threads  any number
 * Source   llvm-c/Disassembler.h of LLVM 11 to 22: the C interface, whose functions are declared in
 *          llvm.c, because only their names and types are used
 */
#ifndef PACE_SYMBOL_LLVM_H
#define PACE_SYMBOL_LLVM_H

#include "base/err.h"
#include "symbol/code/code.h"
#include "symbol/code/listing.h"

/*
 * Finds and loads the newest library, and returns its name. Takes 25 ms; may run in parallel to anything
 * else.
 */
int llvm_load(const char **ret_name, struct err *err);

int llvm_list(const struct code *c, bool is_intel, struct listing *ret, struct err *err);

#endif
