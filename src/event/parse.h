/*
 * parse.h - from "-e TEXT" to attrs: words, then a tree, then events.
 *
 *     events    = item { "," item }
 *     item      = event | [ name ":" ] "{" event { "," event } "}" [ ":" modifiers ]
 *     event     = name [ ":" modifiers ]                a name from names.h, rHEX, or a sysfs alias
 *               | system ":" tracepoint [ ":" modifiers ]
 *               | pmu "/" [ term { "," term } ] "/" [ [ ":" ] modifiers ]
 *     term      = name [ "=" number-or-word ]
 *     modifiers = any of  u k h G H I D S W e b p pp ppp P
 *
 * Errors   ERR_INVAL and ERR_NOENT with the text, the column and the nearest name
 */
#ifndef PACE_EVENT_PARSE_H
#define PACE_EVENT_PARSE_H

#include "base/err.h"
#include "event/catalog.h"
#include "event/event.h"

struct parse_env {
	const char *sysfs;             /* "/sys", or a test's tree */
	const char *tracefs;           /* NULL: where it is mounted */
	const struct catalog *catalog; /* the vendors' tables; NULL: none */
};

/* Appends the events that text describes. On error `events` may hold the first of them. */
int parse_events(const char *text, const struct parse_env *env, struct event_list *events,
	struct err *err);

#endif
