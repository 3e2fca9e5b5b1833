/*
 * api_counter.c - counters and groups that are open: switching, reading, notification.
 */
#include "api.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

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

/* ---- reading ---- */

static struct pace_value value_of(const struct counter_value *v)
{
	return api_public_value(v, true);
}

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
