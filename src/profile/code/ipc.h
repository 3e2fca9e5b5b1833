/*
 * ipc.h - instructions per cycle of functions, from the cycles between branches and the code between them.
 *
 * In       straight runs of code with their cycles (profile/gather/blocks), sorted; a profile with names; the resolver
 *          that named it
 * Out      for each symbol of the profile the runs within it, and how much of its code they cover
 * Owns     its array
 * Errors   none: nothing is known of functions whose code is not there, or that no disassembler reads
 * Threads  one
 *
 * A run that leaves its function, or does not begin and end with instructions of it, is left out.
 */
#ifndef PACE_PROFILE_IPC_H
#define PACE_PROFILE_IPC_H

#include "profile/gather/blocks.h"
#include "profile/gather/profile.h"
#include "symbol/resolve/resolver.h"

struct ipc_function {
	u64 n_run, n_cycles; /* instructions and cycles of all runs, each as often as it was seen */
	u32 n_covered, n_code; /* instructions that are in runs; that the function has */
};

struct ipc {
	struct ipc_function *of; /* by symbol */
};

void ipc_init(struct ipc *i, const struct profile *p, const struct blocks *b, struct resolver *r);
void ipc_fini(struct ipc *i);

#endif
