/*
 * gate_history.h - gate: what earlier comparisons on this machine found, one line each.
 *
 *     2026-11-24T04:30:00Z  build-7  5f2c...  10  0.0113  0.402  same
 *
 * In       a file, which need not exist
 * Out      the values of equal programs' comparisons: gating_least_q() each; a line added at the end
 * Owns     what it read
 * Errors   ERR_FORMAT with the line; ERR_SYS
 */
#ifndef PACE_CMD_GATE_HISTORY_H
#define PACE_CMD_GATE_HISTORY_H

#include "base/err.h"
#include "base/types.h"
#include "base/vec.h"

struct gate_past {
	VEC(double) nulls;  /* least q of equal programs, of this host */
	VEC(double) noises; /* of the whole, as shares */
	u64 n_alarms; /* of the nulls: would have been called different without what was learnt */
};

struct gate_line {
	const char *host, *command, *verdict;
	u64 n_rounds;
	double noise, null_q;
};

/* path NULL: there is no past. `wanted`: the q that a null must be below to be an alarm. */
int gate_past_read(struct gate_past *p, const char *path, const char *host, double wanted,
	struct err *err);
void gate_past_fini(struct gate_past *p);

int gate_past_add(const char *path, const struct gate_line *line, struct err *err);

#endif
