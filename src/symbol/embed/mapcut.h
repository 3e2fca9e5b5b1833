/*
 * mapcut.h - a perf map whose addresses were used more than once, as a dump with times.
 *
 * In       a perf map and its marks (collect/record/growth.h); places of the process that were sampled
 * Out      a jitdump without code (JITDUMP_NAMES_ONLY), with the functions that were at these places
 *          one after the other: the first since ever, each later one since it was in the file
 * Owns     nothing
 * Errors   none: nothing is added where nothing was used twice, or the file cannot be read any more
 */
#ifndef PACE_SYMBOL_MAPCUT_H
#define PACE_SYMBOL_MAPCUT_H

#include "collect/record/growth.h"
#include "symbol/embed/embedder.h"

/* `places`: n addresses, ascending. Whether there was anything to add. */
bool mapcut_add(struct embedder *e, int fd, const char *path, u32 pid, const struct growth *growth,
	const u64 *places, size_t n);

#endif
