/*
 * traceevents.h - writes trace events, as Chrome made them known: JSON objects in a list.
 *
 *     traceevents_begin(&t, "X", pid, tid);
 *     traceevents_time(&t, "ts", time);
 *     json_text(t.text, "name", name);
 *     traceevents_end(&t);
 *
 * In       events; times in ns
 * Out      JSON, a line for each event; the last one's comma has to be removed (traceevents_close())
 * Owns     nothing
 * Source   the Trace Event Format (docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU)
 */
#ifndef PACE_VIEW_TRACEEVENTS_H
#define PACE_VIEW_TRACEEVENTS_H

#include "base/json.h"
#include "base/out.h"
#include "profile/chart/chart.h"

/* pids and tids of what is no process or thread: above those of the kernel. */
enum { TRACEEVENTS_OTHER = 0x40000000 };

struct traceevents {
	struct out *out;
	struct str *text; /* of out */
	u64 first_time;   /* what is 0 */
	bool has_some;
};

/* Begins an event of that phase; members follow, then traceevents_end(). */
void traceevents_begin(struct traceevents *t, const char *phase, u32 pid, u32 tid);
void traceevents_end(struct traceevents *t);

/* Adds a moment as a member. */
void traceevents_time(struct traceevents *t, u64 time);

/* Names a process ("process_name") or a thread ("thread_name"). */
void traceevents_name(struct traceevents *t, const char *what, u32 pid, u32 tid, const char *name);

/* What CPUs and tasks did, as slices; wake-ups and frequencies. Names of tasks are foreign. */
void traceevents_add_chart(struct traceevents *t, const struct chart *chart);

/* Ends the list. */
void traceevents_close(struct traceevents *t);

#endif
