/*
 * stats.h - how many records of each type a recording has, and samples of each event.
 *
 * In       a session's tally after its scan; the number of samples of each event
 * Out      text in perf's layout
 */
#ifndef PACE_VIEW_STATS_H
#define PACE_VIEW_STATS_H

#include "base/str.h"
#include "session/session.h"

/* skips_empty: leaves out types and events with a count of 0. */
void stats_add_text(const struct session *s, const u64 *n_by_event, bool skips_empty,
	struct str *text);

#endif
