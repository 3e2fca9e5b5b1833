#include "profile/diff/gating.h"

#include <math.h>
#include <stdlib.h>

#include "profile/maths/tdist.h"
#include "profile/maths/variance.h"

/* The questions share the rate of error. */
static const double QUESTIONS = 2;

/* If the noise decides how many rounds there are: the parts of the whole's rate of error for the first look, for the last. */
static const double FIRST_LOOK = 0.2, LAST_LOOK = 0.8;

/* Nine of ten: the normal distribution's quantile. */
static const double POWER = 1.2816;

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int by_size(const void *a, const void *b)
{
	const double x = fabs(((const struct gating_function *)a)->more),
		     y = fabs(((const struct gating_function *)b)->more);

	return (x < y) - (x > y);
}

/* How far the runs of a side are apart: the sum over all rows of their variances. */
static double spread(const struct delta *d)
{
	double sum = 0;

	vec_each(row, &d->rows) {
		struct variance sides[DELTA_SIDES] = {0};

		for (size_t i = 0; i < d->recordings.n; i++)
			variance_add(&sides[d->recordings.at[i].side], delta_per(d, row, i));
		for (int side = 0; side < DELTA_SIDES; side++)
			sum += sides[side].squares;
	}
	return sum;
}

void gating_level(struct delta *d)
{
	const double before = spread(d);

	if (!delta_level(d) || spread(d) < before)
		return;
	vec_each(r, &d->recordings)
		r->level = 1;
}

double gating_least_q(const struct significance *j)
{
	double least = 1;

	vec_each(row, &j->rows)
		if (!isnan(row->q))
			least = fmin(least, row->q);
	return least;
}

double gating_threshold(const struct gating_options *o, double *nulls, size_t n)
{
	const double wanted = o->error / QUESTIONS;
	const size_t may_pass = (size_t)((double)n * wanted);

	if (!n)
		return wanted;
	qsort(nulls, n, sizeof(*nulls), ascending);
	/* Of those that were seen no more than that share may pass. */
	return nulls[may_pass] > wanted ? wanted : nextafter(nulls[may_pass], 0);
}

static double error_of_whole(const struct gating_options *o)
{
	return o->error / QUESTIONS * (o->find > 0 ? LAST_LOOK : 1);
}

/* The change that nine of ten gates find, as a logarithm; INFINITY: too few rounds for any. */
static double found_in_nine(double error, double noise, size_t n)
{
	if (signflip_least_p(n) > error)
		return INFINITY;
	return (tdist_quantile(error, (double)n - 1) + POWER) * noise / sqrt((double)n);
}

/* Of n rounds. From mem_alloc. */
static double *logs_of(const double *before, const double *after, size_t n)
{
	double *logs = mem_alloc(n * sizeof(*logs));

	for (size_t i = 0; i < n; i++)
		logs[i] = log(after[i] / before[i]);
	return logs;
}

bool gating_is_enough(const struct gating_options *o, const double *before, const double *after,
	size_t n, bool is_first)
{
	const double error = o->error / QUESTIONS;
	double *logs = logs_of(before, after, n);
	bool is_enough = false;

	if (is_first)
		is_enough = signflip_p(logs, n, 0) <= error * FIRST_LOOK &&
			fabs(expm1(signflip_location(logs, n))) >= o->least;
	if (!is_enough)
		is_enough = found_in_nine(error_of_whole(o), signflip_noise(logs, n), n) <=
			log1p(o->find);
	mem_free(logs);
	return is_enough;
}

static void test_whole(struct gating *g, const double *before, const double *after)
{
	const double error = error_of_whole(&g->options);
	double *logs = logs_of(before, after, g->n);

	for (size_t i = 0; i < g->n; i++) {
		g->before += before[i] / (double)g->n;
		g->after += after[i] / (double)g->n;
	}
	g->whole = signflip_test(logs, g->n, error);
	mem_free(logs);
	if (g->whole.p <= error && fabs(expm1(g->whole.estimate)) >= g->options.least) {
		g->is_whole_slower = g->whole.estimate > 0;
		g->is_whole_faster = g->whole.estimate < 0;
	}
	g->detectable = fmax(g->options.least, expm1(found_in_nine(error, g->whole.noise, g->n)));
}

static void test_functions(struct gating *g, const struct significance *j)
{
	const double whole = j->sum[DELTA_A];
	const double threshold =
		g->is_whole_slower || g->is_whole_faster ? g->threshold * QUESTIONS : g->threshold;

	for (size_t i = 0; i < j->rows.n; i++) {
		const struct judgement *row = &j->rows.at[i];
		const double more = (row->mean[DELTA_B] - row->mean[DELTA_A]) / whole;

		if (row->q <= threshold && fabs(more) >= g->options.least)
			vec_add(&g->functions, ((struct gating_function){i, more}));
	}
	if (g->functions.n)
		qsort(g->functions.at, g->functions.n, sizeof(*g->functions.at), by_size);
}

void gating_init(struct gating *g, const struct gating_options *o, const double *before,
	const double *after, size_t n, const struct significance *j, double threshold)
{
	*g = (struct gating){.options = *o, .n = n, .threshold = threshold};
	test_whole(g, before, after);
	test_functions(g, j);
}

void gating_fini(struct gating *g)
{
	vec_fini(&g->functions);
}

enum gating_verdict gating_verdict(const struct gating *g)
{
	bool is_faster = g->is_whole_faster;

	if (g->is_whole_slower)
		return GATING_SLOWER;
	vec_each(f, &g->functions) {
		/* If the whole is faster, what one function gained was another one's. */
		if (f->more > 0 && !g->is_whole_faster)
			return GATING_SLOWER;
		is_faster |= f->more < 0;
	}
	return is_faster ? GATING_FASTER : GATING_SAME;
}
