#include "profile/batch/usual.h"

#include <math.h>

#include "base/hash.h"

/* What a batch adds to what is usual: half of it is learnt in 20. After an odd one more, so that what stays is soon usual. */
static const double LEARNS = 1. / 30, LEARNS_ODD = 1. / 6;

/* How much numbers vary is learnt slowly, and not from how far they go when something changes. */
static const double LEARNS_LEVEL = 1. / 100, LEVEL_DEVIATIONS = 2;

/* How far beyond the mean is odd: in deviations, and at least so many samples of all; so many times as much. */
static const double DEVIATIONS = 5, MOVED_LEAST = 0.1, AMOUNT_LEAST = 0.5;

/* Rarer functions are forgotten. */
static const double RARE = 1e-5;

/* ---- levels ---- */

static void level_learn(struct usual_level *l, double x, u64 n_learnt)
{
	const double by = fmax(LEARNS_LEVEL, 1. / (double)(n_learnt + 1));
	const double most = LEVEL_DEVIATIONS * sqrt(l->variance);
	const double distance =
		n_learnt < USUAL_LEARNS ? x - l->mean : fmax(fmin(x - l->mean, most), -most);

	l->mean += by * distance;
	l->variance = (1 - by) * (l->variance + by * distance * distance);
}

/* What is just not odd. */
static double level_most(const struct usual_level *l, double least)
{
	return l->mean + fmax(DEVIATIONS * sqrt(l->variance), least);
}

/* ---- shares ---- */

static u64 key_of(const struct batch *b, size_t row)
{
	const struct batch_row *r = &b->rows.at[row];
	const u32 service = b->n_columns ? b->cells.at[row * b->n_columns] : 0;
	const u32 function = r->stack ? b->frames.at[b->stacks.at[r->stack].frame].name : 0;
	const u32 parts[] = {b->events.at[r->event].name, service, function};
	u64 key = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		key = hash_mix(key, hash_bytes(b->texts.at[parts[i]].at, b->texts.at[parts[i]].n));
	return key;
}

static struct usual_share *share_of(struct usual *u, u64 key)
{
	struct table_probe probe = table_probe(&u->index, key);
	u32 i;

	while ((i = table_next(&u->index, &probe)) != TABLE_NONE)
		if (u->shares.at[i].key == key)
			return &u->shares.at[i];
	table_add(&u->index, key, (u32)u->shares.n);
	vec_add(&u->shares, ((struct usual_share){.key = key}));
	return &u->shares.at[u->shares.n - 1];
}

/* The number of samples. */
static u64 count(struct usual *u, const struct batch *b)
{
	u64 all = 0;

	vec_each(share, &u->shares)
		share->now = 0;
	vec_each(e, &b->events)
		all += e->n_samples;
	for (size_t row = 0; all && row < b->rows.n; row++) {
		struct usual_share *share = share_of(u, key_of(b, row));

		share->now += (double)b->rows.at[row].n_samples / (double)all;
		share->row = (u32)row;
	}
	return all;
}

/* Half of the sum of all differences. *ret: what grew most; NULL: nothing did. */
static double moved(const struct usual *u, const struct usual_share **ret)
{
	double sum = 0, most = 0;

	*ret = NULL;
	vec_each(share, &u->shares) {
		const double more = share->now - share->usual;

		sum += fabs(more) / 2;
		if (more > most) {
			most = more;
			*ret = share;
		}
	}
	return sum;
}

static void learn(struct usual *u, double by)
{
	size_t n = 0;

	vec_each(share, &u->shares) {
		share->usual += by * (share->now - share->usual);
		if (share->usual > RARE)
			u->shares.at[n++] = *share;
	}
	u->shares.n = n;
	table_fini(&u->index);
	for (size_t i = 0; i < n; i++)
		table_add(&u->index, u->shares.at[i].key, (u32)i);
}

/* ---- words ---- */

static void say_moved(const struct batch *b, const struct usual_share *most, double share,
	struct str *why)
{
	const struct batch_row *row = &b->rows.at[most->row];
	const u32 frame = row->stack ? b->stacks.at[row->stack].frame : 0;

	str_addf(why, "%.0f%% of the samples are elsewhere than usual, most in ", 100 * share);
	if (b->n_columns)
		str_addf(why, "%s: ", batch_string(b, b->cells.at[most->row * b->n_columns]));
	str_addf(why, "%s (%.1f%% -> %.1f%%)",
		row->stack ? batch_string(b, b->frames.at[frame].name) : "[no stack]",
		100 * most->usual, 100 * most->now);
}

/* ---- a batch ---- */

/* In the events' units, in a second: that does not depend on how often is sampled. */
static double amount_of(const struct batch *b)
{
	const double ns = b->end_ns > b->start_ns ? (double)(b->end_ns - b->start_ns) : 1;
	double sum = 0;

	vec_each(e, &b->events)
		sum += (double)e->period;
	return sum / ns * 1e9;
}

bool usual_look(struct usual *u, const struct batch *b, struct str *why)
{
	const u64 n = count(u, b);
	const double amount = amount_of(b);
	const struct usual_share *most;
	const double share = moved(u, &most);
	/* The first ones count alike. */
	const double by = fmax(LEARNS, 1. / (double)(u->n_learnt + 1));
	const bool knows = u->n_learnt >= USUAL_LEARNS, tells = n >= USUAL_SAMPLES && most;
	const double moved_most = level_most(&u->moved, MOVED_LEAST);
	const double amount_most = level_most(&u->amount, AMOUNT_LEAST * u->amount.mean);
	const bool is_elsewhere = knows && tells && share > moved_most;
	const bool is_more = knows && n >= USUAL_SAMPLES && amount > amount_most;

	if (is_more)
		str_addf(why, "%.1f times as much as usual", amount / fmax(u->amount.mean, 1));
	if (is_elsewhere) {
		str_add(why, is_more ? "; " : "");
		say_moved(b, most, share, why);
	}
	/* The first batch is all elsewhere. */
	if (u->n_learnt && tells)
		level_learn(&u->moved, share, u->n_learnt);
	level_learn(&u->amount, amount, u->n_learnt);
	if (n >= USUAL_SAMPLES)
		learn(u, is_more || is_elsewhere ? LEARNS_ODD : by);
	u->n_learnt++;
	return is_more || is_elsewhere;
}

void usual_fini(struct usual *u)
{
	vec_fini(&u->shares);
	table_fini(&u->index);
}
