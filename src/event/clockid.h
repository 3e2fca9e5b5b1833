/*
 * clockid.h - the clocks that the kernel can put into the times of samples.
 *
 * Out      numbers of clocks, as clock_gettime(2) has them; their names
 * Errors   ERR_INVAL for anything else, with the names that there are
 * Source   perf_event_set_clock() of Linux: these five; perf-record(1), --clockid
 */
#ifndef PACE_EVENT_CLOCKID_H
#define PACE_EVENT_CLOCKID_H

#include "base/err.h"
#include "base/types.h"

/* "monotonic", "mono", "CLOCK_MONOTONIC" or "1". */
int clockid_parse(const char *text, s32 *ret_clock, struct err *err);

/* The name of a recording's clock; NULL: unknown. */
const char *clockid_name(u32 clock);

#endif
