#include "view/pages/wall_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"

enum { LINES = 12 };

/* A thread, or all threads with the same name. */
struct line {
	const char *comm;
	u32 tid, n_threads;
	u64 latency, ns[WALL_STATES], lived, n_switches;
};

static int compare_comms(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int c = strcmp(x->comm, y->comm);

	return c ? c : x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int compare_times(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->latency != y->latency)
		return x->latency > y->latency ? -1 : 1;
	if (x->ns[WALL_CPU] != y->ns[WALL_CPU])
		return x->ns[WALL_CPU] > y->ns[WALL_CPU] ? -1 : 1;
	return compare_comms(a, b);
}

static void add_up(struct line *sum, const struct line *more)
{
	sum->latency += more->latency;
	sum->lived += more->lived;
	sum->n_switches += more->n_switches;
	sum->n_threads += more->n_threads;
	for (unsigned state = 0; state < WALL_STATES; state++)
		sum->ns[state] += more->ns[state];
}

/* Joins neighbours with the same name; returns how many lines are left. */
static size_t join_comms(struct line *lines, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (kept && !strcmp(lines[kept - 1].comm, lines[i].comm))
			add_up(&lines[kept - 1], &lines[i]);
		else
			lines[kept++] = lines[i];
	}
	return kept;
}

static void add_line(const struct line *l, u64 elapsed, struct str *text)
{
	struct str share = {0};

	num_add_percent(&share, l->latency, elapsed);
	str_addf(text, "# %8s  %9.1f  %11.1f  %10.1f  %8llu  ", str_text(&share),
		(double)l->ns[WALL_CPU] / 1e6, (double)l->ns[WALL_RUNNABLE] / 1e6,
		(double)l->ns[WALL_BLOCKED] / 1e6, (unsigned long long)l->n_switches);
	str_add_safe(text, l->comm, strlen(l->comm));
	if (l->n_threads > 1)
		str_addf(text, " (%u threads)", l->n_threads);
	else if (l->tid)
		str_addf(text, " %u", l->tid);
	str_addc(text, '\n');
	str_fini(&share);
}

static void add_threads(const struct wall *w, const struct machine *m, struct str *text)
{
	struct line *lines = mem_alloc((w->threads.n + 1) * sizeof(*lines));
	struct intern strings = {0};
	size_t n = 0;

	vec_each(t, &w->threads) {
		struct thread_state state;
		struct line *l = &lines[n++];

		machine_state_at(m, t->pid, t->tid, t->last, &strings, &state);
		*l = (struct line){.comm = state.comm,
			.tid = t->tid,
			.n_threads = 1,
			.lived = t->lived,
			.n_switches = t->n_left + t->n_preempted};
		for (unsigned k = 0; k < WALL_STATES; k++) {
			l->ns[k] = t->ns[k];
			l->latency += t->latency[k];
		}
	}
	if (n > LINES) {
		qsort(lines, n, sizeof(*lines), compare_comms);
		n = join_comms(lines, n);
	}
	qsort(lines, n, sizeof(*lines), compare_times);
	if (n > LINES) {
		struct line others = {.comm = "others"};

		for (size_t i = LINES - 1; i < n; i++)
			add_up(&others, &lines[i]);
		lines[LINES - 1] = others;
		n = LINES;
	}
	str_add(text, "#  Latency     CPU ms  Runnable ms  Blocked ms  Switches  Thread\n");
	for (size_t i = 0; i < n; i++)
		add_line(&lines[i], w->end - w->begin, text);
	intern_fini(&strings);
	mem_free(lines);
}

static void add_part(struct str *text, const char *before, u64 ns, u64 all, const char *name)
{
	str_add(text, before);
	num_add_percent(text, ns, all);
	str_addf(text, " %s", name);
}

void wall_add_text(const struct wall *w, const struct machine *m, struct str *text)
{
	size_t n = w->threads.n;

	str_addf(text, "# Wall clock: %.3f s elapsed; %zu thread%s lived %.3f s in total",
		(double)(w->end - w->begin) / 1e9, n, n == 1 ? "" : "s", (double)w->lived / 1e9);
	add_part(text, " = ", w->ns[WALL_CPU], w->lived, "cpu");
	add_part(text, " + ", w->ns[WALL_RUNNABLE], w->lived, "runnable");
	add_part(text, " + ", w->ns[WALL_BLOCKED], w->lived, "blocked");
	if (w->unaccounted)
		add_part(text, " + ", w->unaccounted, w->lived, "unaccounted");
	str_addc(text, '\n');
	if (w->n_slept)
		str_addf(text, "# Left out: %llu more threads that were not seen running\n",
			(unsigned long long)w->n_slept);
	if (w->n_contradictions)
		str_addf(text,
			"# Unaccounted: %llu times a thread's switches are missing; larger rings (-m) or '--call-graph fp' lose fewer\n",
			(unsigned long long)w->n_contradictions);
	if (!w->has_wakes)
		str_add(text,
			"# Blocked includes the following wait for a CPU: wake-ups were not recorded\n");
	if (!w->has_outs)
		str_add(text,
			w->has_waits
				? "# Where threads blocked was only sampled: each wait that was seen stands for the unseen ones before it\n"
				: "# Where threads blocked was not recorded: that time is shown where they last ran\n");
	str_add(text, "#\n");
	add_threads(w, m, text);
	str_add(text, "#\n");
}
