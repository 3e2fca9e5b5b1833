/*
 * top_feed.h - top: what runs now, counted as it comes; the counts fade.
 *
 * In       options; a command to start, or none
 * Out      a snapshot at each refresh, with what there is to say about it
 * Owns     events, counters, rings, the machine that they tell of, and the counts
 * Errors   those of opening: the target, the events, the rings
 * Threads  one: feed_run() is the loop, and calls `show`
 */
#ifndef PACE_CMD_TOP_FEED_H
#define PACE_CMD_TOP_FEED_H

#include <regex.h>

#include "cmd/top/top_options.h"
#include "collect/record/recorder.h"
#include "collect/run/attach.h"
#include "profile/tree/snapshot.h"
#include "trace/follow.h"

/* What was measured since the last refresh, and what measuring it took. */
struct feed_facts {
	u64 nr;                 /* of the refresh, from 1 */
	u64 time_ns;            /* CLOCK_REALTIME */
	u64 span_ns;            /* since the last one */
	u64 n_samples, n_kernel; /* in that time */
	u64 n_lost, n_lost_all; /* records that the rings had no room for: in that time, and since the start */
	double own_cpu_pct;     /* of one CPU */
	u64 own_bytes;          /* resident memory */
};

struct feed {
	const struct top_options *options;
	struct log *log;
	struct event_list events;
	struct target target;
	struct counters counters;
	struct attach attach;
	struct recorder recorder;
	struct recorder_pilot pilot;
	struct workload workload;
	bool has_workload, measures_workload;
	char **command; /* NULL: none is started */
	struct trace trace;
	struct follow follow;
	struct sink sink;
	struct label_facts label_facts;
	struct aggregate_options counting;
	struct aggregate counted;
	struct snapshot_options showing;
	regex_t ignored_callees;
	bool ignores_callees;
	const char *whose;     /* what is measured, in words */
	struct feed_facts facts;
	u64 fade_rest;         /* see profile_fade() */
	u64 shown_ns, cpu_ns;  /* when it was shown last; our own time on CPUs by then */
	u64 due_ns, hotplug_ns;
	char uid[16];
	/* Called at each refresh, with a snapshot that becomes the callee's; true: it is enough. */
	bool (*show)(void *ctx, struct snapshot *shown, const struct feed_facts *facts);
	void *ctx;
};

/* Chooses the target and opens everything; `labels`: LABEL_BIT()s that rows need. feed_close() even after an error. */
int feed_open(struct feed *f, u64 labels, struct err *err);

/* Until the target ends, a signal comes, or `show` has enough. */
enum recorder_end feed_run(struct feed *f, struct err *err);
void feed_close(struct feed *f);

#endif
