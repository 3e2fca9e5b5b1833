/*
 * tasks.h - the tasks of a recording as a tree: who started whom, and which files they mapped.
 *
 * In       a machine that has seen the whole recording
 * Out      text in perf's layout
 */
#ifndef PACE_VIEW_TASKS_H
#define PACE_VIEW_TASKS_H

#include "base/str.h"
#include "machine/machine.h"

void tasks_add_text(const struct machine *m, bool has_maps, struct str *text);

#endif
