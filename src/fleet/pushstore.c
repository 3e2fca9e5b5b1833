#include "fleet/pushstore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/num.h"
#include "base/sysfile.h"

enum { GROUP_BATCHES = 60, CURSOR_BYTES = 128, CALL_MS = 300000, RETRY_S = 60 };

/* ---- where it stopped ---- */

static void cursor_path(const struct push *p, const char *folder, const char *end, struct str *path)
{
	u64 hash = 0;

	/* The same in every run, and in any process. */
	for (const char *c = p->options.url->server; *c; c++)
		hash = hash_lasting(hash, (u8)*c);
	for (const char *c = p->options.url->database; *c; c++)
		hash = hash_lasting(hash, (u8)*c);
	str_clear(path);
	str_addf(path, "%s/" PUSHSTORE_CURSOR, folder);
	num_add_hex(path, hash, 16);
	str_add(path, end);
}

/* False: nothing was sent yet, or what the file says makes no sense. Then all is sent, and nothing is there twice. */
static bool read_cursor(const struct push *p, const char *folder, struct store_place *ret)
{
	struct str path = {0}, text = {0};
	struct err err;
	u64 numbers[3];
	const char *at;
	bool is_whole;

	cursor_path(p, folder, "", &path);
	is_whole = !sysfile_read(str_text(&path), CURSOR_BYTES, &text, &err);
	at = str_text(&text);
	for (size_t i = 0; is_whole && i < ARRAY_SIZE(numbers); i++)
		is_whole = num_scan(&at, 10, &numbers[i]) && *at++ == (i < 2 ? ' ' : '\n');
	if (is_whole)
		*ret = (struct store_place){.hour = numbers[0],
			.part = (u32)numbers[1],
			.offset = numbers[2]};
	str_fini(&path);
	str_fini(&text);
	return is_whole;
}

static int write_cursor(const struct push *p, const char *folder, const struct store_place *place,
	struct err *err)
{
	struct str path = {0}, fresh = {0};
	char text[CURSOR_BYTES];
	const int n = snprintf(text, sizeof(text), "%llu %u %llu\n",
		(unsigned long long)place->hour, place->part, (unsigned long long)place->offset);
	int fd, sys = 0;

	cursor_path(p, folder, "", &path);
	cursor_path(p, folder, "~", &fresh);
	fd = open(str_text(&fresh), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		sys = errno;
	} else {
		sys = fd_write(fd, text, (size_t)n);
		if (!sys && fdatasync(fd))
			sys = errno;
		close(fd);
		if (!sys && rename(str_text(&fresh), str_text(&path)))
			sys = errno;
	}
	if (sys)
		err_sys(err, sys, "writing '%s'", str_text(&path));
	str_fini(&path);
	str_fini(&fresh);
	return err->code;
}

/* ---- what was not sent ---- */

static void tell_gap(const struct store *s, const struct store_place *place, struct log *log)
{
	if (s->files.n && s->files.at[0].hour > place->hour + 1)
		log_warn(log,
			"the store '%s' dropped up to %llu hours before they could be sent: it was full",
			s->path, (unsigned long long)(s->files.at[0].hour - place->hour - 1));
}

static int push_walk(struct push *p, struct store_walk *w, const char *folder, struct err *err)
{
	u32 n = 0;
	struct batch b;

	while (store_next(w, &b)) {
		const int result = push_add(p, &b, err);

		batch_fini(&b);
		if (result)
			return result;
		if (++n % GROUP_BATCHES)
			continue;
		if (push_flush(p, err) || write_cursor(p, folder, &w->place, err))
			return err->code;
	}
	if (n % GROUP_BATCHES && !push_flush(p, err))
		write_cursor(p, folder, &w->place, err);
	return err->code;
}

int pushstore(struct push *p, const char *folder, struct log *log, struct err *err)
{
	struct store_place place;
	struct store_walk walk;
	struct store store;
	bool has_place;

	*err = (struct err){0};
	if (store_open(&store, folder, err))
		return err->code;
	has_place = read_cursor(p, folder, &place);
	if (has_place)
		tell_gap(&store, &place, log);
	store_walk_init(&walk, &store, has_place ? &place : NULL, log);
	push_walk(p, &walk, folder, err);
	store_walk_fini(&walk);
	store_close(&store);
	return err->code;
}

/* ---- from time to time ---- */

static void send_now(struct pusher *p)
{
	struct err err = {0};

	pushstore(&p->push, p->folder, p->options.log, &err);
	pthread_mutex_lock(&p->lock);
	p->err = err;
	p->n_failed = err.code ? p->n_failed + 1 : 0;
	p->has_more |= err.code != 0;
	pthread_mutex_unlock(&p->lock);
	if (err.code)
		push_forget(&p->push);
}

static void set_deadline(struct pusher *p, u64 at_ns)
{
	__atomic_store_n(&p->push.options.deadline_ns, at_ns, __ATOMIC_RELAXED);
}

static void *run(void *ctx)
{
	struct pusher *p = ctx;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		bool ends;

		while (!p->has_more && !p->ends)
			pthread_cond_wait(&p->is_wanted, &p->lock);
		ends = p->ends;
		if (!p->has_more)
			break;
		p->has_more = false;
		if (!ends)
			set_deadline(p, clock_in_ms(CALL_MS));
		pthread_mutex_unlock(&p->lock);
		send_now(p);
		pthread_mutex_lock(&p->lock);
		if (ends)
			break;
		/* After a failure with the next minute, not at once. */
		if (p->err.code && !p->ends) {
			struct timespec until;

			clock_gettime(CLOCK_MONOTONIC, &until);
			until.tv_sec += RETRY_S;
			pthread_cond_timedwait(&p->is_wanted, &p->lock, &until);
		}
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

int pusher_begin(struct pusher *p, const struct push_options *o, const char *folder,
	struct err *err)
{
	pthread_condattr_t clock;
	int sys;

	*p = (struct pusher){.options = *o, .folder = folder, .has_more = true};
	p->options.remembers = true;
	/* Whether there is a library is known at once. */
	if (push_open(&p->push, &p->options, err))
		return err->code;
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&p->is_wanted, &clock);
	pthread_condattr_destroy(&clock);
	sys = pthread_create(&p->thread, NULL, run, p);
	p->is_running = !sys;
	return sys ? err_sys(err, sys, "starting the thread that pushes") : 0;
}

void pusher_wake(struct pusher *p)
{
	pthread_mutex_lock(&p->lock);
	p->has_more = true;
	pthread_cond_signal(&p->is_wanted);
	pthread_mutex_unlock(&p->lock);
}

bool pusher_end(struct pusher *p, u32 most_ms)
{
	bool is_all;

	if (!p->is_running)
		return false;
	pthread_mutex_lock(&p->lock);
	p->ends = p->has_more = true;
	set_deadline(p, clock_in_ms((int)most_ms));
	pthread_cond_signal(&p->is_wanted);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	is_all = !p->err.code;
	p->is_running = false;
	push_close(&p->push);
	pthread_cond_destroy(&p->is_wanted);
	pthread_mutex_destroy(&p->lock);
	return is_all;
}
