#include "symbol/find/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* The functions used of the library; its header need not be installed. */
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

enum { ID_MAX = 20, WATCH_NS = 100000000, QUESTIONS_MAX = 32 };

/* Shared by the waiting callers and the requesting thread: the last of them frees it. */
struct debuginfod_question {
	struct debuginfod_library library;
	enum debuginfod_kind kind;
	u8 id[ID_MAX], id_size;
	char name[256];
	u64 deadline_ns;
	pthread_mutex_t lock;
	pthread_cond_t has_answer; /* its clock is CLOCK_MONOTONIC */
	unsigned n_users;
	bool is_answered, is_left; /* is_left: no caller wants the answer any more */
	int result;                /* < 0: an errno */
	char *path;
	long n_bytes, n_total;
};

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

void debuginfod_init(struct debuginfod *d, double seconds, struct log *log)
{
	memset(d, 0, sizeof(*d));
	pthread_mutex_init(&d->lock, NULL);
	d->seconds = seconds;
	d->log = log;
}

/* ---- requests ---- */

static void release(struct debuginfod_question *q)
{
	bool is_last;

	pthread_mutex_lock(&q->lock);
	is_last = !--q->n_users;
	pthread_mutex_unlock(&q->lock);
	if (!is_last)
		return;
	free(q->path);
	pthread_cond_destroy(&q->has_answer);
	pthread_mutex_destroy(&q->lock);
	mem_free(q);
}

/* The thread's current request: the library passes no pointer of ours to its progress function. */
static _Thread_local struct debuginfod_question *asked_now;

/* The library calls it regularly while it waits. Returning true cancels the request. */
static int take_progress(void *client, long a, long b)
{
	struct debuginfod_question *q = asked_now;
	bool is_over;

	(void)client;
	pthread_mutex_lock(&q->lock);
	q->n_bytes = a;
	q->n_total = b;
	is_over = q->is_left || clock_now_ns() > q->deadline_ns;
	pthread_mutex_unlock(&q->lock);
	return is_over;
}

static void *ask(void *question)
{
	struct debuginfod_question *q = question;
	void *client = q->library.begin();
	char *path = NULL;
	int fd = -ENOMEM;

	asked_now = q;
	if (client) {
		q->library.set_progressfn(client, take_progress);
		fd = q->library.find[q->kind](client, q->id, q->id_size, &path);
		q->library.end(client);
	}
	if (fd >= 0)
		close(fd);
	pthread_mutex_lock(&q->lock);
	q->result = fd;
	q->path = path;
	q->is_answered = true;
	pthread_cond_broadcast(&q->has_answer);
	pthread_mutex_unlock(&q->lock);
	release(q);
	return NULL;
}

static struct debuginfod_question *question_new(const struct debuginfod *d,
	enum debuginfod_kind kind, const char *name, const u8 *id, u8 n)
{
	struct debuginfod_question *q = mem_zalloc(sizeof(*q));
	pthread_condattr_t by_clock;

	q->library = *d->library;
	q->kind = kind;
	q->id_size = n;
	memcpy(q->id, id, n);
	strncpy(q->name, name, sizeof(q->name) - 1);
	q->deadline_ns = d->deadline_ns;
	q->n_users = 1;
	pthread_mutex_init(&q->lock, NULL);
	pthread_condattr_init(&by_clock);
	pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
	pthread_cond_init(&q->has_answer, &by_clock);
	pthread_condattr_destroy(&by_clock);
	return q;
}

/* Starts the thread. If that fails, the request counts as not answered. */
static void start(struct debuginfod_question *q)
{
	pthread_attr_t detached;
	pthread_t thread;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	q->n_users++;
	if (pthread_create(&thread, &detached, ask, q)) {
		q->n_users--;
		q->result = -EAGAIN;
		q->is_answered = true;
	}
	pthread_attr_destroy(&detached);
}

/* Call with the lock held. Returns the request, sent now or before. NULL: none can be sent, see d->err. */
static struct debuginfod_question *find_or_ask(struct debuginfod *d, enum debuginfod_kind kind,
	const char *name, const u8 *id, u8 n)
{
	struct debuginfod_question *q;

	if (!d->is_open) {
		open_library(d);
		d->deadline_ns = clock_now_ns() + (u64)(d->seconds * 1e9);
		d->is_open = true;
	}
	vec_each(known, &d->questions)
		if ((*known)->kind == kind && (*known)->id_size == n &&
			!memcmp((*known)->id, id, n))
			return *known;
	if (!d->library || d->has_given_up || clock_now_ns() > d->deadline_ns)
		return NULL;
	q = question_new(d, kind, name, id, n);
	log_note(d->log, "asking debuginfod (DEBUGINFOD_URLS) for '%s', at most %g s", name,
		d->seconds);
	start(q);
	vec_add(&d->questions, q);
	return q;
}

static bool has_answer(struct debuginfod_question *q)
{
	bool is;

	pthread_mutex_lock(&q->lock);
	is = q->is_answered;
	pthread_mutex_unlock(&q->lock);
	return is;
}

void debuginfod_ask(struct debuginfod *d, enum debuginfod_kind kind, const char *name, const u8 *id,
	u8 n)
{
	unsigned n_waiting = 0;

	if (n > ID_MAX)
		return;
	pthread_mutex_lock(&d->lock);
	/* Public servers deserve few requests at a time: the rest are sent when their answers are needed. */
	vec_each(q, &d->questions)
		n_waiting += !has_answer(*q);
	if (n_waiting < QUESTIONS_MAX)
		find_or_ask(d, kind, name, id, n);
	pthread_mutex_unlock(&d->lock);
}

