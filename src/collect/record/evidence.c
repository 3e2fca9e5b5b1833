#include "collect/record/evidence.h"

#include <math.h>

#include "base/hash.h"

enum { PIECE_BYTES = 64 };

/* The normal distribution has 95 % within so many standard deviations. */
#define DEVIATIONS 1.959964

/* per sample */
void evidence_add(struct evidence *e, u64 ip)
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
		vec_add(&e->pieces, ((struct evidence_piece){.number = number}));
	}
	e->n++;
	e->pieces.at[i].n++;
	e->most = MAX(e->most, e->pieces.at[i].n);
}

void evidence_fini(struct evidence *e)
{
	vec_fini(&e->pieces);
	table_fini(&e->by_number);
}

double evidence_share(const struct evidence *e)
{
	return e->n ? (double)e->most / (double)e->n : 0;
}

double evidence_width(const struct evidence *e)
{
	double share = evidence_share(e);

	if (e->most < EVIDENCE_LEAST)
		return INFINITY;
	return DEVIATIONS * sqrt((1 - share) / ((double)e->n * share));
}
