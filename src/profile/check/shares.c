#include "profile/check/shares.h"

/* For each symbol, or DSO, whether its name matches the pattern. Made-up names never match. */
static bool *matching_symbols(const struct profile *p, const char *pattern, bool *ret_is_made_up)
{
	bool *matches = mem_zalloc(p->symbols.n + 1);

	for (size_t i = 1; i < p->symbols.n; i++) {
		const struct profile_symbol *s = &p->symbols.at[i];
		bool is_so = s->name && assertion_matches(pattern, s->name);

		matches[i] = is_so && profile_is_named(s);
		*ret_is_made_up |= is_so && !profile_is_named(s);
	}
	return matches;
}

static bool *matching_dsos(const struct profile *p, const char *pattern)
{
	bool *matches = mem_zalloc(p->dsos.n + 1);

	for (size_t i = 0; i < p->dsos.n; i++)
		matches[i] = assertion_matches(pattern, p->dsos.at[i].name) ||
			assertion_matches(pattern, p->dsos.at[i].path);
	return matches;
}

struct looking {
	const struct shares *shares;
	bool *symbols, *dsos;
	bool *below; /* by node of the call tree: the node or one of its callers matches */
	const char *pattern;
};

/* Parents come before their children. */
static void mark_below(struct looking *l)
{
	const struct calls *c = l->shares->calls;

	l->below = mem_zalloc(c->nodes.n + 1);
	for (size_t i = 1; i < c->nodes.n; i++)
		l->below[i] = l->below[c->nodes.at[i].parent] || l->symbols[c->nodes.at[i].symbol];
}

static bool is_meant(const struct looking *l, enum assertion_word word, size_t row)
{
	const struct profile *p = l->shares->profile;
	const struct calls_node *nodes = l->shares->calls->nodes.at;
	u32 node = l->shares->calls->of_row[row];

	switch (word) {
	case ASSERTION_SHARE: /* inlined code belongs to its function, as in rows */
		return l->symbols[nodes[nodes[node].function].symbol];
	case ASSERTION_CHILDREN:
		return l->below[node];
	case ASSERTION_DSO:
		return l->dsos[p->frames.at[p->rows.at[row].frame].dso];
	case ASSERTION_COMM:
		return assertion_matches(l->pattern,
			profile_text(profile_label(p, row, LABEL_COMM)));
	default: /* ASSERTION_NAMELESS */
		return !profile_is_named(
			&p->symbols.at[p->frames.at[p->rows.at[row].frame].symbol]);
	}
}

double shares_value(void *ctx, enum assertion_word word, const char *name)
{
	struct shares *s = ctx;
	const struct profile *p = s->profile;
	const struct account *a = s->account;
	const struct profile_event *event = &p->events.at[s->event];
	struct looking l = {.shares = s, .pattern = name};
	bool is_made_up = false;
	u64 sum = 0, n = 0;

	if (word == ASSERTION_SAMPLES)
		return (double)event->n_samples;
	if (word == ASSERTION_LOST) {
		double lost = (double)(a->n_unread + a->n_stopped + a->n_foreign + a->n_dropped),
		       all = (double)(a->n_recorded + a->n_dropped);

		return all ? 100 * lost / all : 0;
	}
	if (word == ASSERTION_SHARE || word == ASSERTION_CHILDREN)
		l.symbols = matching_symbols(p, name, &is_made_up);
	if (word == ASSERTION_CHILDREN)
		mark_below(&l);
	if (word == ASSERTION_DSO)
		l.dsos = matching_dsos(p, name);
	for (size_t row = 0; row < p->rows.n; row++)
		if (p->rows.at[row].event == s->event && is_meant(&l, word, row)) {
			sum += p->rows.at[row].period;
			n++;
		}
	if (name && !n && is_made_up)
		s->made_up = name;
	else if (name && !n)
		s->unknown = name;
	mem_free(l.symbols);
	mem_free(l.dsos);
	mem_free(l.below);
	return event->period ? 100 * (double)sum / (double)event->period : 0;
}
