#include "collect/open/counting.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "collect/open/open.h"
#include "event/abi.h"

enum { GROUP_MAX = 512 };

/* ---- opening ---- */

static bool has_latency(const struct event *e)
{
	return e->wishes & EVENT_RETIRE_LATENCY;
}

static void complete_attr(struct event_list *events, struct event *e,
	const struct counting_options *o)
{
	bool is_member = event_is_group_member(events, e - events->at);
	struct event_attr *a = &e->attr;

	a->size = MAX(attr_needed_size(a), (u32)ATTR_SIZE_VER7);
	/* A period would make the counter interrupt. */
	a->sample_period = 0;
	a->flags &= ~ATTR_FREQ;
	if (!has_latency(e))
		attr_set_precise(a, 0);
	a->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	/* Readers of a recording need the ids by which its records name their events. */
	if (o->needs_ids && !o->has_no_samples)
		a->sample_type = PERF_SAMPLE_IDENTIFIER;
	if (has_latency(e))
		latency_complete(a);
	if (events->at[e->leader].n_members > 1)
		a->read_format |= PERF_FORMAT_GROUP;
	if (!o->no_inherit && !(e->wishes & EVENT_NO_INHERIT))
		a->flags |= ATTR_INHERIT;
	/* Members run when their leader does. */
	if (is_member)
		return;
	a->flags |= ATTR_DISABLED;
	if (o->is_command && !o->starts_off)
		a->flags |= ATTR_ENABLE_ON_EXEC;
}

/* Chains the counters that are read together with their leader's, in the kernel's order. */
static void chain_groups(struct counting *c)
{
	u32 *last = mem_alloc(c->counters.n * sizeof(*last)); /* by leader: the end of its chain */
	size_t n = c->counters.n, found = 0;

	for (size_t i = 0; i < n; i++) {
		const struct counter *member = &c->counters.at[i];
		const struct event *e = &c->events->at[member->event];
		const struct counter *leader;
		size_t at;

		last[i] = i;
		c->next[i] = TABLE_NONE;
		c->comes_along[i] = false;
		if (e->leader == member->event || !(e->attr.read_format & PERF_FORMAT_GROUP))
			continue;
		leader = counters_find(&c->counters, e->leader, member, &found);
		if (!leader)
			continue;
		at = leader - c->counters.at;
		c->next[last[at]] = i;
		last[at] = i;
		c->comes_along[i] = true;
	}
	mem_free(last);
}

/* Opens the rings of those whose samples are the result. */
static int open_latencies(struct counting *c, struct err *err)
{
	bool is_any = false;

	vec_each(counter, &c->counters)
		is_any |= has_latency(&c->events->at[counter->event]);
	if (!is_any)
		return 0;
	c->latencies = mem_zalloc(c->counters.n * sizeof(*c->latencies));
	vec_each(counter, &c->counters) {
		const struct event *e = &c->events->at[counter->event];

		if (has_latency(e) &&
			latency_open(&c->latencies[counter - c->counters.at], counter->fd, err)) {
			err_prefix(err, "sampling '%s'", e->name);
			return err->code;
		}
	}
	return 0;
}

int counting_open(struct counting *c, struct event_list *events, const struct target *target,
	const struct counting_options *options, struct log *log, struct err *err)
{
	memset(c, 0, sizeof(*c));
	c->events = events;
	c->why = mem_zalloc(events->n * sizeof(*c->why));
	vec_each(e, events) {
		complete_attr(events, e, options);
		/* The caller has clocks of its own. */
		if (e->attr.type == EVENT_TYPE_TOOL ||
			(has_latency(e) && !options->samples_latencies))
			e->wishes |= EVENT_LEFT_OUT;
	}
	if (open_possible(events, target, &c->counters, c->why, log, err) ||
		open_latencies(c, err) ||
		(options->needs_ids && open_fetch_ids(events, &c->counters, err))) {
		counting_close(c);
		return err->code;
	}
	c->readings = mem_zalloc(c->counters.n * sizeof(*c->readings));
	c->base = mem_zalloc(c->counters.n * sizeof(*c->base));
	c->next = mem_alloc(c->counters.n * sizeof(*c->next));
	c->comes_along = mem_alloc(c->counters.n * sizeof(*c->comes_along));
	chain_groups(c);
	return 0;
}

void counting_close(struct counting *c)
{
	for (size_t i = 0; c->latencies && i < c->counters.n; i++)
		latency_close(&c->latencies[i]);
	mem_free(c->latencies);
	counters_close(&c->counters);
	mem_free(c->readings);
	mem_free(c->base);
	mem_free(c->why);
	mem_free(c->next);
	mem_free(c->comes_along);
	memset(c, 0, sizeof(*c));
}

