/*
 * api_session.c - the public functions that measure whole programs: all threads of a process together.
 */
#include "api.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/open/open.h"
#include "collect/counter/ringset.h"
#include "collect/open/sampling.h"
#include "event/abi.h"
#include "event/parse.h"
#include "event/target.h"

enum { RING_BYTES = 512 << 10, DUMPS_RING_BYTES = 4 << 20 };

struct pace_session {
	struct pace_options options;
	pid_t pid; /* -1: every process */
	struct event_list events;
	size_t n_events; /* the requested ones; after them comes the one that reports tasks */
	struct target target;
	struct counters counters;
	struct formats formats;
	struct ringset rings;
	struct pace_value *values; /* those of one sample */
	struct pace_source source;
	struct log log;
	struct str notes;
	int epoll_fd;
	bool samples;
};

struct session_opening {
	const char *text;
	struct pace_session *session; /* NULL: not created yet */
	struct err err;
};

/* ---- opening ---- */

static void note(void *ctx, enum log_level level, const char *sentence)
{
	struct pace_session *s = ctx;

	if (level > LOG_NOTE)
		return;
	str_addf(&s->notes, "%s%s", s->notes.n ? "\n" : "", sentence);
}

static int check_session(const struct pace_session *s, struct err *err)
{
	const struct pace_options *o = &s->options;

	if (s->pid < -1)
		return err_set(err, ERR_INVAL, "there is no pid %d", s->pid);
	if (api_check_options(o, err))
		return err->code;
	if (o->flags & (PACE_USER_READ | PACE_KEEP_LATEST))
		return err_set(err, ERR_INVAL,
			"a session has many counters and rings: PACE_USER_READ and PACE_KEEP_LATEST work with single ones only");
	if (o->cgroup && s->pid != -1)
		return err_set(err, ERR_INVAL,
			"the tasks of control group '%s' are measured on all CPUs: it needs pid -1, not %d",
			o->cgroup, s->pid);
	if (!s->samples &&
		(o->sample || o->wakeup_samples || o->wakeup_bytes ||
			o->flags & (PACE_SIDE_BAND | PACE_CALLERS)))
		return err_set(err, ERR_INVAL, "samples need a period or a frequency");
	return 0;
}

static int find_target(struct pace_session *s, struct err *err)
{
	struct target_words words = {.all_cpus = s->pid == -1};
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", s->pid ? s->pid : getpid());
	if (s->pid != -1)
		words.pids = pid;
	return target_init(&s->target, &words, err);
}

static int parse_session(struct pace_session *s, const char *text, struct err *err)
{
	const struct parse_env env = {.sysfs = "/sys"};
	const char *cgroup = s->options.cgroup;

	if (parse_events(text, &env, &s->events, err))
		return err->code;
	if (cgroup)
		cgroup = arena_strdup(&s->events.arena, cgroup, strlen(cgroup));
	vec_each(e, &s->events)
		e->cgroup = cgroup;
	s->n_events = s->events.n;
	return 0;
}

/* Applies the options to every leader, whether it counts or samples. */
static void complete_leaders(struct pace_session *s)
{
	const struct pace_options *o = &s->options;

	for (size_t i = 0; i < s->n_events; i++) {
		struct event_attr *a = &s->events.at[i].attr;

		if (event_is_group_member(&s->events, i))
			continue;
		a->flags |= (o->flags & PACE_ENABLE_ON_EXEC ? ATTR_ENABLE_ON_EXEC : 0) |
			(o->flags & PACE_PINNED ? ATTR_PINNED : 0) |
			(o->flags & PACE_EXCLUSIVE ? ATTR_EXCLUSIVE : 0);
		a->wakeup_events = o->wakeup_bytes ? o->wakeup_bytes : o->wakeup_samples;
		a->flags |= o->wakeup_bytes ? ATTR_WATERMARK : 0;
	}
}

static int complete_samples(struct pace_session *s, struct err *err)
{
	const struct pace_options *o = &s->options;
	u32 stack_bytes = o->stack_bytes ? o->stack_bytes : (u32)SAMPLING_DEFAULT_STACK;
	struct sampling sampling = {.frequency = o->frequency,
		.period = o->period,
		.is_strict = true,
		.sample_type = o->sample,
		.has_chains = o->flags & PACE_CALLERS || o->sample & PERF_SAMPLE_CALLCHAIN,
		.stack_bytes = o->flags & PACE_CALLERS ? stack_bytes : 0,
		.user_regs = o->user_regs,
		.intr_regs = o->intr_regs,
		.branches = o->branches,
		.max_stack = (u16)o->max_chain,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		/* Maps are recorded all the time, even while nothing is measured. */
		.is_late = true};

	if (sampling_apply(&sampling, &s->events, &s->target, &s->log, err))
		return err->code;
	vec_each(e, &s->events)
		if (o->sample & PERF_SAMPLE_STACK_USER && !e->attr.sample_stack_user)
			e->attr.sample_stack_user = stack_bytes;
	complete_leaders(s);
	return open_events(&s->events, &s->target, &s->counters, &s->log, err);
}

