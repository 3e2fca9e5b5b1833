/*
 * filelayout.h - the files that a tree's places are in, laid out as if each had been mapped once.
 *
 * Recordings have a file at another address in each process; formats with mappings want one. Files whose addresses are
 * offsets get a place of their own, one after the other; the kernel and others with absolute addresses stay where they are.
 * In       rows with places of addresses (FORM_WANTS_ADDRESSES)
 * Out      the files, and the address of each place in this layout
 * Owns     its arrays, not the texts, until filelayout_fini()
 */
#ifndef PACE_VIEW_FILELAYOUT_H
#define PACE_VIEW_FILELAYOUT_H

#include "base/table.h"
#include "base/vec.h"
#include "profile/rows/codekind.h"
#include "profile/rows/rowset.h"

struct filelayout_file {
	const char *dso, *build; /* build: NULL if it is not known */
	const char *name;        /* as tables show it */
	u64 low, high; /* the file's own addresses: first and last byte of its pages with places */
	u64 start;     /* where `low` is in the layout */
};

struct filelayout {
	const struct rowset *rows;
	VEC(struct filelayout_file) files;
	struct table index; /* of files */
	u32 *file_of;       /* by place; a thread's place has no file */
};

void filelayout_init(struct filelayout *l, const struct rowset *r);
void filelayout_fini(struct filelayout *l);

static inline const struct filelayout_file *filelayout_file(const struct filelayout *l, u32 place)
{
	return &l->files.at[l->file_of[place]];
}

/* Whether the file's own addresses are offsets in it. */
static inline bool filelayout_has_offsets(const struct filelayout_file *f)
{
	return f->dso[0] == '/';
}

/* Where the file ends in the layout. The end of the last page of all is not a number: it is its last byte. */
static inline u64 filelayout_limit(const struct filelayout_file *f)
{
	const u64 last = f->start + (f->high - f->low);

	return last + (last != UINT64_MAX);
}

/* Where a place is in the layout; one that is nowhere is where its file begins. */
static inline u64 filelayout_address(const struct filelayout *l, u32 place)
{
	const struct filelayout_file *f = filelayout_file(l, place);

	if (l->rows->places[place].kind == CODEKIND_CUT)
		return f->start;
	return l->rows->places[place].address - f->low + f->start;
}

#endif
