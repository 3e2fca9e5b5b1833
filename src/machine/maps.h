/*
 * maps.h - an address space: which DSO lies where. A persistent tree.
 *
 * Adding a map gives a new tree and leaves the old one as it was; they share what did not change.
 * So keeping every state of every process costs O(log n) a change, and a forked child costs
 * nothing.
 * In       maps; a new one replaces what it overlaps, and the ends that it does not cover remain
 * Out      the map that covers an address
 * Owns     nodes in the arena of their maps_pool
 * Units    ranges are half-open, [start, end)
 * Threads  looking up is safe on any number of threads while nobody adds
 */
#ifndef PACE_MACHINE_MAPS_H
#define PACE_MACHINE_MAPS_H

#include "base/mem.h"
#include "base/types.h"
#include "machine/dso.h"

struct map {
	u64 start, end; /* va */
	/* What `start` is in the DSO: a file offset or, without a file, `start` itself. */
	u64 pgoff;
	struct dso *dso;
};

/* Where va lies in the map's DSO: a file offset or, without a file, va itself. */
static inline u64 map_offset(const struct map *m, u64 va)
{
	return va - m->start + m->pgoff;
}

/*
 * Whether a JIT's code may lie in the map: memory without a file, or a memfd, which JITs map twice, to
 * write and to run.
 */
static inline bool map_may_be_code(const struct map *m)
{
	return m->dso->kind == DSO_JIT || m->dso->kind == DSO_NONE ||
		(m->dso->kind == DSO_FILE && !strncmp(m->dso->path, "/memfd:", 7));
}

struct maps_node;

struct maps_pool {
	struct arena arena;
	u32 owner; /* nodes of this owner may be changed in place: no other tree has them yet */
	u64 n_added;
};

/* The map that covers va, or NULL. */
const struct map *maps_find(const struct maps_node *root, u64 va);

/* Whether any map overlaps [start, end). */
bool maps_overlaps(const struct maps_node *root, u64 start, u64 end);

/* The tree with `map` added. Bump pool->owner first unless the old tree is no longer needed. */
const struct maps_node *maps_add(struct maps_pool *pool, const struct maps_node *root,
	const struct map *map);

/* The tree without [start, end). */
const struct maps_node *maps_remove(struct maps_pool *pool, const struct maps_node *root, u64 start,
	u64 end);

/* A copy of the tree that shares nothing with it, in another pool. */
const struct maps_node *maps_copy(struct maps_pool *to, const struct maps_node *root);

/* Calls `each` for all maps in the order of addresses. */
void maps_each(const struct maps_node *root, void (*each)(void *ctx, const struct map *map),
	void *ctx);

#endif
