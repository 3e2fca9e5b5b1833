#include "profile/diff/significance.h"

#include <math.h>

#include "profile/maths/variance.h"
#include "profile/maths/tdist.h"

/* With fewer samples in total no result would survive the correction for many tests. */
enum { SAMPLES_MIN = 6 };

/* The statistics of one row alone. */
struct measure {
	struct variance sides[DELTA_SIDES];
	double expected; /* variance of one recording's value by its samples alone; NAN: none */
	double variance; /* among the recordings, both sides pooled */
	u64 n_samples;
};

static struct measure measure_of(const struct delta *d, const struct delta_row *row)
{
	struct measure m = {0};
	double weight = 0;
	size_t n = 0;

	for (size_t i = 0; i < d->recordings.n; i++) {
		const struct delta_value *v = &row->values[i];

		variance_add(&m.sides[d->recordings.at[i].side], delta_per(d, row, i));
		m.n_samples += v->n_samples;
		/* The number of samples has a Poisson distribution; each sample has this weight. */
		if (!v->n_samples)
			continue;
		weight = delta_per(d, row, i) / (double)v->n_samples;
		m.expected += weight * weight * (double)v->n_samples;
		n++;
	}
	m.expected = n ? m.expected / (double)d->recordings.n : NAN;
	for (int side = 0; side < DELTA_SIDES; side++)
		m.variance += m.sides[side].squares;
	if (d->recordings.n > DELTA_SIDES)
		m.variance /= (double)(d->recordings.n - DELTA_SIDES);
	return m;
}

/* The distribution of the rows' spreads around what is expected from their samples. */
struct prior {
	double factor;  /* common to all rows */
	double freedom; /* its weight; INFINITY: all rows have this factor */
};

static bool has_variance(const struct measure *m)
{
	return m->n_samples >= SAMPLES_MIN && m->variance > 0 && m->expected > 0;
}

static struct prior prior_of(const struct measure *rows, size_t n, double freedom)
{
	struct variance logs = {0};
	struct prior prior = {1, INFINITY};
	double excess;

	for (size_t i = 0; i < n; i++)
		if (has_variance(&rows[i]))
			variance_add(&logs, log(rows[i].variance / rows[i].expected));
	if (logs.n < 3)
		return prior;
	excess = variance_deviation(&logs) * variance_deviation(&logs) - trigamma(freedom / 2);
	if (excess > 0)
		prior.freedom = 2 * trigamma_inverse(excess);
	/* The mean of a logarithm is below the logarithm of the mean. */
	prior.factor = logs.mean + log(freedom / 2) - digamma(freedom / 2);
	if (!isinf(prior.freedom))
		prior.factor += digamma(prior.freedom / 2) - log(prior.freedom / 2);
	/* The variance cannot be less than that from sampling. */
	prior.factor = fmax(exp(prior.factor), 1);
	return prior;
}

/* The row's variance, mixed from its own and the common one; *ret_freedom: its degrees of freedom. */
static double mixed_variance(const struct measure *m, const struct prior *prior, double freedom,
	double *ret_freedom)
{
	double common = prior->factor * m->expected;

	if (isinf(prior->freedom)) {
		*ret_freedom = INFINITY;
		return common;
	}
	*ret_freedom = prior->freedom + freedom;
	return (prior->freedom * common + freedom * m->variance) / *ret_freedom;
}

static void significance_row(const struct significance *j, const struct measure *m,
	const struct prior *prior, bool is_unpaired, struct judgement *ret)
{
	double a = m->sides[DELTA_A].mean, b = m->sides[DELTA_B].mean, freedom, variance, error;
	double own = (double)(j->n[DELTA_A] + j->n[DELTA_B]) - DELTA_SIDES;

	*ret = (struct judgement){.mean = {a, b},
		.ratio = a > 0 ? b / a : NAN,
		.half = NAN,
		.p = NAN,
		.q = NAN};
	/* If the other side is unknown, it must not count as 0. */
	if (is_unpaired || !(m->expected > 0) || m->n_samples < SAMPLES_MIN)
		return;
	variance = mixed_variance(m, prior, own, &freedom);
	error = sqrt(variance * (1 / (double)j->n[DELTA_A] + 1 / (double)j->n[DELTA_B]));
	if (j->has_variance)
		ret->p = tdist_both_tails((b - a) / error, freedom);
	/* The quotient of two means, both of which vary. */
	if (a > 0 && b > 0)
		ret->half = tdist_quantile(0.05, freedom) *
			sqrt(variance / (double)j->n[DELTA_B] / (a * a) +
				variance / (double)j->n[DELTA_A] * b * b / (a * a * a * a));
}

static void sum_up(struct significance *j, const struct delta *d)
{
	struct variance sums[DELTA_SIDES] = {0}, levels[DELTA_SIDES] = {0};

	vec_each(r, &d->recordings) {
		variance_add(&sums[r->side], (double)r->period / r->per);
		variance_add(&levels[r->side], log(r->level));
	}
	j->level = exp(levels[DELTA_B].mean - levels[DELTA_A].mean);
	for (int side = 0; side < DELTA_SIDES; side++) {
		j->n[side] = sums[side].n;
		j->sum[side] = sums[side].mean;
		j->noise[side] = sums[side].mean > 0 && sums[side].n > 1
			? variance_deviation(&sums[side]) / sums[side].mean
			: NAN;
	}
	j->has_variance = j->n[DELTA_A] > 1 && j->n[DELTA_B] > 1;
	if (d->is_usual)
		j->has_variance = j->n[DELTA_A] > 2;
}

void significance_init(struct significance *j, const struct delta *d)
{
	size_t n = d->rows.n;
	struct measure *measures = mem_alloc((n + 1) * sizeof(*measures));
	double *p = mem_alloc((n + 1) * sizeof(*p)), *q = mem_alloc((n + 1) * sizeof(*q));
	struct prior prior = {1, INFINITY};

	memset(j, 0, sizeof(*j));
	sum_up(j, d);
	for (size_t i = 0; i < n; i++)
		measures[i] = measure_of(d, &d->rows.at[i]);
	if (j->has_variance)
		prior = prior_of(measures, n,
			(double)(j->n[DELTA_A] + j->n[DELTA_B]) - DELTA_SIDES);
	j->factor = prior.factor;
	for (size_t i = 0; i < n; i++) {
		struct judgement *row = vec_push(&j->rows);

		significance_row(j, &measures[i], &prior, d->rows.at[i].is_unpaired, row);
		p[i] = row->p;
	}
	false_discovery(p, q, n);
	for (size_t i = 0; i < n; i++) {
		j->rows.at[i].q = q[i];
		j->rows.at[i].is_significant = q[i] <= SIGNIFICANCE_FALSE_SHARE;
	}
	mem_free(measures);
	mem_free(p);
	mem_free(q);
}

void significance_fini(struct significance *j)
{
	vec_fini(&j->rows);
}
