/*
 * key_family.h - the tables that all keys together are made of, one for each kind of fact.
 *
 * In       nothing
 * Out      rows of struct key, for profile/rows/key, which finds them
 * Owns     nothing
 */
#ifndef PACE_PROFILE_KEY_FAMILY_H
#define PACE_PROFILE_KEY_FAMILY_H

#include "profile/rows/key.h"

struct key_family {
	const char *title; /* in help: what they are about */
	const struct key *keys;
	size_t n;
};

extern const struct key_family key_figures;  /* shares, counts, sums */
extern const struct key_family key_walls;    /* time on and off CPUs */
extern const struct key_family key_contexts; /* who, when, on what, as what */
extern const struct key_family key_branches; /* from where to where, and how */
extern const struct key_family key_memory;   /* what was accessed, and where it was found */
extern const struct key_family key_places;   /* code: file, function, line */
extern const struct key_family key_types;    /* data: type, member */

/* Of values that are frames: by their addresses; "[k] function+0x12". */
int key_compare_addresses(const struct profile *p, u64 a, u64 b);
void key_cell_place(const struct key_value *v, struct cell *ret);

/* Of values that are texts; 0 is none. */
void key_cell_name(const struct key_value *v, struct cell *ret);
void key_cell_text_or_not(const struct key_value *v, struct cell *ret);

/* A function, in code of that level. */
void key_set_function(const struct profile_symbol *s, enum cell_kind kind, struct cell *ret);

#endif
