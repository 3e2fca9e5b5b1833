/*
 * Touches as many fresh pages as the numbers on its standard input say, each exactly once, and
 * answers each number with a line when that is done. "fork N" lets a child do it, "hit N" passes
 * N times through hit() and writes N times to `written`, "thread N" lets a thread touch pages.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

volatile long written;

__attribute__((noinline)) void hit(long i)
{
	written = i;
}

static void touch(size_t n)
{
	char *p = mmap(NULL, n * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	madvise(p, n * 4096, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i++)
		((volatile char *)p)[i * 4096] = 1;
	munmap(p, n * 4096);
}

static void *touch_in_thread(void *n)
{
	touch((size_t)n);
	return NULL;
}

static void obey(const char *line)
{
	pthread_t thread;

	if (!strncmp(line, "fork ", 5)) {
		if (!fork()) {
			touch(strtoul(line + 5, NULL, 10));
			_exit(0);
		}
		wait(NULL);
	} else if (!strncmp(line, "thread ", 7)) {
		pthread_create(&thread, NULL, touch_in_thread, (void *)strtoul(line + 7, NULL, 10));
		pthread_join(thread, NULL);
	} else if (!strncmp(line, "hit ", 4)) {
		for (long i = strtol(line + 4, NULL, 10); i > 0; i--)
			hit(i);
	} else {
		touch(strtoul(line, NULL, 10));
	}
}

int main(void)
{
	char line[64];
	size_t n = 0;

	/* No stdio: its buffers are pages too. */
	while (read(0, line + n, 1) == 1) {
		if (line[n] != '\n') {
			n += n + 1 < sizeof(line);
			continue;
		}
		line[n] = '\0';
		n = 0;
		obey(line);
		if (write(1, "done\n", 5) != 5)
			return 1;
	}
	return 0;
}
