#include "collect/open/open.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/str.h"
#include "collect/open/ladder.h"
#include "collect/open/refusal.h"
#include "event/abi.h"
#include "event/cgroup.h"

int open_raise_limit(u64 need, struct err *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return err_sys(err, errno, "asking for the limit of open files");
	if (limit.rlim_cur >= need)
		return 0;
	/*
	 * Root may raise the hard limit too. For others this fails, and the soft limit is raised as
	 * far as possible.
	 */
	if (limit.rlim_max < need)
		(void)setrlimit(RLIMIT_NOFILE,
			&(struct rlimit){.rlim_cur = need, .rlim_max = need});
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < MIN(need, limit.rlim_max)) {
		limit.rlim_cur = MIN(need, limit.rlim_max);
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur < need)
		return err_set(err, ERR_LIMIT,
			"%llu files have to be open at once (one for each event, CPU and thread), but the hard limit is %llu: "
			"raise it ('ulimit -Hn %llu' as root), or choose fewer threads (-t) or CPUs (-C)",
			(unsigned long long)need, (unsigned long long)limit.rlim_max,
			(unsigned long long)need);
	return 0;
}

enum outcome { OPENED, SKIPPED, AGAIN, FAILED };

/* Opens one descriptor: in its group if the leader was opened there, and without the event's filter. */
static int open_fd(const struct counters *counters, const struct event *e, struct counter *c,
	int cgroup_fd, size_t *hint)
{
	const struct counter *leader =
		e->leader == c->event ? NULL : counters_find(counters, e->leader, c, hint);
	struct event_attr attr = e->attr;

	if (c->stack_bytes) {
		attr.sample_stack_user = c->stack_bytes;
		attr.flags &= ~ATTR_ENABLE_ON_EXEC;
		attr.flags |= leader ? 0 : ATTR_DISABLED;
	}
	c->fd = perf_event_open(&attr, cgroup_fd >= 0 ? cgroup_fd : c->tid, c->cpu,
		leader ? leader->fd : -1,
		PERF_FLAG_FD_CLOEXEC | (cgroup_fd >= 0 ? PERF_FLAG_PID_CGROUP : 0));
	return c->fd;
}

static int set_filter(const struct event *e, int fd, struct err *err)
{
	int sys;

	if (!e->filter || !ioctl(fd, PERF_EVENT_IOC_SET_FILTER, e->filter))
		return 0;
	sys = errno;
	if (sys != EINVAL)
		return err_sys(err, sys, "event '%s': setting the filter '%s'", e->name, e->filter);
	return err_set(err, ERR_INVAL,
		"event '%s': the kernel does not understand the filter '%s'; the event's fields are in 'events/%s/format' of tracefs",
		e->name, e->filter, e->name);
}

static enum outcome open_one(struct opener *o, struct event *e, s32 cpu, pid_t tid)
{
	struct counter c = {.event = e - o->events->at, .cpu = cpu, .tid = tid};
	int sys;

	if (open_fd(o->counters, e, &c, o->cgroup_fd, &o->found) >= 0) {
		vec_add(o->counters, c);
		return set_filter(e, c.fd, o->err) ? FAILED : OPENED;
	}
	sys = errno;
	/* Threads come and go while they are opened one after the other. */
	if (sys == ESRCH && tid > 0) {
		o->n_ended++;
		log_debug(o->log, "thread %d has ended", tid);
		return SKIPPED;
	}
	if (ladder_step_down(o, e, sys))
		return AGAIN;
	refusal_explain(&e->attr, e->name, tid, cpu, sys, o->err);
	return FAILED;
}

static void close_event(struct opener *o, const struct event *e)
{
	size_t kept = 0;

	vec_each(c, o->counters) {
		if (c->event == e - o->events->at)
			close(c->fd);
		else
			o->counters->at[kept++] = *c;
	}
	o->counters->n = kept;
}

/* A counter of a package's energy cannot tell whose it was. */
static bool counts_all(const struct opener *o, const struct event *e)
{
	return o->refusals && o->target->threads.n && e->wishes & EVENT_NO_TASKS;
}

/* A counter without a ring can follow its task from CPU to CPU. */
static bool follows_tasks(const struct opener *o, const struct event *e)
{
	return (o->refusals || o->target->is_per_thread) && o->target->threads.n &&
		!o->target->has_cpu_list && !counts_all(o, e) &&
		/* No ring can be inherited from CPU to CPU. */
		!(e->wishes & (EVENT_RETIRE_LATENCY | EVENT_CPUS_SAID));
}

/* Opens one event everywhere with the attr it has now. */
static enum outcome open_everywhere(struct opener *o, struct event *e)
{
	static const struct target_thread everyone = {.tid = -1};
	const struct target *t = o->target;
	const struct target_thread *threads = t->threads.n ? t->threads.at : &everyone;
	size_t n_threads = MAX(t->threads.n, (size_t)1);
	bool follows = follows_tasks(o, e);

