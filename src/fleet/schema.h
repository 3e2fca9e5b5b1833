/*
 * schema.h - the tables of a fleet: which columns they have, in words of each engine.
 *
 * What pushes, what reads and what prints the schema take names from here: a new column is one row in schema.c and
 * what fills it in fleet/rowtext.c.
 * Out      statements that make the tables, with order, time to live, roll-ups and comments
 * Source   the manuals of ClickHouse (18.16 and 23) and DuckDB
 */
#ifndef PACE_FLEET_SCHEMA_H
#define PACE_FLEET_SCHEMA_H

#include "base/err.h"
#include "base/str.h"
#include "base/types.h"

enum schema_dialect {
	SCHEMA_CLICKHOUSE,
	SCHEMA_CLICKHOUSE_18, /* without time to live, codecs and dictionaries of texts */
	SCHEMA_DUCKDB,
	SCHEMA_DIALECTS,
};

enum schema_table {
	SCHEMA_STACKS,
	SCHEMA_SAMPLES,
	SCHEMA_BATCHES,
	SCHEMA_MINUTES, /* a roll-up, which the engine fills */
	SCHEMA_TABLES,
};

struct schema_options {
	enum schema_dialect dialect;
	const char *cluster; /* its servers share the tables; NULL: one server */
	u32 days;            /* that samples are kept */
};

/* "pace_samples" */
const char *schema_name(enum schema_table table);

/* ERR_INVAL lists the dialects there are. */
int schema_find_dialect(const char *name, enum schema_dialect *ret_dialect, struct err *err);

int schema_add(struct str *text, const struct schema_options *o, struct err *err);

#endif
