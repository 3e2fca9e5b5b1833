/*
 * fleetread.h - a profile out of a fleet's store: summed up there, so that what travels is a profile and not samples.
 *
 * The sums that hosts announced (pace_batches) are compared with those of the rows, minute by minute. Where they agree the
 * plain sums are taken; elsewhere each row is taken once, and only rows of complete batches.
 * In       a server, what is wanted
 * Out      batches: one, or one for each of several parts of the hosts, by which chance can be told
 * Owns     them
 * Errors   those of the server; ERR_FORMAT, ERR_LIMIT: its answers. What is missing is in the first batch's losses
 */
#ifndef PACE_FLEET_FLEETREAD_H
#define PACE_FLEET_FLEETREAD_H

#include "base/log.h"
#include "fleet/fleetquery.h"
#include "fleet/fleetserver.h"
#include "profile/batch/batch.h"

enum { FLEETREAD_PARTS = 16 };

struct fleetread_part {
	const char *name; /* "web1", "hosts 3 of 16"; "": all */
	struct batch batch;
};

struct fleetread {
	struct log *log;
	VEC(struct fleetread_part) parts;
	struct arena arena;
	u64 n_hosts;
};

/* `has_parts`: one for each host, or each of 16 groups of hosts. fleetread_fini() even after an error. */
int fleetread(struct fleetread *r, struct fleetserver *s, const struct fleetquery *q,
	bool has_parts, struct log *log, struct err *err);
void fleetread_fini(struct fleetread *r);

#endif
