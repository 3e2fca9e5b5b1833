/*
 * tmaplan.h - which groups of events TopDown counts: on each kind of core, for each branch of its tree.
 *
 * In       sysfs; the level, or a branch
 * Out      groups for -e; shares, from the counts of these events in their order
 * Owns     the PMUs' trees
 * Errors   ERR_UNSUPPORTED: no kind of core has TopDown; the reason, in a sentence
 */
#ifndef PACE_EVENT_TMAPLAN_H
#define PACE_EVENT_TMAPLAN_H

#include "base/str.h"
#include "base/vec.h"
#include "event/tma.h"

struct tma_group {
	u32 core;   /* index of its kind of core */
	u32 parent; /* whose children it is for; TMA_NONE: level 1, and of a register all levels */
	u32 events; /* a bit for each */
	u32 first;  /* position of its first event in the list of events */
};

struct tma_plan {
	VEC(struct tma) cores; /* kinds of cores that have TopDown */
	VEC(struct tma_group) groups;
	u32 n_events, level;
	struct str missing; /* kinds of cores that have none: "PMU 'cpu_atom' ..."; or empty */
};

/* Finds out what the cores can count; there are no groups yet. */
int tma_plan_open(struct tma_plan *p, const char *sysfs, struct err *err);
void tma_plan_close(struct tma_plan *p);

/* Plans all groups down to a level that a core has, or to the lowest. */
void tma_plan_level(struct tma_plan *p, u32 level);

/* Plans the group of one branch of one kind of core, instead of the groups before. */
void tma_plan_branch(struct tma_plan *p, u32 core, u32 parent);

/* Appends the groups as -e takes them; their events come first in the list. */
void tma_plan_add_events(const struct tma_plan *p, struct str *text);

/* The largest level of all cores. */
u32 tma_plan_levels(const struct tma_plan *p);

/* The group that counts a node of a kind of core; NULL: none. */
const struct tma_group *tma_plan_group(const struct tma_plan *p, u32 core, u32 node);

/* The counts of a group's events, by their numbers in the family, from those of the list. */
void tma_plan_spread(const struct tma_group *g, const double *list,
	double ret_counts[TMA_EVENTS_MAX]);

/* Whether the cores' counts need whole cores: with SMT, both threads of a core. */
bool tma_plan_counts_cores(const struct tma_plan *p);
bool tma_plan_has_register(const struct tma_plan *p);

#endif
