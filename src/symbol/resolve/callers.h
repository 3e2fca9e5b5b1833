/*
 * callers.h - finds a sample's callers from its call chain, its registers and its stack dump.
 *
 * In       a machine; the samples' user registers and stack dumps; the DSOs' files, shared with the
 *          resolver of names
 * Out      one chain, in the kernel's form: the kernel's part as it was recorded, then the callers from the
 *          stack dump; and how the walk ended
 * Owns     callers: the call frame information in the recording, shared by all threads
 *          callers_walk: rows and the chain, one for each thread
 * Life     a chain is valid until the next one of the same walk
 * Errors   none: a missing file ends the stacks that lead through it
 * Threads  walks of different threads may share the callers if the machine had all DSOs in
 *          callers_init() or callers_settle(); until then there is one thread
 */
#ifndef PACE_SYMBOL_CALLERS_H
#define PACE_SYMBOL_CALLERS_H

#include <pthread.h>

#include "event/abi.h"
#include "machine/machine.h"
#include "symbol/resolve/dsofiles.h"
#include "symbol/embed/embedder.h"
#include "symbol/embed/jitcode.h"
#include "symbol/jit/livecode.h"
#include "unwind/lbr.h"
#include "unwind/stack.h"

enum { CALLERS_MAX_FRAMES = 1024, CALLERS_CODE = 1 << 20 };

struct callers_file;

struct callers {
	struct dso_files *files;
	const struct embedded
		*embedded;          /* what the recording contains is preferred; NULL: nothing */
	const struct arch *arch;    /* of the recording; NULL: unknown */
	struct callers_file **dsos; /* by dso->id; NULL: not searched yet */
	size_t n_dsos;
	pthread_mutex_t lock;
	const struct jitcode
		*jitcode; /* dumps with unwinding tables of generated code; NULL: none */
	/* Stitch branch records in call stack mode. One walk must then see all samples. */
	bool stitches;
	bool notes_looks; /* walks add to their `looks` */
	u32 n_branches;   /* the size of the processor's call stack; 0: unknown */
};

/* One piece of generated code. */
struct callers_code {
	u32 dso;
	u64 off;       /* of the code in its dump */
	u8 *tables;    /* its call frame information, which cfi points to */
	u8 *code;      /* NULL: not read yet */
	u32 code_size; /* how much of it was read */
	struct cfi cfi;
};

/* Where the code of a file decided how a walk went on. */
struct callers_look {
	u32 dso;
	u64 off;
};

struct callers_walk {
	struct callers *callers;
	struct stack stack;
	struct lbr lbr;
	VEC(struct callers_code *) codes;
	struct table codes_by_off;
	VEC(u64) chain;
	VEC(struct callers_look) looks; /* of all samples since the caller last emptied it */
	const struct space *space;      /* of the current sample */
	u32 pid;                        /* of the current sample */
	struct livecode live;           /* code read from processes that are being recorded */
};

/* `arch` as uname -m says it; NULL: this machine's. */
void callers_init(struct callers *c, struct dso_files *files, const char *arch);
void callers_fini(struct callers *c);

/* Call when the machine has all its DSOs. */
void callers_settle(struct callers *c);

/*
 * For recorders that run for days: closes the files that no process of the machine has mapped any more, once they
 * are most of the open ones, and starts `w`, the only walk, anew. Returns whether it did. A file that is mapped
 * again later is opened again.
 */
bool callers_forget(struct callers *c, struct callers_walk *w);

void callers_walk_init(struct callers_walk *w, struct callers *callers);
void callers_walk_fini(struct callers_walk *w);

/*
 * Finds the sample's chain, with the user part from the stack dump. Returns false if the sample has no dump: then
 * only its own chain is available. `mask`: its registers.
 */
bool callers_find(struct callers_walk *w, const struct space *user, u64 mask,
	const struct sample *sample, struct sample_words *ret_chain, struct stack_end *ret_end);

/*
 * The same from a stack dump or from branch records, depending on the sample's format and mode. Returns false if
 * only its own chain is available.
 */
bool callers_of_sample(struct callers_walk *w, const struct space *user,
	const struct sample_format *format, const struct sample *sample, u8 mode,
	struct sample_words *ret_chain, struct stack_end *ret_end);

/* Whether samples of this format may have callers in a stack dump or in branch records. */
static inline bool callers_has_source(const struct sample_format *format)
{
	return (format->type & PERF_SAMPLE_REGS_USER && format->type & PERF_SAMPLE_STACK_USER) ||
		(format->type & PERF_SAMPLE_BRANCH_STACK &&
			format->branch_type & PERF_SAMPLE_BRANCH_CALL_STACK);
}

/* Adds to the embedder's last DSO what unwinding needs at n ascending addresses (rva). */
void callers_embed(struct callers *c, const struct dso *dso, const u64 *at, size_t n,
	struct embedder *e);

#endif
