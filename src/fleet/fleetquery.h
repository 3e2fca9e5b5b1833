/*
 * fleetquery.h - what is wanted of a fleet: a window of time, filters, what to group by; and these in SQL.
 *
 *     service=api  type=cpu-clock  host=web1,web2  comm=...  build=...  label.region=eu
 *     from=-1h     to=now          group=host,region         max=100000
 *
 * In       the words of an address (fleet/fleeturl.h)
 * Out      conditions and columns for statements, with all texts quoted
 * Owns     nothing: its texts are the address'
 * Units    seconds since 1970, whole minutes: the roll-up has no finer ones
 * Errors   ERR_INVAL: there is no such word, or its value makes no sense
 */
#ifndef PACE_FLEET_FLEETQUERY_H
#define PACE_FLEET_FLEETQUERY_H

#include "fleet/fleeturl.h"
#include "fleet/schema.h"

enum {
	FLEETQUERY_GROUPS = 12, /* most columns to group by */
	FLEETQUERY_ROWS = 100000,
};

struct fleetquery_filter {
	const char *column; /* NULL: a label */
	const char *label;
	const char *values; /* "a,b" */
};

struct fleetquery {
	u64 from_s, to_s;
	VEC(struct fleetquery_filter) filters;
	const char *groups[FLEETQUERY_GROUPS]; /* columns and labels */
	u32 n_groups;
	u64 rows_most; /* rows of the answer; what is left becomes one */
	u32 timeout_ms;
	struct arena arena;
};

/* `default_from`: where the window begins if the address does not say; NULL: an hour ago. */
int fleetquery_parse(struct fleetquery *q, const struct fleeturl *u, const char *default_from,
	u64 now_ns, struct err *err);
void fleetquery_fini(struct fleetquery *q);

/* Groups by that too; ERR_LIMIT: by too much. Grouping twice by the same is once. */
int fleetquery_group_by(struct fleetquery *q, const char *name, struct err *err);

/* Whether the roll-up knows all that is asked for. */
bool fleetquery_fits_minutes(const struct fleetquery *q);

/* A column of pace_samples, or a label. */
void fleetquery_add_expression(struct str *sql, const char *name);

enum fleetquery_which {
	FLEETQUERY_ALL, /* filters of all kinds */
	FLEETQUERY_COUNTED, /* of services, types and hosts only: what the sums of pace_batches can tell */
	FLEETQUERY_SUMS,      /* of services and types only */
	FLEETQUERY_HOSTS,     /* of hosts and labels only: columns of pace_batches */
	FLEETQUERY_HOST_ONLY, /* of hosts only */
};

/* " WHERE time >= ... AND ...": the window, and filters. */
void fleetquery_add_where(const struct fleetquery *q, enum fleetquery_which which, struct str *sql);
/* The filters alone, each with " AND " in front. */
void fleetquery_add_filters(const struct fleetquery *q, enum fleetquery_which which,
	struct str *sql);

#endif
