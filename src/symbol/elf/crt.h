/*
 * crt.h - where a C program begins, read from its code: _start, and main, which it hands to the C
 * library. So stripped programs have two names.
 *
 * In       the image of a program: x86-64, i386 and arm64, as glibc's crt1.o begins them; x86-64 as
 *          musl's does
 * Out      addresses of code that the file loads
 * Units    rva, half-open
 * Errors   none: code that begins otherwise (Go's, ld.so itself, what moves itself as musl's
 *          rcrt1.o does) says nothing
 * Source   System V ABI, "Process Initialization"; the crt1.o of glibc 2.17 to 2.41, of musl 1.2
 */
#ifndef PACE_SYMBOL_CRT_H
#define PACE_SYMBOL_CRT_H

#include "symbol/elf/elf.h"

struct crt {
	u64 start, start_end; /* _start, up to behind the call that never returns; 0: it is none */
	u64 main;             /* where it begins; 0: unknown */
};

struct crt crt_of(const struct elf *elf);

#endif
