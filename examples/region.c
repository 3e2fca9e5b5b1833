/*
 * region.c - what does one part of a program cost, per call? Reads counters that are always on, at the
 * beginning and at the end of the part.
 *
 *     cc -O2 -o region region.c $(pkg-config --cflags --libs pace)
 *     ./region 20
 *
 * Measures an empty region first, because every number includes the cost of reading (pace(3), MEASURING).
 */
#include <stdio.h>
#include <stdlib.h>

#include <pace.h>

enum { N_EVENTS = 4, N_NUMBERS = 20000, EMPTY_CALLS = 1000 };

static const char *const events[N_EVENTS] = {"task-clock:u", "page-faults:u", "instructions:u",
	"cycles:u"};

struct region {
	const char *name;
	struct pace_counter *const *counters; /* N_EVENTS, NULL where this machine has none */
	struct pace_value begin[N_EVENTS];
	double sum[N_EVENTS];
	unsigned long calls;
};

static void check(int result, const struct pace_error *err)
{
	if (result < 0) {
		fprintf(stderr, "region: %s\n", err->message);
		exit(1);
	}
}

static void region_begin(struct region *r)
{
	struct pace_error err;

	for (int i = 0; i < N_EVENTS; i++)
		if (r->counters[i])
			check(pace_counter_read(r->counters[i], &r->begin[i], &err), &err);
}

static void region_end(struct region *r)
{
	struct pace_value end[N_EVENTS], v;
	struct pace_error err;

	/* In reverse order: the counter that was read last at the beginning is read first. */
	for (int i = N_EVENTS; i--;)
		if (r->counters[i])
			check(pace_counter_read(r->counters[i], &end[i], &err), &err);
	for (int i = 0; i < N_EVENTS; i++) {
		if (!r->counters[i])
			continue;
		check(pace_value_between(&r->begin[i], &end[i], &v, &err), &err);
		r->sum[i] += v.scaled;
	}
	r->calls++;
}

/* The part that is measured. */
static int by_number(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static void sort_numbers(void)
{
	int *numbers = malloc(N_NUMBERS * sizeof(*numbers));

	for (int i = 0; i < N_NUMBERS; i++)
		numbers[i] = rand();
	qsort(numbers, N_NUMBERS, sizeof(*numbers), by_number);
	free(numbers);
}

int main(int argc, char **argv)
{
	static const struct pace_options options = {.flags = PACE_ENABLED | PACE_USER_READ};
	struct pace_counter *counters[N_EVENTS];
	struct region empty = {.name = "empty", .counters = counters};
	struct region sort = {.name = "sort", .counters = counters};
	unsigned long calls = argc > 1 ? strtoul(argv[1], NULL, 10) : 20;
	struct pace_error err;

	for (int i = 0; i < N_EVENTS; i++) {
		counters[i] = pace_counter_open_with(events[i], 0, -1, &options, &err);
		if (!counters[i])
			fprintf(stderr, "region: %s\n", err.message);
	}
	for (int i = 0; i < EMPTY_CALLS; i++) {
		region_begin(&empty);
		region_end(&empty);
	}
	for (unsigned long i = 0; i < calls; i++) {
		region_begin(&sort);
		sort_numbers();
		region_end(&sort);
	}
	printf("%-16s %16s %16s\n", "per call", empty.name, sort.name);
	for (int i = 0; i < N_EVENTS; i++) {
		if (counters[i])
			printf("%-16s %16.1f %16.1f\n", pace_counter_name(counters[i]),
				empty.sum[i] / (double)empty.calls,
				sort.sum[i] / (double)sort.calls);
		pace_counter_close(counters[i]);
	}
	return 0;
}
