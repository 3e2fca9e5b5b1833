/*
 * importing.h - what all importers do: symbols, frames and stacks that are the same become one.
 *
 *     importing_init() -> importing_begin(), importing_add() for each frame -> importing_end() -> ...
 *
 * In       frames with their names, the outermost first; numbers for each event
 * Out      rows of a profile
 * Owns     its tables and the path of the stack that is being added, until importing_fini()
 */
#ifndef PACE_PROFILE_IMPORTING_H
#define PACE_PROFILE_IMPORTING_H

#include "profile/import/import.h"

struct importing {
	struct profile *profile;
	const struct import_options *options;
	const struct import *in;
	struct table dso_index, symbol_index, frame_index;
	VEC(u32) path;  /* frames, the outermost first */
	u64 held;       /* bytes that the importer's own tables take */
	u64 charged_at; /* when the file was read so far the memory is looked at again */
};

void importing_init(struct importing *b, const struct import *in, const struct import_options *o,
	struct profile *p);
void importing_fini(struct importing *b);

/* The one of that path and build, created if new. Texts are copied; `build` may be NULL. */
u32 importing_dso(struct importing *b, enum dso_kind kind, const char *path, const char *name,
	const char *build);

u32 importing_event(struct importing *b, const char *name, u32 n_group);

/* The symbol that says the same, created if new: names, marks and lines are interned in the profile. */
u32 importing_symbol(struct importing *b, const struct profile_symbol *s);

/* The frame with that symbol at that address and what is inlined there, outermost first; created if new. */
u32 importing_frame(struct importing *b, u32 symbol, u64 address, const u32 *inlined, u32 n);

/* A row of the path, which stays; labels as of profile_add_row(). Nothing if both numbers are 0. */
void importing_add_row(struct importing *b, u32 event, u64 n_samples, u64 period,
	const u64 *labels);

/* What the file has said up to `offset` is charged, now and then. */
int importing_charge(struct importing *b, u64 offset, struct err *err);

#endif
