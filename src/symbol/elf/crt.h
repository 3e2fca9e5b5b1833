/*
 * crt.h - finds where a C program begins, from its code: _start, and main, whose address it passes to the C
 * library. This gives stripped programs two names.
 *
 * In       the image of a program: x86-64, i386 and arm64 with the crt1.o of glibc; x86-64 with that
 *          of musl
 * Out      addresses of code that the file loads
 * Units    rva, half-open
 * Errors   none: nothing is found in code that begins otherwise (Go's, ld.so itself, musl's rcrt1.o, which
 *          relocates itself)
 * Source   System V ABI, "Process Initialization"; the crt1.o of glibc 2.17 to 2.41, of musl 1.2
 */
#ifndef PACE_SYMBOL_CRT_H
#define PACE_SYMBOL_CRT_H

#include "symbol/elf/elf.h"

struct crt {
	u64 start, start_end; /* _start, to the end of the call that never returns; 0: unknown */
	u64 main;             /* its start; 0: unknown */
};

struct crt crt_of(const struct elf *elf);

#endif
