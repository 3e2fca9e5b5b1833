#include "profile/maths/variance.h"

#include <math.h>

void variance_add(struct variance *s, double x)
{
	double before = x - s->mean;

	s->n++;
	s->mean += before / (double)s->n;
	s->squares += before * (x - s->mean);
}

double variance_deviation(const struct variance *s)
{
	return s->n < 2 ? 0 : sqrt(s->squares / (double)(s->n - 1));
}

double variance_error(const struct variance *s)
{
	return s->n < 2 ? 0 : variance_deviation(s) / sqrt((double)s->n);
}

double variance_t95(u64 n)
{
	/* By degrees of freedom, from 1. */
	static const double t[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
		2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080,
		2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

	if (n < 2)
		return t[0];
	/* Beyond the table, the first term of the series for many degrees is as accurate. */
	return n - 2 < ARRAY_SIZE(t) ? t[n - 2] : 1.96 + 2.4 / (double)(n - 1);
}
