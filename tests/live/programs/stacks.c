/*
 * stacks.c - code whose callers are known, without frame pointers.
 *
 *     stacks SECONDS [WHAT]
 *
 * Two threads run run() -> outer() -> middle() -> leaf(), the main one under main(), for so long and for
 * 0.3 of it, 0.3 s at most, of processor time. WHAT: "fork" lets a child do it, "exec" lets that begin
 * anew, "unlink" removes the program's file first.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile long sink;
static double seconds;

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noinline)) static void leaf(long n)
{
	for (long i = 0; i < n; i++)
		sink += i;
}

__attribute__((noinline)) static long middle(long n)
{
	volatile char room[300];

	room[n % 300] = 1;
	leaf(n);
	return room[n % 300];
}

__attribute__((noinline)) static long outer(double until)
{
	double least = seconds < 1 ? 0.3 * seconds : 0.3;
	long n = 0;

	while (now(CLOCK_MONOTONIC) < until || now(CLOCK_THREAD_CPUTIME_ID) < least)
		n += middle(200000);
	return n;
}

__attribute__((noinline)) static void *run(void *arg)
{
	sink += outer(now(CLOCK_MONOTONIC) + seconds);
	return arg;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";
	pthread_t thread;

	if (argc < 2)
		return 2;
	seconds = atof(argv[1]);
	if (!strcmp(what, "unlink"))
		unlink(argv[0]);
	if (!strcmp(what, "fork") || !strcmp(what, "exec")) {
		if (fork()) {
			wait(NULL);
			return 0;
		}
		if (!strcmp(what, "exec"))
			execl("/proc/self/exe", "stacks", argv[1], NULL);
	}
	pthread_create(&thread, NULL, run, NULL);
	run(NULL);
	pthread_join(thread, NULL);
	return 0;
}
