/*
 * wall_text.h - where the time of a recording's threads went, before any code is shown.
 *
 * In       a wall that was cut; the machine, for the threads' names
 * Out      lines that begin with "# ": the sums, then the threads (or their commands, if there are many),
 *          those that cost the most elapsed time first
 */
#ifndef PACE_VIEW_WALL_TEXT_H
#define PACE_VIEW_WALL_TEXT_H

#include "machine/machine.h"
#include "profile/gather/wall.h"

void wall_add_text(const struct wall *w, const struct machine *m, struct str *text);

#endif
