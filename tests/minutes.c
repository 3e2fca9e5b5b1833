/*
 * Fills a store with made-up minutes, for tests of what reads it:
 * minutes STORE FIRST_SECOND N_MINUTES SEED NAME=SAMPLES...
 * Each minute has about so many samples in each function; a file ends where the hour does.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/abi.h"
#include "fleet/storewriter.h"

#define NS 1000000000ULL

static u64 seed;

/* 0 .. 1 */
static double chance(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(seed >> 11) / (double)(1ULL << 53);
}

/* As often as chance has it: about the mean, with a deviation of its root. */
static u64 about(double mean)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += chance();
	return (u64)MAX(0, mean + (sum - 6) * sqrt(mean) + 0.5);
}

static void count(struct batch *b, const char *word)
{
	const char *sign = strchr(word, '=');
	const u64 n = about(strtod(sign ? sign + 1 : "1", NULL));
	struct batch_frame f = {.is_named = true, .mode = PERF_RECORD_MISC_USER};
	u32 stack, cells[2];

	f.name = batch_add_string(b, "main");
	f.file = batch_add_string(b, "app");
	stack = batch_stack(b, 0, batch_frame(b, &f));
	f.name = batch_text(b, word, sign ? (size_t)(sign - word) : strlen(word));
	stack = batch_stack(b, stack, batch_frame(b, &f));
	cells[0] = cells[1] = batch_add_string(b, "app");
	if (n)
		batch_count(b, &(struct batch_row){0, stack, 0, n, n * 52631578}, cells);
}

static void quiet(void *ctx, enum log_level level, const char *text)
{
	(void)ctx;
	(void)level;
	fprintf(stderr, "%s\n", text);
}

int main(int argc, char **argv)
{
	struct log log = {.level = LOG_NOTE, .write = quiet};
	struct storewriter w;
	struct err err = {0};
	u64 first;

	if (argc < 5)
		return 2;
	first = strtoull(argv[2], NULL, 10) * NS;
	seed = strtoull(argv[4], NULL, 10);
	if (storewriter_open(&w, argv[1], STOREWRITER_BYTES, &log, &err))
		goto failed;
	for (u64 i = 0; i < strtoull(argv[3], NULL, 10); i++) {
		struct batch b;

		batch_init(&b);
		b.start_ns = first + i * 60 * NS;
		b.end_ns = b.start_ns + 60 * NS;
		batch_column(&b, "service");
		batch_column(&b, "comm");
		batch_event(&b, "cpu-clock");
		for (int k = 5; k < argc; k++)
			count(&b, argv[k]);
		if (storewriter_append(&w, &b, &err))
			goto failed;
		batch_fini(&b);
	}
	storewriter_close(&w);
	log_fini(&log);
	return 0;
failed:
	fprintf(stderr, "minutes: %s\n", err.msg);
	return 1;
}
