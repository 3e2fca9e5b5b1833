#include "cmd/report/report_live.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/pager.h"
#include "cmd/cmd.h"
#include "cmd/report/report_browse.h"
#include "profile/tree/ignore.h"
#include "profile/tree/moment.h"
#include "trace/follow.h"
#include "view/screen/browser.h"
#include "view/screen/guard.h"
#include "view/screen/place.h"

enum {
	NS = 1000000000,
	FIRST_NS = NS / 5, /* to the first rows */
	PAUSE_NS = NS,     /* between two others, at least, */
	PAUSE_TIMES = 10,  /* and so many times what the last one took */
	LAST_WORDS_US = 300000,
};

struct live {
	struct reporting *reporting;
	struct recorded_options reading;
	struct label_facts facts;
	struct aggregate counted;
	struct moment_options showing;
	u64 due_ns;

	pthread_mutex_t lock; /* of these: */
	pthread_cond_t changed;
	struct moment next;
	bool has_next, has_ended;
	bool is_open;   /* the screen */
	bool is_spoilt; /* others have written to the terminal */
	u64 n_lost;
	struct err failure;

	struct moment now; /* what the screen shows */
	bool has_now, has_table;
	struct hist hist;
	struct histrows rows;
	struct browser_source source;
};

/* ---- the thread that reads ---- */

static void wake(struct live *l)
{
	pthread_mutex_lock(&l->lock);
	pthread_cond_signal(&l->changed);
	if (l->is_open)
		guard_wake(EVENT_TICK);
	pthread_mutex_unlock(&l->lock);
}

static void hand_over(struct live *l)
{
	const u64 began = clock_now_ns();
	const struct session_tally *tally = &l->reporting->recorded.trace.session.tally;
	struct moment m;

	aggregate_flush(&l->counted, UINT64_MAX);
	moment_init(&m, &l->counted, &l->reporting->recorded.trace.resolver, &l->showing);
	pthread_mutex_lock(&l->lock);
	if (l->has_next)
		moment_fini(&l->next);
	l->next = m;
	l->has_next = true;
	l->n_lost = tally->n_lost_records + tally->n_lost_samples;
	pthread_mutex_unlock(&l->lock);
	l->due_ns = clock_now_ns();
	l->due_ns += MAX((u64)PAUSE_NS, PAUSE_TIMES * (l->due_ns - began));
	wake(l);
}

static int follow(struct live *l, struct err *err)
{
	struct trace *t = &l->reporting->recorded.trace;
	struct follow f;
	struct visit *v;
	int r;

	follow_init(&f, t, FOLLOW_IN_TIME,
		aggregate_needs(&l->counted.options) |
			(l->counted.options.has_stacks ? visits_need_for_callers(t) : 0));
	while ((r = follow_next(&f, &v, err)) > 0) {
		if (v->sample && !v->is_idle)
			aggregate_add(&l->counted, v);
		if (v->rec->type == PERF_RECORD_FINISHED_ROUND && clock_now_ns() >= l->due_ns)
			hand_over(l);
	}
	hand_over(l);
	follow_fini(&f);
	return r;
}

static void *read_stream(void *ctx)
{
	struct live *l = ctx;
	struct err err = {0};
	const bool has_failed = follow(l, &err) < 0;

	pthread_mutex_lock(&l->lock);
	if (has_failed)
		l->failure = err;
	l->has_ended = true;
	pthread_mutex_unlock(&l->lock);
	wake(l);
	/* The recorder says something at its end, to the same terminal. */
	usleep(LAST_WORDS_US);
	pthread_mutex_lock(&l->lock);
	l->is_spoilt = true;
	pthread_mutex_unlock(&l->lock);
	wake(l);
	return NULL;
}

/* While names are looked up nobody reads, and what does not fit into the pipe is lost to the recorder. */
static void widen_pipe(int fd)
{
	for (int bytes = 32 << 20; bytes >= 1 << 20; bytes /= 2)
		if (fcntl(fd, F_SETPIPE_SZ, bytes) >= 0)
			return;
}

/* ---- the one that shows ---- */

static const struct rowset *open_table(void *of, size_t table)
{
	struct live *l = of;
	const struct choice *c = &l->reporting->choice;

	if (l->has_table) {
		histrows_fini(&l->rows);
		hist_fini(&l->hist);
	}
	pthread_mutex_lock(&l->lock);
	if (l->has_next) {
		if (l->has_now)
			moment_fini(&l->now);
		l->now = l->next;
		l->has_now = true;
		l->has_next = false;
	}
	pthread_mutex_unlock(&l->lock);
	l->has_table = true;
	hist_init(&l->hist, &l->now.profile, &l->now.calls, (u32)table, &c->hist);
	histrows_init(&l->rows, &l->hist, &c->rows);
	return &l->rows.rows;
}

static void look(void *of, struct browser *b)
{
	struct live *l = of;
	struct place place;
	bool has_next;

	pthread_mutex_lock(&l->lock);
	has_next = l->has_next;
	b->screen->is_stale |= l->is_spoilt;
	l->is_spoilt = false;
	pthread_mutex_unlock(&l->lock);
	if (!has_next)
		return;
	place_keep(&place, b);
	place_bring_back(&place, b);
}

