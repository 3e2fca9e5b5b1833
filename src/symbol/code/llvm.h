/*
 * llvm.h - instructions decoded by LLVM, if a library of it is installed.
 *
 * In       code; nothing of LLVM is needed to build
 * Out      a listing; jumps and references to data as addresses
 * Owns     the library, once it is loaded, for ever
 * Errors   ERR_NOENT: no library is here; ERR_UNSUPPORTED: the one that is does not know the
 *          instruction set
 * Threads  any number
 * Source   llvm-c/Disassembler.h of LLVM 11 to 22: the C interface, whose functions are declared in
 *          llvm.c, because their names and types are all that is used
 */
#ifndef PACE_SYMBOL_LLVM_H
#define PACE_SYMBOL_LLVM_H

#include "base/err.h"
#include "symbol/code/code.h"
#include "symbol/code/listing.h"

/* Finds and loads the newest library; its name. It costs 25 ms: may run beside anything else. */
int llvm_load(const char **ret_name, struct err *err);

int llvm_list(const struct code *c, bool is_intel, struct listing *ret, struct err *err);

#endif
