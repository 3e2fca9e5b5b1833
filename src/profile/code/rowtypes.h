/*
 * rowtypes.h - the types of the data that a function's instructions access.
 *
 * In       an assembly; a resolver; files with types
 * Out      two answers for each row: for itself, and for the instruction that ran before it; why none is known
 * Owns     its arrays; texts are those of the files
 * Units    pcs of answers as the addresses of rows
 */
#ifndef PACE_PROFILE_ROWTYPES_H
#define PACE_PROFILE_ROWTYPES_H

#include "profile/code/assembly.h"
#include "profile/code/typefiles.h"

struct rowtypes {
	/* By row; both NULL: none is known, for the reason in `why`. */
	struct datatype_answer *answers, *befores;
	struct err why;
};

void rowtypes_init(struct rowtypes *t, const struct assembly *a, struct resolver *resolver,
	struct typefiles *files);
void rowtypes_fini(struct rowtypes *t);

/* The row's answer, if it accesses data of a known type; else NULL. */
const struct datatype_answer *rowtypes_found(const struct rowtypes *t, size_t row);

/* Adds "struct node.next"; false: the row accesses nothing, or its type is unknown. */
bool rowtypes_add(const struct rowtypes *t, size_t row, struct str *text);

#endif
