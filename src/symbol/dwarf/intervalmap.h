/*
 * intervalmap.h - an interval map: converts nested ranges of addresses to intervals that do not overlap.
 *
 * In       ranges with values from 1 on, in any order
 * Out      intervals, ascending: a value is valid from its interval's start to the next one; 0: none.
 *          Where ranges overlap, the one that began last counts; of several that begin together, the highest
 *          value
 * Owns     its vectors
 */
#ifndef PACE_SYMBOL_INTERVALMAP_H
#define PACE_SYMBOL_INTERVALMAP_H

#include "base/types.h"
#include "base/vec.h"

struct range {
	u64 start, end;
	u32 value;
};

struct interval {
	u64 start;
	u32 value;
};

typedef VEC(struct range) range_list;
typedef VEC(struct interval) interval_list;

/* Sorts the ranges and adds their intervals to *ret_pieces. */
void intervalmap_of(range_list *ranges, interval_list *ret_pieces);

/* The value at an address; 0 if there is none. */
u32 intervalmap_find(const struct interval *pieces, size_t n, u64 address);

#endif
