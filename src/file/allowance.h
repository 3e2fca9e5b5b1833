/*
 * allowance.h - how much memory what one recording says may take.
 *
 * A few bytes can claim to be very many: packed records, packed sections, records that each make more
 * than they are. What is made of a recording is charged where records become state, and ends with an
 * error where it is more than 32 MiB and 32 bytes for each byte that the recording has. Nothing that
 * was ever recorded comes near; $PACE_MEMORY allows more, or less.
 * In       the recording's size; $PACE_MEMORY, as 4G
 * Out      whether so many bytes are too many
 * Errors   ERR_LIMIT with the file, the offset, what took it, and how to allow more
 * Threads  any number
 */
#ifndef PACE_FILE_ALLOWANCE_H
#define PACE_FILE_ALLOWANCE_H

#include "base/err.h"
#include "base/types.h"

/* The program, its buffers and queues come on top of it, and are at 64 MiB with it. */
enum { ALLOWANCE_LEAST = 32 << 20, ALLOWANCE_EACH = 32 };

/*
 * What packed records may come to in all, which are never in memory at once: packed well they are a
 * thirtieth of themselves.
 */
enum { ALLOWANCE_UNPACKED = 16 };

struct allowance {
	const char *path; /* borrowed */
	u64 said;         /* $PACE_MEMORY; 0: it is not there */
};

/* ERR_INVAL: $PACE_MEMORY makes no sense. */
int allowance_init(struct allowance *a, const char *path, struct err *err);

/* What a recording of so many bytes may take. */
static inline u64 allowance_bytes(const struct allowance *a, u64 size)
{
	u64 room = UINT64_MAX - ALLOWANCE_LEAST;

	if (a->said)
		return a->said;
	return ALLOWANCE_LEAST + (size > room / ALLOWANCE_EACH ? room : size * ALLOWANCE_EACH);
}

/* Says that what `what` names takes more than `limit` at `offset`. Returns ERR_LIMIT. */
int allowance_exceeded(const struct allowance *a, u64 limit, u64 offset, const char *what,
	struct err *err);

/* What may still be made of a recording where that is not memory alone: files that are taken out of it. */
struct allowance_rest {
	const struct allowance *of;
	u64 limit, left;
	u64 offset; /* what is unpacked stands there */
	const char *what;
	bool is_exceeded;
};

/* Takes n bytes of it. ERR_LIMIT: so many were not left, and none are then. */
int allowance_take(struct allowance_rest *rest, u64 n, struct err *err);

#endif
