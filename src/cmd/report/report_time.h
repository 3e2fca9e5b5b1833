/*
 * report_time.h - the browser of report: when the samples of the rows were taken, and a range of time to look at.
 *
 * In       the level that is shown
 * Out      a level on top of it with the samples of a range, as --time has them
 * Owns     nothing
 * Errors   are said in the last line of the screen
 */
#ifndef PACE_CMD_REPORT_TIME_H
#define PACE_CMD_REPORT_TIME_H

#include "cmd/report/report_actions.h"

bool report_time_offer(void *of, const struct browser_spot *at, struct str *title);
void report_time_act(void *of, struct browser *b, const struct browser_spot *at);

#endif
