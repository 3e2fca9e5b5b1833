/*
 * report_import.h - report of a profile that another program made: it has no trace, and options that need one are refused.
 *
 * In       the options, what was opened
 * Out      the head of the page, which says what it is
 * Owns     nothing
 * Errors   ERR_INVAL names the option and what the profile lacks
 */
#ifndef PACE_CMD_REPORT_IMPORT_H
#define PACE_CMD_REPORT_IMPORT_H

#include "cmd/report/report_options.h"
#include "profile/check/recorded.h"

/* Always 0 for recordings. */
int report_import_check(const struct recorded *r, const struct report_options *o, struct err *err);

void report_import_add_head(const struct recorded *r, struct str *text);

#endif
