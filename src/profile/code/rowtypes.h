/*
 * rowtypes.h - the types of the data that a function's instructions access.
 *
 * In       an assembly; a resolver
 * Out      an answer for each row; why none is known
 * Owns     its array and texts
 */
#ifndef PACE_PROFILE_ROWTYPES_H
#define PACE_PROFILE_ROWTYPES_H

#include "profile/code/assembly.h"
#include "symbol/types/datatype.h"

struct rowtypes {
	struct datatypes *types;
	struct datatype_answer *answers; /* by row; NULL: none is known, for the reason in `why` */
	struct err why;
};

void rowtypes_init(struct rowtypes *t, const struct assembly *a, struct resolver *resolver);
void rowtypes_fini(struct rowtypes *t);

/* Adds "struct node.next"; false: the row accesses nothing, or its type is unknown. */
bool rowtypes_add(const struct rowtypes *t, size_t row, struct str *text);

#endif
