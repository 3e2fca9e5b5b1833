/*
 * api.c - the public functions that count: thin calls into the stages.
 */
#include "api.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "collect/counter.h"
#include "collect/refusal.h"
#include "event/abi.h"
#include "event/parse.h"

_Static_assert((int)PACE_ERROR_LIMIT == (int)ERR_LIMIT,
	"public and internal error codes are the same numbers");
_Static_assert(sizeof(((struct pace_error *)0)->message) >= sizeof(((struct err *)0)->msg),
	"messages fit");

struct pace_counter {
	struct counter counter;
	struct event_attr attr;
};

int api_give_error(const struct err *from, struct pace_error *to)
{
	to->code = from->code;
	to->system = from->sys;
	memcpy(to->message, from->msg, sizeof(from->msg));
	return from->code;
}

PUBLIC const char *pace_version(void)
{
	return PACE_VERSION;
}

static int parse_one(const char *event, struct event_attr *ret_attr, struct err *err)
{
	const struct parse_env env = {.sysfs = "/sys"};
	struct event_list events = {0};
	int r = parse_events(event, &env, &events, err);

	if (!r && events.n != 1)
		r = err_set(err, ERR_INVAL, "event '%s': expected one event, not %zu", event,
			events.n);
	if (!r)
		*ret_attr = events.at[0].attr;
	event_list_fini(&events);
	return r;
}

PUBLIC struct pace_counter *pace_counter_open(const char *event, pid_t pid, int cpu,
	struct pace_error *ret_err)
{
	struct pace_counter *c;
	struct event_attr attr;
	struct err err;
	int fd;

	if (pid == -1 && cpu == -1) {
		err_set(&err, ERR_INVAL,
			"pid -1 (everybody) needs a CPU, cpu -1 (anywhere) needs a process: choose one");
		api_give_error(&err, ret_err);
		return NULL;
	}
	if (parse_one(event, &attr, &err)) {
		api_give_error(&err, ret_err);
		return NULL;
	}
	attr.size = MAX(attr_needed_size(&attr), (u32)ATTR_SIZE_VER7);
	attr.flags |= ATTR_DISABLED;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = perf_event_open(&attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		refusal_explain(&attr, event, pid, cpu, errno, &err);
		api_give_error(&err, ret_err);
		return NULL;
	}
	c = mem_zalloc(sizeof(*c));
	c->counter = (struct counter){.fd = fd, .cpu = cpu, .tid = pid};
	c->attr = attr;
	return c;
}

PUBLIC void pace_counter_close(struct pace_counter *c)
{
	if (!c)
		return;
	close(c->counter.fd);
	mem_free(c);
}

static int control(struct pace_counter *c, unsigned long request, const char *what,
	struct pace_error *ret_err)
{
	struct err err;

	if (ioctl(c->counter.fd, request, 0) == 0)
		return 0;
	err_sys(&err, errno, "%s a counter", what);
	return api_give_error(&err, ret_err);
}

PUBLIC int pace_counter_enable(struct pace_counter *c, struct pace_error *err)
{
	return control(c, PERF_EVENT_IOC_ENABLE, "enabling", err);
}

PUBLIC int pace_counter_disable(struct pace_counter *c, struct pace_error *err)
{
	return control(c, PERF_EVENT_IOC_DISABLE, "disabling", err);
}

PUBLIC int pace_counter_reset(struct pace_counter *c, struct pace_error *err)
{
	return control(c, PERF_EVENT_IOC_RESET, "resetting", err);
}

PUBLIC int pace_counter_read(struct pace_counter *c, struct pace_value *ret_value,
	struct pace_error *ret_err)
{
	struct counter_value v;
	struct err err;
	size_t n;

	if (counter_read(&c->counter, &c->attr, &v, 1, &n, &err))
		return api_give_error(&err, ret_err);
	*ret_value = (struct pace_value){v.value, v.time_enabled, v.time_running};
	return 0;
}

PUBLIC int pace_counter_fd(const struct pace_counter *c)
{
	return c->counter.fd;
}