/* ---- waiting ---- */

/* Calls the watcher, if it is time to. If it gives up, all requests are given up. */
static void show_state(struct debuginfod *d, const struct debuginfod_question *waited_for)
{
	struct debuginfod_state state = {.name = waited_for->name};
	u64 now = clock_now_ns();

	pthread_mutex_lock(&d->lock);
	if (d->watch && !d->has_given_up && now - d->watched_ns >= WATCH_NS) {
		d->watched_ns = now;
		state.seconds_left =
			now < d->deadline_ns ? (double)(d->deadline_ns - now) / 1e9 : 0;
		vec_each(each, &d->questions) {
			struct debuginfod_question *q = *each;

			pthread_mutex_lock(&q->lock);
			state.n_asked++;
			if (!q->is_answered) {
				state.n_waiting++;
				state.n_bytes += (u64)MAX(q->n_bytes, 0L);
				state.n_total += (u64)MAX(q->n_total, 0L);
			}
			pthread_mutex_unlock(&q->lock);
		}
		d->has_given_up = !d->watch(d->watch_ctx, &state);
	}
	pthread_mutex_unlock(&d->lock);
}

static bool has_given_up(struct debuginfod *d)
{
	bool has;

	pthread_mutex_lock(&d->lock);
	has = d->has_given_up;
	pthread_mutex_unlock(&d->lock);
	return has;
}

/* Waits until there is an answer, the time is over, or the user gave up. */
static void wait_for(struct debuginfod *d, struct debuginfod_question *q)
{
	while (!has_answer(q) && clock_now_ns() <= d->deadline_ns && !has_given_up(d)) {
		u64 until = MIN(clock_now_ns() + WATCH_NS, d->deadline_ns + 1);
		struct timespec t = {(time_t)(until / 1000000000), (long)(until % 1000000000)};

		show_state(d, q);
		pthread_mutex_lock(&q->lock);
		if (!q->is_answered)
			pthread_cond_timedwait(&q->has_answer, &q->lock, &t);
		pthread_mutex_unlock(&q->lock);
	}
}

static int unanswered(struct debuginfod *d, const char *name, struct err *err)
{
	if (has_given_up(d))
		return err_set(err, ERR_LIMIT,
			"debuginfod was asked for the symbols of '%.300s', but the wait was cancelled",
			name);
	return err_set(err, ERR_LIMIT,
		"debuginfod did not send the symbols of '%.300s' within %g s: --debuginfod gives it more time",
		name, d->seconds);
}

/* Reports the library's error. It maps most errors of servers to "no such file". */
static int refused(int sys, const char *name, struct err *err)
{
	if (sys == ENOENT)
		return err_set(err, ERR_NOENT, "debuginfod has nothing for '%.300s'", name);
	return err_sys(err, sys, "debuginfod could not be asked for '%.300s'", name);
}

int debuginfod_fetch(struct debuginfod *d, enum debuginfod_kind kind, const char *name,
	const u8 *id, u8 n, struct str *ret_path, struct err *err)
{
	struct debuginfod_question *q;
	int result = 0;

	if (n > ID_MAX)
		return err_set(err, ERR_NOENT,
			"the build-id of '%.300s' is too long for debuginfod", name);
	pthread_mutex_lock(&d->lock);
	q = find_or_ask(d, kind, name, id, n);
	pthread_mutex_unlock(&d->lock);
	if (!q && !d->library) {
		*err = d->err;
		return err->code;
	}
	if (!q)
		return unanswered(d, name, err);
	wait_for(d, q);
	pthread_mutex_lock(&q->lock);
	if (!q->is_answered)
		result = unanswered(d, name, err);
	else if (q->result < 0 && clock_now_ns() > d->deadline_ns)
		result = unanswered(d, name, err);
	else if (q->result < 0)
		result = refused(-q->result, name, err);
	else
		str_add(ret_path, q->path);
	pthread_mutex_unlock(&q->lock);
	return result;
}

/*
 * Abandons a request without an answer. But a thread that is inside the library when the program ends would
 * run into its exit handlers. The library asks at least once a second whether to continue.
 */
static void leave(struct debuginfod_question *q, u64 until_ns)
{
	struct timespec t = {(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};

	pthread_mutex_lock(&q->lock);
	while (!q->is_answered && !pthread_cond_timedwait(&q->has_answer, &q->lock, &t))
		;
	pthread_mutex_unlock(&q->lock);
	release(q);
}

void debuginfod_fini(struct debuginfod *d)
{
	enum { PATIENCE_NS = 1500000000 };
	u64 until_ns = clock_now_ns() + PATIENCE_NS;

	vec_each(q, &d->questions) {
		pthread_mutex_lock(&(*q)->lock);
		(*q)->is_left = true;
		pthread_mutex_unlock(&(*q)->lock);
	}
	vec_each(q, &d->questions)
		leave(*q, until_ns);
	vec_fini(&d->questions);
	/* The library stays loaded: it, and its own libraries, may have threads and exit handlers. */
	mem_free(d->library);
	pthread_mutex_destroy(&d->lock);
}
