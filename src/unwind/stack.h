/*
 * stack.h - unwinds a thread's stack, given its registers and a copy of the top of the stack.
 *
 * In       registers as samples have them, the bytes at and above the stack pointer; a callback that finds
 *          the code at an address
 * Out      the chain, in the form of the kernel's chains (unwind/chain.h): a marker before each address
 *          that was interrupted, then return addresses; and how the walk ended
 * Owns     the rows of functions met so far
 * Life     the chain is valid until the next walk
 * Errors   none: every stack has an ending
 * Threads  one; several may share the cfi they find
 * Source   perf_event_open(2), PERF_SAMPLE_STACK_USER
 *
 * Where a function has no call frame information, its code is searched for a prologue or epilogue around the
 * instruction (unwind/prologue.h). Failing that, its frame pointer is followed, if the function keeps one and
 * the return address found follows a call. Only the dump is read: what lies above it was not recorded. If
 * the kernel's chain by frame pointers was recorded, too, it may lead further (unwind/bychain.h). Samples
 * that have only the kernel's chain cannot be repaired, since the stack between the frames was not recorded.
 *
 * There is no fall-back to another unwinder (libdwfl): rows support every instruction of DWARF 5 and the
 * GNU extensions, expressions every operation that call frame information may use; `rows --check` (in tests)
 * compiles all functions of all files that it is given.
 */
#ifndef PACE_UNWIND_STACK_H
#define PACE_UNWIND_STACK_H

#include "base/memo.h"
#include "record/sample.h"
#include "unwind/rows.h"

struct arch;

/* How a walk ended: at the stack's root, or why it stopped before. */
enum stack_ending {
	STACK_COMPLETE,
	STACK_DUMP_TOO_SMALL, /* the next frame lies above what was recorded */
	STACK_NO_CFI,  /* the file does not describe the function, and no frame pointer helps */
	STACK_NO_FILE, /* the file is missing here, or is another build */
	STACK_NO_CODE_FILE, /* code generated at run time */
	STACK_NO_MAP,       /* a return address that no map covers */
	/* the same in a chain made by following frame pointers: a function kept none */
	STACK_NO_FRAME_POINTER,
	STACK_TOO_DEEP, /* more frames than the limit */
	STACK_CORRUPT,  /* the frames contradict each other */
	STACK_OTHER_ARCH,
	STACK_ELSEWHERE, /* callers on another stack: a signal came there (sigaltstack), or it was changed */
	STACK_NOT_COPIED,      /* the dump is empty or short: the kernel found no memory there */
	STACK_NO_REGISTER,     /* the frame is found by a register whose value is unknown */
	STACK_CALLS_FORGOTTEN, /* deeper than the processor's call records (unwind/lbr.h) */
	STACK_ENDINGS,
	/* No ending but a gap: the callers are those of code that ran after a transaction was aborted. */
	STACK_GAP_ABORT,
};

/* What is known about the code at an address. */
struct stack_code {
	const struct cfi *cfi; /* NULL: `ending` says why not */
	u64 rva;
	u32 dso;
	enum stack_ending ending;
	bool is_code;    /* a map covers it: it can be a return address */
	bool is_lasting; /* a later lookup of this address will find the same */
};

#define STACK_START_UNKNOWN UINT64_MAX

/* The instructions at and around an address. */
struct stack_bytes {
	const u8 *at; /* NULL: the code is unknown */
	u32 n_before, n_after;
	u64 into;      /* distance from the function's start, or STACK_START_UNKNOWN */
	bool is_entry; /* the kernel starts the program in this function: it has no caller */
	bool is_main;  /* the program's main */
};

struct stack_places {
	void (*find)(void *ctx, u64 ip, struct stack_code *ret_code);
	void *ctx;
	u32 space; /* the address space: equal numbers mean equal contents */
	/* Called for few addresses only; NULL: no code is available. */
	void (*look)(void *ctx, u64 ip, struct stack_bytes *ret_bytes);
	/* Fetches the bytes at a return address in code without a file; NULL: not possible. */
	void (*peek)(void *ctx, u64 ip, struct stack_bytes *ret_bytes);
};

struct stack_input {
	const struct arch *arch;
	u64 mask; /* which registers */
	const struct sample_regs *regs;
	const struct sample_stack *stack;
	u32 max_frames;
	const struct sample_words *chain; /* the kernel's, by frame pointers; NULL: there is none */
};

struct stack_end {
	enum stack_ending ending;
	u32 dso; /* of the last frame */
	u64 sp;  /* the stack pointer's value; 0: there was no dump */
	u64 top; /* where on the stack the last frame is; or the end of a dump that is not full */
};

struct stack_remembered {
	u64 ip;
	u32 space;
	u32 row, function;
	struct stack_code code;
};

struct stack {
	struct rows rows;
	struct memo memo;        /* over `remembered` */
	struct flow_memo *flows; /* NULL until code without call frame information is met */
	VEC(struct stack_remembered) remembered;
	VEC(u64) chain;
	u64 n_frames; /* walked so far */
};

void stack_init(struct stack *s);
void stack_fini(struct stack *s);

/* Walks one stack and leaves the chain in s->chain. */
struct stack_end stack_walk(struct stack *s, const struct stack_input *in,
	const struct stack_places *places);

#endif
