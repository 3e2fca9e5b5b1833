/*
 * cuttree.h - a cut call tree as text and as JSON.
 *
 * In       lines (profile/outline), whose selves sum to the whole
 * Out      text
 * Owns     nothing
 */
#ifndef PACE_VIEW_CUTTREE_H
#define PACE_VIEW_CUTTREE_H

#include "profile/outline.h"

/* A table: total, self, node, function by depth. */
void cuttree_add_text(const struct outline *o, struct str *text);

/* A member "lines" of a JSON object. */
void cuttree_add_json(const struct outline *o, struct str *text);

/* What is known of a node besides what lies below it: its way, and its function everywhere. */
void cuttree_add_node(const struct outline *o, u32 node, struct str *text);

#endif
