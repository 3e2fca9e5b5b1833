#include "profile/diff/drill.h"

#include <math.h>
#include <string.h>

void drill_add(struct drill_step *s, const char *name, u32 node, double share, bool is_notable)
{
	struct drill_branch *branch = NULL;

	if (isnan(share))
		return;
	vec_each(b, &s->branches)
		if (!strcmp(b->name, name))
			branch = b;
	if (!branch) {
		branch = vec_push(&s->branches);
		*branch = (struct drill_branch){.name = name, .node = node};
	}
	variance_add(&branch->share, share);
	branch->n_notable += is_notable;
}

double drill_half(const struct drill_branch *b)
{
	return b->share.n < 2 ? NAN : variance_t95(b->share.n) * variance_error(&b->share);
}

bool drill_is_notable(const struct drill_branch *b)
{
	return 2 * b->n_notable > b->share.n;
}

/* The largest branch but `except`, of the notable ones only if `only_notable`. */
static u32 largest(const struct drill_step *s, u32 except, bool only_notable)
{
	u32 best = DRILL_NONE;

	for (u32 i = 0; i < s->branches.n; i++) {
		const struct drill_branch *b = &s->branches.at[i];

		if (i == except || (only_notable && !drill_is_notable(b)))
			continue;
		if (best == DRILL_NONE || b->share.mean > s->branches.at[best].share.mean)
			best = i;
	}
	return best;
}

void drill_decide(struct drill_step *s)
{
	bool only_notable = !s->parent && largest(s, DRILL_NONE, true) != DRILL_NONE;
	const struct drill_branch *best;
	double half;

	s->best = largest(s, DRILL_NONE, only_notable);
	s->second = DRILL_NONE;
	s->is_sure = false;
	if (s->parent && s->best != DRILL_NONE && s->branches.at[s->best].share.mean <= 0)
		s->best = DRILL_NONE;
	if (s->best == DRILL_NONE)
		return;
	best = &s->branches.at[s->best];
	half = drill_half(best);
	s->second = largest(s, s->best, only_notable);
	s->is_sure = !isnan(half) &&
		(s->second == DRILL_NONE ||
			s->branches.at[s->second].share.mean < best->share.mean - half);
}

void drill_step_fini(struct drill_step *s)
{
	vec_fini(&s->branches);
}
