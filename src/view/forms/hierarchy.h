/*
 * hierarchy.h - rows below rows as text in the layout that perf's users know.
 *
 * In       a table whose rows are nodes of a tree, how it is drawn (struct text_options)
 * Out      text
 * Owns     nothing
 */
#ifndef PACE_VIEW_HIERARCHY_H
#define PACE_VIEW_HIERARCHY_H

#include "view/forms/text.h"

void hierarchy_add(struct out *out, const struct rowset *r, const struct text_options *o);

#endif
