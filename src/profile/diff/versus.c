#include "profile/diff/versus.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/random.h"
#include "base/sort.h"
#include "profile/maths/variance.h"

enum {
	RESAMPLES = 2000,
	FENCE = 3, /* outliers are this many widths outside the middle half: J. Tukey's "far out" */
};

struct ranked {
	double value;
	u32 run;
};

/* One command's runs. */
struct side {
	const double *values; /* in the order of time */
	struct ranked *sorted;
	size_t n;
	double base; /* the median: if all values are equal, sums of distances from it are exactly 0 */
};

/* ---- the middle ---- */

SORT_BY(by_value, struct ranked, value, run)

static void side_init(struct side *s, const double *values, size_t n)
{
	*s = (struct side){.values = values, .n = n};
	s->sorted = mem_alloc(n * sizeof(*s->sorted));
	for (size_t i = 0; i < n; i++)
		s->sorted[i] = (struct ranked){values[i], i};
	qsort(s->sorted, n, sizeof(*s->sorted), by_value);
	s->base = s->sorted[n / 2].value;
}

static void side_fini(struct side *s)
{
	mem_free(s->sorted);
}

/* The mean of the middle half of `total` values, in which run i occurs times[i] times. */
static double middle(const struct side *s, const u32 *times, size_t total)
{
	size_t skip = total / 4, kept = total - 2 * skip, left = kept;
	double sum = 0;

	for (size_t i = 0; i < s->n && left; i++) {
		size_t n = times[s->sorted[i].run], skipped = MIN(n, skip);

		skip -= skipped;
		n = MIN(n - skipped, left);
		left -= n;
		sum += (double)n * (s->sorted[i].value - s->base);
	}
	return s->base + sum / (double)kept;
}

/* ---- the interval ---- */

SORT_NUMBERS(by_size, double)

/* The share of resamples on each side of the interval. */
static double tail_of(size_t n)
{
	double wide = sqrt((double)n / (double)(n - 1)) * variance_t95(n);

	return erfc(wide / sqrt(2)) / 2;
}

static void find_interval(struct versus *v, const struct side sides[2], struct random *random)
{
	double *diffs = mem_alloc(RESAMPLES * sizeof(*diffs));
	double *ratios = mem_alloc(RESAMPLES * sizeof(*ratios));
	u32 *times = mem_alloc(v->n * sizeof(*times));
	size_t low = (size_t)(tail_of(v->n) * RESAMPLES), high = RESAMPLES - 1 - low;

	for (size_t i = 0; i < RESAMPLES; i++) {
		double a, b;

		memset(times, 0, v->n * sizeof(*times));
		for (size_t k = 0; k < v->n; k++)
			times[random_below(random, (u32)v->n)]++;
		a = middle(&sides[0], times, v->n);
		b = middle(&sides[1], times, v->n);
		diffs[i] = b - a;
		ratios[i] = a > 0 ? b / a : 0;
		v->has_ratio &= a > 0;
	}
	qsort(diffs, RESAMPLES, sizeof(*diffs), by_size);
	qsort(ratios, RESAMPLES, sizeof(*ratios), by_size);
	v->diff_low = diffs[low];
	v->diff_high = diffs[high];
	v->ratio_low = ratios[low];
	v->ratio_high = ratios[high];
	v->has_interval = true;
	mem_free(diffs);
	mem_free(ratios);
	mem_free(times);
}

/* ---- the floor ---- */

/* The difference between two random halves of a command's own runs, with neighbours in different halves. */
static double split(const struct side *s, u32 *times[2], struct random *random)
{
	/* If the number of runs is odd, the first run is left out: it is the most likely outlier. */
	size_t first = s->n % 2;

	memset(times[0], 0, s->n * sizeof(*times[0]));
	memset(times[1], 0, s->n * sizeof(*times[1]));
	for (size_t i = first; i + 1 < s->n; i += 2) {
		u32 which = random_below(random, 2);

		times[which][i] = times[!which][i + 1] = 1;
	}
	return middle(s, times[0], s->n / 2) - middle(s, times[1], s->n / 2);
}

