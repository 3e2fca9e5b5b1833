/*
 * perfmap.h - the names of generated code that a JIT writes down, a line for each function:
 * /tmp/perf-PID.map.
 *
 * In       bytes of the file, in pieces of any size
 * Out      the function at an address: of lines that overlap, what the later one says
 * Owns     ranges and names
 * Units    absolute addresses of the process; ranges half-open
 * Errors   only perfmap_read(): ERR_SYS. Lines that are none are counted, and so is what is beyond
 *          PERFMAP_BYTES or PERFMAP_LINES: a file of any size costs no more than these
 * Threads  perfmap_find() by any number after perfmap_finish()
 * Source   tools/perf/Documentation/jit-interface.txt of Linux: "START SIZE symbolname", hexadecimal
 *
 * No line says from when on it holds: an address that was used twice has both names in the file. Who
 * records sees when lines come (collect/record/growth.h), and the recording tells such addresses apart
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
	u64 symbol; /* where the first range of this function begins: no other function has it */
	const char *name;
};

struct perfmap {
	VEC(struct perfmap_line) lines;   /* until perfmap_finish() */
	VEC(struct perfmap_range) ranges; /* afterwards: ascending, none overlaps another */
	struct arena names;
	struct str line; /* the beginning of one that is not complete */
	bool is_overlong;
	u64 n_bytes, n_bad;
	bool is_cut; /* there was more than the limits allow */
};

void perfmap_init(struct perfmap *p);
void perfmap_fini(struct perfmap *p);

/* Takes the next n bytes of a file; false when the limits are reached. */
bool perfmap_add(struct perfmap *p, const void *data, size_t n);

/* After the last byte. */
void perfmap_finish(struct perfmap *p);

/* All of an open file, perfmap_finish() included. */
int perfmap_read(struct perfmap *p, int fd, struct err *err);

/* The range that covers an address, or NULL. */
const struct perfmap_range *perfmap_find(const struct perfmap *p, u64 address);

#endif
