/*
 * perfmap.h - the names that a JIT gives to its generated code, one line per function:
 * /tmp/perf-PID.map.
 *
 * In       bytes of the file, in pieces of any size
 * Out      the function at an address; where lines overlap, the later one counts
 * Owns     ranges and names
 * Units    absolute addresses of the process; ranges half-open
 * Errors   only perfmap_read(): ERR_SYS. Malformed lines are counted, and so is what exceeds
 *          PERFMAP_BYTES or PERFMAP_LINES: these limit the cost of a file of any size
 * Threads  perfmap_find() by any number after perfmap_finish()
 * Source   tools/perf/Documentation/jit-interface.txt of Linux: "START SIZE symbolname", hexadecimal
 *
 * The lines have no times: an address that was used twice has both names in the file. A recorder sees when
 * lines are added (collect/record/growth.h), and the recording then tells such addresses apart
 * (symbol/embed/mapcut.h).
 */
#ifndef PACE_SYMBOL_PERFMAP_H
#define PACE_SYMBOL_PERFMAP_H

#include "base/err.h"
#include "base/str.h"
#include "base/types.h"
#include "base/vec.h"

#define PERFMAP_BYTES (128ULL << 20)

enum {
	PERFMAP_LINES = 2 << 20,
	PERFMAP_NAME = 4096, /* longer names are cut */
};

struct perfmap_line {
	u64 start, end;
	const char *name;
};

struct perfmap_range {
	u64 start, end;
	u64 symbol; /* the start of the function's first range, which identifies the function */
	const char *name;
};

struct perfmap {
	VEC(struct perfmap_line) lines;   /* until perfmap_finish() */
	VEC(struct perfmap_range) ranges; /* afterwards: ascending, not overlapping */
	struct arena names;
	struct str line; /* the beginning of an incomplete line */
	bool is_overlong;
	u64 n_bytes, n_bad;
	bool is_cut; /* the file exceeds the limits */
};

void perfmap_init(struct perfmap *p);
void perfmap_fini(struct perfmap *p);

/* Adds the next n bytes of a file. Returns false when the limits are reached. */
bool perfmap_add(struct perfmap *p, const void *data, size_t n);

/* Call after the last byte. */
void perfmap_finish(struct perfmap *p);

/* Reads all of an open file, and calls perfmap_finish(). */
int perfmap_read(struct perfmap *p, int fd, struct err *err);

/* The range that covers an address, or NULL. */
const struct perfmap_range *perfmap_find(const struct perfmap *p, u64 address);

#endif
