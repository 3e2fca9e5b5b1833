/*
 * key_family.h - the tables of all keys, one for each kind of fact.
 *
 * In       nothing
 * Out      rows of struct key, which profile/rows/key searches
 * Owns     nothing
 */
#ifndef PACE_PROFILE_KEY_FAMILY_H
#define PACE_PROFILE_KEY_FAMILY_H

#include "profile/rows/key.h"
#include "record/accessclass.h"

struct key_family {
	const char *title; /* heading in the help */
	const struct key *keys;
	size_t n;
};

extern const struct key_family key_figures;  /* shares, counts, sums */
extern const struct key_family key_walls;    /* time on and off CPUs */
extern const struct key_family key_contexts; /* thread, CPU, time and context */
extern const struct key_family key_branches; /* source, target and flags of branches */
extern const struct key_family key_memory;   /* accessed data, and where it was found */
extern const struct key_family key_parts;    /* of shares, by memory access: words of -F alone */
extern const struct key_family key_places;   /* code: file, function, line */
extern const struct key_family key_types;    /* data: type, member */

/* For values that are frames: compares them by address; makes a cell such as "[k] function+0x12". */
int key_compare_addresses(const struct profile *p, u64 a, u64 b);
void key_cell_place(const struct key_value *v, struct cell *ret);

/* For values that are texts. 0 is no text: without a value in the first, unknown in the second. */
void key_cell_name(const struct key_value *v, struct cell *ret);
void key_cell_text_or_not(const struct key_value *v, struct cell *ret);

/* A class of memory accesses in perf's words: "Load", "L1-buf". */
const char *key_class_title(enum accessclass_field field, unsigned class);

/* Makes a cell of a function, with the level of its code. */
void key_set_function(const struct profile_symbol *s, enum cell_kind kind, struct cell *ret);

#endif
