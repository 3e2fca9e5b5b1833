/*
 * push.h - sends batches to a fleet's tables, each row once.
 *
 * Rows of many batches travel in one request; the row of pace_batches goes last and makes a batch complete. If it is not
 * clear whether rows arrived (no answer, half of one, status 500), the server is asked for them before they are sent
 * again. Should both arrive all the same, readers see it by the sums in pace_batches, and count each row once.
 * In       batches, whose "host" is a fact
 * Out      rows in pace_stacks, pace_samples, pace_batches
 * Owns     the connection, what waits to be sent, which stacks were sent today
 * Errors   as in fleet/fleetserver.h, after all attempts; the batches since the last push_flush() that succeeded are then
 *          to be pushed again, by this process or another one
 * Threads  one
 */
#ifndef PACE_FLEET_PUSH_H
#define PACE_FLEET_PUSH_H

#include "base/log.h"
#include "base/random.h"
#include "base/table.h"
#include "fleet/fleetserver.h"
#include "fleet/rowtext.h"

struct push_options {
	const struct fleeturl *url;
	const char *service; /* of rows without that label; NULL: none */
	u32 timeout_ms;      /* of a request */
	u32 n_attempts;
	bool remembers; /* the caller knows what was sent, but for the batches of the first push_flush() */
	u64 deadline_ns; /* of CLOCK_MONOTONIC, for all; 0: none */
	struct log *log;
};

struct push_stack {
	u64 key, hash; /* key: with the host */
};

struct push {
	struct push_options options;
	struct fleetserver server;
	struct random jitter;
	bool is_unclear; /* earlier processes may have sent what comes next */
	/* The stacks that were sent, of today only: a stack that nobody sends any more may be dropped. */
	struct table sent;
	VEC(struct push_stack) stacks_sent;
	u64 day;
	size_t n_confirmed; /* of `stacks_sent` */
	/* What waits. */
	struct str stacks, samples, batches;
	struct str ids, done, part, times, hosts; /* which rows, in SQL: see take_rows() */
	u64 n_rows, n_batch_rows;
	/* What was done. */
	u64 n_batches, n_sent_rows, n_sent_stacks, n_attempts,
		n_there; /* n_there: requests whose rows were there already */
	u64 n_bytes;     /* of rows, before they were packed */
};

int push_open(struct push *p, const struct push_options *o, struct err *err);
void push_close(struct push *p);

/* Takes a batch; when enough has come together, it is sent. */
int push_add(struct push *p, const struct batch *b, struct err *err);
/* Sends all that waits. */
int push_flush(struct push *p, struct err *err);
/* Forgets what waits, after an error. */
void push_forget(struct push *p);

#endif
