/*
 * stat_asked.h - the metrics of stat -M: found in the tables, their events added to those of the measurement.
 *
 * Owns     tables and formulas, until stat_asked_fini(); events are the measurement's
 */
#ifndef PACE_CMD_STAT_ASKED_H
#define PACE_CMD_STAT_ASKED_H

#include "cmd/stat/stat_command.h"
#include "event/metricset.h"

struct stat_asked {
	struct catalog catalog;
	struct metrictable table;
	struct metric_facts facts;
	struct metricset set;
	bool is_open;
};

/* Nothing without -M or --smi-cost. */
int stat_asked_open(struct stat_asked *a, const struct stat_command *o, bool is_system_wide,
	struct event_list *events, struct log *log, struct err *err);
void stat_asked_fini(struct stat_asked *a);

/* -M METRIC,... */
int stat_asked_word(void *target, const char *value, struct err *err);

#endif
