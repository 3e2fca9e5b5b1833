/*
 * list_metrics.h - metrics and groups of metrics, as text and as rows.
 *
 * In       an opened metriclist
 * Out      text: a heading for each group, a line for each metric: name, whether it can be counted here, one sentence.
 *          Rows: what programs get, described in pace-list(1)
 */
#ifndef PACE_VIEW_LIST_METRICS_H
#define PACE_VIEW_LIST_METRICS_H

#include "collect/known/metriclist.h"
#include "view/pages/list.h"

void list_metrics_text(const struct metriclist *l, const struct list_style *style, struct out *out);
void list_metrics_rows(const struct form *form, const struct metriclist *l, struct out *out);

/* Groups; with details each with its metrics. */
void list_groups_text(const struct metriclist *l, const struct list_style *style, struct out *out);
void list_groups_rows(const struct form *form, const struct metriclist *l, struct out *out);

/* Only the names, on one line. */
void list_metrics_names(const struct metriclist *l, bool are_groups, struct out *out);

#endif
