/*
 * sort.h - sorting many records by a 64-bit key, in time linear in their number.
 */
#ifndef PACE_BASE_SORT_H
#define PACE_BASE_SORT_H

#include "base/types.h"

struct sort_item {
	u64 key;
	u64 value; /* usually the position of what is sorted */
};

/* By key, ascending; items with equal keys keep their order. */
void sort_by_key(struct sort_item *items, size_t n);

#endif
