/*
 * Sleeps, waits on a lock, reads from a pipe, computes, and says how long each took by its own clocks:
 * "NAME wall CPU" in milliseconds a line. With a number it goes around so often, with a second one its
 * waits (20, 15 and 10 ms) take so many times as long; with "compute" it only does that, so many
 * milliseconds of CPU time.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int fds[2];
static double times = 1;

static double ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void snooze(double wait_ms)
{
	long us = (long)(wait_ms * 1e3);

	nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000}, NULL);
}

__attribute__((noinline)) static void phase_compute(double cpu_ms)
{
	double end = ms(CLOCK_THREAD_CPUTIME_ID) + cpu_ms;

	while (ms(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 20000; i++)
			sink += i;
}

__attribute__((noinline)) static void phase_sleep(double unused)
{
	(void)unused;
	snooze(20 * times);
	sink++;
}

__attribute__((noinline)) static void phase_lock(double unused)
{
	(void)unused;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	sink++;
}

__attribute__((noinline)) static void phase_read(double unused)
{
	char byte;

	(void)unused;
	if (read(fds[0], &byte, 1) != 1)
		exit(1);
	sink++;
}

/* Holds the lock for a while, writes into the pipe after another. */
static void *other(void *what)
{
	if (*(const char *)what == 'l') {
		snooze(15 * times);
		pthread_mutex_unlock(&mutex);
		return NULL;
	}
	snooze(10 * times);
	if (write(fds[1], "x", 1) != 1)
		exit(1);
	return NULL;
}

static double wall_of[4], cpu_of[4];

static void run(int i, void (*phase)(double), double arg)
{
	double wall = ms(CLOCK_MONOTONIC), cpu = ms(CLOCK_THREAD_CPUTIME_ID);

	phase(arg);
	wall_of[i] += ms(CLOCK_MONOTONIC) - wall;
	cpu_of[i] += ms(CLOCK_THREAD_CPUTIME_ID) - cpu;
}

/* A lock that somebody else gives back: legal for this kind, and what a test wants. */
static void *lock_for(void *done)
{
	pthread_mutex_lock(&mutex);
	*(volatile int *)done = 1;
	return other("l");
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"phase_compute", "phase_sleep", "phase_lock",
		"phase_read"};
	int rounds = argc > 1 ? atoi(argv[1]) : 20;

	if (argc > 2 && !strcmp(argv[1], "compute")) {
		phase_compute(atof(argv[2]));
		return 0;
	}
	if (argc > 2)
		times = atof(argv[2]);
	if (pipe(fds))
		return 1;
	for (int i = 0; i < rounds; i++) {
		pthread_t locker, writer;
		volatile int is_locked = 0;

		run(0, phase_compute, 10);
		run(1, phase_sleep, 0);
		pthread_create(&locker, NULL, lock_for, (void *)&is_locked);
		while (!is_locked)
			snooze(0.1);
		run(2, phase_lock, 0);
		pthread_join(locker, NULL);
		pthread_create(&writer, NULL, other, "w");
		run(3, phase_read, 0);
		pthread_join(writer, NULL);
	}
	for (int i = 0; i < 4; i++)
		printf("%s %.3f %.3f\n", names[i], wall_of[i], cpu_of[i]);
	return 0;
}
