/*
 * debuginfod.h - files by build-id from the servers that the user's environment names.
 *
 * In       a build-id; DEBUGINFOD_URLS. Without it nothing happens: no library is loaded, nobody is asked
 * Out      the path of the file in the library's cache
 * Owns     the loaded library
 * Errors   ERR_NOENT: no server has it; ERR_LIMIT: the time for all questions together is over;
 *          ERR_UNSUPPORTED: libdebuginfod.so.1 is not installed
 * Threads  debuginfod_fetch() by any number
 * Source   debuginfod_find_debuginfo(3)
 */
#ifndef PACE_SYMBOL_DEBUGINFOD_H
#define PACE_SYMBOL_DEBUGINFOD_H

#include <pthread.h>

#include "base/err.h"
#include "base/log.h"
#include "base/str.h"

enum debuginfod_kind { DEBUGINFOD_DEBUG, DEBUGINFOD_EXECUTABLE };

struct debuginfod_library;

struct debuginfod {
	double seconds; /* for all questions together, from the first one on; 0: ask nobody */
	struct log *log;
	pthread_mutex_t lock;
	bool is_open;
	struct debuginfod_library *library; /* NULL: it cannot be used, see err */
	struct err err;
	u64 deadline_ns;
};

void debuginfod_init(struct debuginfod *d, double seconds, struct log *log);
void debuginfod_fini(struct debuginfod *d);

/* Whether there is anybody to ask. */
bool debuginfod_is_wanted(const struct debuginfod *d);

/* `name` is for messages. */
int debuginfod_fetch(struct debuginfod *d, enum debuginfod_kind kind, const char *name,
	const u8 *id, u8 n, struct str *ret_path, struct err *err);

#endif
