/*
 * key_wall.h - the columns of wall-clock time: of a row what it has in the event of each, as a share or
 * in milliseconds.
 *
 * Shares of latency are of the elapsed time, the others of all threads' time. With rows for callers a row
 * has what it called, too.
 * In       a histogram of GATHER_WALL, the other events beside it
 * Out      a cell's text
 */
#ifndef PACE_PROFILE_KEY_WALL_H
#define PACE_PROFILE_KEY_WALL_H

#include "base/str.h"
#include "profile/hist.h"

#define KEY_WALL_COLUMN(name)                                                                \
	void key_##name(const struct hist *h, const struct hist_entry *e, struct str *text); \
	void key_##name##_ms(const struct hist *h, const struct hist_entry *e, struct str *text)

KEY_WALL_COLUMN(latency);
KEY_WALL_COLUMN(wall);
KEY_WALL_COLUMN(wall_cpu);
KEY_WALL_COLUMN(wall_runnable);
KEY_WALL_COLUMN(wall_blocked);

#endif
