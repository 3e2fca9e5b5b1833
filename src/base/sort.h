/*
 * sort.h - sorting many records by a 64-bit key, in time linear in their number; comparators for qsort().
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

#define SORT_STEP_(member)          \
	if (x->member != y->member) \
		return x->member < y->member ? -1 : 1;
#define SORT_1_(member)                        SORT_STEP_(member) return 0;
#define SORT_2_(member, ...)                   SORT_STEP_(member) SORT_1_(__VA_ARGS__)
#define SORT_3_(member, ...)                   SORT_STEP_(member) SORT_2_(__VA_ARGS__)
#define SORT_PICK_(one, two, three, pick, ...) pick

/* Defines a comparator by up to three members, ascending: where the first ones are equal the next one decides. */
#define SORT_BY(name, type, ...)                                                  \
	static int name(const void *a, const void *b)                             \
	{                                                                         \
		const type *x = a, *y = b;                                        \
                                                                                  \
		SORT_PICK_(__VA_ARGS__, SORT_3_, SORT_2_, SORT_1_, )(__VA_ARGS__) \
	}

/* Defines a comparator of numbers, ascending. */
#define SORT_NUMBERS(name, type)                                       \
	static int name(const void *a, const void *b)                  \
	{                                                              \
		const type x = *(const type *)a, y = *(const type *)b; \
                                                                       \
		return x < y ? -1 : x > y;                             \
	}

#endif
