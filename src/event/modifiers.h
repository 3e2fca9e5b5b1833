/*
 * modifiers.h - the letters behind an event: cycles:ukpp.
 *
 * Source   perf-list(1), EVENT MODIFIERS
 */
#ifndef PACE_EVENT_MODIFIERS_H
#define PACE_EVENT_MODIFIERS_H

#include "event/maker.h"

/*
 * Applies the letters of a word to the events from `first` on; without a word, nothing. Those of a
 * group come on top of its members' own.
 */
int modifiers_apply(struct maker *m, struct word word, size_t first);

/* The word has only letters that are modifiers. */
bool modifiers_are(struct word word);

#endif
