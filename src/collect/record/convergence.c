#include "collect/record/convergence.h"

#include <math.h>

#include "base/hash.h"

enum { PIECE_BYTES = 64 };

/* 95 % of a normal distribution are within this many standard deviations. */
#define DEVIATIONS 1.959964

/* per sample */
void convergence_add(struct convergence *e, u64 ip)
{
	u64 number = ip / PIECE_BYTES, hash = hash_u64(number);
	struct table_probe probe = table_probe(&e->by_number, hash);
	u32 i;

	while ((i = table_next(&e->by_number, &probe)) != TABLE_NONE)
		if (e->pieces.at[i].number == number)
			break;
	if (i == TABLE_NONE) {
		i = (u32)e->pieces.n;
		table_add(&e->by_number, hash, i);
		vec_add(&e->pieces, ((struct convergence_piece){.number = number}));
	}
	e->n++;
	e->pieces.at[i].n++;
	e->most = MAX(e->most, e->pieces.at[i].n);
}

void convergence_fini(struct convergence *e)
{
	vec_fini(&e->pieces);
	table_fini(&e->by_number);
}

double convergence_share(const struct convergence *e)
{
	return e->n ? (double)e->most / (double)e->n : 0;
}

double convergence_width(const struct convergence *e)
{
	double share = convergence_share(e);

	if (e->most < CONVERGENCE_LEAST)
		return INFINITY;
	return DEVIATIONS * sqrt((1 - share) / ((double)e->n * share));
}
