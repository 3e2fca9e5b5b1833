/*
 * pmu_events.h - makes events of nodes whose names sysfs or the vendors' tables know.
 *
 *     cpu/event=0x3c,umask=1/      of that PMU
 *     imc/cas_count_read/          one for each PMU of that name: uncore_imc_0, uncore_imc_1...
 *     mem-loads, mem-loads/ldlat=30/   of the PMUs that have an event of that name
 *     cycles                       one for each kind of core, if there are several kinds
 *
 * Each returns 1 if it made events, 0 if the name means nothing to it, or an error.
 */
#ifndef PACE_EVENT_PMU_EVENTS_H
#define PACE_EVENT_PMU_EVENTS_H

#include "event/maker.h"

/* For a node whose name is that of a PMU, or stands for several. */
int pmu_events_make(struct maker *m, const struct node *node);

/* For a node whose name is that of an event of some PMU: the core PMUs, else all PMUs that have it. */
int pmu_events_make_named(struct maker *m, const struct node *node);

/* For an event of the kernel's own types; makes hardware, cache and raw events on every kind of core. */
int pmu_events_make_generic(struct maker *m, const struct node *node,
	const struct event_attr *attr);

#endif
