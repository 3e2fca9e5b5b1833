/*
 * timerange.h - a stretch of wall-clock time, as people write it: 14:30..14:35, -1h.., yesterday.
 *
 * In       the words of --at; what time it is; the time zone (TZ)
 * Out      [from, to)
 * Units    ns since 1970
 * Errors   ERR_INVAL with the text, and what would be right
 */
#ifndef PACE_FLEET_TIMERANGE_H
#define PACE_FLEET_TIMERANGE_H

#include "base/err.h"
#include "base/str.h"

struct timerange {
	u64 from_ns, to_ns;
};

int timerange_parse(const char *text, u64 now_ns, struct timerange *ret, struct err *err);

/* "2026-11-24 14:30..14:35", in local time; seconds where they are needed. */
void timerange_add_text(const struct timerange *t, struct str *text);

/* "2026-11-24 14:30:05" */
void timerange_add_time(u64 ns, struct str *text);

#endif
