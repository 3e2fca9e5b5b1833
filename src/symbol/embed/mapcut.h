/*
 * mapcut.h - converts a perf map whose addresses were used more than once to a dump with times.
 *
 * In       a perf map and its marks (collect/record/growth.h); sampled addresses of the process
 * Out      a jitdump without code (JITDUMP_NAMES_ONLY), with the functions at these addresses in order of
 *          time: the first from the beginning, each later one from when it was in the file
 * Owns     nothing
 * Errors   none: nothing is added if no address was used twice, or the file is no longer readable
 */
#ifndef PACE_SYMBOL_MAPCUT_H
#define PACE_SYMBOL_MAPCUT_H

#include "collect/record/growth.h"
#include "symbol/embed/embedder.h"

/* `places`: n addresses, ascending. Returns whether there was anything to add. */
bool mapcut_add(struct embedder *e, int fd, const char *path, u32 pid, const struct growth *growth,
	const u64 *places, size_t n);

#endif
