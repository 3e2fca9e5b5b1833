/*
 * stat_metrics.h - the columns of --metric-only.
 *
 * In       a view; lines with metrics
 * Out      its columns, and the metric that one of them shows in a place
 */
#ifndef PACE_VIEW_STAT_METRICS_H
#define PACE_VIEW_STAT_METRICS_H

#include "view/stat/stat.h"

/* Adds the columns that these lines need to those that the view has. */
void stat_metrics_find_columns(struct stat_view *v, const struct stat_lines *lines);

/* NULL: nothing is known of it there. */
const struct metric *stat_metrics_find(const struct stat_lines *lines, const struct stat_column *c,
	const struct counts_place *place);

#endif
