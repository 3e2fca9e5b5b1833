/*
 * host.h - the machine that makes a recording, described for the recording's readers.
 *
 * In       uname(2), /proc/cpuinfo, /proc/meminfo, /sys/devices/system/{cpu,node,memory}
 * Out      struct host; what the machine does not tell is NULL, 0 or empty
 * Owns     its strings (one arena) and arrays
 * Source   Documentation/ABI/{stable,testing}/sysfs-devices-{node,system-cpu,memory}
 */
#ifndef PACE_COLLECT_HOST_H
#define PACE_COLLECT_HOST_H

#include "base/mem.h"
#include "base/types.h"
#include "base/vec.h"

struct host_cpu {
	u32 core, socket, die;
};

struct host_node {
	u32 number;
	u64 total_kb, free_kb;
	const char *cpus; /* "0-3" */
};

struct host_pmu {
	u32 type;
	const char *name;
};

struct host_cache {
	u32 level, line_bytes, sets, ways;
	const char *type, *size, *cpus; /* "Data", "32K", "0-1" */
};

struct host_memory { /* which memory blocks a node has */
	u64 node;
	u64 n_bits;
	u64 *bits;
};

typedef VEC(const char *) host_names;

struct host {
	const char *hostname, *release, *arch, *cpu_description, *cpuid;
	u32 cpus_available, cpus_online;
	u64 memory_kb;
	host_names core_siblings, thread_siblings, die_siblings; /* distinct CPU lists */
	VEC(struct host_cpu) cpus;
	bool has_dies;
	VEC(struct host_node) nodes;
	VEC(struct host_pmu) pmus;
	VEC(struct host_cache) caches;
	u64 memory_block_bytes;
	VEC(struct host_memory) memories;
	struct arena arena;
};

/* Reads this machine. `sys` and `proc` are "/sys" and "/proc", or a test's trees. */
void host_read(struct host *h, const char *sys, const char *proc);
void host_fini(struct host *h);

#endif
