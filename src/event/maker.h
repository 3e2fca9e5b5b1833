/*
 * maker.h - what the parts of the parser share while they make events of words.
 *
 * In       the text, for messages that point into it; where to look names up
 * Out      events, appended; a node may make several (globs, kinds of cores)
 * Errors   in m->err, with the place in the text
 */
#ifndef PACE_EVENT_MAKER_H
#define PACE_EVENT_MAKER_H

#include "event/parse.h"
#include "event/syntax.h"

struct maker {
	const char *text;
	const struct parse_env *env;
	struct event_list *events;
	struct err *err;
};

/* Sets an error that points at `w`; returns its code. */
int maker_fail(struct maker *m, struct word w, int code, const char *message);

/* Appends an event that is named by the text of its node. */
struct event *maker_add(struct maker *m, const struct event_attr *attr, const struct node *node);

/* A string that lives as long as the events. */
const char *maker_strdup(struct maker *m, const char *text, size_t n);

#endif
