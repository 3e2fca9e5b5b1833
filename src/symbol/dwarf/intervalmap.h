/*
 * intervalmap.h - nested ranges of addresses, laid out as a row of pieces that do not overlap.
 *
 * In       ranges with values from 1 on, in any order
 * Out      pieces, ascending: a value holds from its piece's start to the next piece; 0: nothing.
 *          Where ranges overlap the one that began last holds, of several there the highest value
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

/* Sorts the ranges, and adds what they come to. */
void intervalmap_of(range_list *ranges, interval_list *ret_pieces);

/* The value at an address; 0 where there is none. */
u32 intervalmap_find(const struct interval *pieces, size_t n, u64 address);

#endif
