/*
 * feed.h - what runs now, counted as it comes; the counts fade, or begin anew. Or what a fleet has sent of the last
 * minutes (cmd/live/feedfleet.h), which is asked for anew each time.
 *
 * In       options; a command to start, or none
 * Out      a moment at each refresh, with what there is to say about it
 * Owns     events, counters, rings, the machine that they tell of, and the counts
 * Errors   those of opening: the target, the events, the rings
 * Threads  one: feed_run() is the loop, and calls `show`
 */
#ifndef PACE_CMD_LIVE_FEED_H
#define PACE_CMD_LIVE_FEED_H

#include <regex.h>

#include "cmd/record/record_options.h"
#include "cmd/symbols.h"
#include "cmd/live/livewall.h"
#include "collect/record/pacing.h"
#include "collect/run/attach.h"
#include "profile/tree/moment.h"
#include "trace/follow.h"

/* What was measured since the last refresh, and what measuring it took. */
struct feed_facts {
	u64 nr;        /* of the refresh, from 1 */
	u64 time_ns;   /* CLOCK_REALTIME */
	u64 span_ns;   /* since the last one */
	u64 n_samples; /* in that time */
	u64 n_lost,
		n_lost_all; /* records that the rings had no room for: in that time, and since the start */
	bool is_of_fleet;   /* of which idle CPUs are not known */
	double own_cpu_pct; /* of one CPU */
	u64 own_bytes;      /* resident memory */
	bool has_wall;      /* time on and off CPUs is counted: */
	struct livewall_facts wall;
};

/* What of a command's options concerns what is measured and counted. */
struct feed_options {
	const struct record_options *record; /* only what concerns sampling is used */
	const struct symbol_options *symbols;
	const struct profile_filter *filter;
	const char *ignored_callees; /* NULL: none */
	const char *fleet;           /* the address of a fleet's store; NULL: this machine */
	const char *sort;            /* with `fleet`: the keys, of which it groups by the labels */
	const struct sink *also;     /* gets all records, too; NULL: nobody else does */
	double delay_s;
	u64 count_most; /* addresses of a chain; 0: the default */
	bool hides_kernel, hides_user, has_idle, has_inlined;
	bool is_zeroed; /* counts begin anew at each refresh */
	/* Refreshes are at full multiples of the delay, and at full hours, of the wall clock. */
	bool is_aligned;
	bool shows_rest;     /* a last refresh when a signal ends it */
	const char *done;    /* what is done with processes: "shown" */
	const char *instead; /* what a user may do who has nothing to look at */
};

/* What may change while it runs; at first as the options say. */
struct feed_settings {
	bool hides_kernel, hides_user, is_zeroed;
	bool is_paused; /* nothing is measured */
	double delay_s;
};

struct feed {
	struct feed_options options;
	struct feedfleet *fleet; /* NULL: this machine is measured */
	struct feed_settings settings;
	struct log *log;
	struct event_list events;
	struct target target;
	struct counters counters;
	struct attach attach;
	struct recorder recorder;
	struct recorder_pilot pilot;
	struct workload workload;
	bool has_workload, measures_workload;
	bool has_dumps; /* samples carry copies of stacks */
	char **command; /* NULL: none is started */
	struct trace trace;
	struct follow follow;
	struct sink sink, counting_sink; /* with options.also: of both, and of what counts */
	struct label_facts label_facts;
	struct aggregate_options counting;
	struct livewall wall;
	struct pacing pacing; /* with record->timing.overhead_pct; once for each refresh */
	struct aggregate counted;
	struct moment_options showing;
	regex_t ignored_callees;
	bool ignores_callees;
	const char *whose; /* what is measured, in words */
	struct feed_facts facts;
	u64 fade_rest;        /* see profile_fade() */
	u64 shown_ns, cpu_ns; /* when it was shown last; our own time on CPUs by then */
	u64 due_ns, hotplug_ns;
	char uid[16];
	/* Called at each refresh, with a moment that becomes the callee's; true: it is enough. */
	bool (*show)(void *ctx, struct moment *shown, const struct feed_facts *facts);
	/* Called at least four times a second, and when wake_fd is readable; true: it is enough. NULL: not wanted. */
	bool (*steer)(void *ctx);
	/* A refresh failed, and the next one may not. NULL: it is logged. */
	void (*say)(void *ctx, const char *text);
	void *ctx;
	int wake_fd;  /* an eventfd, set before feed_open(); 0: none */
	u32 n_events; /* the first ones of `events` are those that were asked for */
};

/* How names are found. */
void feed_choose_names(const struct feed *f, struct resolver *r);

/* Forgets what was counted so far, and refreshes soon. */
void feed_forget(struct feed *f);
void feed_pause(struct feed *f, bool is_paused);

/* What rows need. */
struct feed_needs {
	u64 labels;  /* LABEL_BIT()s */
	u64 welcome; /* likewise, if samples have what they need */
	enum naming_source source;
	const char *const *fields; /* LABEL_FIELDS, of a fleet; NULL: none */
};

/* Of a feed's refresh: what measuring took since the last one. */
void feed_note_costs(struct feed *f, u64 now_ns);

/* Whether samples of that mode are not to be counted. */
bool feed_hides(const struct feed_settings *s, u8 mode);

/* Chooses the target and opens everything. feed_close() even after an error. */
int feed_open(struct feed *f, const struct feed_needs *needs, struct err *err);

/* Until the target ends, a signal comes, or `show` has enough. */
enum recorder_end feed_run(struct feed *f, struct err *err);
void feed_close(struct feed *f);

#endif
