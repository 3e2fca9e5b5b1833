/*
 * said.h - a log that keeps what it is told.
 *
 * Out      text: one line for each sentence, with its level in front: "warn: ...", "note: ...",
 * "debug: ..." Owns     the text and the log, until said_fini()
 */
#ifndef PACE_TESTS_SAID_H
#define PACE_TESTS_SAID_H

#include "base/log.h"

struct said {
	struct log log;
	struct str text;
};

void said_init(struct said *s, enum log_level level);
void said_fini(struct said *s);

/* How often the part occurs in what was said. */
size_t said_count(const struct said *s, const char *part);

#endif
