/*
 * threadcounts_text.h - a table of threads' counts: a row for each thread, a column for each event.
 *
 * In       counts, in their order; the session and the machine they are of
 * Out      text in perf's layout, with the threads' names
 */
#ifndef PACE_VIEW_THREADCOUNTS_TEXT_H
#define PACE_VIEW_THREADCOUNTS_TEXT_H

#include "base/str.h"
#include "profile/check/threadcounts.h"

void threadcounts_add_text(const struct threadcounts *t, const struct session *s,
	const struct machine *m, struct str *text);

#endif
