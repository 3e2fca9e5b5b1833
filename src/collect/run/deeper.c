#include "collect/run/deeper.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "collect/open/open.h"
#include "event/abi.h"

static void close_idle(struct counters *counters)
{
	size_t n = 0;

	vec_each(c, counters) {
		if (c->is_idle)
			close(c->fd);
		else
			counters->at[n++] = *c;
	}
	counters->n = n;
}

static int open_idle(const struct event_list *events, struct counters *counters, size_t n,
	u32 stack_bytes, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		struct counter c = counters->at[i];
		const struct event *e = &events->at[c.event];

		/* The tracker: its records have no stacks. */
		if (!(e->attr.sample_type & PERF_SAMPLE_STACK_USER))
			continue;
		c = (struct counter){.fd = -1,
			.event = c.event,
			.cpu = c.cpu,
			.tid = c.tid,
			.stack_bytes = stack_bytes,
			.is_idle = true};
		vec_add(counters, c);
		if (!open_again(events, counters, counters->n - 1, &c.fd, err)) {
			counters->at[counters->n - 1].fd = c.fd;
			continue;
		}
		counters->n--;
		/* A thread that has ended needs no counter. */
		if (err->sys != ESRCH)
			return err->code;
	}
	return 0;
}

int deeper_open(struct event_list *events, struct counters *counters, u32 stack_bytes,
	struct err *err)
{
	enum { OTHERS = 64 };
	size_t n = counters->n;
	struct err ignored;

	if (open_raise_limit(2 * n + OTHERS, err))
		return err->code;
	if (!open_idle(events, counters, n, stack_bytes, err) &&
		!open_fetch_ids(events, counters, err))
		return 0;
	close_idle(counters);
	open_fetch_ids(events, counters, &ignored);
	return err->code;
}

bool deeper_is_there(const struct counters *counters)
{
	vec_each(c, counters)
		if (c->is_idle && c->stack_bytes)
			return true;
	return false;
}

static bool has_taken_over(const struct counters *counters, const struct counter *c)
{
	vec_each(other, counters)
		if (other->stack_bytes && other->event == c->event)
			return true;
	return false;
}

int deeper_take_over(struct counters *counters, bool is_off, struct err *err)
{
	vec_each(c, counters)
		if (c->stack_bytes)
			c->is_idle = false;
	if (!is_off && counters_enable(counters, err)) {
		vec_each(c, counters) {
			c->is_idle = c->stack_bytes != 0;
			if (c->is_idle)
				ioctl(c->fd, PERF_EVENT_IOC_DISABLE, 0);
		}
		return err->code;
	}
	/* The others are disabled, and stay so. */
	for (unsigned pass = 0; pass < COUNTER_PASSES; pass++)
		vec_each(c, counters)
			if (!c->stack_bytes && has_taken_over(counters, c) &&
				counter_is_switched(c, pass))
				ioctl(c->fd, PERF_EVENT_IOC_DISABLE, 0);
	vec_each(c, counters)
		if (!c->stack_bytes && has_taken_over(counters, c))
			c->is_idle = true;
	return 0;
}
