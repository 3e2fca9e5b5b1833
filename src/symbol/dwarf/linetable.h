/*
 * linetable.h - the line table of one unit: rows, and the names of its files.
 *
 * In       the bytes of .debug_line, .debug_line_str and .debug_str (or their .dwo variants): versions 2 to
 *          5, of either byte order, 32 and 64 bit
 * Out      rows in the order of the file; paths, each composed once
 * Owns     the parsed header; paths are in an arena of the caller
 * Life     the sections must stay; paths are valid as long as the arena and the sections
 * Errors   ERR_FORMAT, ERR_LIMIT. The rows before malformed data are returned
 * Source   DWARF 5, 6.2; DWARF 2 to 4 for older ones
 *
 * libdw allocates each row, sorts them all, and loses a whole table for one wrong byte at its end.
 */
#ifndef PACE_SYMBOL_LINETABLE_H
#define PACE_SYMBOL_LINETABLE_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"

struct linetable_sections {
	struct bytes line, line_str, str;
};

struct linetable_file {
	const char *name;
	const char *path; /* NULL: not composed yet */
	u64 dir;          /* index in `dirs` */
};

struct linetable_row {
	u64 address;
	u64 file; /* for linetable_path() */
	u32 line, column;
	bool is_end; /* of a sequence: the address is the first one after it */
};

/* What an opcode adds to the registers before it emits a row. */
struct linetable_step {
	u16 operations;
	int16_t lines;
};

struct linetable {
	const struct linetable_sections *sections;
	struct arena *texts;
	u16 version;
	u8 address_bytes, offset_bytes;
	u8 least_bytes, most_operations; /* of an instruction */
	u8 line_range, opcode_base;
	const u8 *operands; /* how many operands each standard opcode has, from 1 on */
	VEC(const char *) dirs;
	VEC(struct linetable_file) files;
	struct bytes program, rest;                 /* the whole program, and the rest of it */
	struct linetable_step steps[UINT8_MAX + 1]; /* of special opcodes */
	struct linetable_row row;                   /* the registers */
	u8 operation;  /* index within an instruction of several operations */
	bool is_wrong; /* the program ended unexpectedly */
};

enum { LINETABLE_BYTES_MAX = 64 << 20 }; /* no real table is larger */

/* The size of the table at `offset` according to its header; 0 if there is none. */
u64 linetable_size(const struct linetable_sections *s, u64 offset);

/*
 * Reads the header of the table at `offset`. dir: where the unit was compiled, NULL if unknown; address_bytes: of
 * the unit. After an error the table is empty. A used table may be opened again: it keeps its memory.
 */
int linetable_open(struct linetable *t, const struct linetable_sections *s, u64 offset,
	const char *dir, u8 address_bytes, struct arena *texts, struct err *err);
void linetable_fini(struct linetable *t);

/* Starts again from the first row. */
void linetable_rewind(struct linetable *t);

/* Returns false at the end. */
bool linetable_next(struct linetable *t, struct linetable_row *ret_row);

/* The path of a file: absolute, or relative to the folder where the unit was compiled; NULL: unknown. */
const char *linetable_path(struct linetable *t, u64 file);

#endif