static void find_floor(struct versus *v, const struct side sides[2], struct random *random)
{
	double *diffs = mem_alloc(RESAMPLES * sizeof(*diffs));
	u32 *times[2];

	times[0] = mem_alloc(v->n * sizeof(*times[0]));
	times[1] = mem_alloc(v->n * sizeof(*times[1]));
	/* Half of A and half of B against the other halves: as many runs as in A against B. */
	for (size_t i = 0; i < RESAMPLES; i++)
		diffs[i] =
			fabs(split(&sides[0], times, random) + split(&sides[1], times, random)) / 2;
	qsort(diffs, RESAMPLES, sizeof(*diffs), by_size);
	v->floor = diffs[RESAMPLES - 1 - RESAMPLES / 20];
	mem_free(diffs);
	mem_free(times[0]);
	mem_free(times[1]);
}

/* ---- all together ---- */

static void find_outliers(struct versus_side *to, const struct side *s)
{
	size_t quarter = s->n / 4;
	double low = s->sorted[quarter].value, high = s->sorted[s->n - 1 - quarter].value;
	double reach = FENCE * (high - low), farthest = 0;

	for (size_t i = 0; i < s->n; i++) {
		double x = s->values[i], off = MAX(low - reach - x, x - high - reach);

		if (off <= 0)
			continue;
		to->n_outliers++;
		if (off > farthest)
			to->outlier = x;
		farthest = MAX(farthest, off);
	}
}

static void describe(struct versus_side *to, const struct side *s, u32 *once)
{
	struct variance all = {0};

	for (size_t i = 0; i < s->n; i++) {
		once[i] = 1;
		variance_add(&all, s->values[i]);
	}
	*to = (struct versus_side){.middle = middle(s, once, s->n),
		.mean = all.mean,
		.deviation = variance_deviation(&all),
		.least = s->sorted[0].value,
		.most = s->sorted[s->n - 1].value};
	find_outliers(to, s);
}

static enum versus_verdict verdict_of(const struct versus *v)
{
	if (!v->has_interval)
		return VERSUS_FEW;
	if (fabs(v->diff) <= v->floor || (v->diff_low <= 0 && v->diff_high >= 0))
		return VERSUS_NOISE;
	return v->diff < 0 ? VERSUS_LESS : VERSUS_MORE;
}

bool versus_is_exact(const struct versus *v)
{
	return v->n > 1 && v->sides[0].least == v->sides[0].most &&
		v->sides[1].least == v->sides[1].most;
}

static void take_exact(struct versus *v)
{
	v->has_interval = true;
	v->diff_low = v->diff_high = v->diff;
	v->ratio_low = v->ratio_high = v->ratio;
	v->verdict = v->diff == 0 ? VERSUS_SAME : v->diff < 0 ? VERSUS_LESS : VERSUS_MORE;
}

void versus_make(struct versus *v, const double *a, const double *b, size_t n, u64 seed)
{
	struct random random = {seed};
	struct side sides[2];
	u32 *once;

	*v = (struct versus){.n = n};
	if (!n)
		return;
	once = mem_alloc(n * sizeof(*once));
	side_init(&sides[0], a, n);
	side_init(&sides[1], b, n);
	describe(&v->sides[0], &sides[0], once);
	describe(&v->sides[1], &sides[1], once);
	v->diff = v->sides[1].middle - v->sides[0].middle;
	v->has_ratio = v->sides[0].middle > 0;
	v->ratio = v->has_ratio ? v->sides[1].middle / v->sides[0].middle : 0;
	if (versus_is_exact(v)) {
		take_exact(v);
	} else {
		if (n >= VERSUS_PAIRS_MIN) {
			find_interval(v, sides, &random);
			find_floor(v, sides, &random);
		}
		v->verdict = verdict_of(v);
	}
	side_fini(&sides[0]);
	side_fini(&sides[1]);
	mem_free(once);
}

double versus_precision(const struct versus *v)
{
	return v->has_interval && v->has_ratio ? (v->ratio_high - v->ratio_low) / 2
					       : (double)INFINITY;
}
