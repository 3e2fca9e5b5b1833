/*
 * Tasks whose states are known: one computes, one sleeps three times, one waits for a child in a way that counts as I/O, two share a CPU, and
 * two wake each other. Each says with its name what it does.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void compute(double seconds)
{
	double end = now(CLOCK_PROCESS_CPUTIME_ID) + seconds;

	while (now(CLOCK_PROCESS_CPUTIME_ID) < end)
		;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void computes(void)
{
	compute(0.1);
}

static void sleeps(void)
{
	for (int i = 0; i < 3; i++)
		usleep(30000);
}

/* A parent waits for its vfork()ed child in the state of those that wait for a disk. */
static void blocks(void)
{
	if (!vfork()) {
		struct timespec t = {0, 60000000};

		nanosleep(&t, NULL);
		_exit(0);
	}
	wait(NULL);
}

static void shares(void)
{
	pin(0);
	compute(0.1);
}

static int pipes[2][2];

static void play(int in, int out, int is_first)
{
	char c = 0;

	for (int i = 0; i < 50; i++) {
		if (is_first && write(out, &c, 1) != 1)
			exit(1);
		if (read(in, &c, 1) != 1)
			exit(1);
		if (!is_first && write(out, &c, 1) != 1)
			exit(1);
	}
}

static void pings(void)
{
	play(pipes[0][0], pipes[1][1], 1);
}

static void pongs(void)
{
	play(pipes[1][0], pipes[0][1], 0);
}

static const struct {
	const char *name;
	void (*work)(void);
} tasks[] = {{"computes", computes}, {"sleeps", sleeps}, {"blocks", blocks}, {"shares-a", shares},
	{"shares-b", shares}, {"pings", pings}, {"pongs", pongs}};

int main(void)
{
	if (pipe(pipes[0]) || pipe(pipes[1]))
		return 1;
	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++)
		if (!fork()) {
			prctl(PR_SET_NAME, tasks[i].name);
			tasks[i].work();
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	return 0;
}
