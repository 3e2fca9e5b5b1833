/* churn THREADS SECONDS: so many threads, one after the other, then sleeps. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *nothing(void *arg)
{
	return arg;
}

int main(int argc, char **argv)
{
	(void)argc;
	for (int i = atoi(argv[1]); i > 0; i--) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, nothing, NULL))
			return 1;
		pthread_join(thread, NULL);
	}
	sleep((unsigned)atoi(argv[2]));
	return 0;
}
