/*
 * branch-sample.c - which branches does the processor mispredict? Takes a sample for each, with the
 * branches that led there.
 *
 *     cc -O1 -o branch-sample branch-sample.c $(pkg-config --cflags --libs pace)
 *     ./branch-sample 100
 *
 * Needs a processor that remembers branches (LBR, BRS, BRBE). On others a timer samples the loop instead,
 * which then has to run longer: ./branch-sample 100000000.
 */
#include <stdio.h>
#include <stdlib.h>

#include <linux/perf_event.h>
#include <pace.h>

enum { PAGES = 8, TIMER_NS = 1000000 };

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

static int print_sample(void *context, const struct pace_sample *s)
{
	++*(unsigned *)context;
	printf("SAMPLE 0x%llx\n %u Branches in Stack\n", (unsigned long long)s->ip, s->n_branches);
	for (unsigned i = 0; i < s->n_branches; i++)
		printf(" From: %llx : %s\n", (unsigned long long)s->branches[i].from,
			s->branches[i].flags & PACE_BRANCH_MISPREDICTED        ? "mispredicted"
				: s->branches[i].flags & PACE_BRANCH_PREDICTED ? "predicted"
									       : "not known");
	return 0;
}

static void tell_loss(void *context, const char *sentence)
{
	(void)context;
	fprintf(stderr, "branch-sample: %s\n", sentence);
}

static struct pace_counter *open_event(struct pace_error *err)
{
	static const struct pace_options branches = {.period = 1,
						 .sample =
							 PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK,
						 .branches = PERF_SAMPLE_BRANCH_ANY |
							 PERF_SAMPLE_BRANCH_USER},
					 timer = {.period = TIMER_NS, .sample = PERF_SAMPLE_IP};
	struct pace_counter *c = pace_counter_open_with("branch-misses:u", 0, -1, &branches, err);

	if (c || err->code == PACE_ERROR_PERMISSION)
		return c;
	fprintf(stderr, "branch-sample: %s\nbranch-sample: sampling every ms instead\n",
		err->message);
	return pace_counter_open_with("cpu-clock:u", 0, -1, &timer, err);
}

int main(int argc, char **argv)
{
	unsigned n = 0;
	struct pace_slots slots = {.context = &n, .sample = print_sample, .loss = tell_loss};
	int max = argc > 1 ? atoi(argv[1]) : 100, odd = 0;
	struct pace_error err;
	struct pace_counter *c = open_event(&err);
	struct pace_ring *ring = c ? pace_ring_open(c, PAGES, &err) : NULL;
	int failed = !ring || pace_counter_enable(c, &err);

	if (!failed) {
		odd = count_odd(max);
		failed = pace_counter_disable(c, &err) || pace_ring_read(ring, &slots, &err);
	}
	if (failed)
		fprintf(stderr, "branch-sample: %s\n", err.message);
	else if (!n)
		fprintf(stderr, "branch-sample: no sample: %d rounds were too few\n", max);
	if (!failed)
		printf("%d\n", odd);
	pace_ring_close(ring);
	pace_counter_close(c);
	return failed;
}
