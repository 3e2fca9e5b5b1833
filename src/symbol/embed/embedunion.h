/*
 * embedunion.h - what several recordings carry with them, as one section.
 *
 * In       opened sections, of which some may be empty
 * Out      for each DSO all that any of them knows; where two know of the same place, the first one.
 *          DSOs and dumps that are in `out` already stay as they are
 * Errors   none: entries that make no sense are left out
 */
#ifndef PACE_SYMBOL_EMBEDUNION_H
#define PACE_SYMBOL_EMBEDUNION_H

#include "symbol/embed/embedder.h"

void embedunion_add(struct embedder *out, const struct embedded *all, size_t n);

#endif
