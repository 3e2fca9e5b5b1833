#include "base/progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/term.h"
#include "base/utf8.h"

enum {
	QUIET_NS = 500000000, /* work that is over by then is not mentioned */
	EACH_NS = 100000000,
	SAID_NS = 1000000000,
	SUBJECT_MOST = 32, /* columns */
	LINE_BYTES = 512,
};

/* The terminal has one line, so there is one of these. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t has_ended;
	pthread_t thread;
	struct progress *of; /* NULL: none */
	bool has_thread, is_over, is_painted, is_hidden;
	bool hears; /* SIGINT is ours */
	u64 began_ns, said_ns;
	u64 limit_ns; /* 0: none */
	u64 limited_from_ns, limited_from_cpu_ns;
	char said[LINE_BYTES];
	struct sigaction before;
} line = {.lock = PTHREAD_MUTEX_INITIALIZER};

static volatile sig_atomic_t was_interrupted;
static atomic_bool is_given_up;

static void interrupt(int number)
{
	if (was_interrupted) {
		signal(number, SIG_DFL);
		raise(number);
	}
	was_interrupted = true;
}

/* Call with the lock held. */
static void hear(void)
{
	const struct sigaction ours = {.sa_handler = interrupt, .sa_flags = SA_RESTART};

	if (line.hears || sigaction(SIGINT, NULL, &line.before) ||
		line.before.sa_handler == SIG_IGN)
		return;
	was_interrupted = false;
	line.hears = !sigaction(SIGINT, &ours, NULL);
}

/* ---- the text ---- */

/* The end of a long name says more than its beginning. */
static void add_subject(const char *subject, struct str *text)
{
	size_t n = strlen(subject), from = 0;

	if (n > SUBJECT_MOST)
		for (from = n - SUBJECT_MOST; ((u8)subject[from] & 0xc0) == 0x80; from++)
			;
	str_add(text, from ? " '..." : " '");
	str_add_safe(text, subject + from, n - from);
	str_addc(text, '\'');
}

static void add_left(double seconds, struct str *text)
{
	if (seconds < 120)
		str_addf(text, ", %.0f s left", seconds);
	else
		str_addf(text, ", %.0f min left", seconds / 60);
}

/* What is done, of what, and how far it is. */
static void add_state(const struct progress *p, u64 passed_ns, struct str *text)
{
	const u64 all = p->all, done = MIN(p->done, all);
	const double share = all ? (double)done / (double)all : 0;
	const double passed_s = (double)passed_ns / 1e9;

	str_add(text, p->what);
	if (p->subject)
		add_subject(p->subject, text);
	if (!all)
		str_addf(text, ": %.0f s", passed_s);
	else
		str_addf(text, ": %.0f%%", 100 * share);
	if (done)
		add_left(passed_s * (1 - share) / share, text);
}

void progress_add_text(const struct progress *p, u64 passed_ns, struct str *text)
{
	add_state(p, passed_ns, text);
	if (p->offer && (p->all || p->leaves_signal))
		str_addf(text, ", Ctrl-C %s", p->offer);
}

/* ---- the line ---- */

static void write_all(const struct str *text)
{
	ssize_t written = write(STDERR_FILENO, text->at, text->n);

	(void)written;
}

/* Call with the lock held. */
static void erase(void)
{
	static const char blank[] = "\r\033[K";
	ssize_t written;

	if (!line.is_painted)
		return;
	written = write(STDERR_FILENO, blank, sizeof(blank) - 1);
	(void)written;
	line.is_painted = false;
}

static void add_clipped(const struct str *from, unsigned columns, struct str *text)
{
	unsigned used = 0;
	size_t at = 0, n;
	u32 cp;

	for (; at < from->n; at += n) {
		n = utf8_length((const u8 *)from->at + at, from->n - at, &cp);
		if (!n || used + utf8_columns(cp) > columns)
			break;
		used += utf8_columns(cp);
	}
	str_addn(text, from->at, at);
}

/* Call with the lock held. A process in the background leaves the terminal alone. */
static void paint(void)
{
	const unsigned columns = term_columns(STDERR_FILENO), room = MAX(columns, 12U) - 5;
	struct progress *p = line.of;
	const u64 now = clock_now_ns();
	struct str text = {0}, whole = {0};

	if (line.is_hidden || tcgetpgrp(STDERR_FILENO) != getpgrp())
		return;
	if (p->offer && !p->leaves_signal && p->all)
		hear();
	if (line.said_ns && now - line.said_ns < SAID_NS)
		str_add(&text, line.said);
	else
		progress_add_text(p, now - line.began_ns, &text);
	str_add(&whole, "\r\033[K[ ");
	add_clipped(&text, room, &whole);
	str_add(&whole, " ]");
	write_all(&whole);
	line.is_painted = true;
	str_fini(&text);
	str_fini(&whole);
}

