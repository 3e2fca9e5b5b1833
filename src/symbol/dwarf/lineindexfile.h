/*
 * lineindexfile.h - stores the line indexes of one ELF file as bytes in the cache: written once, then mapped and
 * used in place.
 *
 * In       pieces, units and line indexes; or bytes that are not trusted
 * Out      parts to be written one after the other; a view of what was written
 * Owns     nothing; the line indexes are views into the bytes
 * Errors   none: bytes of another version, for another file, or damaged, count as absent.
 *          The directory and the text are checked at the start, each line index when it is used
 * Threads  any number may look into one
 *
 * It is for the machine that wrote it: numbers are in its byte order. A line index that had not been read when
 * the file was written has offset 0.
 */
#ifndef PACE_SYMBOL_LINEINDEXFILE_H
#define PACE_SYMBOL_LINEINDEXFILE_H

#include "record/record.h"
#include "symbol/find/cache.h"
#include "symbol/dwarf/dwarf.h"

/* Identifies the ELF file of the line indexes. */
struct lineindexfile_source {
	u8 id[BUILD_ID_MAX], id_size;
	u64 bytes;        /* of the ELF file */
	u64 sections;     /* lineindexfile_check() of its section headers */
	const char *path; /* for display; not compared */
};

struct lineindexfile_entry {
	struct dwarf_unit unit;
	u64 off, size, check; /* of the line index's block; off 0: none */
};

struct lineindexfile {
	const u8 *data;
	u64 size;
	const struct interval *pieces;
	u32 n_pieces, n_units;
	const struct lineindexfile_entry *units;
	const char *text;
	u64 text_size;
	const char *path; /* of the ELF file when it was written */
};

/* A checksum of our own, the same in all versions and on all machines of one byte order. */
u64 lineindexfile_check(const void *p, u64 n);

/* Returns false if the data cannot be used. `source` NULL: accept any ELF file, to list the contents. */
bool lineindexfile_view(struct lineindexfile *f, const void *data, u64 size,
	const struct lineindexfile_source *source);

/* The line index of a unit. Returns false if there is none, or if it is damaged. */
bool lineindexfile_unit(const struct lineindexfile *f, u32 unit, struct lineindex *ret);

/* Corrects the checksums, as an attacker would; for tests of the checks behind them. */
void lineindexfile_mend(void *data, u64 size);

/* ---- writing ---- */

struct lineindexfile_maker {
	struct str front;   /* the header, pieces, directory and path */
	struct str text;    /* all texts, each once */
	struct table index; /* of the texts */
	VEC(struct cache_part) parts;
	VEC(struct lineindexfile_entry) units;
	u64 at; /* offset of the next block */
};

/*
 * Begins a file for n units. `before` is the previous file, or NULL: its text becomes the beginning of the
 * new one, so that its blocks can be reused unchanged.
 */
void lineindexfile_begin(struct lineindexfile_maker *m, const struct dwarf_unit *units, u32 n,
	const struct lineindexfile *before);

/* Copies a block of `before`. */
void lineindexfile_keep(struct lineindexfile_maker *m, u32 unit,
	const struct lineindexfile *before);

/* Adds a new line index; the offsets in its block become those of the common text. */
void lineindexfile_add(struct lineindexfile_maker *m, u32 unit, struct str *block,
	const struct str *text);

/* Leaves the data to be written in m->parts, which point to memory of the maker and the blocks. */
void lineindexfile_end(struct lineindexfile_maker *m, const struct interval *pieces, u32 n_pieces,
	const struct lineindexfile_source *source);

void lineindexfile_maker_fini(struct lineindexfile_maker *m);

#endif
