/*
 * Computes for argv[1] seconds of CPU time in one function, then as long in another. The clock, which is a
 * system call, is read each few milliseconds: ten samples of a second are to fall into the function.
 */
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

static double used(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

__attribute__((noinline)) static void first(double end)
{
	while (used() < end)
		for (int i = 0; i < 2000000; i++)
			sink += i;
}

__attribute__((noinline)) static void second(double end)
{
	while (used() < end)
		for (int i = 0; i < 2000000; i++)
			sink += 2 * i;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;

	first(used() + seconds);
	second(used() + seconds);
	return 0;
}
