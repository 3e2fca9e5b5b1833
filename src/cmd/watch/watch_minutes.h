/*
 * watch_minutes.h - watch: what was counted in a minute, as a batch in the store.
 *
 * In       moments of a feed
 * Out      batches with their labels, facts and losses
 * Owns     the store while it writes
 * Errors   those of opening the store; a batch that cannot be kept is said, and missing in the next one's ledger
 */
#ifndef PACE_CMD_WATCH_MINUTES_H
#define PACE_CMD_WATCH_MINUTES_H

#include "cmd/watch/watch_options.h"
#include "cmd/watch/watch_odd.h"
#include "fleet/storewriter.h"

struct watch_minutes {
	const struct watch_options *options;
	struct feed *feed;
	struct log *log;
	struct storewriter store;
	struct watch_odd odd;
	struct session_tally told; /* what batches before have told of */
	u64 end_ns;                /* of the batch before */
	u64 unkept_ns;             /* of batches that could not be kept, until one can */
	u64 n_unkept;
	bool is_unkept_said;
	/* Of the present batch. */
	u32 service;     /* text, with --service */
	VEC(u32) labels; /* texts */
};

int watch_minutes_open(struct watch_minutes *m, const struct watch_options *o, struct feed *feed,
	struct log *log, struct err *err);
void watch_minutes_close(struct watch_minutes *m);

/* The moment becomes the callee's. */
void watch_minutes_take(struct watch_minutes *m, struct moment *shown,
	const struct feed_facts *facts);

#endif
