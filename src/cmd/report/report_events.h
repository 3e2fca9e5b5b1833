/*
 * report_events.h - the events of a recording and what it lost, for forms that are read on their own.
 *
 * In       a recording that has a trace and was read
 * Out      the document "counters": {"events": [{name, leader (unless it leads), members, frequency or period, precise, attr, filter,
 *          cgroup, counters, enabled and running (ns, unless they are unknown)}], "lost_records", "lost_samples", "throttled", "undecoded", "foreign"}
 */
#ifndef PACE_CMD_REPORT_EVENTS_H
#define PACE_CMD_REPORT_EVENTS_H

#include "profile/check/recorded.h"
#include "view/forms/forms.h"

void report_events(const struct recorded *r, struct page_about *about);

#endif
