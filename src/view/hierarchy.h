/*
 * hierarchy.h - rows below rows: a level for each key, as text in the layout that perf's users know.
 *
 * In       the entries of an event, the columns, how call graphs are drawn (struct text_options)
 * Out      text: what rows of a level have in common stands above them, with their sums; call graphs
 *          are those of the innermost rows
 * Owns     nothing
 *
 * Columns that look into arrays beside the entries (certainty, other events) have no sums: callers
 * refuse them. Rows of a level are told apart by their texts, the innermost ones as entries are.
 */
#ifndef PACE_VIEW_HIERARCHY_H
#define PACE_VIEW_HIERARCHY_H

#include "profile/rowset.h"
#include "view/text.h"

void hierarchy_report(struct out *out, const struct rowset *r, const struct text_options *o);

#endif
