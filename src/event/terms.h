/*
 * terms.h - the terms between the slashes of an event: cpu/event=0x3c,umask=1,period=1000/.
 *
 * A term is one that every event takes (a table), an event of the PMU (sysfs or the vendor's
 * tables), a raw config rNNN, or a field of the PMU's sysfs formats. Terms are applied in order,
 * so what follows an event's name overrides what the name stands for.
 *
 * Besides perf's: kprobe/func=NAME,offset=N/ and uprobe/path=FILE,offset=N/, whose strings the
 * kernel wants by address.
 * Source   perf-list(1), perf-record(1); linux/perf_event.h: kprobe_func, uprobe_path
 */
#ifndef PACE_EVENT_TERMS_H
#define PACE_EVENT_TERMS_H

#include "event/maker.h"
#include "event/pmu.h"

/* Applies a node's terms to event e. `pmu` NULL: only the terms that every event takes. */
int terms_apply(struct maker *m, const struct pmu *pmu, const struct term *terms, struct event *e);

/*
 * The same for a node that has an event's name: applies what `name` stands for on this PMU first. 1 if
 * the PMU has such an event, 0 if not.
 */
int terms_apply_named(struct maker *m, const struct pmu *pmu, struct word name,
	const struct term *terms, struct event *e);

#endif
