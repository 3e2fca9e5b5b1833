#include "profile/check/brief.h"

#include <string.h>

#include "unwind/ending.h"

static u32 busiest(const struct profile *p)
{
	u32 best = 0;

	for (u32 e = 1; e < p->events.n; e++)
		if (p->events.at[e].n_samples > p->events.at[best].n_samples)
			best = e;
	return best;
}

/* The self period of each symbol; to be freed. */
static u64 *sum_symbols(const struct profile *p, u32 event, u64 *ret_all)
{
	u64 *sums = mem_zalloc((p->symbols.n + 1) * sizeof(*sums));

	*ret_all = 0;
	vec_each(row, &p->rows) {
		if (row->event != event)
			continue;
		sums[p->frames.at[row->frame].symbol] += row->period;
		*ret_all += row->period;
	}
	return sums;
}

/* Inserts a function into the list of the hottest, which is descending. */
static void place_function(struct brief *b, u32 symbol, double share)
{
	size_t i = b->n < BRIEF_FUNCTIONS ? b->n++ : BRIEF_FUNCTIONS;

	while (i && b->functions[i - 1].share < share) {
		if (i < BRIEF_FUNCTIONS)
			b->functions[i] = b->functions[i - 1];
		i--;
	}
	if (i < BRIEF_FUNCTIONS)
		b->functions[i] = (struct brief_function){symbol, share};
}

static void find_hottest(struct brief *b, const struct profile *p)
{
	u64 all, *sums = sum_symbols(p, b->event, &all);

	for (u32 i = 1; i < p->symbols.n; i++)
		if (sums[i] && p->symbols.at[i].name)
			place_function(b, i, (double)sums[i] / (double)all);
	mem_free(sums);
}

static const struct ledger_entry *largest(const struct ledger *l, enum ledger_cause cause)
{
	const struct ledger_entry *best = NULL;

	vec_each(e, &l->entries)
		if (e->cause == cause && (!best || e->amount > best->amount))
			best = e;
	return best;
}

void brief_init(struct brief *b, const struct profile *p, const struct ledger *l)
{
	memset(b, 0, sizeof(*b));
	if (!p->events.n)
		return;
	b->event = busiest(p);
	find_hottest(b, p);
	vec_each(e, &p->endings) {
		b->n_stacks += e->n_samples;
		if (e->ending == STACK_COMPLETE)
			b->n_whole += e->n_samples;
	}
	b->worst = largest(l, LEDGER_TRUNCATED);
	b->interpreted = largest(l, LEDGER_INTERPRETED);
	b->nameless = largest(l, LEDGER_NAMELESS);
}
