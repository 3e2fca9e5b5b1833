/*
 * report_browse.h - report --tui: the rows of the text on the terminal, to walk through with keys.
 *
 * In       a recording that was read into a named profile
 * Out      the terminal
 * Owns     nothing afterwards
 * Errors   ERR_INVAL: options for something else than rows; those of the terminal
 */
#ifndef PACE_CMD_REPORT_BROWSE_H
#define PACE_CMD_REPORT_BROWSE_H

#include "base/out.h"
#include "cmd/report/reporting.h"

/* Refuses options that ask for something that the browser does not show. */
int report_browse_check(const struct report_options *o, struct err *err);

/* Notes if it is wanted but there is no terminal to show it. */
bool report_browse_is_wanted(const struct reporting *r, const struct out *out);

/* Until a key ends it. */
int report_browse(struct reporting *r, struct err *err);

#endif
