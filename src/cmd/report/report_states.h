/*
 * report_states.h - what threads and CPUs did between samples, for pages that show time.
 *
 * In       a recording with records of context switches or with sched:sched_switch, which is read a second time, in the
 *          order of time
 * Out      a chart; without pieces if the recording does not say, or is a pipe
 * Owns     nothing: chart_fini() is the caller's
 * Errors   those of reading
 */
#ifndef PACE_CMD_REPORT_STATES_H
#define PACE_CMD_REPORT_STATES_H

#include "profile/chart/chart.h"
#include "profile/check/recorded.h"

int report_states(const struct recorded *r, const char *path, struct chart *ret, struct err *err);

#endif
