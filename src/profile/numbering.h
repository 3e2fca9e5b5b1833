/*
 * numbering.h - which record of the file a record is, told by where it stands.
 *
 * A second walk, as far ahead as the stream that hands records out in the order of time; only the
 * places that are still awaited are kept.
 * In       a reader, and offsets of its records in any order, each once
 * Out      numbers from 0; none for pipes, directories and packed records
 * Owns     its cursor
 * Threads  one
 */
#ifndef PACE_PROFILE_NUMBERING_H
#define PACE_PROFILE_NUMBERING_H

#include "base/vec.h"
#include "file/reader.h"

struct numbering {
	bool is_possible, has_cursor, has_ended;
	struct reader_cursor cursor;
	VEC(u64) offsets; /* ascending; the highest bit: nobody asks for it again */
	size_t n_asked;   /* so many at the beginning need not be kept */
	u64 first;        /* the number of offsets.at[0] */
};

void numbering_init(struct numbering *n, struct reader *r);
void numbering_fini(struct numbering *n);
/* False if there is no telling. */
bool numbering_find(struct numbering *n, u64 offset, u64 *ret_nr);

#endif
