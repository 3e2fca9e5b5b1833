/*
 * kind.h - what an event counts, in the words of metrics: whatever it is called, and on whichever PMU.
 *
 * "cycles" is cycles, cpu-cycles, cpu_core/cpu-cycles/u and armv8_pmuv3_0/cpu_cycles/. Events without a row here are
 * called as their PMU calls them: "tx-start" is cpu/tx-start/ and tx-start:u.
 */
#ifndef PACE_PROFILE_KIND_H
#define PACE_PROFILE_KIND_H

#include "event/event.h"

/* Of a clock of tasks or of CPUs. */
#define KIND_CLOCK "task-clock"

/* Whether the event is of this kind. */
bool kind_is(const struct event *e, const char *kind);

#endif
