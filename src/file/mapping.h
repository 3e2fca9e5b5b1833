/*
 * mapping.h - a part of a file in memory, without copying it.
 *
 * In recordings with stack dumps, the dumps are most of the bytes and are hardly ever looked at: in a
 * mapped file they cost nothing. Small records are read faster than their pages are mapped.
 * In       a descriptor, where in the file
 * Out      its bytes; fewer than asked for if the file has become shorter
 * Owns     the mapping
 * Errors   false: the file cannot be mapped and has to be read
 * Threads  one at a time; any number may read
 */
#ifndef PACE_FILE_MAPPING_H
#define PACE_FILE_MAPPING_H

#include "base/types.h"
#include "record/formats.h"

struct mapping {
	const u8 *at; /* NULL: nothing is mapped */
	size_t n;
	u64 offset; /* of its first byte in the file */
};

/* Whether mapping pays for records of these events, and is safe: see base/mapped.h. */
bool mapping_pays(const struct formats *formats);

/* Maps up to `most` bytes, from `offset` or a little before it; nothing behind `end`. */
bool mapping_move(struct mapping *m, int fd, u64 offset, u64 end, u64 most);

void mapping_fini(struct mapping *m);

#endif
