/*
 * search.h - binary search in ascending numbers, which may be members of the structs of an array.
 *
 * In       the first number, how many there are, and the bytes from one to the next
 * Out      positions; `n` if there is none
 *
 *     size_t i = search_behind(&rows[0].start, n, sizeof(rows[0]), address);
 *     i - 1 is the row that the address is in, if i is not 0
 */
#ifndef PACE_BASE_SEARCH_H
#define PACE_BASE_SEARCH_H

#include "base/types.h"

static inline u64 search_key(const void *first, size_t stride, size_t i)
{
	return load_u64((const u8 *)first + i * stride);
}

/* The position of the first number that is greater than v. */
static inline size_t search_behind(const void *first, size_t n, size_t stride, u64 v)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (search_key(first, stride, middle) <= v)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The position of the first number that is not less than v. */
static inline size_t search_from(const void *first, size_t n, size_t stride, u64 v)
{
	return v ? search_behind(first, n, stride, v - 1) : 0;
}

#endif
