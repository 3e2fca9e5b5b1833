/*
 * mapping.h - a stretch of a file in memory, without copying it.
 *
 * Copies of stacks are most of a recording that has them, and hardly any of their bytes are looked at:
 * mapped, the others cost nothing. Small records are read faster than their pages are mapped.
 * In       a descriptor, where in the file
 * Out      its bytes; fewer than asked for if the file is shorter by now
 * Owns     the mapping
 * Errors   false: it cannot be mapped, and has to be read
 * Threads  one at a time; any number may read
 */
#ifndef PACE_FILE_MAPPING_H
#define PACE_FILE_MAPPING_H

#include "base/types.h"
#include "record/formats.h"

struct mapping {
	const u8 *at; /* NULL: nothing is mapped */
	size_t n;
	u64 offset; /* in the file, of its first byte */
};

/* Whether records of these events are read so, and may be: see base/mapped.h. */
bool mapping_pays(const struct formats *formats);

/* Maps up to `most` bytes from `offset` or a little before it on, none behind `end`. */
bool mapping_move(struct mapping *m, int fd, u64 offset, u64 end, u64 most);

void mapping_fini(struct mapping *m);

#endif
