/*
 * report_files.h - the browser of report: other recordings in the folder, to look at or to compare with.
 *
 * In       the recording that is shown
 * Out      a menu; a level with another recording; the tables of 'pace diff'
 * Owns     nothing: the names of files are those of struct browse
 * Errors   are said in the last line of the screen
 */
#ifndef PACE_CMD_REPORT_FILES_H
#define PACE_CMD_REPORT_FILES_H

#include "cmd/report/report_actions.h"

bool report_files_offer_other(void *of, const struct browser_spot *at, struct str *title);
void report_files_open(void *of, struct browser *b, const struct browser_spot *at);

bool report_files_offer_diff(void *of, const struct browser_spot *at, struct str *title);
void report_files_compare(void *of, struct browser *b, const struct browser_spot *at);

void report_files_forget(struct browse *b);

/* Takes the "# " of texts away, for pages. */
void report_files_strip(struct str *text);

#endif
