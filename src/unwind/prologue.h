/*
 * prologue.h - the first and the last instructions of functions, which make their frames and undo them.
 *
 * Where no call frame information holds, and in epilogues whose information still points to slots
 * that have been popped, the code itself says where the caller is. It is read, not guessed: what is
 * not known for sure is no answer.
 * In       code around an instruction; the registers there; a function that reads memory
 * Out      the caller's registers
 * Owns     nothing
 * Errors   false: it is no such place, or memory that is needed is not there
 * Source   Intel SDM, volume 2; Arm ARM, C4; the calling conventions of the ABI supplements
 */
#ifndef PACE_UNWIND_PROLOGUE_H
#define PACE_UNWIND_PROLOGUE_H

#include "arch/arch.h"
#include "unwind/stack.h"

struct prologue {
	const struct arch *arch;
	struct stack_bytes code;
	u64 *regs;  /* by DWARF number: at the instruction, then the caller's */
	u64 *known; /* bit n: regs[n] has a value */
	bool (*read)(void *ctx, u64 va, unsigned size, u64 *ret_v);
	void *ctx;
};

/*
 * Plays what follows if that is nothing but the end of a function: frames undone, registers
 * restored, the return. All registers are exact then.
 */
bool prologue_return(struct prologue *e, u64 *ret_ip);

/*
 * The caller of a function whose frame is not made yet, or half: the instruction is the one that
 * saves the frame pointer, or follows it.
 */
bool prologue_entry(struct prologue *e, u64 *ret_ip);

/* What the code from the function's start up to the instruction has made; needs code->into. */
enum arch_frame prologue_frame(const struct arch *arch, const struct stack_bytes *code);

enum prologue_call {
	PROLOGUE_CALL_UNKNOWN, /* by a pointer, or it cannot be seen */
	PROLOGUE_CALL_HERE,
	PROLOGUE_CALL_ELSEWHERE, /* a stub that jumps here, or another function altogether */
};

/* Which function the call before `code`, at the return address `ip`, calls. */
enum prologue_call prologue_call(const struct arch *arch, const struct stack_bytes *code, u64 ip,
	u64 function);

/*
 * Whether `code`, at a return address, is behind a call, or at the beginning of a signal's trampoline.
 * True also if nothing is known of it.
 */
bool prologue_is_returned_to(const struct arch *arch, const struct stack_bytes *code);

/* Whether the instruction before `code` enters the kernel. */
bool prologue_is_behind_system_call(const struct arch *arch, const struct stack_bytes *code);

#endif
