/*
 * threads.c - a program with threads that samples itself: where did each of them spend its time?
 *
 *     cc -g -o threads threads.c $(pkg-config --cflags --libs pace)
 *     ./threads
 *
 * The session covers all threads, also those that start later. Callers come from copies of the stack, so
 * it does not matter how the program and its libraries were built.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pace.h>

enum { ROWS = 200 };

struct row {
	char path[256]; /* "thread: outer > inner > innermost" */
	unsigned long samples;
};

struct seen {
	struct row rows[ROWS];
	size_t n;
	unsigned long all;
};

/* The function of a frame, or the file if that is all there is. */
static const char *name_of(const struct pace_sample *sample, const struct pace_frame *frame,
	struct pace_place *place)
{
	struct pace_error err;

	if (pace_sample_place(sample, frame, place, &err))
		return "?";
	return place->function ? place->function : place->file;
}

static int take_sample(void *context, const struct pace_sample *sample)
{
	struct seen *seen = context;
	struct pace_frame frames[64];
	struct pace_place place;
	struct pace_error err;
	char path[256] = "";
	int n = pace_sample_callers(sample, frames, 64, NULL, &err);
	size_t i;

	/* The innermost three, the outermost of them first. */
	for (int k = n < 3 ? n - 1 : 2; k >= 0; k--) {
		const char *name = name_of(sample, &frames[k], &place);
		size_t length = strlen(path);

		snprintf(path + length, sizeof(path) - length, "%s%s", length ? " > " : "", name);
	}
	for (i = 0; i < seen->n && strcmp(seen->rows[i].path, path); i++)
		;
	if (i == ROWS)
		return 0;
	if (i == seen->n)
		strcpy(seen->rows[seen->n++].path, path);
	seen->rows[i].samples++;
	seen->all++;
	return 0;
}

static void tell_loss(void *context, const char *sentence)
{
	(void)context;
	fprintf(stderr, "threads: %s\n", sentence);
}

static int by_samples(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->samples < y->samples) - (x->samples > y->samples);
}

/* ---- what is measured ---- */

static volatile unsigned long sum;

static __attribute__((noinline)) void add(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sum = sum + i;
}

static void *add_much(void *rounds)
{
	for (unsigned long i = 0; i < *(unsigned long *)rounds; i++)
		add(500000);
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const unsigned *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void *sort_much(void *rounds)
{
	enum { N = 20000 };
	unsigned *numbers = malloc(N * sizeof(*numbers)), random = 1;

	for (unsigned long i = 0; i < *(unsigned long *)rounds; i++) {
		for (unsigned k = 0; k < N; k++)
			numbers[k] = random = random * 1103515245 + 12345;
		qsort(numbers, N, sizeof(*numbers), compare);
	}
	free(numbers);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct seen seen;
	struct pace_options options = {.frequency = 1000, .flags = PACE_CALLERS};
	struct pace_slots slots = {.context = &seen, .sample = take_sample, .loss = tell_loss};
	struct pace_error err;
	struct pace_session *session = pace_session_open("cycles:u", 0, &options, &err);
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 200;
	pthread_t threads[2];

	if (!session || pace_session_enable(session, &err)) {
		fprintf(stderr, "threads: %s\n", err.message);
		return 1;
	}
	if (*pace_session_notes(session))
		fprintf(stderr, "threads: %s\n", pace_session_notes(session));
	pthread_create(&threads[0], NULL, add_much, &rounds);
	pthread_create(&threads[1], NULL, sort_much, &rounds);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	if (pace_session_disable(session, &err) || pace_session_read(session, &slots, &err)) {
		fprintf(stderr, "threads: %s\n", err.message);
		return 1;
	}
	qsort(seen.rows, seen.n, sizeof(*seen.rows), by_samples);
	for (size_t i = 0; i < seen.n && i < 10; i++)
		printf("%6.2f%%  %s\n", 100.0 * seen.rows[i].samples / seen.all, seen.rows[i].path);
	pace_session_close(session);
	return 0;
}
