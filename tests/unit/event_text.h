/*
 * event_text.h - all about an event in one line, so that a case is short and leaves nothing out.
 *
 *     cpu/event=1/u = 4/1 -k -h weak every 100 on 0-3 in 0
 *     name = type/config/config1... flags, precision, wishes, period, breakpoint, own terms,
 *            scale and unit, filter, cgroup, PMU, CPUs, group
 */
#ifndef PACE_TESTS_UNIT_EVENT_TEXT_H
#define PACE_TESTS_UNIT_EVENT_TEXT_H

#include "base/str.h"
#include "event/event.h"

/* Fails the test if the event has something that the line does not say. */
void event_text_add(const struct event_list *events, u32 i, bool has_pmu, struct str *s);

#endif
