/*
 * datasrc.h - where a memory access found its data, and what that counts as.
 *
 * In       PERF_SAMPLE_DATA_SRC, as the kernel fills it in; whether the sample has an address
 * Out      the kinds of access that it is, one bit each: a table in datasrc.c says which bits make which kind
 * Source   linux/perf_event.h, union perf_mem_data_src; perf-c2c(1) for the meaning of the kinds
 */
#ifndef PACE_RECORD_DATASRC_H
#define PACE_RECORD_DATASRC_H

#include "base/types.h"

enum datasrc_kind {
	DATASRC_LOCKED,
	DATASRC_BLOCKED_BY_DATA,
	DATASRC_BLOCKED_BY_ADDRESS,
	DATASRC_LOAD,
	DATASRC_LOAD_NO_ADDRESS,
	DATASRC_LOAD_UNCACHED,
	DATASRC_LOAD_IO,
	DATASRC_LOAD_FILL_BUFFER,
	DATASRC_LOAD_L1,
	DATASRC_LOAD_L2,
	DATASRC_LOAD_LLC,
	DATASRC_LOCAL_HITM, /* another core of this socket had it modified */
	DATASRC_REMOTE_HITM,
	DATASRC_REMOTE_HIT,
	DATASRC_LOCAL_PEER, /* from the cache of another core */
	DATASRC_REMOTE_PEER,
	DATASRC_LOCAL_DRAM,
	DATASRC_REMOTE_DRAM,
	DATASRC_LOAD_SHARED,
	DATASRC_LOAD_EXCLUSIVE,
	DATASRC_LOAD_MISS,
	DATASRC_STORE,
	DATASRC_STORE_NO_ADDRESS,
	DATASRC_STORE_UNCACHED,
	DATASRC_STORE_L1,
	DATASRC_STORE_L1_MISS,
	DATASRC_STORE_NO_LEVEL,
	DATASRC_UNKNOWN, /* neither load nor store */
	DATASRC_KINDS,
};

/* Bits 1 << enum datasrc_kind. */
u32 datasrc_kinds(u64 data_src, bool has_address);

/* The kind's name for machines, "load_l1", and for people, "Loads, L1". */
const char *datasrc_word(enum datasrc_kind kind);
const char *datasrc_title(enum datasrc_kind kind);

#endif
