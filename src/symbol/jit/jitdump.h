/*
 * jitdump.h - reads a jitdump: a file in which a JIT records the code it generates, when it generates it.
 *
 * In       an open file, which may still be growing; both byte orders
 * Out      events in the order of the file: code was loaded, code was moved. Then, for an offset in the file,
 *          the function whose code is stored there, and its source line
 * Owns     the descriptor from jitdump_open() on; names
 * Units    `off` is an offset in the file: memory is reused, but each piece of code keeps its place in the
 *          file; times are ns of CLOCK_MONOTONIC unless has_other_clock
 * Errors   ERR_FORMAT: not a jitdump, or damaged, with the offset; ERR_SYS. Sizes are checked against
 *          the file and against limits before memory is allocated; malformed debug entries are skipped
 *          (V8 writes some)
 * Threads  jitdump_next() by one; the look-ups afterwards by any number
 * Source   tools/perf/Documentation/jitdump-specification.txt of Linux
 */
#ifndef PACE_SYMBOL_JITDUMP_H
#define PACE_SYMBOL_JITDUMP_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/str.h"
#include "base/table.h"
#include "base/types.h"
#include "base/vec.h"

enum {
	JITDUMP_RECORD = 16 << 20, /* most bytes of a record's fields */
	JITDUMP_CODES = 4 << 20,
	JITDUMP_LINES = 8 << 20,
	JITDUMP_UNWINDING = 1 << 20, /* most bytes per function */
	JITDUMP_NAME = 4096,         /* longer names are cut */
};

/* Our own flag: the dump was made from a perf map. It has no code, and its times are the recording's. */
#define JITDUMP_NAMES_ONLY (1ull << 63)

/* Our own record type, a filler of any size up to the next limit: it replaces records that were cut out. */
#define JITDUMP_NOTHING  0x7fff0000u
#define JITDUMP_HOLE_MAX 0x7ffffff0u

struct jitdump_line {
	u64 off; /* the line is valid from here on */
	const char *file;
	u32 line;
};

struct jitdump_code {
	u64 off, size;
	u64 va;    /* where it was first loaded */
	u64 index; /* the JIT's number of it; newer code may have it, too */
	const char *name;
	u32 first_line, n_lines;
	u64 unwind_off;                   /* of its .eh_frame, then .eh_frame_hdr */
	u32 unwind_size, unwind_hdr_size; /* of both together; of .eh_frame_hdr; 0: none */
};

struct jitdump_index { /* the JIT's number of a function, and the newest code with it */
	u64 index;
	u32 code;
};

/* Code is at [va, va + size) from now on. */
struct jitdump_event {
	u64 time_ns, va, off, size;
};

struct jitdump {
	int fd;
	bool swap;
	bool has_other_clock; /* times are those of the processor's counter */
	bool is_names_only;   /* JITDUMP_NAMES_ONLY */
	bool is_closed;       /* the JIT has written its last record */
	u16 machine;          /* EM_* */
	u64 at;               /* of the next record */
	struct str window;    /* bytes of the file from window_at on */
	u64 window_at;
	VEC(struct jitdump_code) codes; /* ascending by off */
	VEC(struct jitdump_index) indexes;
	struct table by_index; /* of indexes */
	VEC(struct jitdump_line) lines;
	u64 pending_va; /* address of lines that came before their code */
	u32 n_pending;
	u64 pending_unwind_off; /* the same for unwinding tables */
	u32 pending_unwind_size, pending_unwind_hdr_size;
	u64 n_bad_lines, n_unwinding;
	bool is_cut; /* limits were reached */
	struct intern strings;
};

/* Takes ownership of the descriptor, unless it fails. */
int jitdump_open(struct jitdump *d, int fd, struct err *err);
void jitdump_close(struct jitdump *d);

/*
 * Returns 1: an event; 0: the end of the file, for now; < 0: damaged, nothing more can be read.
 */
int jitdump_next(struct jitdump *d, struct jitdump_event *ret_event, struct err *err);

/* The function whose code is stored at `off`, or NULL. */
const struct jitdump_code *jitdump_find(const struct jitdump *d, u64 off);

/* Whether no newer code has the JIT's number of this function. */
bool jitdump_is_newest(const struct jitdump *d, const struct jitdump_code *code);

/* The newest function that was loaded at an address, or NULL. */
const struct jitdump_code *jitdump_find_loaded(const struct jitdump *d, u64 va);

/* The source line of the code at `off`, or NULL. */
const struct jitdump_line *jitdump_find_line(const struct jitdump *d, u64 off);

/* Reads exactly n bytes of the file at `off`. ERR_NOENT: the file is too short; ERR_SYS. */
int jitdump_read(const struct jitdump *d, u64 off, void *to, size_t n, struct err *err);

#endif
