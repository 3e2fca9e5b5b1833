#include <stdio.h>
#include <string.h>
#include <time.h>

#include "scene.h"

long spins = 100000;

#define X(name) {#name, scene_##name},
static const struct {
	const char *name;
	void (*run)(void);
} scenes[] = {SCENES(X)};
#undef X

static long cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* The fastest of some tries says how fast this machine is. */
__attribute__((constructor(101))) NOINLINE void calibrate(void)
{
	const long want_us = 8000;
	long best = 1000000;

	for (int i = 0; i < 5; i++) {
		long begin = cpu_us();
		SPIN;
		long took = cpu_us() - begin;
		if (took < best)
			best = took;
	}
	spins = best > 0 ? spins * want_us / best : spins * 100;
}

NOINLINE void hot_after_exec(void)
{
	SPIN; /* at hot_after_exec */
}

NOINLINE void before_main(void)
{
	SPIN; /* at before_main */
}

/* chain: before_main <- hot_ctor <- ... <- _start */
__attribute__((constructor)) NOINLINE void hot_ctor(void)
{
	before_main(); /* at hot_ctor */
	AFTER;
}

NOINLINE void after_main(void)
{
	SPIN; /* at after_main */
}

/* chain: after_main <- hot_dtor <- ... <- _start */
__attribute__((destructor)) NOINLINE void hot_dtor(void)
{
	after_main(); /* at hot_dtor */
	AFTER;
}

/* chain: hot_after_exec <- main@main_after_exec */
int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && !strcmp(argv[1], "after exec")) {
		hot_after_exec(); /* at main_after_exec */
		return 0;
	}
	for (unsigned i = 0; i < sizeof(scenes) / sizeof(*scenes); i++) {
		if (argc > 1 && strcmp(argv[1], scenes[i].name))
			continue;
		scenes[i].run(); /* at main */
	}
	return 0;
}
