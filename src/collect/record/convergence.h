/*
 * convergence.h - how precisely the share of the hottest code is known, while samples come in.
 *
 * In       addresses of samples
 * Out      the largest share, and the half width of its 95 % confidence interval relative to it
 * Owns     a table of pieces of code with their counts
 * Units    pieces of 64 bytes: no names are known yet. A function has at least one piece, so its share is
 *          larger and its relative interval narrower than those of the hottest piece
 * Source   the normal approximation of the binomial distribution (NIST/SEMATECH e-Handbook of Statistical
 *          Methods, 7.2.4.1); samples are assumed to be independent
 */
#ifndef PACE_COLLECT_CONVERGENCE_H
#define PACE_COLLECT_CONVERGENCE_H

#include "base/table.h"
#include "base/types.h"
#include "base/vec.h"

enum { CONVERGENCE_LEAST = 30 }; /* samples of the hottest piece before the width is known */

struct convergence_piece {
	u64 number; /* address / 64 */
	u64 n;
};

struct convergence {
	VEC(struct convergence_piece) pieces;
	struct table by_number;
	u64 n, most; /* samples; those of the hottest piece */
};

void convergence_add(struct convergence *e, u64 ip);
void convergence_fini(struct convergence *e);

/* The largest share: 0 to 1. */
double convergence_share(const struct convergence *e);

/* 0.05 means that the share is known to +-5 % of itself. INFINITY below CONVERGENCE_LEAST. */
double convergence_width(const struct convergence *e);

#endif