static int complete_counts(struct pace_session *s, struct err *err)
{
	struct err *refusals = mem_zalloc(s->events.n * sizeof(*refusals));
	int r;

	vec_each(e, &s->events) {
		bool is_member = event_is_group_member(&s->events, e - s->events.at);

		e->attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
		e->attr.flags |= ATTR_INHERIT | (is_member ? 0 : ATTR_DISABLED);
		e->attr.sample_period = 0;
	}
	complete_leaders(s);
	r = open_possible(&s->events, &s->target, &s->counters, refusals, &s->log, err);
	for (size_t i = 0; i < s->events.n && !r; i++)
		if (refusals[i].code) {
			*err = refusals[i];
			r = err->code;
		}
	mem_free(refusals);
	return r;
}

static bool has_kernel(const struct pace_session *s)
{
	for (size_t i = 0; i < s->n_events; i++)
		if (!(s->events.at[i].attr.flags & ATTR_EXCLUDE_KERNEL))
			return true;
	return false;
}

/* Edge-triggered: each counter reports new records once, and the end of its task. */
static int watch_counters(struct pace_session *s, struct err *err)
{
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		return err_sys(err, errno, "creating an epoll descriptor");
	vec_each(c, &s->counters) {
		struct epoll_event e = {.events = EPOLLIN | EPOLLET};

		if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, c->fd, &e))
			return err_sys(err, errno, "watching a descriptor");
	}
	return 0;
}

static int open_rings(struct pace_session *s, struct err *err)
{
	bool has_stacks =
		s->options.flags & PACE_CALLERS || s->options.sample & PERF_SAMPLE_STACK_USER;
	u64 bytes = has_stacks ? DUMPS_RING_BYTES : RING_BYTES;

	formats_init(&s->formats, &s->events);
	if (ringset_open(&s->rings, &s->counters, &s->formats, bytes / (u64)sysconf(_SC_PAGESIZE),
		    true, err) ||
		watch_counters(s, err))
		return err->code;
	if (s->options.sample & PERF_SAMPLE_READ)
		s->values = mem_zalloc(s->events.n * sizeof(*s->values));
	api_source_open_live(&s->source, &s->events);
	api_source_begin(&s->source, s->pid, has_kernel(s));
	return 0;
}

static void open_session(void *opening)
{
	struct session_opening *o = opening;
	struct pace_session *s = o->session;
	struct err *err = &o->err;

	s->source.owner = mem_strdup(o->text);
	if (check_session(s, err) || parse_session(s, o->text, err) || find_target(s, err))
		return;
	if (s->samples ? complete_samples(s, err) || open_rings(s, err) : complete_counts(s, err))
		return;
	if (s->options.flags & PACE_ENABLED)
		counters_switch(&s->counters, &s->events, NULL, true, err);
}

static void make_session(void *opening)
{
	struct session_opening *o = opening;

	o->session = mem_zalloc(sizeof(*o->session));
	o->session->epoll_fd = -1;
}

PUBLIC struct pace_session *pace_session_open(const char *events, pid_t pid,
	const struct pace_options *options, struct pace_error *ret_err)
{
	struct session_opening o = {.text = events};
	size_t size = 0;
	bool is_done = mem_try(make_session, &o, &size);

	if (is_done) {
		struct pace_session *s = o.session;

		s->pid = pid;
		if (options)
			s->options = *options;
		s->samples = s->options.period || s->options.frequency;
		s->log = (struct log){.level = LOG_NOTE, .write = note, .ctx = s};
		is_done = mem_try(open_session, &o, &size);
	}
	if (!is_done)
		api_exhausted(size, &o.err, "opening '%s'", events);
	if (!o.err.code)
		return o.session;
	api_give_error(&o.err, ret_err);
	pace_session_close(o.session);
	return NULL;
}

PUBLIC void pace_session_close(struct pace_session *s)
{
	if (!s)
		return;
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	ringset_close(&s->rings);
	counters_close(&s->counters);
	api_source_close(&s->source);
	intern_fini(&s->source.strings);
	mem_free(s->source.owner);
	formats_fini(&s->formats);
	target_fini(&s->target);
	event_list_fini(&s->events);
	log_fini(&s->log);
	str_fini(&s->notes);
	mem_free(s->values);
	mem_free(s);
}

/* ---- what it measures ---- */

PUBLIC uint32_t pace_session_events(const struct pace_session *s)
{
	return (uint32_t)s->n_events;
}

PUBLIC int pace_session_event(const struct pace_session *s, uint32_t number,
	struct pace_event *ret_event, struct pace_error *ret_err)
{
	struct err err;

