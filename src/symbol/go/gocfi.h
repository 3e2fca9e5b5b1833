/*
 * gocfi.h - recreates the call frame information of a stripped Go program from its runtime's table, which
 * has the depth of the stack at each instruction.
 *
 * In       a table of functions (symbol/go/gotab), and the file's architecture (struct arch: go)
 * Out      a section .debug_frame in this machine's byte order
 * Errors   false: the file has no such table, or another processor
 * Source   Go: src/runtime/traceback.go, symtab.go (funcspdelta), src/cmd/internal/objabi/symkind.go;
 *          DWARF 5, 6.4
 *
 * Functions that begin a thread or a goroutine, or change to another stack, have no callers.
 */
#ifndef PACE_SYMBOL_GOCFI_H
#define PACE_SYMBOL_GOCFI_H

#include "base/str.h"
#include "symbol/elf/elf.h"

bool gocfi_make(const struct elf *elf, struct str *ret_section);

#endif