static void *show(void *nothing)
{
	u64 wait_ns = QUIET_NS;

	pthread_mutex_lock(&line.lock);
	while (!line.is_over) {
		const u64 until = clock_now_ns() + wait_ns;
		const struct timespec t = {(time_t)(until / 1000000000),
			(long)(until % 1000000000)};

		while (!line.is_over && clock_now_ns() < until)
			pthread_cond_timedwait(&line.has_ended, &line.lock, &t);
		if (!line.is_over)
			paint();
		wait_ns = EACH_NS;
	}
	pthread_mutex_unlock(&line.lock);
	return nothing;
}

/* The thread blocks signals, so that they reach those that know what to do about them. */
static void start_thread(void)
{
	pthread_condattr_t by_clock;
	sigset_t all, old;

	pthread_condattr_init(&by_clock);
	pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
	pthread_cond_init(&line.has_ended, &by_clock);
	pthread_condattr_destroy(&by_clock);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	line.has_thread = !pthread_create(&line.thread, NULL, show, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!line.has_thread)
		pthread_cond_destroy(&line.has_ended);
}

static void begin_limit(void)
{
	if (LIKELY(!line.limit_ns))
		return;
	line.limited_from_ns = clock_now_ns();
	line.limited_from_cpu_ns = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID);
}

static bool is_over_limit(void)
{
	return clock_ns_of(CLOCK_PROCESS_CPUTIME_ID) - line.limited_from_cpu_ns > line.limit_ns ||
		clock_now_ns() - line.limited_from_ns > PROGRESS_PATIENCE * line.limit_ns;
}

void progress_begin(struct progress *p)
{
	if (!p || line.of)
		return;
	pthread_mutex_lock(&line.lock);
	line.of = p;
	line.is_over = false;
	line.began_ns = clock_now_ns();
	pthread_mutex_unlock(&line.lock);
	begin_limit();
	line.said_ns = 0;
	if (p->hears_always)
		hear();
	if (!line.is_hidden && term_can_erase(STDERR_FILENO))
		start_thread();
}

void progress_end(struct progress *p)
{
	if (!p || line.of != p)
		return;
	if (line.has_thread) {
		pthread_mutex_lock(&line.lock);
		line.is_over = true;
		pthread_cond_signal(&line.has_ended);
		pthread_mutex_unlock(&line.lock);
		pthread_join(line.thread, NULL);
		pthread_cond_destroy(&line.has_ended);
		erase();
	}
	if (line.hears)
		sigaction(SIGINT, &line.before, NULL);
	line.has_thread = line.hears = false;
	was_interrupted = false;
	pthread_mutex_lock(&line.lock);
	line.of = NULL;
	pthread_mutex_unlock(&line.lock);
}

void progress_expect(struct progress *p, u64 all)
{
	if (p)
		p->all = all;
}

void progress_set(struct progress *p, u64 done)
{
	if (p)
		p->done = done;
}

void progress_rename(struct progress *p, const char *what)
{
	if (!p)
		return;
	pthread_mutex_lock(&line.lock);
	p->what = what;
	pthread_mutex_unlock(&line.lock);
}

void progress_say(struct progress *p, const char *text)
{
	if (!p || line.of != p)
		return;
	pthread_mutex_lock(&line.lock);
	line.said_ns = clock_now_ns();
	snprintf(line.said, sizeof(line.said), "%s", text);
	pthread_mutex_unlock(&line.lock);
}

bool progress_is_stopped(const struct progress *p)
{
	if (!p || line.of != p)
		return false;
	return was_interrupted || atomic_load_explicit(&is_given_up, memory_order_relaxed) ||
		(UNLIKELY(line.limit_ns) && is_over_limit());
}

void progress_heed(struct progress *p)
{
	if (!p || line.of != p)
		return;
	was_interrupted = false;
	begin_limit();
}

void progress_make_room(void)
{
	pthread_mutex_lock(&line.lock);
	erase();
	pthread_mutex_unlock(&line.lock);
}

void progress_hide(bool hides)
{
	pthread_mutex_lock(&line.lock);
	if (hides)
		erase();
	line.is_hidden = hides;
	pthread_mutex_unlock(&line.lock);
}

void progress_tell(struct str *text)
{
	pthread_mutex_lock(&line.lock);
	if (line.of)
		add_state(line.of, clock_now_ns() - line.began_ns, text);
	pthread_mutex_unlock(&line.lock);
}

void progress_give_up(bool gives_up)
{
	atomic_store(&is_given_up, gives_up);
}

void progress_limit(u64 ns)
{
	line.limit_ns = ns;
}
