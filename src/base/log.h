/*
 * log.h - messages of the stages, for the command to print.
 *
 * Stages never print. They are handed a log and put sentences into it; the command decides where
 * they go. A sentence is said once: the same text is not repeated.
 *
 * Owns     copies of what was said
 * Life     the command's; NULL is a log that swallows everything
 * Threads  any number may call log_say(), and their sentences reach the writer one at a time; one
 *          thread at a time may use the rest
 */
#ifndef PACE_BASE_LOG_H
#define PACE_BASE_LOG_H

#include "base/err.h"
#include "base/str.h"
#include "base/types.h"

enum log_level {
	LOG_WARN,  /* the result differs from what was asked for */
	LOG_NOTE,  /* worth knowing; nothing is missing */
	LOG_DEBUG, /* how it was done; shown by -v */
};

struct log_held {
	enum log_level level;
	const char *sentence; /* in said */
};

struct log {
	enum log_level level; /* the least important level that is passed on */
	void (*write)(void *ctx, enum log_level level, const char *sentence);
	void *ctx;
	struct intern said;
	bool has_warned; /* something was said at LOG_WARN */
	bool is_held;    /* sentences wait for log_release() or log_forget() */
	VEC(struct log_held) held;
};

void log_say(struct log *log, enum log_level level, const char *fmt, ...) PRINTF(3, 4);

/*
 * Says why something that might have helped was not used. This is a warning if a system call failed,
 * because nobody can know then what would have been found; else a debug message, which begins with `whose`.
 */
void log_untried(struct log *log, const char *whose, const struct err *err);

/*
 * Holds back all sentences from now on, until it is clear whether they matter: log_release() passes
 * them on; log_forget() drops them, because an error says it better.
 */
void log_hold(struct log *log);
void log_release(struct log *log);
void log_forget(struct log *log);
void log_fini(struct log *log);

#define log_warn(log, ...)  log_say(log, LOG_WARN, __VA_ARGS__)
#define log_note(log, ...)  log_say(log, LOG_NOTE, __VA_ARGS__)
#define log_debug(log, ...) log_say(log, LOG_DEBUG, __VA_ARGS__)

#endif
