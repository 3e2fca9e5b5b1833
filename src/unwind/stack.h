/*
 * stack.h - from the registers and a piece of the stack of a thread to its callers.
 *
 * In       registers as samples have them, the bytes that lay at and above the stack pointer; where
 *          code lies, from a function of the caller's
 * Out      the chain, in the form that the kernel's chains have (unwind/chain.h): a marker before
 *          each address that was interrupted, return addresses behind it; and how it ended
 * Owns     rows of functions met before
 * Life     the chain is valid until the next walk
 * Errors   none: every stack has an ending
 * Threads  one; several may share the cfi they find
 * Source   perf_event_open(2), PERF_SAMPLE_STACK_USER
 *
 * Where a function has no call frame information, its code is asked where it is between making and
 * undoing its frame (unwind/prologue.h), and else its frame pointer is followed, if the function keeps
 * one and what is found there is behind a call. Nothing but the dump is read: what lies above it was
 * not recorded; but where the kernel's chain by frame pointers was, too, that may lead further
 * (unwind/bychain.h). Chains of the kernel alone have no repair, since what lies between their frames was
 * not recorded at all.
 *
 * Nothing is left for another unwinder (libdwfl): rows express every instruction of DWARF 5 and of
 * GNU's, expressions every operation that call frame information may use; `rows --check` (in tests)
 * compiles all functions of all files that it is given.
 */
#ifndef PACE_UNWIND_STACK_H
#define PACE_UNWIND_STACK_H

#include "base/memo.h"
#include "record/sample.h"
#include "unwind/rows.h"

struct arch;

/* How a stack ended: at its root, or why before. */
enum stack_ending {
	STACK_COMPLETE,
	STACK_DUMP_TOO_SMALL, /* the next frame lies above what was recorded */
	STACK_NO_CFI,         /* a file says nothing of the function, and no frame pointer helps */
	STACK_NO_FILE,        /* the file is not here, or is another build */
	STACK_NO_CODE_FILE,   /* code that was made at run time */
	STACK_NO_MAP,         /* a return address to where no map is */
	/* likewise in a chain that was followed by frame pointers: somebody kept none */
	STACK_NO_FRAME_POINTER,
	STACK_TOO_DEEP, /* more frames than were asked for */
	STACK_CORRUPT,  /* the frames contradict each other */
	STACK_OTHER_ARCH,
	STACK_ELSEWHERE, /* callers on another stack: a signal came there (sigaltstack), or it was changed */
	STACK_NOT_COPIED,  /* the dump is empty, or ends early: the kernel found no memory there */
	STACK_NO_REGISTER, /* the frame is found by a register that nobody has told */
	STACK_CALLS_FORGOTTEN, /* deeper than the processor remembers calls (unwind/lbr.h) */
	STACK_ENDINGS,
};

/* What is known of the code at an address. */
struct stack_code {
	const struct cfi *cfi; /* NULL: `ending` says why not */
	u64 rva;
	u32 dso;
	enum stack_ending ending;
	bool is_code;    /* there is a map: it may be returned to */
	bool is_lasting; /* the same will be found for this place next time */
};

#define STACK_START_UNKNOWN UINT64_MAX

/* The instructions at and around an address. */
struct stack_bytes {
	const u8 *at; /* NULL: nothing is known */
	u32 n_before, n_after;
	u64 into;      /* how far into its function the address is, or STACK_START_UNKNOWN */
	bool is_entry; /* the function is where the kernel starts the program: nobody called it */
	bool is_main;  /* it is the program's main */
};

struct stack_places {
	void (*find)(void *ctx, u64 ip, struct stack_code *ret_code);
	void *ctx;
	u32 space; /* addresses mean the same wherever this is the same */
	/* Asked for few addresses only; NULL: no code can be had. */
	void (*look)(void *ctx, u64 ip, struct stack_bytes *ret_bytes);
	/* What lies at a return address in code of no file; NULL: nobody can look there. */
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
	u32 dso; /* where the last frame is */
	u64 sp;  /* where the stack pointer was; 0: there was no dump */
	u64 top; /* where the last frame is on the stack; the end of a dump that is not full */
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

/* Walks one stack: the chain is in s->chain. */
struct stack_end stack_walk(struct stack *s, const struct stack_input *in,
	const struct stack_places *places);

#endif
