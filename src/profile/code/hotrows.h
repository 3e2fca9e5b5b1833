/*
 * hotrows.h - finds where in a function to look: its hottest instructions, with some around each.
 *
 * In       an assembly
 * Out      stretches of its rows, ascending, half-open; they neither overlap nor touch
 * Owns     the list
 *
 * An instruction is hot if it has a hundredth of the function's period of any event. At most HOTROWS_MOST are
 * chosen, and always the hottest one. Without samples there are none.
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

/* Each hot row is shown with `around` rows before and after it. */
void hotrows_init(struct hotrows *h, const struct assembly *a, size_t around);
void hotrows_fini(struct hotrows *h);

#endif
