/*
 * report_wall.h - report --wall: time on and off the CPU.
 *
 * In       a recording; the columns and rows that were requested
 * Out      whether wall-clock time is shown; the events of a table of AGGREGATE_WALL, with the others as columns
 * Owns     nothing
 * Errors   ERR_INVAL: a recording without switches, and options that contradict each other
 */
#ifndef PACE_CMD_REPORT_WALL_H
#define PACE_CMD_REPORT_WALL_H

#include "profile/rows/hist.h"
#include "session/session.h"
#include "view/rows/histrows.h"

/* `wish`: 1 or 0 as requested, -1: as the recording was made. */
int report_wall_choose(const struct session *s, int wish, bool *ret_has_wall, struct err *err);

/* ERR_INVAL for columns that only a recording with wall-clock time has. */
int report_wall_check_columns(const struct histrows_options *t, bool has_wall, struct err *err);

/* Whether the event has all time; the others have parts of it. */
bool report_wall_is_whole(u32 event);

#endif
