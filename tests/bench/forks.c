/* Starts programs at an even rate until it is ended: forks PER_SECOND [PROGRAM]. What a build or a shell script does to a machine. */
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
	const long rate = argc > 1 ? atol(argv[1]) : 200;
	char *program[] = {argc > 2 ? argv[2] : "/bin/true", NULL};
	struct timespec due;
	unsigned long n = 0, n_late = 0;
	pid_t parent = getppid();

	if (rate < 1)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &due);
	while (getppid() == parent) {
		struct timespec now;
		pid_t pid;

		if (!posix_spawn(&pid, program[0], NULL, NULL, program, environ))
			n++;
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		due.tv_nsec += 1000000000 / rate;
		due.tv_sec += due.tv_nsec / 1000000000;
		due.tv_nsec %= 1000000000;
		clock_gettime(CLOCK_MONOTONIC, &now);
		n_late += now.tv_sec > due.tv_sec + 1;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		if (n % ((unsigned long)rate * 10) == 0)
			fprintf(stderr, "%lu started, %lu late\n", n, n_late);
	}
	return 0;
}
