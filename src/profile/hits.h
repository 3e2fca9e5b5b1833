/*
 * hits.h - which DSOs a recording's samples touch.
 *
 * In       a scanned session and its machine
 * Out      one flag for each DSO of the machine; the session's tally completed
 * Errors   those of session_samples()
 */
#ifndef PACE_PROFILE_HITS_H
#define PACE_PROFILE_HITS_H

#include "machine/machine.h"
#include "session/session.h"

/* *ret_hit has machine->dsos.at.n flags, to be freed by mem_free(). */
int hits_find(struct session *s, const struct machine *m, unsigned n_workers, bool **ret_hit,
	struct err *err);

#endif
