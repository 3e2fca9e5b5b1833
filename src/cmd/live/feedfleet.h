/*
 * feedfleet.h - the feed of a fleet: what its hosts have sent of the last minutes, asked for anew at each refresh.
 *
 * In       a feed whose options name the address of the store, "clickhouse://HOST/DB?service=api"
 * Out      moments, as of a feed that measures; what is missing from them
 * Owns     the last answer until it is shown
 * Errors   of the first question: those of the address and of the store. Later ones are said, and the next refresh asks again
 * Threads  those of feed.h
 */
#ifndef PACE_CMD_LIVE_FEEDFLEET_H
#define PACE_CMD_LIVE_FEEDFLEET_H

#include "collect/record/recorder.h"
#include "profile/check/ledger.h"
#include "profile/tree/moment.h"

/* Where a window begins if the address does not say. */
#define FEEDFLEET_FROM "-5m"

struct feed;
struct feed_needs;

struct feedfleet {
	struct moment next;
	bool has_next;
	u64 labels;
	enum naming_source source;
	const char *const *fields;
	/* Of the last answer: */
	struct ledger ledger;
	u64 n_hosts, from_ns, to_ns;
};

int feedfleet_open(struct feed *f, const struct feed_needs *needs, struct err *err);
enum recorder_end feedfleet_run(struct feed *f, struct err *err);
void feedfleet_close(struct feed *f);

/* "3 hosts of 'clickhouse://store/', 13:05..13:10". */
void feedfleet_add_measured(const struct feed *f, struct str *text);

#endif
