/*
 * accessclass.h - the classes that a memory access belongs to (PERF_SAMPLE_DATA_SRC), one of each field.
 *
 * In       the word that the kernel writes
 * Out      for each field one class: what the access did, or where it found what it looked for; the last class is all others
 * Owns     nothing
 * Source   perf-mem(1): the output fields of perf 7.2; linux/perf_event.h: union perf_mem_data_src
 *
 * Caches and memories are told by mem_lvl_num, which kernels write since Linux 4.14: accesses of older recordings are
 * among the others.
 */
#ifndef PACE_RECORD_ACCESSCLASS_H
#define PACE_RECORD_ACCESSCLASS_H

#include "base/types.h"

enum accessclass_field {
	ACCESSCLASS_OP,
	ACCESSCLASS_CACHE,
	ACCESSCLASS_MEMORY,
	ACCESSCLASS_DTLB,
	ACCESSCLASS_SNOOP,
	ACCESSCLASS_FIELDS,
};

enum accessclass_op { OP_LOAD, OP_STORE, OP_LOAD_STORE, OP_PREFETCH, OP_EXEC, OP_OTHER, OPS };
enum accessclass_cache {
	CACHE_L1,
	CACHE_L2,
	CACHE_L3,
	CACHE_L4,
	CACHE_L1_BUFFER,
	CACHE_L2_BUFFER,
	CACHE_OTHER,
	CACHES
};
enum accessclass_memory {
	MEMORY_RAM,
	MEMORY_SIDE_CACHE,
	MEMORY_UNCACHED,
	MEMORY_CXL,
	MEMORY_IO,
	MEMORY_PERSISTENT,
	MEMORY_OTHER,
	MEMORIES
};
enum accessclass_dtlb { DTLB_L1, DTLB_L2, DTLB_ANY, DTLB_MISS, DTLB_OTHER, DTLBS };
enum accessclass_snoop { SNOOP_HIT, SNOOP_HITM, SNOOP_MISS, SNOOP_OTHER, SNOOPS };

unsigned accessclass_of(u64 data_src, enum accessclass_field field);

#endif
