/*
 * sigframe.h - finds the code that a signal interrupted where no call frame information describes it: the
 * handler returns to a trampoline that makes the kernel restore the registers from the stack (musl's, Go's).
 *
 * In       the code at a return address; a walk in the trampoline
 * Out      the walk in the interrupted function, with all its registers
 * Errors   false, and the walk unchanged: the registers are not in the stack dump
 * Source   sigreturn(2); struct sigcontext in asm/sigcontext.h, struct ucontext in asm/ucontext.h;
 *          the frames' heads: rt_sigframe and sigframe in the kernel's arch/{x86,arm64}
 */
#ifndef PACE_UNWIND_SIGFRAME_H
#define PACE_UNWIND_SIGFRAME_H

#include "unwind/walk.h"

/* Whether this code does nothing but call rt_sigreturn(2) or sigreturn(2). */
bool sigframe_is_trampoline(const struct arch *arch, const struct stack_bytes *code);

bool sigframe_step(struct walk *w);

#endif
