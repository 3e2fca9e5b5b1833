/*
 * debuginfod.h - fetches files by build-id from the servers in the user's environment.
 *
 * Each file is requested by a thread of its own, all at the same time. A caller that needs the answer waits
 * until the time for all requests is over, or the user gives up. Requests without an answer by then are
 * abandoned: their threads end when the library lets them.
 * In       a build-id; DEBUGINFOD_URLS. If it is not set nothing is loaded and no server is asked
 * Out      the path of the file in the library's cache
 * Owns     the loaded library, the requests
 * Errors   ERR_NOENT: no server has it; ERR_LIMIT: the time for all requests together is over, or the
 *          user gave up; ERR_UNSUPPORTED: libdebuginfod.so.1 is not installed
 * Threads  all functions may be called by any number
 * Source   debuginfod_find_debuginfo(3)
 */
#ifndef PACE_SYMBOL_DEBUGINFOD_H
#define PACE_SYMBOL_DEBUGINFOD_H

#include <pthread.h>

#include "base/err.h"
#include "base/log.h"
#include "base/str.h"
#include "base/vec.h"

enum debuginfod_kind { DEBUGINFOD_DEBUG, DEBUGINFOD_EXECUTABLE };

struct debuginfod_library;
struct debuginfod_question;

/* What the watcher is told. */
struct debuginfod_state {
	unsigned n_waiting, n_asked;
	const char *name;     /* of one request that is waited for */
	u64 n_bytes, n_total; /* of all running downloads; total 0: unknown */
	double seconds_left;
};

struct debuginfod {
	double seconds; /* for all requests together, from the first one on; 0: no server is asked */
	struct log *log;
	/* Called regularly while a caller waits, by one thread at a time. Returns false to give up. */
	bool (*watch)(void *ctx, const struct debuginfod_state *state);
	void *watch_ctx;
	pthread_mutex_t lock;
	bool is_open, has_given_up;
	struct debuginfod_library *library; /* NULL: it cannot be used, see err */
	struct err err;
	u64 deadline_ns, watched_ns;
	VEC(struct debuginfod_question *) questions;
};

void debuginfod_init(struct debuginfod *d, double seconds, struct log *log);
void debuginfod_fini(struct debuginfod *d);

/* Whether there are servers to ask. */
bool debuginfod_is_wanted(const struct debuginfod *d);

/* Sends the request, unless it was sent before. Does not wait. `name` is for messages. */
void debuginfod_ask(struct debuginfod *d, enum debuginfod_kind kind, const char *name, const u8 *id,
	u8 n);

/* Sends the request, unless it was sent before, and waits for the answer. */
int debuginfod_fetch(struct debuginfod *d, enum debuginfod_kind kind, const char *name,
	const u8 *id, u8 n, struct str *ret_path, struct err *err);

#endif
