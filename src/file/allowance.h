/*
 * allowance.h - how much memory the contents of one recording may take.
 *
 * A few bytes can claim to be very many: packed records, packed sections, records that each expand into
 * more than their own size. What is made of a recording is charged where records become state, and
 * reading ends with an error above 32 MiB plus 32 bytes for each byte of the recording. No real
 * recording comes near; $PACE_MEMORY sets another limit.
 * In       the recording's size; $PACE_MEMORY, such as 4G
 * Out      whether a number of bytes is too many
 * Errors   ERR_LIMIT with the file, the offset, what took the memory, and how to allow more
 * Threads  any number
 */
#ifndef PACE_FILE_ALLOWANCE_H
#define PACE_FILE_ALLOWANCE_H

#include "base/err.h"
#include "base/types.h"

/* On top of the limit come the program, its buffers and queues: another 32 MiB. */
enum { ALLOWANCE_LEAST = 32 << 20, ALLOWANCE_EACH = 32 };

/*
 * Packed records may unpack to this many times the allowance in all: they are never in memory at once,
 * and good packing shrinks records to a thirtieth.
 */
enum { ALLOWANCE_UNPACKED = 16 };

struct allowance {
	const char *path; /* borrowed */
	u64 said;         /* the value of $PACE_MEMORY; 0: not set */
};

/* ERR_INVAL: $PACE_MEMORY is not a size. */
int allowance_init(struct allowance *a, const char *path, struct err *err);

/* How many bytes the contents of a recording of `size` bytes may take. */
static inline u64 allowance_bytes(const struct allowance *a, u64 size)
{
	u64 room = UINT64_MAX - ALLOWANCE_LEAST;

	if (a->said)
		return a->said;
	return ALLOWANCE_LEAST + (size > room / ALLOWANCE_EACH ? room : size * ALLOWANCE_EACH);
}

/* Reports that `what`, a plural, takes more than `limit` at `offset`. Returns ERR_LIMIT. */
int allowance_exceeded(const struct allowance *a, u64 limit, u64 offset, const char *what,
	struct err *err);

/*
 * What is left of the allowance for things other than memory: files that are unpacked from the
 * recording.
 */
struct allowance_rest {
	const struct allowance *of;
	u64 limit, left;
	u64 offset; /* where the packed data stands */
	const char *what;
	bool is_exceeded;
};

/* Takes n bytes. ERR_LIMIT: fewer were left, and from now on none are. */
int allowance_take(struct allowance_rest *rest, u64 n, struct err *err);

#endif
