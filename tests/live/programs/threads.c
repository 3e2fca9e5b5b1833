/*
 * threads SECONDS [FILE]: two threads with names that compute for so long; a third starts late, or when
 * there is such a file. On a machine that gives them little of its time they go on until each has had 0.3
 * of that, 0.3 s at most.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;
static double until, least;

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

__attribute__((noinline)) static void spin(void)
{
	while (now(CLOCK_MONOTONIC) < until || now(CLOCK_THREAD_CPUTIME_ID) < least)
		for (int i = 0; i < 100000; i++)
			sink += i;
}

static void *work(void *name)
{
	pthread_setname_np(pthread_self(), name);
	spin();
	return NULL;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	struct timespec third = {.tv_nsec = (long)(seconds * 3e8)};
	pthread_t a, b, late;

	until = now(CLOCK_MONOTONIC) + seconds;
	least = seconds < 1 ? 0.3 * seconds : 0.3;
	pthread_create(&a, NULL, work, "alpha");
	pthread_create(&b, NULL, work, "beta");
	if (argc < 3)
		nanosleep(&third, NULL);
	else
		while (access(argv[2], F_OK))
			usleep(1000);
	pthread_create(&late, NULL, work, "late");
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	pthread_join(late, NULL);
	return 0;
}
