/*
 * modifiers.h - the letters after an event: cycles:ukpp.
 *
 * Source   perf-list(1), EVENT MODIFIERS
 */
#ifndef PACE_EVENT_MODIFIERS_H
#define PACE_EVENT_MODIFIERS_H

#include "event/maker.h"

/*
 * Applies the letters of a word to the events from `first` on; does nothing without a word. The letters
 * of a group add to those of its members.
 */
int modifiers_apply(struct maker *m, struct word word, size_t first);

/* Whether all letters of the word are modifiers. */
bool modifiers_are(struct word word);

#endif
