/*
 * stat_topdown.h - shares of TopDown: a tree for people, columns for intervals and places, rows for programs.
 *
 * In       a view with a plan (stat.h); counts
 * Out      text; cells
 */
#ifndef PACE_VIEW_STAT_TOPDOWN_H
#define PACE_VIEW_STAT_TOPDOWN_H

#include "profile/diff/slots.h"
#include "profile/rows/rowmaker.h"
#include "view/stat/stat.h"

/* A line for each place and kind of core: perf's layout of --topdown -I. */
void stat_topdown_columns(struct stat_view *v, bool is_interval, u64 time_ns, struct str *text);

/* Its columns, once; a column's share on a kind of core, NaN if it is not known. */
void stat_topdown_find_columns(struct stat_view *v);
double stat_topdown_share(const struct tma *t, const struct slots *s, const struct stat_column *c);

/* The tree of each kind of core, and what stands out. */
void stat_topdown_tree(const struct stat_view *v, struct str *text);

/* A row for each share. time_ns UINT64_MAX: the whole run. */
void stat_topdown_rows(const struct stat_view *v, bool is_interval, u64 time_ns,
	struct rowmaker *m);

/* Adds why shares are not to be trusted: " level 1 adds up to 87.3 %, ..."; nothing if they are. */
void stat_topdown_add_doubt(const struct slots *s, struct str *text);

/* Why there are no shares at all. */
const char *stat_topdown_why_none(const struct slots *s);

/* Takes out the lines of the plan's events. */
void stat_topdown_hide(const struct stat_view *v, struct stat_lines *lines);

/* The largest share of those that deserve attention, of the lowest level that is known; TMA_NONE: none does. */
u32 stat_topdown_worst(const struct tma *t, const struct slots *s);

#endif
