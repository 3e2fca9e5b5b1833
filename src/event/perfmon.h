/*
 * perfmon.h - formulas of Intel's perfmon in the words of metricexpr.h.
 *
 * There a formula is about aliases ("100 * a / b"), which a list explains: "a" is CPU_CLK_UNHALTED.THREAD:SUP, "b" the
 * constant SOCKET_COUNT. A threshold is about aliases of metrics, by their older names.
 *
 * In       a row of eventfile.h with a formula and aliases
 * Out      the same formula about events, literals and metrics: "100 * CPU_CLK_UNHALTED.THREAD:k / #num_packages"
 * Source   perfmon's readme; its metrics files
 */
#ifndef PACE_EVENT_PERFMON_H
#define PACE_EVENT_PERFMON_H

#include "base/str.h"
#include "event/eventfile.h"

/* Adds the row's formula, or its threshold. Names that nothing is known of stay as they are. */
void perfmon_add_formula(const struct eventfile_row *row, bool is_threshold, struct str *text);

/* Adds the name of a metric as formulas have it: "metric_CPU utilization %" is metric_CPU_utilization__. */
void perfmon_add_metric(const char *name, struct str *text);

#endif
