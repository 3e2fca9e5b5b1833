/*
 * topology.h - the units that a CPU is part of.
 *
 * Out      numbers as the kernel gives them; 0 if it gives none, -1 for a NUMA node
 * Source   Documentation/ABI/stable/sysfs-devices-system-cpu
 */
#ifndef PACE_COLLECT_TOPOLOGY_H
#define PACE_COLLECT_TOPOLOGY_H

#include "base/types.h"

enum { TOPOLOGY_LEVELS = 6 };

struct topology {
	s32 socket, die, cluster, core, node;
	s32 cache; /* number of its last-level cache */
	s32 cache_level;
	/* Of each level: 1 + the number of its cache of data, 0 if there is none. */
	s32 caches[TOPOLOGY_LEVELS];
};

/* `sys` is "/sys", or a test's tree. */
void topology_read(struct topology *t, const char *sys, u32 cpu);

#endif
