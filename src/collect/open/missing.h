/*
 * missing.h - events that could not be opened: whether that is an error, and how to say it.
 *
 * In       opened counters: counting->why
 * Errors   missing_check(): nothing at all may be counted, for the reason of the first
 */
#ifndef PACE_COLLECT_MISSING_H
#define PACE_COLLECT_MISSING_H

#include "base/log.h"
#include "collect/open/counting.h"

/* "opening 'cycles': reason" beside an event that is called cycles needs only the reason. */
const char *missing_reason(const struct err *why);

/* If nothing at all may be counted, the reason is an error; what does not exist is a row. */
int missing_check(const struct counting *c, struct err *err);

/* What nobody has asked for is not missed, but said once. */
void missing_note(const struct counting *c, struct log *log);

#endif