static void add_status(void *of, struct str *text)
{
	struct live *l = of;

	pthread_mutex_lock(&l->lock);
	str_add(text,
		l->failure.code        ? l->failure.msg
			: l->has_ended ? "the recording is complete"
				       : "recording ...");
	str_add(text, ", ");
	num_add_grouped(text, l->n_lost);
	str_add(text, " lost");
	pthread_mutex_unlock(&l->lock);
}

static void set_open(struct live *l, bool is_open)
{
	pthread_mutex_lock(&l->lock);
	l->is_open = is_open;
	pthread_mutex_unlock(&l->lock);
}

static int browse(struct live *l, size_t n_events, struct err *err)
{
	static const struct browser_live live = {look, add_status};
	struct screen screen;

	l->source = (struct browser_source){.n = n_events,
		.title = "the recording that comes",
		.open = open_table,
		.of = l,
		.drawing = &l->reporting->choice.text.drawing,
		.live = &live};
	if (screen_open(&screen, NULL, err))
		return err->code;
	set_open(l, true);
	browser_run(&l->source, &screen);
	set_open(l, false);
	screen_close(&screen);
	return 0;
}

/* How many events there are; 0: the stream has ended without any. */
static size_t await(struct live *l)
{
	size_t n_events;

	pthread_mutex_lock(&l->lock);
	while (!l->has_next && !l->has_ended)
		pthread_cond_wait(&l->changed, &l->lock);
	n_events = l->has_next ? l->next.profile.events.n : 0;
	pthread_mutex_unlock(&l->lock);
	return n_events;
}

/* ---- beginning and end ---- */

bool report_live_is_wanted(const struct reporting *r, const struct out *out)
{
	const struct report_options *o = r->options;
	const struct choice *c = &r->choice;
	struct stat st;

	if (!recorded_has_trace(&r->recorded) || !r->recorded.trace.session.reader.is_stream ||
		out->fd != STDOUT_FILENO || o->is_text || !o->browser || !report_browse_fits(o) ||
		fstat(STDIN_FILENO, &st) || !S_ISFIFO(st.st_mode))
		return false;
	if (o->browser < 0 ? !screen_is_welcome() : !screen_is_possible())
		return false;
	/* What only a whole recording tells, or what needs two passes. */
	return !c->has_wall && !c->keys.has_branches && !c->keys.has_blocks &&
		!c->keys.has_history && !c->keys.needs_parent && !c->keys.needs_ipc &&
		!c->hist.n_sums && !c->which.cpus.n && !c->which.spans.n && !o->switching.on &&
		!o->switching.off && !o->answer.has_intervals &&
		!label_needs_sideband(key_labels(c->hist.keys, c->hist.n_keys));
}

static int open_counting(struct live *l, struct err *err)
{
	struct reporting *r = l->reporting;
	struct trace *t = &r->recorded.trace;
	struct aggregate_options counting;

	choice_tell(&r->choice, &r->answer, &l->reading);
	counting = (struct aggregate_options){.labels = l->reading.labels,
		.has_stacks = l->reading.has_stacks,
		.max_stack = l->reading.max_stack};
	l->showing = (struct moment_options){.naming = l->reading.naming,
		.has_idle = true,
		.filter = &r->choice.filter,
		.ignored_callees = r->choice.forgets ? &r->choice.forgotten : NULL};
	l->showing.naming.n_workers = 1;
	if (trace_begin(t, &l->reading.trace, err) ||
		label_facts_init(&l->facts, &t->session, &t->machine, counting.labels, err))
		return err->code;
	l->facts.time_quantum = l->reading.time_quantum;
	aggregate_init(&l->counted, t, &counting, &l->facts);
	return 0;
}

int report_live(struct reporting *r, struct err *err)
{
	struct live l = {.reporting = r, .due_ns = clock_now_ns() + FIRST_NS};
	pthread_t thread;
	size_t n_events;
	int result;

	pager_never();
	pthread_mutex_init(&l.lock, NULL);
	pthread_cond_init(&l.changed, NULL);
	if (open_counting(&l, err))
		return err->code;
	widen_pipe(STDIN_FILENO);
	result = pthread_create(&thread, NULL, read_stream, &l);
	if (result)
		return err_sys(err, result, "starting a thread");
	log_hold(&r->log);
	n_events = await(&l);
	result = n_events ? browse(&l, n_events, err) : 0;
	log_release(&r->log);
	pthread_mutex_lock(&l.lock);
	if (!l.has_ended)
		exit(result ? cmd_fail(&cmd_report, err, EXIT_FAILED) : EXIT_OK);
	pthread_mutex_unlock(&l.lock);
	pthread_join(thread, NULL);
	if (l.has_table) {
		histrows_fini(&l.rows);
		hist_fini(&l.hist);
	}
	if (l.has_now)
		moment_fini(&l.now);
	if (l.has_next)
		moment_fini(&l.next);
	aggregate_fini(&l.counted);
	label_facts_fini(&l.facts);
	if (!result && l.failure.code) {
		*err = l.failure;
		return err->code;
	}
	return result;
}
