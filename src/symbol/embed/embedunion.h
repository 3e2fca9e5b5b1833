/*
 * embedunion.h - merges the embedded sections of several recordings into one.
 *
 * In       opened sections, of which some may be empty
 * Out      for each DSO all that any of them has; where two describe the same place, the first counts.
 *          DSOs and dumps that are already in `out` are not changed
 * Errors   none: malformed entries are left out
 */
#ifndef PACE_SYMBOL_EMBEDUNION_H
#define PACE_SYMBOL_EMBEDUNION_H

#include "symbol/embed/embedder.h"

void embedunion_add(struct embedder *out, const struct embedded *all, size_t n);

#endif
