/*
 * report_sides.h - the browser of report: recordings of several events, one by one or side by side.
 *
 * In       the recording that is shown
 * Out      a menu of its events; a level with the events in one table, or with a table for each
 * Owns     nothing
 * Errors   are said in the last line of the screen
 */
#ifndef PACE_CMD_REPORT_SIDES_H
#define PACE_CMD_REPORT_SIDES_H

#include "cmd/report/report_actions.h"

bool report_sides_offer(void *of, const struct browser_spot *at, struct str *title);
void report_sides_act(void *of, struct browser *screen, const struct browser_spot *at);

bool report_sides_offer_list(void *of, const struct browser_spot *at, struct str *title);
void report_sides_list(void *of, struct browser *screen, const struct browser_spot *at);

#endif
