/*
 * stat_drilltables.h - where pace's own tree of TopDown ends, the vendor's tables may go on: the branches of a metric X
 * are those of the group "X_group".
 *
 * In       --events-dir, or where tables are usually installed
 * Out      the events of a metric's branches; their shares; what samples a leaf
 * Owns     tables and formulas
 */
#ifndef PACE_CMD_STAT_DRILLTABLES_H
#define PACE_CMD_STAT_DRILLTABLES_H

#include "base/log.h"
#include "cmd/stat/stat_command.h"
#include "event/metricset.h"
#include "profile/diff/counts.h"
#include "profile/diff/drill.h"

struct drill_tables {
	struct catalog catalog;
	struct metrictable table;
	struct metric_facts facts;
	struct metricset set; /* of the step that is measured */
	const char *pmu, *folder;
	bool is_open, has_set;
};

/* Metrics of this PMU. Without tables there are no branches; an error only if a named folder has none. */
int drill_tables_open(struct drill_tables *t, const char *folder, const char *pmu,
	bool is_system_wide, struct log *log, struct err *err);
void drill_tables_close(struct drill_tables *t);

bool drill_tables_have(const struct drill_tables *t, const char *parent);

/* Appends the events of the parent's branches. */
int drill_tables_count(struct drill_tables *t, const char *parent, struct event_list *events,
	struct log *log, struct err *err);

/* Adds a measurement of each branch. */
void drill_tables_take(const struct drill_tables *t, const struct event_list *events,
	const struct count *counts, double elapsed_ns, struct drill_step *step);

/* The table's row of a branch; NULL: there is none. */
const struct metric_row *drill_tables_row(const struct drill_tables *t, const char *name);

/* Adds the event that the table says samples it, as -e takes it. False: it says none. */
bool drill_tables_add_sample(const struct drill_tables *t, const struct metric_row *row,
	struct str *text);

#endif
