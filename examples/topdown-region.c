/*
 * topdown-region.c - what do the pipeline slots of one part of a program go to? Reads two registers before and behind it, without a system
 * call. Intel processors have them since Ice Lake, level 2 since Sapphire Rapids.
 *
 *     cc -O2 -o topdown-region topdown-region.c $(pkg-config --cflags --libs pace)
 *     ./topdown-region
 */
#include <stdio.h>
#include <stdlib.h>

#include <pace.h>

enum { N_NUMBERS = 1000000 };

/* The part that is measured. */
static int by_number(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static void sort_numbers(int *numbers)
{
	for (int i = 0; i < N_NUMBERS; i++)
		numbers[i] = rand();
	qsort(numbers, N_NUMBERS, sizeof(*numbers), by_number);
}

static void print(const struct pace_topdown_shares *s, int level)
{
	printf("Retiring %.2f%% Bad Speculation %.2f%% FE Bound %.2f%% BE Bound %.2f%%\n",
		s->share[PACE_RETIRING] * 100, s->share[PACE_BAD_SPECULATION] * 100,
		s->share[PACE_FRONTEND_BOUND] * 100, s->share[PACE_BACKEND_BOUND] * 100);
	if (level < 2)
		return;
	printf("Heavy Operations %.2f%% Light Operations %.2f%% "
	       "Branch Mispredict %.2f%% Machine Clears %.2f%% "
	       "Fetch Latency %.2f%% Fetch Bandwidth %.2f%% "
	       "Mem Bound %.2f%% Core Bound %.2f%%\n",
		s->share[PACE_HEAVY_OPERATIONS] * 100, s->share[PACE_LIGHT_OPERATIONS] * 100,
		s->share[PACE_BRANCH_MISPREDICTS] * 100, s->share[PACE_MACHINE_CLEARS] * 100,
		s->share[PACE_FETCH_LATENCY] * 100, s->share[PACE_FETCH_BANDWIDTH] * 100,
		s->share[PACE_MEMORY_BOUND] * 100, s->share[PACE_CORE_BOUND] * 100);
}

int main(void)
{
	int *numbers = malloc(N_NUMBERS * sizeof(*numbers));
	struct pace_topdown_shares shares;
	struct pace_topdown_point begin;
	struct pace_error err;
	struct pace_topdown *t = pace_topdown_open(&err);

	if (!numbers || !t || pace_topdown_begin(t, &begin, &err)) {
		fprintf(stderr, "topdown-region: %s\n", numbers ? err.message : "no memory");
		return 1;
	}
	sort_numbers(numbers);
	if (pace_topdown_end(t, &begin, &shares, &err)) {
		fprintf(stderr, "topdown-region: %s\n", err.message);
		return 1;
	}
	print(&shares, pace_topdown_level(t));
	if (shares.doubts & PACE_TOPDOWN_SHORT)
		fprintf(stderr, "topdown-region: only %llu slots: the region is too short\n",
			(unsigned long long)shares.slots);
	if (shares.doubts & PACE_TOPDOWN_COARSE)
		fprintf(stderr, "topdown-region: these shares may be off by %.1f%% of all slots\n",
			shares.error * 100);
	pace_topdown_close(t);
	free(numbers);
	return 0;
}
