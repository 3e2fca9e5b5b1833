/*
 * report_spot.h - what a line of the browser is about, when its rows are those of a histogram: of report and top.
 *
 * In       the histogram that is shown, the line of the cursor
 * Out      its function, its file, its thread; zooms into them, which the caller frees
 * Owns     nothing
 * Errors   a line that is about none of that: offers are false, and say why
 */
#ifndef PACE_CMD_REPORT_SPOT_H
#define PACE_CMD_REPORT_SPOT_H

#include "profile/rows/hist.h"
#include "profile/tree/zoom.h"
#include "view/screen/browser.h"

/* The symbol of a line, in the histogram's profile; 0: it is about none. */
u32 spot_symbol(const struct hist *h, const struct browser_spot *at);

/* NULL: the line is about no function or file. */
const struct profile_symbol *spot_function_of(const struct hist *h, const struct browser_spot *at);

/* Whether it has one with a name; false: adds that it has none. */
bool spot_has_function(const struct hist *h, const struct browser_spot *at, struct str *title);

/* Each adds what a zoom would be into, or why there is none. */
bool spot_offer_dso(const struct hist *h, const struct browser_spot *at, struct str *title);
bool spot_offer_thread(const struct hist *h, const struct browser_spot *at, struct str *title);
bool spot_offer_stacks(const struct hist *h, const struct browser_spot *at, struct str *title);

/* Of lines for which the zoom was offered. */
struct zoom spot_dso(const struct hist *h, const struct browser_spot *at);
struct zoom spot_stacks(const struct hist *h, const struct browser_spot *at);

/* The row's thread, process, or name of threads, as rows are grouped; false: they are by none. */
bool spot_thread(const struct hist *h, const struct browser_spot *at, struct zoom *ret);

#endif
