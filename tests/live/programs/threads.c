/* Two threads with names that compute until they are told to stop; a third starts late. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;
static double until;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

__attribute__((noinline)) static void spin(void)
{
	while (now() < until)
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

	until = now() + seconds;
	pthread_create(&a, NULL, work, "alpha");
	pthread_create(&b, NULL, work, "beta");
	nanosleep(&third, NULL);
	pthread_create(&late, NULL, work, "late");
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	pthread_join(late, NULL);
	return 0;
}
