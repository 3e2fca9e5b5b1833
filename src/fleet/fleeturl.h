/*
 * fleeturl.h - where a fleet's tables are, as users write it; for reading also what is wanted of them.
 *
 *     clickhouse://[USER@]HOST[:PORT][/DATABASE][?KEY=VALUE&...]   clickhouses:// with TLS
 *     http[s]://[USER@]HOST[:PORT]/[DATABASE][?database=DATABASE]
 *
 * In       the text; where secrets are: the environment, or a file
 * Out      the server's address, its database, the words behind '?'
 * Owns     its texts
 * Errors   ERR_INVAL: it is no such address, or has a password in it, which everybody could read
 */
#ifndef PACE_FLEET_FLEETURL_H
#define PACE_FLEET_FLEETURL_H

#include "fleet/http.h"

struct fleeturl_word {
	const char *key, *value;
};

struct fleeturl {
	const char *text; /* as it was given; borrowed */
	struct arena arena;
	const char *server; /* "http://host:8123/" */
	const char *database;
	VEC(struct fleeturl_word) words; /* without "database" */
	struct http_login login;         /* user; secrets by fleeturl_login() */
};

/* Whether it begins as one for reading. */
bool fleeturl_is(const char *text);

int fleeturl_parse(struct fleeturl *u, const char *text, struct err *err);
void fleeturl_fini(struct fleeturl *u);

/* The last value of a key; NULL: it is not there. */
const char *fleeturl_word(const struct fleeturl *u, const char *key);

/* Files of secrets; NULL: those that the environment names. */
struct fleeturl_secrets {
	const char *user, *password_file, *token_file, *authority;
};

/*
 * Fills u->login: of `s`, else of PACE_FLEET_USER, PACE_FLEET_PASSWORD or PACE_FLEET_PASSWORD_FILE, PACE_FLEET_TOKEN or
 * PACE_FLEET_TOKEN_FILE, PACE_FLEET_CA.
 */
int fleeturl_login(struct fleeturl *u, const struct fleeturl_secrets *s, struct err *err);

#endif
