/*
 * missing.h - events that could not be opened: whether that is an error, and how to report it.
 *
 * In       opened counters: counting->why
 * Errors   missing_check(): no event at all may be counted; the error is the first one's
 */
#ifndef PACE_COLLECT_MISSING_H
#define PACE_COLLECT_MISSING_H

#include "base/log.h"
#include "collect/open/counting.h"

/* The reason without the leading "opening 'cycles': ", where the event's name is shown beside it. */
const char *missing_reason(const struct err *why);

/* An error if no event at all may be counted. Events that do not exist are only marked in the table. */
int missing_check(const struct counting *c, struct err *err);

/* Notes once the default events that are missing. */
void missing_note(const struct counting *c, struct log *log);

#endif
