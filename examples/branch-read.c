/*
 * branch-read.c - how many branches of a loop does the processor mispredict? Two counters around the
 * loop, read together.
 *
 *     cc -O1 -o branch-read branch-read.c $(pkg-config --cflags --libs pace)
 *     ./branch-read 100              6 / 133 branches mispredicted
 *     ./branch-read 100 rc4,rc5      the same by Intel's raw encodings
 *     ./branch-read 100 instructions:u,cycles:u
 *
 * 133, not 101: the instructions that switch the counters on and off are counted too (pace(3),
 * MEASURING). The ratio of two such numbers is worth more than each alone.
 */
#include <stdio.h>
#include <stdlib.h>

#include <pace.h>

/* Two branches a round: is it the last one, is it odd? */
static int count_odd(int max)
{
	int odd = 0;

	for (int i = 0; i < max; i++) {
		if (i % 2) {
			__asm__ volatile(
				""); /* keeps the compiler from computing it without a branch */
			odd++;
		}
	}
	return odd;
}

static struct pace_group *open_events(const char *events, int *ret_is_fallback)
{
	struct pace_error err;
	struct pace_group *g =
		pace_group_open(events ? events : "branches:u,branch-misses:u", 0, -1, NULL, &err);

	*ret_is_fallback = 0;
	if (g)
		return g;
	fprintf(stderr, "branch-read: %s\n", err.message);
	if (events || err.code == PACE_ERROR_PERMISSION)
		return NULL;
	fprintf(stderr, "branch-read: counting page faults instead\n");
	*ret_is_fallback = 1;
	g = pace_group_open("page-faults:u,minor-faults:u", 0, -1, NULL, &err);
	if (!g)
		fprintf(stderr, "branch-read: %s\n", err.message);
	return g;
}

static int print_values(struct pace_group *g, const char *form)
{
	struct pace_value v[2];
	struct pace_error err;

	if (pace_group_read(g, v, 2, &err) < 0) {
		fprintf(stderr, "branch-read: %s\n", err.message);
		return 1;
	}
	if (v[0].counted == PACE_NOT_COUNTED) {
		fprintf(stderr, "branch-read: others had the counters all the time\n");
		return 1;
	}
	if (v[0].counted == PACE_ESTIMATED)
		fprintf(stderr, "branch-read: estimated, counted for %.1f%% of the time\n",
			100.0 * (double)v[0].time_running / (double)v[0].time_enabled);
	printf(form, v[1].scaled, v[0].scaled, pace_counter_name(pace_group_counter(g, 1)),
		pace_counter_name(pace_group_counter(g, 0)));
	return 0;
}

int main(int argc, char **argv)
{
	int max = argc > 1 ? atoi(argv[1]) : 100, is_fallback, odd, status = 1;
	const char *form = "%.0f / %.0f branches mispredicted\n";
	struct pace_error err;
	struct pace_group *g = open_events(argc > 2 ? argv[2] : NULL, &is_fallback);

	if (!g)
		return 1;
	if (is_fallback)
		form = "%.0f / %.0f page faults were minor\n";
	else if (argc > 2)
		form = "%.0f / %.0f (%s / %s)\n";
	if (pace_group_size(g) != 2)
		fprintf(stderr, "branch-read: two events are compared, not %zu\n",
			pace_group_size(g));
	else if (pace_group_reset(g, &err) || pace_group_enable(g, &err))
		fprintf(stderr, "branch-read: %s\n", err.message);
	else {
		odd = count_odd(max);
		if (pace_group_disable(g, &err))
			fprintf(stderr, "branch-read: %s\n", err.message);
		else
			status = print_values(g, form);
		printf("%d\n", odd);
	}
	pace_group_close(g);
	return status;
}
