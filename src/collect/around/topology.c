#include "collect/around/topology.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/sysfile.h"

enum { CACHES_MAX = 16 };

static s32 number_of(const char *sys, u32 cpu, const char *file, s32 otherwise)
{
	char path[512];
	s64 v;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%u/%s", sys, cpu, file);
	/* arm64 gives -1 or 65535 for a level that does not exist. */
	return sysfile_s64(path, &v) && v >= 0 && v != 65535 ? (s32)v : otherwise;
}

/* A CPU's folder has a link to its node's folder. */
static s32 node_of(const char *sys, u32 cpu)
{
	char path[512];
	struct dirent *entry;
	s32 node = -1;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%u", sys, cpu);
	dir = opendir(path);
	while (dir && node < 0 && (entry = readdir(dir)) != NULL) {
		const char *p = entry->d_name + 4;
		u64 n;

		if (!strncmp(entry->d_name, "node", 4) && num_scan(&p, 10, &n) && !*p)
			node = (s32)n;
	}
	if (dir)
		closedir(dir);
	return node;
}

/*
 * Finds the caches, and which is that of the highest level. Kernels before 4.11 do not number caches: their first CPU
 * stands for them.
 */
static void read_cache(struct topology *t, const char *sys, u32 cpu)
{
	for (unsigned i = 0; i < CACHES_MAX; i++) {
		char file[64], path[512], list[256];
		s32 level, number;

		snprintf(file, sizeof(file), "cache/index%u/level", i);
		level = number_of(sys, cpu, file, 0);
		if (level <= 0 || level >= TOPOLOGY_LEVELS || t->caches[level])
			continue;
		snprintf(path, sizeof(path),
			"%s/devices/system/cpu/cpu%u/cache/index%u/shared_cpu_list", sys, cpu, i);
		number = sysfile_line(path, list, sizeof(list)) ? atoi(list) : (s32)cpu;
		snprintf(file, sizeof(file), "cache/index%u/id", i);
		number = number_of(sys, cpu, file, number);
		t->caches[level] = number + 1;
		if (level <= t->cache_level)
			continue;
		t->cache_level = level;
		t->cache = number;
	}
}

void topology_read(struct topology *t, const char *sys, u32 cpu)
{
	*t = (struct topology){.socket = number_of(sys, cpu, "topology/physical_package_id", 0),
		.die = number_of(sys, cpu, "topology/die_id", 0),
		.cluster = number_of(sys, cpu, "topology/cluster_id", 0),
		.core = number_of(sys, cpu, "topology/core_id", 0),
		.node = node_of(sys, cpu)};
	read_cache(t, sys, cpu);
}
