/*
 * outermost.h - recognises the outermost frame of a thread: code that ends by exit(2) instead of returning.
 * It has no callers, though nothing marks it as the last frame (musl's __clone).
 *
 * In       the code at a return address
 * Out      whether nothing follows but the exit of the thread or the process
 * Errors   false also if nothing is known
 * Source   the system calls' numbers: asm/unistd_64.h, unistd_32.h, asm-generic/unistd.h
 */
#ifndef PACE_UNWIND_OUTERMOST_H
#define PACE_UNWIND_OUTERMOST_H

#include "unwind/stack.h"

bool outermost_is_exit(const struct arch *arch, const struct stack_bytes *code);

/*
 * Whether this is Go's goexit(). Goroutines return behind its first instruction, a nop, where no call was
 * made: callers that look for a call before a return address ask this too.
 */
bool outermost_is_goexit(const struct arch *arch, const struct stack_bytes *code);

#endif
