#include "symbol/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* What is used of the library; its header need not be installed. */
struct debuginfod_library {
	void *handle;
	void *(*begin)(void);
	void (*end)(void *client);
	void (*set_progressfn)(void *client, int (*fn)(void *client, long a, long b));
	int (*find[2])(void *client, const unsigned char *id, int n, char **ret_path);
};

static const struct {
	const char *name;
	size_t at;
} functions[] = {
	{"debuginfod_begin", offsetof(struct debuginfod_library, begin)},
	{"debuginfod_end", offsetof(struct debuginfod_library, end)},
	{"debuginfod_set_progressfn", offsetof(struct debuginfod_library, set_progressfn)},
	{"debuginfod_find_debuginfo", offsetof(struct debuginfod_library, find[DEBUGINFOD_DEBUG])},
	{"debuginfod_find_executable",
		offsetof(struct debuginfod_library, find[DEBUGINFOD_EXECUTABLE])},
};

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000 + t.tv_nsec;
}

void debuginfod_init(struct debuginfod *d, double seconds, struct log *log)
{
	memset(d, 0, sizeof(*d));
	pthread_mutex_init(&d->lock, NULL);
	d->seconds = seconds;
	d->log = log;
}

void debuginfod_fini(struct debuginfod *d)
{
	/* The library stays loaded: it, and what it needs, may have threads and exit handlers. */
	mem_free(d->library);
	pthread_mutex_destroy(&d->lock);
}

bool debuginfod_is_wanted(const struct debuginfod *d)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return d->seconds > 0 && urls && *urls;
}

static void open_library(struct debuginfod *d)
{
	struct debuginfod_library lib = {.handle = dlopen("libdebuginfod.so.1", RTLD_NOW)};

	for (size_t i = 0; lib.handle && i < ARRAY_SIZE(functions); i++) {
		void *function = dlsym(lib.handle, functions[i].name);

		memcpy((u8 *)&lib + functions[i].at, &function, sizeof(function));
		if (!function)
			lib.handle = NULL;
	}
	if (lib.handle) {
		d->library = mem_alloc(sizeof(lib));
		*d->library = lib;
		return;
	}
	err_set(&d->err, ERR_UNSUPPORTED,
		"DEBUGINFOD_URLS is set, but libdebuginfod.so.1 cannot be loaded: install it (libdebuginfod1)");
	log_note(d->log, "%s", d->err.msg);
}

/* One thread asks one question at a time: until when it may last. */
static _Thread_local u64 question_ends_ns;

/* The library calls it every now and then while it waits; true ends the question. */
static int is_too_late(void *client, long a, long b)
{
	(void)client, (void)a, (void)b;
	return now_ns() > question_ends_ns;
}

static int late(const struct debuginfod *d, const char *name, struct err *err)
{
	return err_set(err, ERR_LIMIT,
		"debuginfod did not send the symbols of '%.300s' within %g s: --debuginfod gives it more time",
		name, d->seconds);
}

int debuginfod_fetch(struct debuginfod *d, enum debuginfod_kind kind, const char *name,
	const u8 *id, u8 n, struct str *ret_path, struct err *err)
{
	char *path = NULL;
	void *client;
	int fd;

	pthread_mutex_lock(&d->lock);
	if (!d->is_open) {
		open_library(d);
		d->deadline_ns = now_ns() + (u64)(d->seconds * 1e9);
		d->is_open = true;
	}
	pthread_mutex_unlock(&d->lock);
	if (!d->library) {
		*err = d->err;
		return err->code;
	}
	if (now_ns() > d->deadline_ns)
		return late(d, name, err);
	log_note(d->log, "asking debuginfod (DEBUGINFOD_URLS) for '%s', at most %g s", name,
		d->seconds);
	client = d->library->begin();
	if (!client)
		return err_set(err, ERR_SYS, "libdebuginfod cannot start");
	question_ends_ns = d->deadline_ns;
	d->library->set_progressfn(client, is_too_late);
	fd = d->library->find[kind](client, id, n, &path);
	d->library->end(client);
	if (fd < 0) {
		free(path);
		if (now_ns() > d->deadline_ns)
			return late(d, name, err);
		return err_sys(err, -fd, "debuginfod has nothing for '%.300s'", name);
	}
	close(fd);
	str_add(ret_path, path);
	free(path);
	return 0;
}
