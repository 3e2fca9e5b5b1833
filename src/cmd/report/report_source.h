/*
 * report_source.h - the browser of report: the source of a function, in the user's editor.
 *
 * In       a line about a function with debug information, whose source is on this machine
 * Out      nothing
 * Owns     nothing
 * Errors   are said in the last line of the screen
 */
#ifndef PACE_CMD_REPORT_SOURCE_H
#define PACE_CMD_REPORT_SOURCE_H

#include "cmd/report/report_actions.h"

bool report_source_offer(void *of, const struct browser_spot *at, struct str *title);
void report_source_act(void *of, struct browser *b, const struct browser_spot *at);

#endif
