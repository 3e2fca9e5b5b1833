/*
 * outermost.h - where a thread ends: code that leaves by exit(2) instead of returning to somebody. What is
 * called from there has no callers beyond it, though nothing marks that (musl's __clone).
 *
 * In       the code at a return address
 * Out      whether nothing but the exit of the thread or the process follows
 * Errors   false also if nothing is known
 * Source   the system calls' numbers: asm/unistd_64.h, unistd_32.h, asm-generic/unistd.h
 */
#ifndef PACE_UNWIND_OUTERMOST_H
#define PACE_UNWIND_OUTERMOST_H

#include "unwind/stack.h"

bool outermost_is_exit(const struct arch *arch, const struct stack_bytes *code);

/*
 * Go's goroutines return behind the first instruction of goexit(), a nop, where nobody has called: for
 * who looks before return addresses.
 */
bool outermost_is_goexit(const struct arch *arch, const struct stack_bytes *code);

#endif
