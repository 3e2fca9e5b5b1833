/*
 * top_source.h - top: the thread that measures, and what it hands over to the one that shows.
 *
 * In       set-ups: options with the rows they lead to. The first one is opened by the caller's thread, later ones by
 *          that which measures
 * Out      the newest moment, with the set-up that it is of
 * Owns     the feed, the set-ups, the moment that waits
 * Errors   of the first opening; of later ones as `said`, and the set-up before goes on
 * Threads  all functions are for the one that shows; moments are handed over under the lock
 */
#ifndef PACE_CMD_TOP_SOURCE_H
#define PACE_CMD_TOP_SOURCE_H

#include <pthread.h>

#include "cmd/top/top_code.h"
#include "cmd/live/feed.h"
#include "cmd/top/top_rows.h"

struct top_setup {
	struct top_options options;
	struct top_rows rows;
	char *text; /* the words of a prompt, which the options refer to; NULL: none */
};

/* A moment to show. */
struct top_shown {
	const struct top_setup *setup; /* NULL: there is none yet */
	struct moment moment;
	struct feed_facts facts;
};

struct top_source {
	struct log *log;
	char **command;
	VEC(struct top_setup *) setups;
	struct feed feed;                 /* the measuring thread's, while it runs */
	const struct top_setup *measured; /* the feed's */
	pthread_t thread;
	int wake_fd;
	bool is_running; /* the thread was started */
	/* Tells the one that shows that there is something; called by the other thread. */
	void (*tell)(void *ctx, bool is_end);
	void *ctx;

	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t changed;
	struct top_shown next;
	struct feed_settings wished;
	const struct top_setup *wanted; /* the set-up to go on with; NULL: the present one */
	bool forgets, ends, wants_code;
	struct top_code *code; /* that was wanted */
	bool has_ended;        /* measuring is over: */
	int signal;            /* by this one; 0: the target has ended, or `failure` */
	struct err failure;
	struct str said;  /* for the last line; the one that shows clears it */
	struct str head;  /* what is measured */
	struct str lacks; /* of a fleet: what is missing, in lines */
};

int top_source_open(struct top_source *s, const struct top_options *o, char **command,
	struct log *log, struct err *err);
int top_source_start(struct top_source *s, struct err *err);

/* Waits for the first moment. False: there will be none. */
bool top_source_wait(struct top_source *s);

/* The newest moment, which becomes the caller's; false: there is no newer one. */
bool top_source_take(struct top_source *s, struct top_shown *ret);

/* What was counted until now, by address, which the caller frees; NULL: measuring has failed. */
struct top_code *top_source_code(struct top_source *s);

/* Wakes the thread, after something was wished. */
void top_source_wake(struct top_source *s);

/* What to go on with. NULL, false: as now. */
struct top_change {
	const char *event, *keys;
	bool turns_wall; /* to time on and off CPUs, or back to samples */
};

/* ERR_INVAL: that cannot be. */
int top_source_change(struct top_source *s, const struct top_change *c, struct err *err);

void top_source_close(struct top_source *s);

#endif
