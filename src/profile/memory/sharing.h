/*
 * sharing.h - the cache lines that CPUs take from each other.
 *
 * A load that finds its line modified in another core's cache (HITM) waits for that core. Processors that do not tell whether it was
 * modified (Arm's) tell that it came out of another core's cache (peer). Which lines those are, at which of
 * their bytes who reads and who writes them, tells what to move apart.
 * In       a scanned trace whose samples have addresses of data and DATA_SRC (c2c record, mem record)
 * Out      totals; lines, those with most HITM first; for each of them the places of code that use it, by offset
 * Owns     its lists
 * Units    addresses as the program has them; weights are cycles, where the processor says so
 * Errors   ERR_INVAL: no event has what it takes
 *
 * A line is told by its process and address; lines of several processes are one if their physical address is the same. Invariant:
 * the records of the lines sum to the total, less what has no address, no code or is neither load nor store.
 */
#ifndef PACE_PROFILE_SHARING_H
#define PACE_PROFILE_SHARING_H

#include "base/err.h"
#include "base/table.h"
#include "event/cpus.h"
#include "base/vec.h"
#include "record/datasrc.h"
#include "profile/memory/sharers.h"
#include "trace/pass.h"

enum { SHARING_LINE_BYTES = 64 };

struct sharing_count {
	u64 n; /* records */
	u64 kinds[DATASRC_KINDS];
};

/* A set of small numbers: CPUs, threads. */
struct sharing_set {
	VEC(u32) at; /* ascending */
};

struct sharing_line {
	u64 address; /* of its first byte */
	u32 pid;     /* that used it first */
	struct sharing_count count;
	struct sharing_set cpus, threads;
	size_t first_use, n_uses; /* in sharing->uses, once all are read */
};

/* What uses of one offset are told apart by; of what they are not, they have 0. */
enum sharing_by {
	SHARING_BY_PID = 1 << 0,
	SHARING_BY_TID = 1 << 1,
	SHARING_BY_CODE = 1 << 2, /* the instruction; then its file, too */
	SHARING_BY_DSO = 1 << 3,
};

/* Loads of lines out of other caches, by what lines are sorted and chosen. */
enum sharing_hot {
	SHARING_HOT_TOLD, /* HITM if there is any, else peers */
	SHARING_HOT_HITM,
	SHARING_HOT_PEER,
};

/* What the CPUs of one node did. */
struct sharing_at_node {
	u32 node;
	struct sharing_count count;
};

/* One place of code, or whatever else is told apart, that uses one offset of a line. */
struct sharing_use {
	u32 line;
	u32 offset;
	u32 number; /* told to profile/memory/sharers */
	u32 pid, tid;
	u32 dso;     /* dso->id */
	u64 address; /* in it, as map_offset() has it */
	struct sharing_count count;
	u64 remote_cycles, local_cycles,
		load_cycles; /* weights of loads with HITM, of the others */
	u64 remote_peer_cycles, local_peer_cycles;
	u64 n_other_loads;
	VEC(struct sharing_at_node) at_nodes; /* of known nodes */
	struct sharing_set cpus, threads;
	/* After sharing_name(): */
	const char *function; /* NULL: unknown */
	u64 function_offset;
	const char *dso_name; /* NULL: not told apart */
	const char *file;     /* NULL: unknown */
	u32 source_line;
};

/* By which a line is found: an address of a process, or a physical one. */
struct sharing_key {
	u64 address;
	u32 pid; /* UINT32_MAX: physical */
	u32 line;
};

/* A NUMA node of the machine that was recorded. */
struct sharing_node {
	u32 number;
	struct cpus cpus;
};

struct sharing {
	unsigned by;                    /* SHARING_BY_* */
	enum sharing_hot hot;           /* once all are read: not SHARING_HOT_TOLD */
	VEC(struct sharing_node) nodes; /* none: not recorded */
	VEC(struct sharing_line) lines;
	VEC(struct sharing_use) uses; /* by line, then what is hot, then stores */
	struct sharing_count total;
	u64 n_no_code; /* records whose code or data nothing is known of */
	VEC(struct sharing_key) keys;
	struct table key_index, use_index;
	struct intern strings;
	struct sharers *callers; /* NULL: not wanted */
};

/* Of an opened trace, which need not be scanned yet. */
int sharing_init(struct sharing *s, const struct trace *t, unsigned by, enum sharing_hot hot,
	struct err *err);
/*
 * What takes the accesses out of the samples of a pass; when that is over, all is in order. Their callers go
 * to `callers`; NULL: nobody wants them.
 */
struct visitor sharing_visitor(struct sharing *s, struct sharers *callers);
/* The nodes of CPUs, ascending; the set to be freed. */
struct sharing_set sharing_nodes(const struct sharing *s, const struct sharing_set *cpus);
/* Gives the uses of lines with HITM, peers or stores their names; `has_source`: and lines of source. */
void sharing_name(struct sharing *s, struct resolver *resolver, unsigned style, bool has_source);

void sharing_fini(struct sharing *s);

static inline u64 sharing_hitm(const struct sharing_count *c)
{
	return c->kinds[DATASRC_LOCAL_HITM] + c->kinds[DATASRC_REMOTE_HITM];
}

static inline u64 sharing_peers(const struct sharing_count *c)
{
	return c->kinds[DATASRC_LOCAL_PEER] + c->kinds[DATASRC_REMOTE_PEER];
}

/*
 * What a line is shared for. FALSE: each of its offsets is used by one thread alone, they only lie beside each other. TRUE: one
 * offset is written, and used by several threads. UNKNOWN: neither was seen.
 */
enum sharing_verdict { SHARING_UNKNOWN, SHARING_FALSE, SHARING_TRUE };
enum sharing_verdict sharing_judge(const struct sharing *s, const struct sharing_line *line,
	u32 *ret_offset);

#endif
