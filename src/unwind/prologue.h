/*
 * prologue.h - reads the first and the last instructions of functions, which make and undo their frames.
 *
 * Where no call frame information is valid, and in epilogues whose information still points to slots
 * that have been popped, the code itself says where the caller is. The code is read, not guessed: what is
 * uncertain yields no result.
 * In       code around an instruction; the registers there; a function that reads memory
 * Out      the caller's registers
 * Owns     nothing
 * Errors   false: the instruction is in neither place, or memory that is needed is missing
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
 * Executes the code that follows if it is nothing but the end of a function: frames undone, registers
 * restored, the return. Afterwards all registers are exact.
 */
bool prologue_return(struct prologue *e, u64 *ret_ip);

/*
 * Finds the caller of a function that has made no frame yet, or half of it: the instruction saves the
 * frame pointer, or is the next one.
 */
bool prologue_entry(struct prologue *e, u64 *ret_ip);

/* What the code from the function's start to the instruction has made. Requires code->into. */
enum arch_frame prologue_frame(const struct arch *arch, const struct stack_bytes *code);

enum prologue_call {
	PROLOGUE_CALL_UNKNOWN, /* through a pointer, or not visible */
	PROLOGUE_CALL_HERE,
	PROLOGUE_CALL_ELSEWHERE, /* to a stub that jumps here, or to another function */
};

/* Which function is called by the call before `code`, whose return address is `ip`. */
enum prologue_call prologue_call(const struct arch *arch, const struct stack_bytes *code, u64 ip,
	u64 function);

/*
 * Whether `code`, at a return address, follows a call, or is the beginning of a signal trampoline.
 * True also if the code is unknown.
 */
bool prologue_is_returned_to(const struct arch *arch, const struct stack_bytes *code);

/* Whether the instruction before `code` enters the kernel. */
bool prologue_is_behind_system_call(const struct arch *arch, const struct stack_bytes *code);

#endif
