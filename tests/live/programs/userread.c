/*
 * userread.c - reads a counter of its own with and without system calls, and compares.
 *
 *     userread [EVENT] [READS]
 *
 * Every value that came without a system call must lie between two that came with one. Prints how
 * many did, and what each kind of reading takes. Status 1: a value was wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <pace.h>

static uint64_t ns_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The kernel's words: value, time enabled, time running, id. */
static int read_by_kernel(const struct pace_counter *c, uint64_t words[4])
{
	return read(pace_counter_fd(c), words, 4 * sizeof(*words)) == 4 * sizeof(*words) ? 0 : -1;
}

static int is_between(const uint64_t *before, const struct pace_value *v, const uint64_t *after)
{
	return before[0] <= v->value && v->value <= after[0] && before[1] <= v->time_enabled &&
		v->time_enabled <= after[1] && before[2] <= v->time_running &&
		v->time_running <= after[2] && v->id == after[3];
}

/* Returns how many values came without a system call; -1 if one was wrong. */
static long compare(struct pace_counter *c, long reads)
{
	uint64_t before[4], after[4];
	struct pace_error err;
	struct pace_value v;
	long n = 0;

	for (long i = 0; i < reads; i++) {
		int is_fast;

		if (read_by_kernel(c, before))
			return -1;
		is_fast = pace_counter_is_user_read(c);
		if (pace_counter_read(c, &v, &err) || read_by_kernel(c, after))
			return -1;
		if (!is_between(before, &v, after)) {
			printf("wrong: value %llu <= %llu <= %llu, enabled %llu <= %llu <= %llu, running %llu "
			       "<= %llu <= %llu\n",
				(unsigned long long)before[0], (unsigned long long)v.value,
				(unsigned long long)after[0], (unsigned long long)before[1],
				(unsigned long long)v.time_enabled, (unsigned long long)after[1],
				(unsigned long long)before[2], (unsigned long long)v.time_running,
				(unsigned long long)after[2]);
			return -1;
		}
		n += is_fast;
	}
	return n;
}

int main(int argc, char **argv)
{
	static const struct pace_options options = {.flags = PACE_ENABLED | PACE_USER_READ};
	long reads = argc > 2 ? atol(argv[2]) : 100000, n;
	struct pace_counter *c;
	struct pace_error err;
	struct pace_value v;
	uint64_t words[4], begin, by_pace, by_kernel;

	c = pace_counter_open_with(argc > 1 ? argv[1] : "instructions:u", 0, -1, &options, &err);
	if (!c) {
		printf("%s\n", err.message);
		return 77;
	}
	n = compare(c, reads);
	begin = ns_now();
	for (long i = 0; i < reads; i++)
		pace_counter_read(c, &v, &err);
	by_pace = ns_now() - begin;
	begin = ns_now();
	for (long i = 0; i < reads; i++)
		read_by_kernel(c, words);
	by_kernel = ns_now() - begin;
	printf("%ld of %ld values came without a system call; %.1f ns for pace_counter_read(), %.1f ns "
	       "for read(2)\n",
		n, reads, (double)by_pace / (double)reads, (double)by_kernel / (double)reads);
	pace_counter_close(c);
	return n < 0;
}
