/*
 * report_sort.h - the browser of report: rows by any key of -s.
 *
 * In       the recording that is shown, all keys
 * Out      lines of a menu; a level with the rows of that key
 * Owns     nothing
 * Errors   keys that the recording cannot have are refused in the menu; others are said in the last line of the screen
 */
#ifndef PACE_CMD_REPORT_SORT_H
#define PACE_CMD_REPORT_SORT_H

#include "cmd/report/report_actions.h"

extern const struct browser_orders report_orders;

#endif
