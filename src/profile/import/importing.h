/*
 * importing.h - common functions of importers: equal symbols, frames and stacks become one.
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
	VEC(u32) path;     /* frames, the outermost first */
	u64 held;          /* bytes that the importer's own tables take */
	u64 charged_at;    /* offset in the file at which the memory is checked again */
	u64 charged_names; /* likewise the bytes of names */
};

void importing_init(struct importing *b, const struct import *in, const struct import_options *o,
	struct profile *p);
void importing_fini(struct importing *b);

/* The DSO with that path and build, created if new. Texts are copied; `build` may be NULL. */
u32 importing_dso(struct importing *b, enum dso_kind kind, const char *path, const char *name,
	const char *build);

u32 importing_event(struct importing *b, const char *name, u32 n_group);

/* The symbol equal to *s, created if new; its name, mark, line and file must be interned in the profile. */
u32 importing_symbol(struct importing *b, const struct profile_symbol *s);

/* The frame with that symbol, address and inlined functions, outermost first; created if new. */
u32 importing_frame(struct importing *b, u32 symbol, u64 address, const u32 *inlined, u32 n);

/* The DSO of a mapping of that path, created if new: "[kernel.kallsyms]_text" is the kernel's. `build` may be NULL. */
u32 importing_mapped(struct importing *b, const char *path, const char *build);

/* A stack, for rows of several samples. */
struct importing_stack {
	u32 frame, callers;
	bool is_cut;
};

/* The stack of b->path, which must not be empty. */
struct importing_stack importing_stack(struct importing *b);
/* Adds a row; labels as in profile_add_row(). Does nothing if both numbers are 0. */
void importing_add_stack(struct importing *b, const struct importing_stack *stack, u32 event,
	u64 n_samples, u64 period, const u64 *labels);

/* Adds a row with b->path as its stack; labels as in profile_add_row(). Does nothing if both numbers are 0. */
void importing_add_row(struct importing *b, u32 event, u64 n_samples, u64 period,
	const u64 *labels);

/* Checks from time to time whether the profile up to `offset` takes too much memory; ERR_LIMIT if so. */
int importing_charge(struct importing *b, u64 offset, struct err *err);
/* Likewise after names were added, which a few bytes of the file may have named. */
int importing_charge_names(struct importing *b, u64 offset, struct err *err);

#endif
