/*
 * vec.h - a growing array of one type.
 *
 *     VEC(struct map) maps = {0};
 *     vec_add(&maps, one);                 append a value
 *     struct map *m = vec_push(&maps);     append room for one, not cleared
 *     vec_each(m, &maps) ...               walk; the vector must not grow meanwhile
 *     vec_fini(&maps);
 *
 * Owns     its array; what the elements point to is the caller's
 * Life     an element's address is valid until the vector grows
 */
#ifndef PACE_BASE_VEC_H
#define PACE_BASE_VEC_H

#include "base/mem.h"
#include "base/types.h"

#define VEC(type)           \
	struct {            \
		type *at;   \
		size_t n;   \
		size_t cap; \
	}

void *vec_grow(void *at, size_t *cap, size_t need, size_t item_size);

#define vec_reserve(v, need)                                                        \
	((need) <= (v)->cap ? (void)0                                               \
			    : (void)((v)->at = vec_grow((v)->at, &(v)->cap, (need), \
					     sizeof(*(v)->at))))
#define vec_push(v)   (vec_reserve(v, (v)->n + 1), &(v)->at[(v)->n++])
#define vec_add(v, x) ((void)(*vec_push(v) = (x)))
#define vec_each(p, v)                                                                          \
	for (__typeof__(*(v)->at) *p = (v)->at, *p##_end = (v)->n ? (v)->at + (v)->n : (v)->at; \
		p < p##_end; p++)
#define vec_fini(v) (mem_free((v)->at), (v)->at = NULL, (v)->n = (v)->cap = 0, (void)0)

#endif
