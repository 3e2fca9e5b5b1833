/*
 * fleetledger.h - whether what a fleet's store has of a window is whole: what was announced, what is there, what is
 * missing, and why.
 *
 * In       a server; what is wanted (fleet/fleetquery.h)
 * Out      minutes whose sums agree, and minutes that must be read row by row; losses of a batch
 * Owns     its minutes
 * Errors   those of the server; ERR_FORMAT
 */
#ifndef PACE_FLEET_FLEETLEDGER_H
#define PACE_FLEET_FLEETLEDGER_H

#include "fleet/fleetanswer.h"
#include "fleet/fleetquery.h"
#include "fleet/fleetserver.h"
#include "profile/batch/batch.h"

struct fleetledger {
	struct fleetserver *server;
	const struct fleetquery *query;
	bool has_hosts; /* hosts are wanted apart from each other */
	bool has_minutes; /* the roll-up has all that is wanted: plain sums are read there, else in pace_samples */
	VEC(u32) good, bad;     /* minutes, in seconds since 1970, in which sums agree, or do not */
	bool has_batches_twice; /* rows of pace_batches */
	u64 n_samples;          /* announced, of all minutes */
	u64 n_hosts;            /* that announced something */
	char cluster[128];      /* "": one server */
	u64 n_shards, n_silent_shards;
};

/* Looks which minutes can be read as they are. Adds what is missing to the batch. */
int fleetledger_read(struct fleetledger *l, struct fleetserver *s, const struct fleetquery *q,
	bool has_hosts, struct batch *losses, struct err *err);
void fleetledger_fini(struct fleetledger *l);

/* Asks once more which shards answer: one may have gone in the meantime. Adds those that do not. */
int fleetledger_check_shards(struct fleetledger *l, struct batch *losses, struct err *err);

#endif
