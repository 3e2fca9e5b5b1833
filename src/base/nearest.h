/*
 * nearest.h - the known name that a mistyped one most likely meant.
 *
 *     struct nearest near = {.typed = word};
 *     nearest_offer(&near, "cycles"); ...
 *     if (near.best) "... did you mean 'cycles'?"
 *
 * Owns     nothing: the names offered must outlive it
 */
#ifndef PACE_BASE_NEAREST_H
#define PACE_BASE_NEAREST_H

#include "base/str.h"
#include "base/types.h"

struct nearest {
	const char *typed;
	const char *best; /* NULL: nothing is near enough */
	unsigned distance;
};

void nearest_offer(struct nearest *near, const char *name);

/* Adds "; did you mean 'x'?" to the text if there is an x. */
void nearest_add_hint(const struct nearest *near, struct str *text);

#endif
