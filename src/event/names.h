/*
 * names.h - the events that have a name on every machine.
 *
 * Hardware and software events, and those that stat counts itself, come from one table; cache events
 * are composed from three (cache, operation, result), in any of the spellings that perf takes.
 * Source   linux/perf_event.h, perf-list(1)
 */
#ifndef PACE_EVENT_NAMES_H
#define PACE_EVENT_NAMES_H

#include "base/nearest.h"
#include "base/types.h"
#include "event/attr.h"

struct event_name {
	const char *name;
	const char *alias; /* a second spelling, or NULL */
	u32 type;          /* enum perf_type, or EVENT_TYPE_TOOL */
	u64 config;
	const char *help; /* one sentence */
};

/* Whether n bytes at text name a hardware, software or cache event; fills type and config. */
bool names_find(const char *text, size_t n, u32 *ret_type, u64 *ret_config);

/* The name of (type, config), into buf; false if it has none. */
bool names_of(u32 type, u64 config, char *buf, size_t size);

/* The other spelling of an event's name; NULL if it has only one. */
const char *names_other(const char *name);

/* Row i of the table of hardware and software events; NULL after the last. */
const struct event_name *names_at(size_t i);

/* The i-th cache event that makes sense, in canonical spelling, into buf; false after the last. */
bool names_cache_at(size_t i, char *buf, size_t size);

void names_offer_all(struct nearest *near);

/* What perf would call an event whose name is lost: "cycles:u", "raw 0x1c2". */
void names_default(const struct event_attr *attr, char *buf, size_t size);

#endif
