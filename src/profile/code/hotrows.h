/*
 * hotrows.h - where in a function to look: its hottest instructions, with some around each.
 *
 * In       an assembly
 * Out      stretches of its rows, ascending, half-open; they neither overlap nor touch
 * Owns     the list
 *
 * Hot is what has a hundredth of the function's period of an event, HOTROWS_MOST of them at most, and the
 * hottest one in any case. Without samples there is nothing to look at.
 */
#ifndef PACE_PROFILE_HOTROWS_H
#define PACE_PROFILE_HOTROWS_H

#include "profile/code/assembly.h"

enum { HOTROWS_MOST = 8 };

struct hotrows_span {
	size_t from, to;
};

struct hotrows {
	VEC(struct hotrows_span) spans;
};

/* With so many rows before and behind each that is hot. */
void hotrows_init(struct hotrows *h, const struct assembly *a, size_t around);
void hotrows_fini(struct hotrows *h);

#endif