	if (counts_all(o, e)) {
		threads = &everyone;
		n_threads = 1;
	}
	o->n_ended = 0;
	for (size_t i = 0; i < n_threads; i++) {
		for (size_t k = 0; k < (follows ? 1 : t->cpus.n); k++) {
			s32 cpu = follows ? -1 : (s32)t->cpus.at[k];
			enum outcome r;

			if (cpu >= 0 && e->cpus.n && !cpus_has(&e->cpus, cpu))
				continue;
			r = open_one(o, e, cpu, threads[i].tid);
			if (r == SKIPPED)
				break;
			if (r != OPENED)
				return r;
		}
	}
	return OPENED;
}

/* Tasks of a cgroup are counted on whole CPUs, while they run there. */
static int open_cgroup(struct opener *o, const struct event *e)
{
	if (!o->target->is_system_wide)
		return err_set(o->err, ERR_INVAL,
			"event '%s' of the cgroup '%s': cgroups are counted on whole CPUs, so -a is needed",
			e->name, e->cgroup);
	return cgroup_open(e->cgroup, &o->cgroup_fd, o->err);
}

static int open_event(struct opener *o, struct event *e)
{
	enum outcome r;

	o->cgroup_fd = -1;
	if (e->cgroup && open_cgroup(o, e))
		return o->err->code;
	while ((r = open_everywhere(o, e)) == AGAIN)
		close_event(o, e);
	if (o->cgroup_fd >= 0)
		close(o->cgroup_fd);
	if (r == FAILED)
		return o->err->code;
	if (o->n_ended && o->n_ended >= o->target->threads.n)
		return err_set(o->err, ERR_NOENT, "process %d has ended",
			o->target->threads.at[0].pid);
	return 0;
}

int open_again(const struct event_list *events, const struct counters *counters, size_t i,
	int *ret_fd, struct err *err)
{
	struct counter c = counters->at[i];
	const struct event *e = &events->at[c.event];
	int cgroup_fd = -1, sys;
	size_t hint = 0;

	*ret_fd = -1;
	if (e->cgroup && cgroup_open(e->cgroup, &cgroup_fd, err))
		return err->code;
	open_fd(counters, e, &c, cgroup_fd, &hint);
	sys = errno;
	if (cgroup_fd >= 0)
		close(cgroup_fd);
	if (c.fd < 0)
		return err_sys(err, sys, "opening event '%s' on CPU %d again", e->name, c.cpu);
	if (set_filter(e, c.fd, err)) {
		close(c.fd);
		return err->code;
	}
	*ret_fd = c.fd;
	return 0;
}

int open_fetch_ids(struct event_list *events, struct counters *counters, struct err *err)
{
	vec_each(e, events)
		e->n_ids = 0;
	vec_each(c, counters)
		events->at[c->event].n_ids++;
	vec_each(e, events) {
		e->ids = arena_alloc(&events->arena, e->n_ids * sizeof(*e->ids));
		e->n_ids = 0;
	}
	vec_each(c, counters) {
		struct event *e = &events->at[c->event];

		if (counter_fetch_id(c, &e->attr, err))
			return err->code;
		e->ids[e->n_ids++] = c->id;
	}
	return 0;
}

/* ---- counting: one event must not stop the others ---- */

static const u64 switching = ATTR_DISABLED | ATTR_ENABLE_ON_EXEC | ATTR_PINNED | ATTR_EXCLUSIVE;

/* The next member becomes the leader of the remaining group. */
static void hand_over(struct event_list *events, struct event *e)
{
	u32 next = e - events->at + 1, n = e->n_members - 1;

	for (u32 i = next; i < next + n; i++)
		events->at[i].leader = next;
	events->at[next].n_members = n;
	events->at[next].attr.flags |= e->attr.flags & switching;
	e->n_members = 1;
}

/* How many members stay together: the kernel counts TopDown metrics only behind slots. None if that is all of the group. */
static u32 inseparable(const struct event *leader)
{
	u32 n = 0;

	for (u32 i = 1; attr_is_slots(&leader->attr) && i < leader->n_members; i++)
		if (attr_is_topdown(&leader[i].attr))
			n = i + 1;
	return n < leader->n_members ? n : 0;
}

/* Makes every member an event of its own. */
static void dissolve(struct opener *o, struct event *leader)
{
	u32 first = leader - o->events->at, n = leader->n_members, n_kept = inseparable(leader);

	for (u32 i = first; i < first + n_kept; i++)
		close_event(o, &o->events->at[i]);
	leader->n_members = n_kept;
	for (u32 i = first + n_kept; i < first + n; i++) {
		struct event *e = &o->events->at[i];

		close_event(o, e);
		memset(&o->refusals[i], 0, sizeof(o->refusals[i]));
		e->leader = i;
		e->n_members = 1;
		e->attr.read_format &= ~(u64)PERF_FORMAT_GROUP;
		e->attr.flags |= leader->attr.flags & switching;
	}
	log_note(o->log, "the group of '%s' does not fit on the PMU: %s%u events count one by one",
		leader->name, n_kept ? "beside it and its TopDown metrics " : "its ", n - n_kept);
}

