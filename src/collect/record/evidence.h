/*
 * evidence.h - how sure the share of the hottest code is, while samples come in.
 *
 * In       addresses of samples
 * Out      the largest share, and the half width of its 95 % confidence interval relative to it
 * Owns     a table of pieces of code with their counts
 * Units    pieces of 64 bytes: no names are known yet. A function is at least one piece, so that its share
 *          is larger, and its relative interval narrower, than what is said here of the hottest piece
 * Source   the normal approximation of the binomial distribution (NIST/SEMATECH e-Handbook of Statistical
 *          Methods, 7.2.4.1); samples are taken for independent
 */
#ifndef PACE_COLLECT_EVIDENCE_H
#define PACE_COLLECT_EVIDENCE_H

#include "base/table.h"
#include "base/types.h"
#include "base/vec.h"

enum { EVIDENCE_LEAST = 30 }; /* hits of the hottest piece, before anything is said */

struct evidence_piece {
	u64 number; /* its address / 64 */
	u64 n;
};

struct evidence {
	VEC(struct evidence_piece) pieces;
	struct table by_number;
	u64 n, most; /* samples; of the hottest piece */
};

void evidence_add(struct evidence *e, u64 ip);
void evidence_fini(struct evidence *e);

/* The largest share: 0 to 1. */
double evidence_share(const struct evidence *e);

/* 0.05: the share is known to +-5 % of itself. INFINITY below EVIDENCE_LEAST. */
double evidence_width(const struct evidence *e);

#endif
