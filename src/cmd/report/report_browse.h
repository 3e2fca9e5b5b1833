/*
 * report_browse.h - report on a terminal: the rows of the text on the terminal, to walk through with keys.
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

/* Without --tui: whether nothing asks for text, or says more in text. */
bool report_browse_fits(const struct report_options *o);

/*
 * Whether the browser is shown instead of text: by default on a terminal, if no option asks for something that only text
 * has. Notes if it is asked for but there is no terminal to show it.
 */
bool report_browse_is_wanted(const struct reporting *r, const struct out *out);

/* Until a key ends it. */
int report_browse(struct reporting *r, struct err *err);

#endif
