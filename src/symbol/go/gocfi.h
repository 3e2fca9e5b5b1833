/*
 * gocfi.h - the call frame information that stripping took from a Go program, made again out of the
 * table of its runtime, which knows how deep the stack is at each instruction.
 *
 * In       a table of functions (symbol/go/gotab), and the file's architecture (struct arch: go)
 * Out      a section .debug_frame in this machine's byte order
 * Errors   false: nothing of the sort is known for that file
 * Source   Go: src/runtime/traceback.go, symtab.go (funcspdelta), src/cmd/internal/objabi/symkind.go;
 *          DWARF 5, 6.4
 *
 * What begins a thread or a goroutine, and what changes to another stack, has no callers.
 */
#ifndef PACE_SYMBOL_GOCFI_H
#define PACE_SYMBOL_GOCFI_H

#include "base/str.h"
#include "symbol/elf/elf.h"

bool gocfi_make(const struct elf *elf, struct str *ret_section);

#endif
