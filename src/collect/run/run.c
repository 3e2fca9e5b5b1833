#include "collect/run/run.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

enum {
	PROCESSES_MAX = 64, /* whose ends wake us; the ends of others are looked for */
	LOOK_NS = 50000000, /* how often, ns */
	MS = 1000000,       /* ns */
};

/* What one run waits for. */
struct waiting {
	struct pollfd fds[2 + PROCESSES_MAX]; /* signals, control, processes */
	size_t n;
	bool must_look; /* for threads' ends, and on kernels without pidfd_open(2) */
};

/* ---- threads of running processes ---- */

static void watch_processes(struct waiting *w, const struct target *target)
{
	pid_t last = 0;

	vec_each(t, &target->threads) {
		int fd = -1;

		if (t->pid == last)
			continue;
		last = t->pid;
		if (w->n < ARRAY_SIZE(w->fds))
			fd = (int)syscall(SYS_pidfd_open, t->pid, 0);
		if (fd < 0) {
			w->must_look = true;
			continue;
		}
		w->fds[w->n++] = (struct pollfd){.fd = fd, .events = POLLIN};
	}
}

static bool is_any_alive(const struct target *target)
{
	vec_each(t, &target->threads)
		if (!syscall(SYS_tgkill, t->pid, t->tid, 0) || errno != ESRCH)
			return true;
	return false;
}

static void waiting_init(struct waiting *w, const struct run *run)
{
	*w = (struct waiting){.n = 2};
	w->fds[0] = (struct pollfd){.fd = run->stop->fd, .events = POLLIN};
	w->fds[1] = (struct pollfd){.fd = run->control ? run->control->fd : -1, .events = POLLIN};
	if (!run->workload && run->target->threads.n)
		watch_processes(w, run->target);
}

static void waiting_fini(struct waiting *w)
{
	for (size_t i = 2; i < w->n; i++)
		close(w->fds[i].fd);
}

/* ---- switching ---- */

static int switch_on(struct run *run, struct err *err)
{
	if (run->is_on)
		return 0;
	run->is_on = true;
	return counting_enable(run->counting, err);
}

static int switch_off(struct run *run, struct err *err)
{
	if (!run->is_on)
		return 0;
	run->is_on = false;
	return counting_disable(run->counting, err);
}

static int obey(struct run *run, bool *ret_is_end, struct err *err)
{
	enum control_command command;

	while ((command = control_next(run->control, run->log)) != CONTROL_NONE) {
		if (command == CONTROL_CLOSED) {
			run->control->fd = -1;
			return 0;
		}
		if ((command == CONTROL_ENABLE && switch_on(run, err)) ||
			(command == CONTROL_DISABLE && switch_off(run, err)))
			return err->code;
		*ret_is_end |= command == CONTROL_STOP;
		control_ack(run->control);
	}
	return 0;
}

/* ---- the loop ---- */

static void take_readings(struct run *run)
{
	counting_read(run->counting);
	run->now_ns = clock_now_ns();
}

/* The times of the next look, by reason. */
static u64 next_interval(const struct run *run)
{
	u64 ns = run->options->interval_ms * MS;

	return ns ? run->start_ns + (run->n_intervals + 1) * ns : UINT64_MAX;
}

static u64 next_slice(const struct run *run)
{
	return run->slice_ns ? run->sliced_ns + run->slice_ns : UINT64_MAX;
}

static u64 last_moment(const struct run *run)
{
	u64 ns = run->options->timeout_ms * MS;

	return ns ? run->start_ns + ns : UINT64_MAX;
}

/* Waits until `until` or an event. 1: an event came; 0: the time is up. */
static int wait_until(struct waiting *w, u64 until)
{
	u64 now = clock_now_ns(), left = until > now ? until - now : 0;
	struct timespec t = {(time_t)(left / 1000000000), (long)(left % 1000000000)};

	return ppoll(w->fds, w->n, until == UINT64_MAX ? NULL : &t, NULL) > 0;
}

/* Drops watched processes that have ended. */
static void forget_ended(struct waiting *w)
{
	size_t kept = 2;

	for (size_t i = 2; i < w->n; i++) {
		if (w->fds[i].revents)
			close(w->fds[i].fd);
		else
			w->fds[kept++] = w->fds[i];
	}
	w->n = kept;
}

