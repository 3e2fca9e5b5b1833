/*
 * metricgroup.h - puts the events of metrics into groups that count together. A part of metricset.h, which explains it.
 */
#ifndef PACE_EVENT_METRICGROUP_H
#define PACE_EVENT_METRICGROUP_H

#include "event/metricset.h"

/* Appends the events of all metrics of the set, and notes in each metric where they are. */
int metricgroup_make(struct metricset *s, struct event_list *events, struct err *err);

#endif
