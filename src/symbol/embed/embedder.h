/*
 * embedder.h - makes the section that symbol/embed/embedded reads.
 *
 * In       DSOs, one after the other, each with its segments, symbols, places and code; dumps
 * Out      the bytes of the section, packed
 * Owns     its tables; all input is copied
 * Errors   embedder_finish(): ERR_LIMIT if the section would be too large to be read again
 * Threads  one
 *
 * Callers must add distinct and sorted entries: duplicates are not removed.
 */
#ifndef PACE_SYMBOL_EMBEDDER_H
#define PACE_SYMBOL_EMBEDDER_H

#include "base/str.h"
#include "base/table.h"
#include "symbol/embed/embedded.h"

struct embedder {
	struct str strings;
	struct table strings_index; /* of `starts` */
	VEC(u32) starts;
	struct str bytes;
	VEC(struct embedded_dso) dsos;
	VEC(struct embedded_segment) segments;
	VEC(struct embedded_symbol) symbols;
	VEC(struct embedded_place) places;
	VEC(struct embedded_source) sources;
	struct table sources_index;
	VEC(struct embedded_code) code;
	VEC(struct embedded_dump) dumps;
	VEC(struct embedded_piece) pieces;
	VEC(struct embedded_frame) frames;
	VEC(struct embedded_section) sections;
};

void embedder_init(struct embedder *e);
void embedder_fini(struct embedder *e);

u32 embedder_string(struct embedder *e, const char *text); /* NULL: 0 */

/* Begins the next DSO: later additions belong to it. The result is valid until the next call. */
struct embedded_dso *embedder_add_dso(struct embedder *e, const struct dso *dso);
void embedder_add_segment(struct embedder *e, u64 offset, u64 va, u64 size);
void embedder_add_symbol(struct embedder *e, const struct embedded_name *name);
void embedder_add_place(struct embedder *e, u64 at, u32 symbol, u32 source, enum line_gap gap);
void embedder_add_code(struct embedder *e, u64 at, const void *p, u64 size);

/* See symbol/embed/frames: the entries first, then their sections, each with its pieces. */
void embedder_add_frame(struct embedder *e, u64 start, u64 end, u64 entry, u32 which);
void embedder_add_section(struct embedder *e, u32 which, u64 address, u64 size, u64 text, u64 data,
	u32 flags);
void embedder_add_section_piece(struct embedder *e, u64 offset, const void *p, u64 size);

/* Returns the number of the innermost of n frames, for embedded_place.source. */
u32 embedder_source(struct embedder *e, const struct line_frame *frames, size_t n);

/* Begins the next dump: later pieces belong to it. */
void embedder_add_dump(struct embedder *e, const char *path, u32 pid, u64 size);
void embedder_add_piece(struct embedder *e, u64 offset, const void *p, u64 size);

bool embedder_is_empty(const struct embedder *e);

/* Appends the section. */
int embedder_finish(struct embedder *e, struct str *out, struct err *err);

#endif
