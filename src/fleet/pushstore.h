/*
 * pushstore.h - pushes what a store of minutes has and a fleet's server has not acknowledged: the store is the spool.
 *
 * Where it stopped is a file in the store for each server, which is written after each group of batches is acknowledged,
 * so that another process goes on there. Batches that the store dropped before they were sent are gone: how much time
 * that was is told.
 * In       a store (fleet/store.h), a server (fleet/push.h)
 * Out      its batches in the server's tables
 * Errors   as in fleet/push.h: what was not acknowledged stays, and the next call sends it
 * Threads  pusher_*: a thread of its own sends, and the caller never waits but in pusher_end()
 */
#ifndef PACE_FLEET_PUSHSTORE_H
#define PACE_FLEET_PUSHSTORE_H

#include <pthread.h>

#include "fleet/push.h"
#include "fleet/store.h"

/* Names of the store's files of this kind begin so. */
#define PUSHSTORE_CURSOR "pushed-"

/* Sends all there is. p->options.remembers must be set. */
int pushstore(struct push *p, const char *folder, struct log *log, struct err *err);

/* Sends from time to time. */
struct pusher {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t is_wanted;
	struct push_options options;
	struct push push; /* the thread's; its deadline is also set by pusher_end() */
	const char *folder;
	bool is_running, has_more, ends;
	u64 n_failed;   /* calls in a row that failed */
	struct err err; /* of the last one */
};

/* Both are borrowed. ERR_UNSUPPORTED: there is no libcurl; ERR_SYS: no thread. */
int pusher_begin(struct pusher *p, const struct push_options *o, const char *folder,
	struct err *err);
/* There is something new to send. */
void pusher_wake(struct pusher *p);
/* Sends what there is, for at most so long, and a request that is on its way; true: all of it was sent. */
bool pusher_end(struct pusher *p, u32 most_ms);

#endif
