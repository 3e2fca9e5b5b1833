/*
 * report_wall.h - report --wall: time on and off CPUs.
 *
 * In       a recording; the columns and rows that were asked for
 * Out      which columns stand for nothing asked; the events of a table of AGGREGATE_WALL, with the others as columns
 * Owns     nothing
 * Errors   ERR_INVAL: a recording without switches, and what makes no sense together
 */
#ifndef PACE_CMD_REPORT_WALL_H
#define PACE_CMD_REPORT_WALL_H

#include "profile/rows/hist.h"
#include "session/session.h"
#include "view/rows/histrows.h"

/* `wish`: 1 and 0 as was said, -1: as the recording is made. */
int report_wall_choose(const struct session *s, int wish, bool *ret_has_wall, struct err *err);

/* ERR_INVAL for columns that only a recording with wall-clock time has. */
int report_wall_check_columns(const struct histrows_options *t, bool has_wall, struct err *err);

/* The event that has all time; the others have parts of it. */
bool report_wall_is_whole(u32 event);

/* All events of wall-clock time, for the rows of the first of them. */
struct hist_events report_wall_events(void);

#endif