static bool opens_alone(const struct opener *o, const struct event *e,
	const struct event_attr *attr)
{
	const struct target *t = o->target;
	struct counter c = {.event = e - o->events->at, .cpu = -1, .tid = -1};
	struct event alone = *e;
	int cgroup_fd = -1;
	struct err ignored;
	size_t hint = 0;

	alone.attr = *attr;
	alone.leader = c.event;
	if (!follows_tasks(o, e))
		c.cpu = (s32)(e->cpus.n ? e->cpus.at[0] : t->cpus.at[0]);
	if (t->threads.n && !counts_all(o, e))
		c.tid = t->threads.at[0].tid;
	if (e->cgroup && cgroup_open(e->cgroup, &cgroup_fd, &ignored))
		return false;
	if (open_fd(o->counters, &alone, &c, cgroup_fd, &hint) >= 0)
		close(c.fd);
	if (cgroup_fd >= 0)
		close(cgroup_fd);
	return c.fd >= 0;
}

/*
 * Opens event *i, or notes why not. If a weak group does not fit, *i goes back to the first of its
 * members.
 */
static int open_or_leave(struct opener *o, size_t *i)
{
	struct event *e = &o->events->at[*i], *leader = &o->events->at[e->leader];
	struct event before = *e;

	log_hold(o->log);
	if (!open_event(o, e)) {
		log_release(o->log);
		return 0;
	}
	log_forget(o->log);
	close_event(o, e);
	*e = before;
	/* A rung may have changed the members too. */
	for (u32 k = 1; k < e->n_members; k++)
		e[k].attr.read_format |= before.attr.read_format & PERF_FORMAT_GROUP;
	if (o->err->code == ERR_LIMIT)
		return o->err->code;
	if (e != leader && opens_alone(o, e, &e->attr)) {
		if (leader->wishes & EVENT_WEAK_GROUP) {
			*i = (size_t)e->leader - 1;
			dissolve(o, leader);
			return 0;
		}
		err_set(o->err, ERR_UNSUPPORTED,
			"event '%s' does not fit on the PMU beside the others of its group: ':W' after the group lets them count one by one",
			e->name);
	}
	o->refusals[*i] = *o->err;
	if (e->n_members > 1)
		hand_over(o->events, e);
	return 0;
}

/*
 * Raises the limit on open files, and tells users who had set it. The output, pipes and the files
 * looked up at the end need descriptors too.
 */
static int raise_limit(struct opener *o, u64 n_counters)
{
	enum { OTHERS = 64, OTHERS_LEAST = 16 };
	u64 need = n_counters + OTHERS;
	struct rlimit before;
	struct err ignored;

	if (getrlimit(RLIMIT_NOFILE, &before))
		before.rlim_cur = RLIM_INFINITY;
	if (open_raise_limit(need, &ignored)) {
		need = n_counters + OTHERS_LEAST;
		if (open_raise_limit(need, o->err))
			return o->err->code;
	}
	if (before.rlim_cur < need)
		log_note(o->log,
			"%llu files have to be open at once: pace raises its own limit, which was %llu (ulimit -n)",
			(unsigned long long)need, (unsigned long long)before.rlim_cur);
	return 0;
}

static int open_all(struct opener *o)
{
	u64 n_fds = 0;

	vec_each(e, o->events)
		n_fds += (follows_tasks(o, e) ? 1 : o->target->cpus.n) *
			MAX(o->target->threads.n, (size_t)1);
	if (raise_limit(o, n_fds))
		return o->err->code;
	for (size_t i = 0; i < o->events->n; i++) {
		if (o->events->at[i].wishes & EVENT_LEFT_OUT)
			continue;
		if (!(o->refusals ? open_or_leave(o, &i) : open_event(o, &o->events->at[i])))
			continue;
		return o->err->code;
	}
	/* Samples name their event by its id; counting goes by the order of opening. */
	return o->refusals ? 0 : open_fetch_ids(o->events, o->counters, o->err);
}

static int open_with(struct opener *o, struct counters *ret_counters)
{
	/* Set first, so that the caller can close what is open if memory runs out. */
	*ret_counters = (struct counters){0};
	o->counters = ret_counters;
	if (open_all(o)) {
		counters_close(ret_counters);
		return o->err->code;
	}
	return 0;
}

int open_events(struct event_list *events, const struct target *target,
	struct counters *ret_counters, struct log *log, struct err *err)
{
	struct opener o = {.events = events,
		.target = target,
		.log = log,
		.err = err,
		.opens_alone = opens_alone};

	return open_with(&o, ret_counters);
}

int open_possible(struct event_list *events, const struct target *target,
	struct counters *ret_counters, struct err *refusals, struct log *log, struct err *err)
{
	struct opener o = {.events = events,
		.target = target,
		.refusals = refusals,
		.log = log,
		.err = err,
		.opens_alone = opens_alone};

	return open_with(&o, ret_counters);
}