/* Runs until the run ends (*ret_is_end) or until the moment `until`. */
static int pass_time(struct run *run, struct waiting *w, u64 until, enum run_end *ret_end,
	bool *ret_is_end, struct err *err)
{
	bool has_threads = !run->workload && run->target->threads.n;

	for (;;) {
		u64 look = w->must_look ? MIN(until, clock_now_ns() + LOOK_NS) : until;
		bool is_told = false;

		w->fds[1].fd = run->control ? run->control->fd : -1;
		if (!wait_until(w, look) && look == until)
			return 0;
		if (w->fds[0].revents && stop_take(run->stop, run->workload)) {
			*ret_end = run->stop->signal ? RUN_SIGNAL : RUN_TARGET_ENDED;
			*ret_is_end = true;
			return 0;
		}
		if (w->fds[1].revents && obey(run, &is_told, err))
			return err->code;
		forget_ended(w);
		if (is_told ||
			(has_threads && w->n == 2 &&
				(!w->must_look || !is_any_alive(run->target)))) {
			*ret_end = is_told ? RUN_ENOUGH : RUN_TARGET_ENDED;
			*ret_is_end = true;
			return 0;
		}
	}
}

static int loop(struct run *run, struct waiting *w, enum run_end *ret_end, struct err *err)
{
	bool is_end = false;

	run->slice_ns = run->options->slice_ms * MS;
	run->sliced_ns = run->start_ns;
	for (;;) {
		u64 interval = next_interval(run), last = last_moment(run);
		u64 slice = next_slice(run), next = MIN(interval, MIN(last, slice));

		if (pass_time(run, w, next, ret_end, &is_end, err))
			return err->code;
		if (is_end)
			return 0;
		*ret_end = RUN_ENOUGH;
		if (last == next)
			return 0;
		take_readings(run);
		if (slice == next) {
			run->sliced_ns = run->now_ns;
			run->look(run->ctx, run, false);
		}
		if (interval != next)
			continue;
		run->n_intervals++;
		run->look(run->ctx, run, true);
		if (run->n_intervals == run->options->interval_count)
			return 0;
	}
}

/* ---- beginning and end ---- */

/* Starts the counters that do not start with the command's exec, and handles the delay. */
static int begin(struct run *run, struct waiting *w, enum run_end *ret_end, bool *ret_is_end,
	struct err *err)
{
	s64 delay = run->options->delay_ms;
	bool starts_itself = run->workload && !run->target->is_system_wide &&
		run->target->threads.n == 1 && run->target->threads.at[0].tid == run->workload->pid;

	run->is_on = starts_itself && !delay;
	if (run->is_on && counting_enable_whole_cpus(run->counting, err))
		return err->code;
	if (!run->is_on && !delay && switch_on(run, err))
		return err->code;
	run->start_ns = clock_now_ns();
	if (run->workload && workload_go(run->workload, run->command, err))
		return err->code;
	if (run->workload)
		run->start_ns = run->workload->went_ns;
	if (delay <= 0)
		return 0;
	if (pass_time(run, w, run->start_ns + (u64)delay * MS, ret_end, ret_is_end, err))
		return err->code;
	run->start_ns = clock_now_ns();
	if (*ret_is_end && *ret_end == RUN_TARGET_ENDED)
		log_note(run->log,
			"nothing was counted: the command ended within the %lld ms of -D",
			(long long)delay);
	return *ret_is_end ? 0 : switch_on(run, err);
}

static int end(struct run *run, enum run_end how, struct err *err)
{
	if (how != RUN_TARGET_ENDED && switch_off(run, err))
		return err->code;
	take_readings(run);
	if (how == RUN_TARGET_ENDED && run->workload)
		/* It may have ended before the delay did. */
		run->now_ns = MAX(run->workload->ended_ns, run->start_ns);
	return 0;
}

int run_execute(struct run *run, enum run_end *ret_end, struct err *err)
{
	bool is_end = false;
	struct waiting w;
	int r;

	waiting_init(&w, run);
	r = begin(run, &w, ret_end, &is_end, err);
	if (!r && !is_end)
		r = loop(run, &w, ret_end, err);
	waiting_fini(&w);
	return r ? r : end(run, *ret_end, err);
}
