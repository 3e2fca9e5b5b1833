/*
 * runtime.h - which language runtime generated a process's code, and which of its options give that code names
 * and callers.
 *
 * In       a machine: the files that a process has, or had, mapped
 * Out      rows of a table
 */
#ifndef PACE_SYMBOL_RUNTIME_H
#define PACE_SYMBOL_RUNTIME_H

#include "base/str.h"
#include "machine/machine.h"

struct runtime {
	const char *program; /* prefix of the name of its program or library */
	const char *names;   /* how to start it so that functions have names */
	const char *callers; /* how to record so that stacks through them are found */
};

/* NULL: no known runtime. */
const struct runtime *runtime_of(const struct machine *m, u32 pid);

/*
 * Whether a file is an interpreter: its own functions are sampled in place of those that it interprets.
 * Appends what gives the interpreted functions names.
 */
bool runtime_is_interpreter(const char *name, struct str *remedy);

#endif
