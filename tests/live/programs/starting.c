/*
 * Starts a thread every argv[1] microseconds, until its standard input ends. Each touches a new page every
 * 10 ms, 20 times; at the end it is told which thread did that when, by CLOCK_MONOTONIC: "TID TIME TIME ...".
 * Every byte of the input is answered with how many such faults all threads had until then, by the kernel.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TOUCHES = 20, PAGE = 4096, THREADS_MAX = 30000 };

struct worker {
	pthread_t thread;
	long tid;
	double times[TOUCHES];
	volatile char *pages;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void *work(void *arg)
{
	struct worker *w = arg;

	w->tid = syscall(SYS_gettid);
	for (int i = 0; i < TOUCHES; i++) {
		w->times[i] = now();
		w->pages[i * PAGE] = 1;
		usleep(10000);
	}
	return NULL;
}

/* Answers what has come until `us` are over; false when that was the end. */
static int answer_for(long us)
{
	double end = now() + us / 1e6;
	double left = us / 1e6;

	for (; left > 0; left = end - now()) {
		struct timespec t = {0, (long)(left * 1e9)};
		struct pollfd told = {.fd = STDIN_FILENO, .events = POLLIN};
		struct rusage all;
		char byte;

		if (ppoll(&told, 1, &t, NULL) <= 0)
			continue;
		if (read(STDIN_FILENO, &byte, 1) <= 0)
			return 0;
		getrusage(RUSAGE_SELF, &all);
		printf("%ld\n", all.ru_minflt);
		fflush(stdout);
	}
	return 1;
}

int main(int argc, char **argv)
{
	long every = argc > 1 ? atol(argv[1]) : 1000;
	struct worker *workers = calloc(THREADS_MAX, sizeof(*workers));
	size_t size = (size_t)THREADS_MAX * TOUCHES * PAGE;
	char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int n = 0, kept = 0;

	if (pages == MAP_FAILED)
		return 1;
	madvise(pages, size, MADV_NOHUGEPAGE);
	for (; n < THREADS_MAX && answer_for(every); n++) {
		workers[n].pages = pages + (size_t)n * TOUCHES * PAGE;
		if (pthread_create(&workers[n].thread, NULL, work, &workers[n]))
			return 1;
		/* Joined late, so that numbers do not come again too soon. */
		for (; n - kept > 400; kept++)
			pthread_join(workers[kept].thread, NULL);
	}
	for (; kept < n; kept++)
		pthread_join(workers[kept].thread, NULL);
	/* So many were enough, but whoever asks may be slow. */
	while (n == THREADS_MAX && answer_for(100000))
		;
	for (int i = 0; i < n; i++) {
		printf("%ld", workers[i].tid);
		for (int k = 0; k < TOUCHES; k++)
			printf(" %.9f", workers[i].times[k]);
		printf("\n");
	}
	return 0;
}