/* ---- switching ---- */

static int control_one(const struct counting *c, const struct counter *counter,
	unsigned long request, const char *what, struct err *err)
{
	const struct event *e = &c->events->at[counter->event];

	/* Members are always on: their leader starts and stops them. */
	if (e->leader == counter->event && ioctl(counter->fd, request, 0))
		return err_sys(err, errno, "%s '%s'", what, e->name);
	return 0;
}

static int control(const struct counting *c, unsigned long request, const char *what,
	struct err *err)
{
	for (unsigned pass = 0; pass < COUNTER_PASSES; pass++)
		vec_each(counter, &c->counters)
			if (counter_is_switched(counter, pass) &&
				control_one(c, counter, request, what, err))
				return err->code;
	return 0;
}

int counting_enable(struct counting *c, struct err *err)
{
	return control(c, PERF_EVENT_IOC_ENABLE, "enabling", err);
}

int counting_enable_whole_cpus(struct counting *c, struct err *err)
{
	vec_each(counter, &c->counters)
		if (counter->tid < 0 &&
			control_one(c, counter, PERF_EVENT_IOC_ENABLE, "enabling", err))
			return err->code;
	return 0;
}

int counting_disable(struct counting *c, struct err *err)
{
	return control(c, PERF_EVENT_IOC_DISABLE, "disabling", err);
}

/* ---- CPUs that come back ---- */

size_t counting_reopen_cpu(struct counting *c, s32 cpu, bool is_on)
{
	size_t n_failed = 0;

	for (size_t i = 0; i < c->counters.n; i++) {
		struct counter *counter = &c->counters.at[i];
		const struct event *e = &c->events->at[counter->event];
		struct err ignored;
		int fd;

		if (counter->cpu != cpu)
			continue;
		if (open_again(c->events, &c->counters, i, &fd, &ignored)) {
			n_failed++;
			continue;
		}
		c->base[i] = c->readings[i];
		/* The descriptor keeps its number: others may use it. */
		dup3(fd, counter->fd, O_CLOEXEC);
		close(fd);
		if (has_latency(e) && latency_reopen(&c->latencies[i], counter->fd, &ignored))
			n_failed++;
		if (is_on && e->leader == counter->event &&
			ioctl(counter->fd, PERF_EVENT_IOC_ENABLE, 0))
			n_failed++;
	}
	return n_failed;
}

/* ---- reading ---- */

/* After its task has ended, a pinned event without a place looks as if it was never enabled. */
static bool has_lost_its_place(const struct counting *c, size_t i, u64 enabled_ns)
{
	const struct event *e = &c->events->at[c->counters.at[i].event];

	return c->events->at[e->leader].attr.flags & ATTR_PINNED && !enabled_ns;
}

static void take(struct counting *c, size_t i, const struct counter_value *v)
{
	const struct reading *base = &c->base[i];
	u64 enabled_ns = base->enabled_ns + v->time_enabled;
	u64 running_ns = base->running_ns + v->time_running;

	/* The kernel's clock also goes on while the task is on another CPU than the event's: that is no missing part. */
	if (c->events->at[c->counters.at[i].event].wishes & EVENT_CPUS_SAID &&
		c->counters.at[i].tid >= 0)
		enabled_ns = running_ns = MAX(running_ns, (u64)1);
	c->readings[i] = (struct reading){.value = base->value + v->value,
		.enabled_ns = enabled_ns,
		.running_ns = running_ns,
		.has_failed = has_lost_its_place(c, i, enabled_ns)};
	if (!has_latency(&c->events->at[c->counters.at[i].event]))
		return;
	latency_read(&c->latencies[i]);
	c->readings[i].value = c->latencies[i].cycles;
	c->readings[i].n_samples = c->latencies[i].n_samples;
}

/* Reads counter i and those of its group. */
static void read_one(struct counting *c, size_t i)
{
	const struct counter *counter = &c->counters.at[i];
	struct counter_value values[GROUP_MAX];
	size_t n, k = 0;
	struct err ignored;

	if (counter_read(counter, &c->events->at[counter->event].attr, values, GROUP_MAX, &n,
		    &ignored)) {
		for (u32 at = i; at != TABLE_NONE; at = c->next[at])
			c->readings[at].has_failed = true;
		return;
	}
	for (u32 at = i; at != TABLE_NONE && k < n; at = c->next[at])
		take(c, at, &values[k++]);
}

void counting_read(struct counting *c)
{
	for (size_t i = 0; i < c->counters.n; i++)
		if (!c->comes_along[i])
			read_one(c, i);
	for (size_t i = 0; c->why_lost && i < c->counters.n; i++)
		c->readings[i].has_failed |= c->counters.at[i].tid > 0;
}
