/*
 * jitcut.h - a jitdump reduced to some of its functions.
 *
 * In       an open dump that jitdump_next() has read to its end; offsets in the code of the wanted functions
 * Out      pieces of the file, each at its own offset: the header, and the records of these functions, their
 *          lines and their moves
 * Owns     nothing
 * Errors   none: if the dump becomes unreadable the pieces end there
 *
 * Reading the pieces, with filler records between them, gives the same result for these offsets as reading
 * the whole dump.
 */
#ifndef PACE_SYMBOL_JITCUT_H
#define PACE_SYMBOL_JITCUT_H

#include "symbol/embed/embedder.h"
#include "symbol/jit/jitdump.h"

/* Adds the pieces for n ascending offsets, `left` bytes at most. Returns false if that was not enough. */
bool jitcut_add(struct embedder *e, const struct jitdump *d, const char *path, u32 pid,
	const u64 *places, size_t n, u64 left);

#endif
