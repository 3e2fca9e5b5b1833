/*
 * origin.h - what tells of a function, and what it is called for it.
 *
 * In       a symbol: its name, where it begins, its origin
 * Out      the name that people read, the same wherever it is shown
 */
#ifndef PACE_SYMBOL_ORIGIN_H
#define PACE_SYMBOL_ORIGIN_H

#include "symbol/name/demangle.h"

enum origin {
	ORIGIN_NONE,   /* no function is known */
	ORIGIN_TABLE,  /* a table of names: of a file, the kernel, a JIT */
	ORIGIN_PLT,    /* an entry of the PLT, with the name of the function it leads to */
	ORIGIN_CRT,    /* the code that programs begin with (symbol/elf/crt): _start, main */
	ORIGIN_EXTENT, /* call frame information or code (symbol/resolve/extent): it has no name */
};

/* Whether no table has the name. */
static inline bool origin_is_made(enum origin o)
{
	return o == ORIGIN_CRT || o == ORIGIN_EXTENT;
}

/*
 * "f(int)", "f@plt", "fun_4220" after where it begins: in `strings`, or `name` itself. NULL for
 * ORIGIN_NONE.
 */
const char *origin_title(enum origin o, const char *name, u64 start, unsigned style,
	struct intern *strings);

#endif