	if (number < s->n_events) {
		*ret_event = api_public_event(&s->events.at[number]);
		return 0;
	}
	err_set(&err, ERR_NOENT, "there is no event %u: the session has %zu", number, s->n_events);
	return api_give_error(&err, ret_err);
}

PUBLIC const char *pace_session_notes(const struct pace_session *s)
{
	return s->notes.n ? s->notes.at : "";
}

PUBLIC int pace_session_fd(const struct pace_session *s)
{
	return s->epoll_fd;
}

/* ---- switching, counting ---- */

static int switch_counters(struct pace_session *s, bool is_on, struct pace_error *ret_err)
{
	struct err err = {0};

	return counters_switch(&s->counters, &s->events, NULL, is_on, &err)
		? api_give_error(&err, ret_err)
		: 0;
}

PUBLIC int pace_session_enable(struct pace_session *s, struct pace_error *err)
{
	return switch_counters(s, true, err);
}

PUBLIC int pace_session_disable(struct pace_session *s, struct pace_error *err)
{
	return switch_counters(s, false, err);
}

/*
 * A thread that has a counter on each CPU runs on one of them at a time, but each of these counters was enabled for the
 * whole time: the time counts once.
 */
static int add_up(const struct pace_session *s, u32 event, struct counter_value *sum,
	struct err *err)
{
	u64 n_places = s->target.threads.n && s->counters.at[0].cpu >= 0 ? s->target.cpus.n : 1;
	const struct event_attr *attr = &s->events.at[event].attr;
	u64 enabled = 0;

	*sum = (struct counter_value){0};
	vec_each(c, &s->counters) {
		struct counter_value v;
		size_t n;

		if (c->event != event)
			continue;
		if (counter_read(c, attr, &v, 1, &n, err))
			return err->code;
		sum->value += v.value;
		sum->time_running += v.time_running;
		sum->lost += v.lost;
		sum->id = sum->id ? sum->id : c->id;
		enabled += v.time_enabled;
	}
	sum->time_enabled = MAX(enabled / n_places, sum->time_running);
	/* A system call lies between reading two CPUs' counters. */
	if (n_places > 1 &&
		sum->time_enabled - sum->time_running <= PRESENCE_TOLERANCE_NS * n_places)
		sum->time_enabled = sum->time_running;
	return 0;
}

PUBLIC int pace_session_values(struct pace_session *s, struct pace_value *ret_values, size_t max,
	struct pace_error *ret_err)
{
	struct err err = {0};

	if (max < s->n_events) {
		err_set(&err, ERR_LIMIT, "the session has %zu values, but there is room for %zu",
			s->n_events, max);
		return api_give_error(&err, ret_err);
	}
	for (u32 i = 0; i < s->n_events; i++) {
		struct counter_value sum;

		if (add_up(s, i, &sum, &err))
			return api_give_error(&err, ret_err);
		ret_values[i] = api_public_value(&sum, true);
	}
	return (int)s->n_events;
}

/* ---- sampling ---- */

static int hand_out(struct pace_session *s, const struct pace_slots *slots,
	const struct ringset_ring *ring)
{
	const struct record *rec = &ring->rec;
	const struct event_attr *attr;
	struct api_handing h = {.slots = slots,
		.format = formats_format(&s->formats, ring->event),
		.values = s->values,
		.n_values = s->events.n,
		.source = &s->source};
	struct pace_record record = {.type = rec->type,
		.misc = rec->misc,
		.size = rec->size,
		.bytes = rec->at,
		.offset = ring->at,
		.time = ring->time,
		.event = ring->event < s->n_events ? ring->event : UINT32_MAX};

	if (rec->type == PERF_RECORD_SAMPLE && ring->event >= s->n_events)
		return 0;
	if (ring->event < s->n_events) {
		attr = &s->events.at[ring->event].attr;
		h.period = attr->flags & ATTR_FREQ ? 0 : attr->sample_period;
	}
	return api_hand_out(&h, &record, rec);
}

/* Takes the wakeups so far; the counters report again what comes from now on. */
static void forget_wakeups(const struct pace_session *s)
{
	struct epoll_event events[64];

	while (epoll_wait(s->epoll_fd, events, ARRAY_SIZE(events), 0) == (int)ARRAY_SIZE(events))
		;
}

PUBLIC int pace_session_read(struct pace_session *s, const struct pace_slots *slots,
	struct pace_error *ret_err)
{
	const struct ringset_ring *ring;
	struct err err = {0};
	int said = 0;

	if (!s->samples) {
		err_set(&err, ERR_INVAL,
			"'%s' was opened without a period or a frequency: it takes no samples",
			s->source.owner);
		return api_give_error(&err, ret_err);
	}
	forget_wakeups(s);
	api_source_next_round(&s->source);
	ringset_acquire(&s->rings);
	while (!said && (ring = ringset_next(&s->rings)) != NULL)
		said = hand_out(s, slots, ring);
	if (ringset_release(&s->rings))
		api_tell(slots, "a ring was corrupt: records were skipped");
	return said;
}
