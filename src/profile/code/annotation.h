/*
 * annotation.h - which functions were sampled, and how often each of their addresses.
 *
 * In       a profile with names, without inlined functions, filtered
 * Out      functions, the hottest first; for one of them its addresses, ascending
 * Owns     its arrays
 * Units    period as in the profile; addresses as resolver_answer.at
 *
 * Invariant: the places of a function sum to its counts; the counts of all functions plus the nameless ones
 * sum to the totals.
 */
#ifndef PACE_PROFILE_ANNOTATION_H
#define PACE_PROFILE_ANNOTATION_H

#include "base/sort.h"
#include "profile/gather/profile.h"
#include "symbol/resolve/resolver.h"

struct annotation_count {
	u64 n_samples, period;
};

struct annotation_function {
	u32 symbol;
	size_t first, n; /* in annotation->rows */
	double share;    /* percent of an event's period, the largest of all events */
	size_t counts;   /* in annotation->counts: one for each event */
};

struct annotation_place {
	u64 at;
	size_t counts; /* in annotation_places->counts: one for each event */
};

struct annotation {
	const struct profile *profile;
	VEC(struct annotation_function) functions;
	struct annotation_function
		unsampled; /* stands for any function without samples: its counts are 0 */
	VEC(struct annotation_count) counts;
	struct annotation_count *totals;   /* by event: all rows */
	struct annotation_count *nameless; /* by event: in no function */
	struct sort_item *rows;            /* key: symbol; value: row of the profile */
};

/* One function's addresses. */
struct annotation_places {
	VEC(struct annotation_place) at;
	VEC(struct annotation_count) counts;
};

void annotation_init(struct annotation *a, const struct profile *p);
void annotation_fini(struct annotation *a);

const struct profile_symbol *annotation_symbol(const struct annotation *a,
	const struct annotation_function *f);

/*
 * Finds the functions with that name, ignoring clone suffixes; if there are none, those whose name contains it.
 * Returns how many; fills `ret`, which has room for all, with positions in annotation->functions. *ret_is_whole:
 * whole names matched.
 */
size_t annotation_find(const struct annotation *a, const char *name, u32 *ret, bool *ret_is_whole);

#define ANNOTATION_NONE UINT32_MAX

/*
 * The position in annotation->functions of a symbol of the profile: a function, or one of its lines. Of an inlined
 * function it is the one that holds most of it. ANNOTATION_NONE: it was not sampled itself.
 */
u32 annotation_of_symbol(const struct annotation *a, u32 symbol);

/* Likewise of the function that begins at an address of a DSO of the profile. */
u32 annotation_at(const struct annotation *a, u32 dso, u64 start);

void annotation_places_init(struct annotation_places *places, const struct annotation *a,
	const struct annotation_function *f, struct resolver *resolver);
void annotation_places_fini(struct annotation_places *places);

#endif
