/*
 * metriclist.h - the metrics that have a name here, each with its events and whether these can be counted.
 *
 * In       sysfs, of this machine or a copy of another's; the vendors' tables and pace's own
 * Owns     all strings
 * Errors   ERR_NOENT if nothing is left, with the nearest names
 */
#ifndef PACE_COLLECT_METRICLIST_H
#define PACE_COLLECT_METRICLIST_H

#include "collect/known/inventory.h"
#include "event/metricset.h"

struct metriclist_item {
	const struct metric_row *row;
	const char *const *events; /* as -e takes them: those that it and its threshold need */
	u32 n_events;
	bool is_whole; /* its formula makes sense, and its events exist; else `reason` */
	enum inventory_opens opens; /* the worst of its events; INVENTORY_UNTRIED in a copy */
	const char *reason;         /* why it is not INVENTORY_OPENS */
};

struct metriclist_group {
	const char *name;
	const char *brief; /* or NULL */
	u32 n_metrics;     /* of those that were chosen */
};

struct metriclist {
	VEC(struct metriclist_item) items;   /* by the first of their groups, then by name */
	VEC(struct metriclist_group) groups; /* of the items; by name */
	struct inventory tried;              /* what was opened to see whether it can be */
	struct catalog catalog;
	struct metrictable table;
	struct metric_facts facts;
	struct metricset set;
};

/* Of `options` sysfs, is_copy, events_dir, pmu and words count; a word must be a part of a name, a group or a description. */
int metriclist_open(struct metriclist *l, const struct inventory_options *options, struct log *log,
	struct err *err);
void metriclist_close(struct metriclist *l);

#endif
