/*
 * sharing.h - the cache lines that CPUs take from each other.
 *
 * A load that finds its line modified in another core's cache (HITM) waits for that core. Processors that do not
 * tell whether the line was modified (Arm) tell that it came from another core's cache (peer). Which lines these
 * are, and who reads and writes which of their bytes, tells what to move apart.
 * In       a scanned trace whose samples have addresses of data and DATA_SRC (c2c record, mem record)
 * Out      totals; lines, those with most HITM first; for each line the code that uses it, by offset
 * Owns     its lists
 * Units    addresses as the program has them; weights are cycles, where the processor says so
 * Errors   ERR_INVAL: no event has the fields it needs
 *
 * A line is identified by its process and address; lines of several processes with the same physical address are one
 * line. Invariant: the records of the lines sum to the total, less those without an address, without code, or
 * neither load nor store.
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
	u32 pid;     /* of the process that used it first */
	struct sharing_count count;
	struct sharing_set cpus, threads;
	size_t first_use, n_uses; /* in sharing->uses, once all are read */
};

/* The properties that separate the uses of one offset; the other properties of a use are 0. */
enum sharing_by {
	SHARING_BY_PID = 1 << 0,
	SHARING_BY_TID = 1 << 1,
	SHARING_BY_CODE = 1 << 2, /* the instruction, and so also its DSO */
	SHARING_BY_DSO = 1 << 3,
};

/* The kind of loads from other caches by which lines are sorted and chosen. */
enum sharing_hot {
	SHARING_HOT_TOLD, /* HITM if there is any, else peers */
	SHARING_HOT_HITM,
	SHARING_HOT_PEER,
};

/* The accesses by the CPUs of one node. */
struct sharing_at_node {
	u32 node;
	struct sharing_count count;
};

/* The use of one offset of a line by one place of code, or another combination of SHARING_BY_*. */
struct sharing_use {
	u32 line;
	u32 offset;
	u32 number; /* the use's number for profile/memory/sharers */
	u32 pid, tid;
	u32 dso;     /* dso->id */
	u64 address; /* in the DSO, as map_offset() returns it */
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
	const char *dso_name; /* NULL: uses are not separated by DSO */
	const char *file;     /* NULL: unknown */
	u32 source_line;
};

/* The key of a line: an address in a process, or a physical address. */
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
	unsigned by;          /* SHARING_BY_* */
	u32 line_bytes;       /* SHARING_LINE_BYTES; the caller may make it more, a power of two */
	enum sharing_hot hot; /* once all are read: not SHARING_HOT_TOLD */
	VEC(struct sharing_node) nodes; /* none: not recorded */
	VEC(struct sharing_line) lines;
	VEC(struct sharing_use) uses; /* by line, then what is hot, then stores */
	struct sharing_count total;
	u64 n_no_code; /* records whose code is in no map */
	VEC(struct sharing_key) keys;
	struct table key_index, use_index;
	struct intern strings;
	struct sharers *callers; /* NULL: not wanted */
};

/* The trace must be open; it need not be scanned yet. */
int sharing_init(struct sharing *s, const struct trace *t, unsigned by, enum sharing_hot hot,
	struct err *err);
/*
 * A visitor that counts the accesses in the samples of a pass; lines and uses are sorted when the pass is over. The
 * accesses' callers go to `callers`; NULL: they are not wanted.
 */
struct visitor sharing_visitor(struct sharing *s, struct sharers *callers);
/* The nodes of these CPUs, ascending; the caller frees the set. */
struct sharing_set sharing_nodes(const struct sharing *s, const struct sharing_set *cpus);
/* Names the functions of uses of lines with HITM, peers or stores; with has_source, also their source lines. */
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
 * The kind of sharing of a line. FALSE: no offset that is written is used by several threads; different data merely
 * share the line. TRUE: an offset is written, and used by several threads. UNKNOWN: neither was seen.
 */
enum sharing_verdict { SHARING_UNKNOWN, SHARING_FALSE, SHARING_TRUE };
enum sharing_verdict sharing_judge(const struct sharing *s, const struct sharing_line *line,
	u32 *ret_offset);

#endif
