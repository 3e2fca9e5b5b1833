/*
 * report_live.h - report on a terminal, of a recording that is being made: the rows so far, while it comes through a pipe.
 *
 * In       a stream whose beginning was read, the choices made from options
 * Out      the browser, which follows; after the end it stays with all samples
 * Owns     the thread that reads
 * Errors   those of the stream, and of the terminal
 */
#ifndef PACE_CMD_REPORT_LIVE_H
#define PACE_CMD_REPORT_LIVE_H

#include "base/out.h"
#include "cmd/report/reporting.h"

/* Whether there is such a stream and nothing asks for text, or for what is only known at the end. */
bool report_live_is_wanted(const struct reporting *r, const struct out *out);

/* Until a key ends it. While a stream still comes, the process ends with it: the reader may be waiting for ever. */
int report_live(struct reporting *r, struct err *err);

#endif
