#include "collect/run/attach.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/sort.h"
#include "event/children.h"

/* The least number of attempts; and how long to go on trying after that. */
enum { LEAST_ATTEMPTS = 3, PATIENCE_NS = 300000000 };
/* For about 30 us between inheriting events and being listed, a new thread is invisible. */
enum { UNSEEN_NS = 200000 };

/* ---- new threads ---- */

SORT_NUMBERS(by_number, pid_t)

static void list_children(const struct target *t, struct children *ret)
{
	ret->n = 0;
	vec_each(thread, &t->threads)
		children_add(ret, thread->pid, thread->tid);
	if (ret->n)
		qsort(ret->at, ret->n, sizeof(*ret->at), by_number);
}

/* Adds the threads in `now` that are not in `before`; both are ascending. */
static void add_new_threads(struct attach *a, const struct target *before, const struct target *now)
{
	size_t i = 0;

	vec_each(t, &now->threads) {
		while (i < before->threads.n &&
			(before->threads.at[i].pid < t->pid ||
				(before->threads.at[i].pid == t->pid &&
					before->threads.at[i].tid < t->tid)))
			i++;
		if (i == before->threads.n || before->threads.at[i].pid != t->pid ||
			before->threads.at[i].tid != t->tid)
			vec_add(&a->late, *t);
	}
}

static void add_new_children(struct attach *a, const struct children *before,
	const struct children *now)
{
	vec_each(pid, now)
		if (!before->n || !bsearch(pid, before->at, before->n, sizeof(*pid), by_number))
			vec_add(&a->late, ((struct target_thread){*pid, *pid}));
}

/* Finds the threads that started since `target` and its `children` were listed. */
static void find_late(struct attach *a, const struct target_words *words,
	const struct target *target, const struct children *children)
{
	struct children children_now = {0};
	struct target now;
	struct err has_ended;

	nanosleep(&(struct timespec){.tv_nsec = UNSEEN_NS}, NULL);
	a->late.n = 0;
	if (!target_init(&now, words, &has_ended))
		add_new_threads(a, target, &now);
	target_fini(&now);
	list_children(target, &children_now);
	add_new_children(a, children, &children_now);
	vec_fini(&children_now);
}

/* Lists the target's present threads. */
static int list_again(struct target *target, const struct target_words *words, struct err *err)
{
	struct target now;

	if (target_init(&now, words, err)) {
		target_fini(&now);
		return err->code;
	}
	target_fini(target);
	*target = now;
	return 0;
}

/* ---- the parts ---- */

void attach_init(struct attach *a, struct target *target, const char *done, struct log *log)
{
	*a = (struct attach){.done = done, .target = target, .log = log};
	hotplug_init(&a->hotplug);
}

void attach_add(struct attach *a, const struct attach_part *part)
{
	vec_add(&a->parts, *part);
}

void attach_fini(struct attach *a)
{
	vec_fini(&a->parts);
	vec_fini(&a->late);
	hotplug_fini(&a->hotplug);
}

/* Closes the first `n` parts, in reverse order. */
static void close_parts(const struct attach *a, size_t n)
{
	while (n--)
		a->parts.at[n].close(a->parts.at[n].ctx);
}

static int open_parts(const struct attach *a, struct err *err)
{
	for (size_t i = 0; i < a->parts.n; i++) {
		if (!a->parts.at[i].open(a->parts.at[i].ctx, err))
			continue;
		close_parts(a, i);
		return err->code;
	}
	return 0;
}

/* ---- threads that start meanwhile ---- */

static int open_until_nobody_begins(struct attach *a, const struct target_words *words,
	struct err *err)
{
	struct children children = {0};
	u64 began = clock_now_ns();
	int r;

	for (;;) {
		list_children(a->target, &children);
		r = list_again(a->target, words, err);
		if (!r)
			r = open_parts(a, err);
		if (r)
			break;
		a->n_attempts++;
		find_late(a, words, a->target, &children);
		if (!a->late.n ||
			(a->n_attempts >= LEAST_ATTEMPTS && clock_now_ns() - began >= PATIENCE_NS))
			break;
		close_parts(a, a->parts.n);
	}
	if (!r && a->n_attempts > 1)
		log_debug(a->log, "events were opened %u times, since threads began meanwhile",
			a->n_attempts);
	vec_fini(&children);
	return r;
}

int attach_open(struct attach *a, const struct target_words *words, struct err *err)
{
	a->late.n = 0;
	a->n_attempts = 0;
	/* A command's threads wait at the gate, but running processes may start threads. */
	return words && (words->pids || words->users) ? open_until_nobody_begins(a, words, err)
						      : open_parts(a, err);
}

/* ---- CPUs that come back ---- */

static size_t reopen_parts(void *ctx, s32 cpu)
{
	const struct attach *a = ctx;
	size_t n_failed = 0;

	vec_each(part, &a->parts)
		n_failed += part->reopen(part->ctx, cpu);
	return n_failed;
}

void attach_look(struct attach *a)
{
	hotplug_check(&a->hotplug, a->target, &(struct hotplug_user){a->done, a, reopen_parts},
		a->log);
}

/* ---- warnings ---- */

void attach_add_late(const struct attach *a, const char *what, struct str *text)
{
	enum { NAMED = 20 };

	if (!a->late.n)
		return;
	str_addf(text, "of %zu threads that were started meanwhile, %s may be missing: ", a->late.n,
		what);
	for (size_t i = 0; i < a->late.n && i < NAMED; i++)
		str_addf(text, "%s%d", i ? ", " : "", a->late.at[i].tid);
	if (a->late.n > NAMED)
		str_addf(text, " and %zu more", a->late.n - NAMED);
}

void attach_warn(const struct attach *a, const char *what)
{
	struct str text = {0};

	attach_add_late(a, what, &text);
	if (a->late.n)
		log_warn(a->log,
			"events were opened %u times, and each time threads were started meanwhile; %s",
			a->n_attempts, str_text(&text));
	str_fini(&text);
}
