/*
 * gate_rounds.h - gate: runs of both programs in turns, each recorded.
 *
 * In each round both run, in an order drawn anew, so that what drifts or recurs on the machine meets both alike. If rounds
 * differ much, there are more of them (profile/diff/gating).
 * In       the commands, how often to sample, a folder
 * Out      a recording for each run
 * Owns     the paths
 * Errors   a command that cannot be started or fails, with its last words; a run that is too short to be sampled
 */
#ifndef PACE_CMD_GATE_ROUNDS_H
#define PACE_CMD_GATE_ROUNDS_H

#include "base/err.h"
#include "base/log.h"
#include "base/str.h"
#include "profile/diff/gating.h"

/* What one side runs. */
struct gate_command {
	char **words;
	int n;
	struct str text; /* as a shell reads it */
};

struct gate_rounds {
	const struct gate_command *sides; /* DELTA_SIDES */
	const char *folder, *event, *frequency, *prepare;
	const struct gating_options *how; /* with how->find: there may be more than least rounds */
	bool may_fail, shows_output;
	u64 least, most; /* rounds */
	u64 n;           /* that there were */
	struct log *log;
	char **paths[DELTA_SIDES]; /* n recordings of each side; room for most */
	double seconds;            /* that all of it took */
};

int gate_rounds_run(struct gate_rounds *r, struct err *err);

/* Writes the page of 'pace diff' of all recordings. */
int gate_rounds_page(const struct gate_rounds *r, const char *path, struct err *err);

void gate_rounds_fini(struct gate_rounds *r);

#endif
