/*
 * debuginfod.h - files by build-id from the servers that the user's environment names.
 *
 * Each question is asked by a thread of its own, all at the same time; who needs the answer waits for
 * it until the time for all of them is over, or somebody gives up. What was not answered by then is
 * left behind: the thread ends when the library lets it.
 * In       a build-id; DEBUGINFOD_URLS. Without it nothing happens: no library is loaded, nobody is asked
 * Out      the path of the file in the library's cache
 * Owns     the loaded library, the questions
 * Errors   ERR_NOENT: no server has it; ERR_LIMIT: the time for all questions together is over, or
 *          somebody gave up; ERR_UNSUPPORTED: libdebuginfod.so.1 is not installed
 * Threads  all of it by any number
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

/* What is said to who watches. */
struct debuginfod_state {
	unsigned n_waiting, n_asked;
	const char *name;     /* one that is waited for */
	u64 n_bytes, n_total; /* of all that are on their way; total 0: not known */
	double seconds_left;
};

struct debuginfod {
	double seconds; /* for all questions together, from the first one on; 0: ask nobody */
	struct log *log;
	/* Called every now and then while somebody waits, by one thread at a time; false: give up. */
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

/* Whether there is anybody to ask. */
bool debuginfod_is_wanted(const struct debuginfod *d);

/* Asks, if that was not asked before, and waits for nothing. `name` is for messages. */
void debuginfod_ask(struct debuginfod *d, enum debuginfod_kind kind, const char *name, const u8 *id,
	u8 n);

/* Asks, if that was not asked before, and waits for the answer. */
int debuginfod_fetch(struct debuginfod *d, enum debuginfod_kind kind, const char *name,
	const u8 *id, u8 n, struct str *ret_path, struct err *err);

#endif
