/*
 * fleetserver.h - a ClickHouse server as what pushes and what reads sees it: statements, answers, refusals.
 *
 * In       an address (fleet/fleeturl.h); statements
 * Out      answers as text; what kind of server it is
 * Owns     the connection
 * Errors   as in fleet/http.h, and ERR_INVAL: the server refuses, in its own words; the message names its address
 */
#ifndef PACE_FLEET_FLEETSERVER_H
#define PACE_FLEET_FLEETSERVER_H

#include "base/log.h"
#include "fleet/fleeturl.h"

struct fleetserver {
	const struct fleeturl *url;
	struct http http;
	u32 version;    /* 1816: 18.16 */
	u32 timeout_ms; /* of a statement */
	struct http_answer answer;
	struct log *log; /* says, with -v, how long each question took; NULL: does not */
};

enum fleetserver_outcome {
	FLEETSERVER_DONE,
	FLEETSERVER_UNCLEAR, /* perhaps done, perhaps not: *err says why */
	FLEETSERVER_REFUSED, /* not done, and trying again would not help */
};

/* Asks for the version, so that wrong addresses and passwords are found at once. */
int fleetserver_open(struct fleetserver *s, const struct fleeturl *url, u32 timeout_ms,
	struct err *err);
/* Without asking. */
int fleetserver_prepare(struct fleetserver *s, const struct fleeturl *url, u32 timeout_ms,
	struct err *err);
int fleetserver_ask_version(struct fleetserver *s, struct err *err);
void fleetserver_close(struct fleetserver *s);

/* Asks; the answer, of at most `most` bytes, is in s->answer.text. `format`: of ClickHouse. */
int fleetserver_select(struct fleetserver *s, const char *query, const char *format, size_t most,
	struct err *err);

/* Rows of JSON for a table. `token`: equal rows have the same one. */
enum fleetserver_outcome fleetserver_insert(struct fleetserver *s, const char *table,
	const struct str *rows, u64 token, struct err *err);

/* Adds a text as SQL has it, in quotes. */
void fleetserver_quote(struct str *sql, const char *text);

#endif
