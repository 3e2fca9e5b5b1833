/*
 * callers.h - a sample's callers, out of its call chain, its registers and its stack dump.
 *
 * In       a machine; the samples' user registers and stack dumps; the files of the DSOs, found as
 *          for names
 * Out      one chain, in the kernel's form: the kernel's part as it was recorded, then what the
 *          stack dump gives; and how the stack ended
 * Owns     callers: opened files and their call frame information, shared by all threads
 *          callers_walk: rows and the chain, one for each thread
 * Life     a chain is valid until the next one of the same walk
 * Errors   none: a file that is missing ends the stacks that lead through it
 * Threads  walks of different threads may share the callers if the machine had all DSOs in
 *          callers_init(); who follows a stream has one thread
 */
#ifndef PACE_SYMBOL_CALLERS_H
#define PACE_SYMBOL_CALLERS_H

#include <pthread.h>

#include "machine/machine.h"
#include "symbol/embedder.h"
#include "symbol/find.h"
#include "unwind/stack.h"

enum { CALLERS_MAX_FRAMES = 1024 };

struct callers_file;

struct callers {
	const struct machine *machine;
	struct find_places places;
	const struct embedded *embedded; /* what the recording carries comes first; NULL: nothing */
	const char *arch;                /* of the recording, as uname -m says it */
	struct callers_file **files;     /* by dso->id; NULL: not looked for yet */
	size_t n_files;
	pthread_mutex_t lock;
};

struct callers_walk {
	struct callers *callers;
	struct stack stack;
	VEC(u64) chain;
	const struct space *space; /* of the sample at hand */
};

/* `arch` NULL: this machine's. */
void callers_init(struct callers *c, const struct machine *machine,
	const struct find_places *places, const char *arch);
void callers_fini(struct callers *c);

void callers_walk_init(struct callers_walk *w, struct callers *callers);
void callers_walk_fini(struct callers_walk *w);

/*
 * The sample's chain with its user part taken from the stack dump. False if the sample has none: its
 * own chain is all there is. `mask`: the registers that it carries.
 */
bool callers_find(struct callers_walk *w, const struct space *user, u64 mask,
	const struct sample *sample, struct sample_words *ret_chain, struct stack_end *ret_end);

/* Into the DSO that the embedder got last: what unwinding needs at n ascending addresses (rva). */
void callers_embed(struct callers *c, const struct dso *dso, const u64 *at, size_t n,
	struct embedder *e);

#endif
