/* Threads, processes, programs and libraries that come and go. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scene.h"

NOINLINE void hot_thread(void)
{
	SPIN; /* at hot_thread */
}

/* chain: hot_thread <- thread_body <- ... <- end */
NOINLINE void *thread_body(void *nothing)
{
	hot_thread(); /* at thread_body */
	AFTER;
	return nothing;
}

NOINLINE void scene_thread(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, thread_body, NULL))
			abort();
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

NOINLINE void hot_child(void)
{
	SPIN; /* at hot_child */
}

/* chain: hot_child <- scene_fork <- main */
NOINLINE void scene_fork(void)
{
	pid_t pid = fork();

	if (!pid) {
		hot_child(); /* at scene_fork */
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

NOINLINE void hot_vfork(void)
{
	SPIN; /* at hot_vfork */
}

/* chain: hot_vfork <- scene_vfork <- main */
NOINLINE void scene_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		hot_vfork(); /* at scene_vfork */
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

NOINLINE void hot_before_exec(void)
{
	SPIN; /* at hot_before_exec */
}

/* chain: hot_before_exec <- scene_exec <- main */
NOINLINE void scene_exec(void)
{
	pid_t pid = fork();

	if (!pid) {
		hot_before_exec(); /* at scene_exec */
		execl("/proc/self/exe", "again", "after exec", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

#ifdef IS_STATIC
NOINLINE void scene_dlopen(void)
{
}
#else
NOINLINE void plug(const char *file, const char *name)
{
	void *library = dlopen(file, RTLD_NOW);
	void (*run)(long);

	if (!library)
		abort();
	run = (void (*)(long))dlsym(library, name);
	printf("plugged %p\n", (void *)run);
	run(spins); /* at plug */
	dlclose(library);
	AFTER;
}

/* Where the first was, there is the second; and then the first again. */
/* chain: hot_plug_a <- plug_a <- plug <- scene_dlopen@any <- main -- not is_static */
/* chain: hot_plug_b <- plug_b <- plug <- scene_dlopen@any <- main -- not is_static */
NOINLINE void scene_dlopen(void)
{
	plug("./libplug_a.so", "plug_a");
	plug("./libplug_b.so", "plug_b");
	plug("./libplug_a.so", "plug_a");
	AFTER;
}
#endif
