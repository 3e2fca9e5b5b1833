/*
 * runtime.h - which language's runtime made a process's code while it ran, and what has to be said to it so
 * that this code has names and callers.
 *
 * In       a machine: the files that a process has, or had, mapped
 * Out      rows of a table
 */
#ifndef PACE_SYMBOL_RUNTIME_H
#define PACE_SYMBOL_RUNTIME_H

#include "base/str.h"
#include "machine/machine.h"

struct runtime {
	const char *program; /* its file, or a library of it: how the name begins */
	const char *names;   /* how it is started so that functions have names */
	const char *callers; /* how stacks are found through them */
};

/* NULL: none that is known. */
const struct runtime *runtime_of(const struct machine *m, u32 pid);

/*
 * Whether a file is an interpreter, whose own functions are seen where those that it runs are meant; what
 * gives them names is appended.
 */
bool runtime_is_interpreter(const char *name, struct str *remedy);

#endif
