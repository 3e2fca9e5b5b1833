/*
 * jitcut.h - a jitdump cut down to some of its functions.
 *
 * In       an open dump, which jitdump_next() has read to its end; places in the file that lie in the
 *          code of the functions wanted
 * Out      pieces of the file, each at its own place: its header, the records of these functions, of
 *          their lines, of where they were moved
 * Owns     nothing
 * Errors   none: a dump that cannot be read any more is cut there
 *
 * What reads the pieces, with records that mean nothing between them, finds the same for these places
 * as in the whole dump.
 */
#ifndef PACE_SYMBOL_JITCUT_H
#define PACE_SYMBOL_JITCUT_H

#include "symbol/embed/embedder.h"
#include "symbol/jit/jitdump.h"

/* n places, ascending. `left`: so many bytes at most. False if they were not enough. */
bool jitcut_add(struct embedder *e, const struct jitdump *d, const char *path, u32 pid,
	const u64 *places, size_t n, u64 left);

#endif
