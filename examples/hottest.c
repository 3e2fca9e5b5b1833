/*
 * hottest.c - where did a recording's time go? Counts its samples by function.
 *
 *     cc -o hottest hottest.c $(pkg-config --cflags --libs pace)
 *     perf record -o - ./program | ./hottest -
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pace.h>

struct row {
	char *function;
	unsigned long samples;
};

struct count {
	struct pace_recording *recording;
	struct row *rows;
	size_t n;
	unsigned long all;
};

static int take_sample(void *context, const struct pace_sample *sample)
{
	struct count *c = context;
	struct pace_error err;
	struct pace_place place;
	const char *name;
	size_t i;

	if (pace_recording_place(c->recording, sample, sample->ip, &place, &err))
		return 1;
	name = place.function ? place.function : place.file;
	for (i = 0; i < c->n && strcmp(c->rows[i].function, name); i++)
		;
	if (i == c->n) {
		c->rows = realloc(c->rows, ++c->n * sizeof(*c->rows));
		c->rows[i] = (struct row){strdup(name), 0};
	}
	c->rows[i].samples++;
	c->all++;
	return 0;
}

static void tell_loss(void *context, const char *sentence)
{
	(void)context;
	fprintf(stderr, "hottest: %s\n", sentence);
}

static int by_samples(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->samples != y->samples ? (x->samples < y->samples) - (x->samples > y->samples)
					: strcmp(x->function, y->function);
}

int main(int argc, char **argv)
{
	struct count c = {0};
	struct pace_slots slots = {.context = &c, .sample = take_sample, .loss = tell_loss};
	struct pace_error err;

	c.recording = pace_recording_open(argc > 1 ? argv[1] : "perf.data", &err);
	if (!c.recording || pace_recording_read(c.recording, PACE_TIME_ORDER, &slots, &err)) {
		fprintf(stderr, "hottest: %s\n", err.message);
		return 1;
	}
	qsort(c.rows, c.n, sizeof(*c.rows), by_samples);
	for (size_t i = 0; i < c.n; i++)
		printf("%6.2f%% %7lu  %s\n", 100.0 * c.rows[i].samples / c.all, c.rows[i].samples,
			c.rows[i].function);
	pace_recording_close(c.recording);
	return 0;
}
