/*
 * origin.h - where a function's name comes from, and how the function is displayed.
 *
 * In       a symbol: its name, its start, its origin
 * Out      the displayed name, the same in all outputs
 */
#ifndef PACE_SYMBOL_ORIGIN_H
#define PACE_SYMBOL_ORIGIN_H

#include "symbol/name/demangle.h"

enum origin {
	ORIGIN_NONE,  /* no function was found */
	ORIGIN_TABLE, /* a symbol table: of a file, the kernel, a JIT */
	ORIGIN_PLT,   /* a PLT entry, named after the function it calls */
	ORIGIN_CRT,   /* a program's start-up code (symbol/elf/crt): _start, main */
	ORIGIN_EXTENT, /* call frame information or code (symbol/resolve/extent): the function has no name */
};

/* Whether no symbol table has the name. */
static inline bool origin_is_made(enum origin o)
{
	return o == ORIGIN_CRT || o == ORIGIN_EXTENT;
}

/*
 * Returns "f(int)", "f@plt", or "fun_4220" after the start: in `strings`, or `name` itself. NULL for
 * ORIGIN_NONE.
 */
const char *origin_title(enum origin o, const char *name, u64 start, unsigned style,
	struct intern *strings);

#endif
