/*
 * search.h - binary search in sorted arrays: by any condition, or in ascending numbers, which may be members of structs.
 *
 * In       how many there are; of numbers, the first one, and the bytes from one to the next
 * Out      positions; `n` if there is none
 *
 *     size_t i = search_first(i, n, rows[i].start > address);
 *     size_t i = search_behind(&rows[0].start, n, sizeof(rows[0]), address);
 *     i - 1 is the row that the address is in, if i is not 0
 */
#ifndef PACE_BASE_SEARCH_H
#define PACE_BASE_SEARCH_H

#include "base/types.h"

/* The first position i, from 0 to n, at which a condition holds. If it does, it must hold at all later ones, too. */
#define search_first(i, n, condition)                                                    \
	({                                                                               \
		size_t search_low_ = 0, search_high_ = (n);                              \
                                                                                         \
		while (search_low_ < search_high_) {                                     \
			const size_t i = search_low_ + (search_high_ - search_low_) / 2; \
                                                                                         \
			if (condition)                                                   \
				search_high_ = i;                                        \
			else                                                             \
				search_low_ = i + 1;                                     \
		}                                                                        \
		search_low_;                                                             \
	})

static inline u64 search_key(const void *first, size_t stride, size_t i)
{
	return load_u64((const u8 *)first + i * stride);
}

/* The position of the first number that is greater than v. */
static inline size_t search_behind(const void *first, size_t n, size_t stride, u64 v)
{
	return search_first(i, n, search_key(first, stride, i) > v);
}

/* The position of the first number that is not less than v. */
static inline size_t search_from(const void *first, size_t n, size_t stride, u64 v)
{
	return v ? search_behind(first, n, stride, v - 1) : 0;
}

#endif
