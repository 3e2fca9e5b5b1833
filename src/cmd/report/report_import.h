/*
 * report_import.h - report of a profile that another program made: it has no trace, and what needs one is refused.
 *
 * In       the options, what was opened
 * Out      the head of the page: what it is
 * Owns     nothing
 * Errors   ERR_INVAL names the option and what such a profile says nothing of
 */
#ifndef PACE_CMD_REPORT_IMPORT_H
#define PACE_CMD_REPORT_IMPORT_H

#include "cmd/report/report_options.h"
#include "profile/check/recorded.h"

/* 0 for recordings, whatever the options are. */
int report_import_check(const struct recorded *r, const struct report_options *o, struct err *err);

void report_import_add_head(const struct recorded *r, struct str *text);

#endif
