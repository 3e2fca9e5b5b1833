/*
 * parse.h - from "-e TEXT" to attrs: words, then a tree (syntax.h), then events.
 *
 *     events    = item { "," item }
 *     item      = event | [ name [ ":" ] ] "{" event { "," event } "}" [ ":" modifiers ]
 *     event     = name [ ":" modifiers ]
 *                     a name from names.h, rHEX, an event of a PMU in sysfs or the vendor's tables
 *               | name "/" [ terms ] "/" [ [ ":" ] modifiers ]
 *                     the name of a PMU or of several (imc, uncore_*), or an event as above
 *               | system ":" tracepoint [ ":" modifiers ]             both may be globs
 *               | system ":" tracepoint "/" filter-or-terms "/" [ [ ":" ] modifiers ]
 *               | "pfm:" what libpfm4 takes, if it is built in; up to ',' or '}'
 *               | "mem:" address [ "/" length ] [ ":" access ] [ ":" modifiers ]
 *               | type ":" config [ ":" modifiers ]                   in numbers
 *     terms     = term { "," term }
 *     term      = name [ "=" value ] | "@" driver's-word
 *     value     = word | "/" path | "'" anything "'"
 *     modifiers = any of  u k h G H I D S W X e b R p pp ppp P
 *
 * Blanks may stand around items, the events of a group and terms: "{cycles, instructions}".
 * One name may make several events: a glob, a PMU of which there are many (uncore_imc), and on
 * machines with cores of several kinds every event that cores count. In a group each PMU then leads
 * a group of its own. The order is the text's, but for one case: slots come before the metrics that
 * are parts of them, because the kernel wants them to lead. A software event may lead hardware
 * events: the kernel moves the group to the hardware's side itself.
 *
 * Events from tables may have a sample_period (EVENT_WEAK_PERIOD): callers that only count clear it.
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
	bool asks_libpfm;              /* for names that are known nowhere else */
	bool takes_latencies;          /* R is accepted: EVENT_RETIRE_LATENCY */
	const char *
		core_pmu; /* of names that all kinds of cores have, only the events of this PMU; NULL: all */
	const char
		*only_pmu; /* only events of this PMU, and those that are of none; NULL: of all */
};

/* Appends the events that text describes. On error `events` may hold the first of them. */
int parse_events(const char *text, const struct parse_env *env, struct event_list *events,
	struct err *err);

#endif
