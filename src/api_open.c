/*
 * api_open.c - opening counters and groups, and closing them.
 */
#include "api.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "collect/open/ladder.h"
#include "collect/open/open.h"
#include "collect/open/refusal.h"
#include "event/abi.h"
#include "event/cgroup.h"
#include "event/parse.h"

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

	if (api_check_target(&o->options, o->pid, o->cpu, err) ||
		api_check_options(&o->options, err))
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

/* ---- counters ---- */

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
	if (!(o->options.flags & PACE_FALLBACK) || !ladder_clock_instead(a, sys))
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
	if (api_complete(&o->options, leader < 0, is_group, &c->attr, err))
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

/* ---- events as attrs ---- */

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
