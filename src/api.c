/*
 * api.c - the public functions that count: thin calls into the stages.
 */
#include "api.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "collect/open/open.h"
#include "collect/open/refusal.h"
#include "collect/open/sampling.h"
#include "event/abi.h"
#include "event/cgroup.h"
#include "event/parse.h"
#include "record/regs.h"

_Static_assert((int)PACE_ERROR_LIMIT == (int)ERR_LIMIT,
	"public and internal error codes are the same numbers");
_Static_assert(sizeof(((struct pace_error *)0)->message) >= sizeof(((struct err *)0)->msg),
	"messages fit");

int api_give_error(const struct err *from, struct pace_error *to)
{
	to->code = from->code;
	to->system = from->sys;
	memcpy(to->message, from->msg, sizeof(from->msg));
	return from->code;
}

int api_exhausted(size_t size, struct err *err, const char *fmt, ...)
{
	char doing[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(doing, sizeof(doing), fmt, ap);
	va_end(ap);
	if (size)
		return err_sys(err, ENOMEM, "%s: %zu bytes more were needed", doing, size);
	return err_sys(err, ENOMEM, "%s", doing);
}

static struct pace_value value_of(const struct counter_value *v)
{
	return api_public_value(v, true);
}

PUBLIC const char *pace_version(void)
{
	return PACE_VERSION;
}

/* ---- what was requested ---- */

struct opening {
	const char *text;
	struct pace_options options;
	pid_t pid; /* with a control group: its descriptor */
	int cpu;
	unsigned long flags; /* PERF_FLAG_* */
	struct event_list events;
	/* The result: one of these is set as soon as something is open. */
	struct pace_counter *counter;
	struct pace_group *group;
	struct err err;
};

enum { ALL_FLAGS = (PACE_FALLBACK << 1) - 1 };

static bool is_zero(const uint64_t *words, size_t n)
{
	while (n--)
		if (words[n])
			return false;
	return true;
}

/* Checks the target: everything that the kernel would refuse with a bare EINVAL. */
static int check_target(const struct pace_options *o, pid_t pid, int cpu, struct err *err)
{
	if (o->cgroup && (pid != -1 || cpu < 0))
		return err_set(err, ERR_INVAL,
			"control group '%s' is counted on one CPU: it needs pid -1 and a CPU, not pid %d and cpu %d",
			o->cgroup, pid, cpu);
	if (pid == -1 && cpu == -1)
		return err_set(err, ERR_INVAL,
			"pid -1 (every process) needs a CPU, cpu -1 (any CPU) needs a process: choose one");
	if (pid < -1 || cpu < -1)
		return err_set(err, ERR_INVAL, "there is no %s %d", pid < -1 ? "pid" : "cpu",
			pid < -1 ? pid : cpu);
	if (o->flags & PACE_USER_READ && (pid || cpu != -1 || o->flags & PACE_INHERIT))
		return err_set(err, ERR_INVAL,
			"reading in user space works only for counters of the calling thread: pid 0, cpu -1, not "
			"inherited");
	return 0;
}

/* Checks the parts of a sample and their sizes. */
static int check_parts(const struct pace_options *o, struct err *err)
{
	const struct {
		u64 sample, how;
		const char *name, *what;
	} parts[] = {
		{PERF_SAMPLE_BRANCH_STACK, o->branches, "BRANCH_STACK", "the kinds of branches"},
		{PERF_SAMPLE_REGS_USER, o->user_regs, "REGS_USER", "the mask user_regs"},
		{PERF_SAMPLE_REGS_INTR, o->intr_regs, "REGS_INTR", "the mask intr_regs"},
	};
	bool has_stack = o->sample & PERF_SAMPLE_STACK_USER || o->flags & PACE_CALLERS;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (!!(o->sample & parts[i].sample) != !!parts[i].how)
			return err_set(err, ERR_INVAL,
				"PERF_SAMPLE_%s in sample needs %s, and the other way round",
				parts[i].name, parts[i].what);
	if (o->stack_bytes && !has_stack)
		return err_set(err, ERR_INVAL,
			"stack_bytes needs PERF_SAMPLE_STACK_USER or PACE_CALLERS");
	if (o->stack_bytes % 8 || o->stack_bytes > SAMPLING_MAX_STACK)
		return err_set(err, ERR_INVAL, "stack_bytes %u: expected a multiple of 8, up to %u",
			o->stack_bytes, SAMPLING_MAX_STACK);
	if (o->max_chain > UINT16_MAX)
		return err_set(err, ERR_INVAL, "max_chain %u: a call chain has up to %u addresses",
			o->max_chain, UINT16_MAX);
	if (o->flags & PACE_CALLERS && !regs_for_callers(arch_of_host()))
		return err_set(err, ERR_UNSUPPORTED,
			"PACE_CALLERS: on this machine pace cannot find callers in copies of the stack: "
			"PERF_SAMPLE_CALLCHAIN follows frame pointers");
	return 0;
}

int api_check_options(const struct pace_options *o, struct err *err)
{
	if (o->flags & ~ALL_FLAGS)
		return err_set(err, ERR_INVAL, "flags 0x%x: this libpace knows only 0x%x", o->flags,
			ALL_FLAGS);
	if (!is_zero(o->reserved, ARRAY_SIZE(o->reserved)))
		return err_set(err, ERR_INVAL, "pace_options.reserved is not 0");
	if (o->period && o->frequency)
		return err_set(err, ERR_INVAL, "a counter has a period or a frequency, not both");
	if (o->wakeup_samples && o->wakeup_bytes)
		return err_set(err, ERR_INVAL,
			"a ring wakes up after wakeup_samples or after wakeup_bytes, not both");
	if (check_parts(o, err))
		return err->code;
	if (o->flags & PACE_INHERIT_STAT && !(o->flags & PACE_INHERIT))
		return err_set(err, ERR_INVAL, "PACE_INHERIT_STAT needs PACE_INHERIT");
	return 0;
}

static int parse(const char *text, struct event_list *events, struct err *err)
{
	const struct parse_env env = {.sysfs = "/sys"};

	if (parse_events(text, &env, events, err))
		return err->code;
	return 0;
}

static int parse_one(const char *text, struct event_list *events, struct err *err)
{
	if (parse(text, events, err))
		return err->code;
	if (events->n != 1)
		return err_set(err, ERR_INVAL, "event '%s': expected one event, not %zu", text,
			events->n);
	return 0;
}

/* "a,b" means "{a,b}", whose events may need another order. */
static int parse_as_group(const char *text, struct event_list *events, struct err *err)
{
	struct str group = {0};
	int r;

	if (parse(text, events, err) || events->n < 2 || strchr(text, '{'))
		return err->code;
	event_list_fini(events);
	memset(events, 0, sizeof(*events));
	str_addf(&group, "{%s}", text);
	r = parse(str_text(&group), events, err);
	str_fini(&group);
	return r;
}

/* "{a,b}" and "a,b" are a group; "a,{b,c}" is not. */
static int parse_group(const char *text, struct event_list *events, struct err *err)
{
	size_t n_leaders = 0;

	if (parse_as_group(text, events, err))
		return err->code;
	vec_each(e, events) {
		n_leaders += e->n_members > 0;
		if (e->wishes & EVENT_WEAK_GROUP)
			return err_set(err, ERR_INVAL,
				"events '%s': a group is counted together or not at all, so W has no meaning",
				text);
	}
	if (n_leaders > 1 && n_leaders < events->n)
		return err_set(err, ERR_INVAL, "events '%s': expected one group, not %zu", text,
			n_leaders);
	return 0;
}

static void opening_init(struct opening *o, const char *text, const struct pace_options *options,
	pid_t pid, int cpu)
{
	*o = (struct opening){.text = text, .pid = pid, .cpu = cpu, .flags = PERF_FLAG_FD_CLOEXEC};
	if (options)
		o->options = *options;
}

static int opening_check(struct opening *o)
{
	struct err *err = &o->err;

	if (check_target(&o->options, o->pid, o->cpu, err) || api_check_options(&o->options, err))
		return err->code;
	if (!o->options.cgroup)
		return 0;
	o->flags |= PERF_FLAG_PID_CGROUP;
	o->pid = -1;
	return cgroup_open(o->options.cgroup, &o->pid, err);
}

/* Runs `work`; true if it opened something. If memory runs out, nothing is left open. */
static bool opening_try(struct opening *o, void (*work)(void *opening))
{
	size_t size;

	if (!mem_try(work, o, &size)) {
		api_exhausted(size, &o->err, "opening '%s'", o->text);
		pace_counter_close(o->counter);
		pace_group_close(o->group);
		o->counter = NULL;
		o->group = NULL;
	}
	return o->counter || o->group;
}

static void opening_fini(struct opening *o)
{
	if (o->flags & PERF_FLAG_PID_CGROUP && o->pid >= 0)
		close(o->pid);
	event_list_fini(&o->events);
}

/* ---- opening ---- */

/* Completes registers and stacks. */
static void complete_parts(const struct pace_options *o, struct event_attr *a)
{
	if (o->flags & PACE_CALLERS) {
		a->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN |
			PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		a->sample_regs_user |= regs_for_callers(arch_of_host());
		/* The user's part of the chain is in the copy of the stack. */
		a->flags |= ATTR_EXCLUDE_CALLCHAIN_USER;
	}
	a->sample_regs_user |= o->user_regs;
	a->sample_regs_intr |= o->intr_regs;
	a->sample_max_stack = (u16)o->max_chain;
	if (a->sample_type & PERF_SAMPLE_STACK_USER)
		a->sample_stack_user = o->stack_bytes ? o->stack_bytes : SAMPLING_DEFAULT_STACK;
}

static int complete_sampling(const struct pace_options *o, struct event_attr *a, struct err *err)
{
	if (o->period || o->frequency) {
		a->sample_period = o->period ? o->period : o->frequency;
		a->flags = (a->flags & ~ATTR_FREQ) | (o->frequency ? ATTR_FREQ : 0);
	}
	if (!a->sample_period) {
		if (o->sample || o->wakeup_samples || o->wakeup_bytes ||
			o->flags & (PACE_SIDE_BAND | PACE_KEEP_LATEST | PACE_CALLERS))
			return err_set(err, ERR_INVAL, "samples need a period or a frequency");
		return 0;
	}
	a->sample_type |= o->sample;
	a->branch_sample_type |= o->branches;
	a->read_format |= PERF_FORMAT_LOST;
	a->wakeup_events = o->wakeup_bytes ? o->wakeup_bytes : o->wakeup_samples;
	a->flags |= ATTR_SAMPLE_ID_ALL | (o->wakeup_bytes ? ATTR_WATERMARK : 0);
	complete_parts(o, a);
	if (o->flags & PACE_SIDE_BAND) {
		a->flags |= ATTR_MMAP | ATTR_MMAP2 | ATTR_COMM | ATTR_COMM_EXEC | ATTR_TASK;
		a->sample_type |= PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	}
	if (o->flags & PACE_KEEP_LATEST)
		a->flags |= ATTR_WRITE_BACKWARD;
	return 0;
}

/* Completes a leader, which members are switched with. */
static int complete_leader(const struct pace_options *o, struct event_attr *a, struct err *err)
{
	a->flags |= (o->flags & PACE_ENABLED ? 0 : ATTR_DISABLED) |
		(o->flags & PACE_ENABLE_ON_EXEC ? ATTR_ENABLE_ON_EXEC : 0) |
		(o->flags & PACE_PINNED ? ATTR_PINNED : 0) |
		(o->flags & PACE_EXCLUSIVE ? ATTR_EXCLUSIVE : 0);
	return complete_sampling(o, a, err);
}

static int complete(const struct pace_options *o, bool leads, bool is_group, struct event_attr *a,
	struct err *err)
{
	a->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
		PERF_FORMAT_ID |
		(is_group && (leads || attr_is_topdown(a)) ? PERF_FORMAT_GROUP : 0);
	a->flags |= (o->flags & PACE_INHERIT ? ATTR_INHERIT : 0) |
		(o->flags & PACE_INHERIT_STAT ? ATTR_INHERIT_STAT : 0);
	if (o->flags & PACE_USER_READ)
		userread_allow(a);
	return leads ? complete_leader(o, a, err) : 0;
}

/*
 * Gives up one wish that the kernel refused; true if opening may be tried again. Only PACE_FALLBACK allows changes to
 * what is counted.
 */
static bool step_down(const struct opening *o, const struct event *e, int sys,
	struct pace_counter *c)
{
	struct event_attr *a = &c->attr;

	/* Before Linux 6.0; processors refuse precision with another errno. */
	if (a->read_format & PERF_FORMAT_LOST && sys == EINVAL) {
		a->read_format &= ~(u64)PERF_FORMAT_LOST;
		return true;
	}
	if (e->wishes & EVENT_MAX_PRECISE && attr_precise(a) &&
		(sys == ENOENT || sys == EOPNOTSUPP || sys == EINVAL)) {
		attr_set_precise(a, attr_precise(a) - 1);
		return true;
	}
	if (!(o->options.flags & PACE_FALLBACK) || !open_clock_instead(a, sys))
		return false;
	if (a->type != PERF_TYPE_SOFTWARE)
		return true;
	mem_free(c->name);
	c->name = mem_strdup(a->flags & ATTR_EXCLUDE_KERNEL ? "cpu-clock:u"
			: a->flags & ATTR_EXCLUDE_USER      ? "cpu-clock:k"
							    : "cpu-clock");
	return true;
}

static int explain(const struct opening *o, const struct event *e, const struct event_attr *a,
	int leader, int sys, struct err *err)
{
	if (sys == EINVAL && e->cpus.n && o->cpu < 0)
		return err_set(err, ERR_INVAL,
			"opening '%s': it counts a whole package, not tasks: use pid -1 and a CPU, here %d",
			e->name, e->cpus.at[0]);
	refusal_explain(a, e->name, o->options.cgroup ? -1 : o->pid, o->cpu, sys, err);
	if (sys == EINVAL && leader >= 0)
		return err_set(err, ERR_UNSUPPORTED,
			"opening '%s' in a group: the PMU has too few counters, or these events cannot be counted "
			"together (EINVAL)",
			e->name);
	return err->code;
}

/* Opens a counter, which may be closed at any moment, even before this returns. */
static int open_member(struct opening *o, const struct event *e, bool is_group, int leader,
	struct pace_counter *c)
{
	struct err *err = &o->err;

	*c = (struct pace_counter){.counter = {.cpu = o->cpu, .tid = o->pid, .fd = -1},
		.presence = {.fd = -1},
		.attr = e->attr,
		.scale = e->scale ? e->scale : 1,
		.group = o->group};
	c->name = mem_strdup(e->name);
	c->unit = e->unit ? mem_strdup(e->unit) : NULL;
	if (complete(&o->options, leader < 0, is_group, &c->attr, err))
		return err->code;
	if (e->wishes & EVENT_MAX_PRECISE && c->attr.sample_period)
		attr_set_precise(&c->attr, 3);
	do {
		c->attr.size = attr_needed_size(&c->attr);
		c->counter.fd = perf_event_open(&c->attr, o->pid, o->cpu, leader, o->flags);
	} while (c->counter.fd < 0 && step_down(o, e, errno, c));
	if (c->counter.fd < 0)
		return explain(o, e, &c->attr, leader, errno, err);
	if (ioctl(c->counter.fd, PERF_EVENT_IOC_ID, &c->counter.id))
		c->counter.id = 0; /* before Linux 3.12; reading returns it */
	if (leader < 0)
		presence_open(&c->presence, &c->attr, o->pid, o->cpu, o->flags);
	/* PACE_USER_READ is a wish: where it is impossible, reading makes a system call. */
	if (o->options.flags & PACE_USER_READ)
		userread_open(&c->user, c->counter.fd, err);
	return 0;
}

static void close_member(struct pace_counter *c)
{
	if (c->counter.fd >= 0) {
		userread_close(&c->user);
		presence_close(&c->presence);
		close(c->counter.fd);
	}
	mem_free(c->name);
	mem_free(c->unit);
}

static void open_counter(void *opening)
{
	struct opening *o = opening;

	if (opening_check(o) || parse_one(o->text, &o->events, &o->err))
		return;
	o->counter = mem_zalloc(sizeof(*o->counter));
	o->counter->counter.fd = -1;
	if (!open_member(o, o->events.at, false, -1, o->counter))
		return;
	pace_counter_close(o->counter);
	o->counter = NULL;
}

PUBLIC struct pace_counter *pace_counter_open_with(const char *event, pid_t pid, int cpu,
	const struct pace_options *options, struct pace_error *ret_err)
{
	struct opening o;

	opening_init(&o, event, options, pid, cpu);
	if (!opening_try(&o, open_counter))
		api_give_error(&o.err, ret_err);
	opening_fini(&o);
	return o.counter;
}

PUBLIC struct pace_counter *pace_counter_open(const char *event, pid_t pid, int cpu,
	struct pace_error *err)
{
	return pace_counter_open_with(event, pid, cpu, NULL, err);
}

PUBLIC void pace_counter_close(struct pace_counter *c)
{
	if (!c || c->group)
		return;
	close_member(c);
	mem_free(c);
}

static void parse_only(void *opening)
{
	struct opening *o = opening;

	parse_one(o->text, &o->events, &o->err);
}

static int give_attr(const struct opening *o, void *ret_attr, size_t size, struct err *err)
{
	struct event_attr *a = &o->events.at[0].attr;
	u32 needed = attr_needed_size(a);

	if (size < needed)
		return err_set(err, ERR_LIMIT,
			"event '%s' needs an attr of %u bytes, but there is room for %zu", o->text,
			needed, size);
	a->size = MIN(size, sizeof(*a));
	memset(ret_attr, 0, size);
	memcpy(ret_attr, a, a->size);
	return 0;
}

PUBLIC int pace_event_parse(const char *event, void *ret_attr, size_t size,
	struct pace_error *ret_err)
{
	struct opening o;
	size_t wanted;

	opening_init(&o, event, NULL, 0, -1);
	if (!mem_try(parse_only, &o, &wanted))
		api_exhausted(wanted, &o.err, "event '%s'", event);
	if (!o.err.code)
		give_attr(&o, ret_attr, size, &o.err);
	opening_fini(&o);
	return o.err.code ? api_give_error(&o.err, ret_err) : 0;
}

/* ---- switching ---- */

static int control(struct pace_counter *c, unsigned long request, unsigned long argument,
	const char *what, struct pace_error *ret_err)
{
	struct err err;

	if (request == PERF_EVENT_IOC_DISABLE)
		presence_disable(&c->presence);
	if (ioctl(c->counter.fd, request, argument) == 0) {
		if (request == PERF_EVENT_IOC_ENABLE || request == PERF_EVENT_IOC_REFRESH)
			presence_enable(&c->presence);
		return 0;
	}
	err_sys(&err, errno, "%s", what);
	return api_give_error(&err, ret_err);
}

PUBLIC int pace_counter_enable(struct pace_counter *c, struct pace_error *err)
{
	return control(c, PERF_EVENT_IOC_ENABLE, 0, "enabling a counter", err);
}

PUBLIC int pace_counter_disable(struct pace_counter *c, struct pace_error *err)
{
	return control(c, PERF_EVENT_IOC_DISABLE, 0, "disabling a counter", err);
}

PUBLIC int pace_counter_reset(struct pace_counter *c, struct pace_error *err)
{
	return control(c, PERF_EVENT_IOC_RESET, 0, "resetting a counter", err);
}

static int switch_all(int request, const char *what, struct pace_error *ret_err)
{
	struct err err;

	if (prctl(request, 0, 0, 0, 0) == 0)
		return 0;
	err_sys(&err, errno, "%s all counters of this thread", what);
	return api_give_error(&err, ret_err);
}

PUBLIC int pace_counters_enable_all(struct pace_error *err)
{
	return switch_all(PR_TASK_PERF_EVENTS_ENABLE, "enabling", err);
}

PUBLIC int pace_counters_disable_all(struct pace_error *err)
{
	return switch_all(PR_TASK_PERF_EVENTS_DISABLE, "disabling", err);
}

/* ---- reading ---- */

static const struct pace_counter *leader_of(const struct pace_counter *c)
{
	return c->group ? c->group->members : c;
}

/* How long the leader, which decides for its group, had the hardware; 0: not at all. */
static u64 leader_running(const struct pace_counter *c, const struct counter_value *own)
{
	const struct pace_counter *leader = leader_of(c);
	struct counter_value *values = c->group ? c->group->values : NULL;
	struct err ignored;
	size_t n;

	if (leader == c || leader->presence.fd < 0)
		return own->time_running;
	return counter_read(&leader->counter, &leader->attr, values, c->group->n, &n, &ignored)
		? 0
		: values[0].time_running;
}

/* Finds the value of one member among those that reading a group returned. */
static const struct counter_value *value_with_id(const struct counter_value *values, size_t n,
	u64 id)
{
	for (size_t i = 1; i < n; i++)
		if (values[i].id == id)
			return &values[i];
	return &values[0];
}

PUBLIC int pace_counter_read(struct pace_counter *c, struct pace_value *ret_value,
	struct pace_error *ret_err)
{
	struct counter_value own = {.id = c->counter.id}, *values = &own;
	size_t n, max = 1;
	struct err err;

	if (userread_value(&c->user, &own)) {
		*ret_value = value_of(&own);
		return 0;
	}
	/* Reading a leader, or a metric that is a part of its slots, returns the whole group. */
	if (c->attr.read_format & PERF_FORMAT_GROUP) {
		values = c->group->values;
		max = c->group->n;
	}
	if (counter_read(&c->counter, &c->attr, values, max, &n, &err))
		return api_give_error(&err, ret_err);
	own = *value_with_id(values, n, c->counter.id);
	presence_correct(presence_read(&leader_of(c)->presence), leader_running(c, &own), &own);
	*ret_value = value_of(&own);
	return 0;
}

PUBLIC int pace_counter_is_user_read(const struct pace_counter *c)
{
	struct counter_value v;

	return userread_value(&c->user, &v);
}

PUBLIC int pace_value_between(const struct pace_value *first, const struct pace_value *second,
	struct pace_value *ret_value, struct pace_error *ret_err)
{
	struct counter_value v = {.value = second->value - first->value,
		.time_enabled = second->time_enabled - first->time_enabled,
		.time_running = second->time_running - first->time_running,
		.id = second->id,
		.lost = second->lost - first->lost};
	struct err err = {0};

	if (second->id != first->id)
		err_set(&err, ERR_INVAL,
			"counters %llu and %llu are different: their values cannot be subtracted",
			(unsigned long long)first->id, (unsigned long long)second->id);
	else if (second->value < first->value || second->time_enabled < first->time_enabled ||
		second->time_running < first->time_running || second->lost < first->lost)
		err_set(&err, ERR_INVAL,
			"the second value (%llu) is older than the first (%llu), or the counter was reset",
			(unsigned long long)second->value, (unsigned long long)first->value);
	if (err.code)
		return api_give_error(&err, ret_err);
	*ret_value = value_of(&v);
	return 0;
}

PUBLIC int pace_counter_fd(const struct pace_counter *c)
{
	return c->counter.fd;
}

PUBLIC const char *pace_counter_name(const struct pace_counter *c)
{
	return c->name;
}

PUBLIC const char *pace_counter_unit(const struct pace_counter *c, double *ret_scale)
{
	*ret_scale = c->scale;
	return c->unit;
}

/* ---- groups ---- */

static void open_group(void *opening)
{
	struct opening *o = opening;
	struct pace_group *g;
	int leader = -1;

	if (opening_check(o) || parse_group(o->text, &o->events, &o->err))
		return;
	o->group = g = mem_zalloc(sizeof(*g));
	g->members = mem_zalloc(o->events.n * sizeof(*g->members));
	g->values = mem_zalloc(o->events.n * sizeof(*g->values));
	vec_each(e, &o->events) {
		struct pace_counter *c = &g->members[g->n++];

		c->counter.fd = -1;
		if (open_member(o, e, true, leader, c)) {
			pace_group_close(g);
			o->group = NULL;
			return;
		}
		leader = g->members[0].counter.fd;
	}
}

PUBLIC struct pace_group *pace_group_open(const char *events, pid_t pid, int cpu,
	const struct pace_options *options, struct pace_error *ret_err)
{
	struct opening o;

	opening_init(&o, events, options, pid, cpu);
	if (!opening_try(&o, open_group))
		api_give_error(&o.err, ret_err);
	opening_fini(&o);
	return o.group;
}

PUBLIC void pace_group_close(struct pace_group *g)
{
	if (!g)
		return;
	/* The leader goes last: a member that loses its leader becomes one itself. */
	while (g->n)
		close_member(&g->members[--g->n]);
	mem_free(g->members);
	mem_free(g->values);
	mem_free(g);
}

PUBLIC int pace_group_enable(struct pace_group *g, struct pace_error *err)
{
	return control(g->members, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP, "enabling a group",
		err);
}

PUBLIC int pace_group_disable(struct pace_group *g, struct pace_error *err)
{
	return control(g->members, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP, "disabling a group",
		err);
}

PUBLIC int pace_group_reset(struct pace_group *g, struct pace_error *err)
{
	return control(g->members, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP, "resetting a group",
		err);
}

PUBLIC int pace_group_read(struct pace_group *g, struct pace_value *ret_values, size_t max,
	struct pace_error *ret_err)
{
	const struct pace_counter *leader = g->members;
	struct err err;
	u64 there;
	size_t n;

	if (max < g->n) {
		err_set(&err, ERR_LIMIT, "the group has %zu values, but there is room for %zu",
			g->n, max);
		return api_give_error(&err, ret_err);
	}
	if (counter_read(&leader->counter, &leader->attr, g->values, g->n, &n, &err))
		return api_give_error(&err, ret_err);
	there = presence_read(&leader->presence);
	for (size_t i = 0; i < n; i++) {
		presence_correct(there, g->values[0].time_running, &g->values[i]);
		ret_values[i] = value_of(&g->values[i]);
	}
	return (int)n;
}

PUBLIC size_t pace_group_size(const struct pace_group *g)
{
	return g->n;
}

PUBLIC struct pace_counter *pace_group_counter(struct pace_group *g, size_t number)
{
	return number < g->n ? &g->members[number] : NULL;
}

/* ---- notification ---- */

static int check_overflows(const struct pace_counter *c, struct err *err)
{
	if (c->attr.sample_period)
		return 0;
	return err_set(err, ERR_INVAL, "'%s' was opened without a period: it has no overflows",
		c->name);
}

static int set_signal(int fd, int signal)
{
	struct f_owner_ex owner = {F_OWNER_TID, gettid()};
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -1;
	if (!signal)
		return fcntl(fd, F_SETFL, flags & ~O_ASYNC);
	return fcntl(fd, F_SETOWN_EX, &owner) || fcntl(fd, F_SETSIG, signal)
		? -1
		: fcntl(fd, F_SETFL, flags | O_ASYNC);
}

PUBLIC int pace_counter_notify(struct pace_counter *c, int signal, struct pace_error *ret_err)
{
	struct err err;

	if (check_overflows(c, &err))
		return api_give_error(&err, ret_err);
	if (set_signal(c->counter.fd, signal) == 0)
		return 0;
	err_sys(&err, errno, "asking for signal %d on overflows of '%s'", signal, c->name);
	return api_give_error(&err, ret_err);
}

PUBLIC int pace_counter_refresh(struct pace_counter *c, unsigned overflows,
	struct pace_error *ret_err)
{
	struct err err = {0};

	if (check_overflows(c, &err))
		return api_give_error(&err, ret_err);
	if (c->attr.flags & ATTR_INHERIT)
		err_set(&err, ERR_INVAL, "'%s' is inherited: its overflows cannot be limited",
			c->name);
	else if (!overflows)
		err_set(&err, ERR_INVAL,
			"overflows is 0: a counter is switched on for at least one");
	if (err.code)
		return api_give_error(&err, ret_err);
	return control(c, PERF_EVENT_IOC_REFRESH, overflows, "refreshing a counter", ret_err);
}
