/*
 * report_annotate.h - report, the code of a line's function, on the screen of the browser.
 *
 * In       a line of the browser
 * Out      another view on the same screen
 * Owns     nothing afterwards
 * Errors   are said in the last line of the screen
 */
#ifndef PACE_CMD_REPORT_ANNOTATE_H
#define PACE_CMD_REPORT_ANNOTATE_H

#include "cmd/report/report_actions.h"

bool report_annotate_offer(void *of, const struct browser_spot *at, struct str *title);
void report_annotate_act(void *of, struct browser *b, const struct browser_spot *at);

#endif
