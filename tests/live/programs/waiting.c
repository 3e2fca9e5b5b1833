/*
 * Threads with the names of what they do: one waits for a byte that never comes, one for a lock that nobody gives back, one sleeps again and
 * again, one is busy. The first one waits for a signal.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int fds[2];

static void *read_it(void *arg)
{
	char c;

	if (read(fds[0], &c, 1))
		return arg;
	return NULL;
}

static void *lock_it(void *arg)
{
	pthread_mutex_lock(&lock);
	return arg;
}

static void *sleep_on(void *arg)
{
	const struct timespec t = {0, 50000000};

	for (;;)
		nanosleep(&t, NULL);
	return arg;
}

static void *compute(void *arg)
{
	for (volatile long i = 0;; i++)
		;
	return arg;
}

static void begin(const char *name, void *(*run)(void *arg))
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, NULL);
	pthread_setname_np(thread, name);
}

int main(void)
{
	if (pipe(fds))
		return 1;
	pthread_mutex_lock(&lock);
	begin("reader", read_it);
	begin("locked", lock_it);
	begin("sleeper", sleep_on);
	begin("busy", compute);
	for (;;)
		pause();
}
