/*
 * lineindexfile.h - the line indexes of one ELF file as bytes that are kept: written once, mapped back, and
 * used as they lie.
 *
 * In       pieces, units and line indexes; or bytes that nobody vouches for
 * Out      parts to be written one behind the other; a view of what was written
 * Owns     nothing; the line indexes are views into the bytes
 * Errors   none: what is of another version, for another file, or damaged, is as if it were not there.
 *          The directory and the text are checked at the start, each line index when it is asked for
 * Threads  any number may look into one
 *
 * It is for the machine that wrote it: numbers are in its order. A line index that was not read when it was
 * written has offset 0.
 */
#ifndef PACE_SYMBOL_LINEINDEXFILE_H
#define PACE_SYMBOL_LINEINDEXFILE_H

#include "record/record.h"
#include "symbol/find/cache.h"
#include "symbol/dwarf/dwarf.h"

/* What the line indexes were read from. */
struct lineindexfile_source {
	u8 id[BUILD_ID_MAX], id_size;
	u64 bytes;        /* of the ELF file */
	u64 sections;     /* lineindexfile_check() of its table of sections */
	const char *path; /* for people; not compared */
};

struct lineindexfile_entry {
	struct dwarf_unit unit;
	u64 off, size, check; /* of the line index's block; off 0: there is none */
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

/* False if it is of no use. `source` NULL: of any file, for looking what is there. */
bool lineindexfile_view(struct lineindexfile *f, const void *data, u64 size,
	const struct lineindexfile_source *source);

/* The line index of a unit; false if there is none, or if it is damaged. */
bool lineindexfile_sheet(const struct lineindexfile *f, u32 unit, struct lineindex *ret_sheet);

/* Makes the checksums right, as somebody would who means harm; for tests of what is behind them. */
void lineindexfile_mend(void *data, u64 size);

/* ---- writing ---- */

struct lineindexfile_maker {
	struct str front;   /* the head, pieces, directory and path */
	struct str text;    /* all texts, each once */
	struct table index; /* of them */
	VEC(struct cache_part) parts;
	VEC(struct lineindexfile_entry) units;
	u64 at; /* where the next block goes */
};

/*
 * Begins one for so many units; `before` is what there was, or NULL: its text is the beginning of the
 * new one, so that its blocks can be taken over as they are.
 */
void lineindexfile_begin(struct lineindexfile_maker *m, const struct dwarf_unit *units, u32 n,
	const struct lineindexfile *before);

/* Takes over a block of `before`. */
void lineindexfile_keep(struct lineindexfile_maker *m, u32 unit,
	const struct lineindexfile *before);

/* Adds a new line index; the offsets in its block become those of the common text. */
void lineindexfile_add(struct lineindexfile_maker *m, u32 unit, struct str *block,
	const struct str *text);

/* What is to be written is in m->parts, whose bytes are the maker's and the blocks'. */
void lineindexfile_end(struct lineindexfile_maker *m, const struct interval *pieces, u32 n_pieces,
	const struct lineindexfile_source *source);

void lineindexfile_maker_fini(struct lineindexfile_maker *m);

#endif
