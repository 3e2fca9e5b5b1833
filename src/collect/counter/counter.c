#include "collect/counter/counter.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bytes.h"
#include "event/abi.h"

/* A weak symbol, visible in libpace.a: the program's or its libc's function takes precedence. */
__attribute__((weak, visibility("default"))) int perf_event_open(const struct event_attr *attr,
	pid_t pid, int cpu, int group_fd, unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
}

struct counter *counters_find(const struct counters *counters, u32 event,
	const struct counter *beside, size_t *hint)
{
	for (size_t k = 0; k < counters->n; k++) {
		size_t i = (*hint + k) % counters->n;
		struct counter *c = &counters->at[i];

		if (c->event != event || c->cpu != beside->cpu || c->tid != beside->tid ||
			c->stack_bytes != beside->stack_bytes)
			continue;
		*hint = i + 1;
		return c;
	}
	return NULL;
}

/* Reads a value and the optional words behind it. */
static bool take_value(struct bytes *b, u64 format, struct counter_value *v)
{
	return bytes_u64(b, &v->value) && (!(format & PERF_FORMAT_ID) || bytes_u64(b, &v->id)) &&
		(!(format & PERF_FORMAT_LOST) || bytes_u64(b, &v->lost));
}

static bool take_times(struct bytes *b, u64 format, struct counter_value *v)
{
	return (!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) || bytes_u64(b, &v->time_enabled)) &&
		(!(format & PERF_FORMAT_TOTAL_TIME_RUNNING) || bytes_u64(b, &v->time_running));
}

static bool decode_values(struct bytes *b, u64 format, struct counter_value *values, size_t max,
	size_t *ret_n)
{
	struct counter_value first = {0};
	u64 n = 1;

	if (!(format & PERF_FORMAT_GROUP)) {
		u64 value;

		*ret_n = 1;
		values[0] = (struct counter_value){0};
		if (!bytes_u64(b, &value) || !take_times(b, format, &values[0]))
			return false;
		values[0].value = value;
		return (!(format & PERF_FORMAT_ID) || bytes_u64(b, &values[0].id)) &&
			(!(format & PERF_FORMAT_LOST) || bytes_u64(b, &values[0].lost));
	}
	if (!bytes_u64(b, &n) || n > max || !take_times(b, format, &first))
		return false;
	for (u64 i = 0; i < n; i++) {
		values[i] = first;
		if (!take_value(b, format, &values[i]))
			return false;
	}
	*ret_n = n;
	return true;
}

int counter_read(const struct counter *c, const struct event_attr *attr,
	struct counter_value *ret_values, size_t max, size_t *ret_n, struct err *err)
{
	u64 words[3 + 3 * 512];
	struct bytes b;
	ssize_t n;

	do {
		n = read(c->fd, words, sizeof(words));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_sys(err, errno, "reading a counter");
	/* By an end of file the kernel says that a pinned event could not stay on the PMU. */
	if (n == 0)
		return err_set(err, ERR_LIMIT,
			"a pinned event lost its place on the PMU and counts no more");
	b = bytes_of(words, n);
	if (!decode_values(&b, attr->read_format, ret_values, max, ret_n))
		return err_set(err, ERR_FORMAT,
			"the kernel returned %zd bytes for read_format 0x%llx", n,
			(unsigned long long)attr->read_format);
	return 0;
}

int counter_fetch_id(struct counter *c, const struct event_attr *attr, struct err *err)
{
	struct counter_value values[512];
	size_t n;

	if (ioctl(c->fd, PERF_EVENT_IOC_ID, &c->id) == 0)
		return 0;
	/*
	 * Before 3.12. A group read lists the leader first and the newest counter, which is this
	 * one, last.
	 */
	if (counter_read(c, attr, values, ARRAY_SIZE(values), &n, err))
		return err->code;
	c->id = values[n - 1].id;
	return 0;
}

static int control(const struct counters *counters, unsigned long request, const char *what,
	struct err *err)
{
	for (unsigned pass = 0; pass < COUNTER_PASSES; pass++)
		vec_each(c, counters)
			if (counter_is_switched(c, pass) && ioctl(c->fd, request, 0))
				return err_sys(err, errno, "%s an event", what);
	return 0;
}

int counters_enable(const struct counters *counters, struct err *err)
{
	return control(counters, PERF_EVENT_IOC_ENABLE, "enabling", err);
}

int counters_disable(const struct counters *counters, struct err *err)
{
	return control(counters, PERF_EVENT_IOC_DISABLE, "disabling", err);
}

int counters_switch(const struct counters *counters, const struct event_list *events,
	const char *name, bool is_on, struct err *err)
{
	unsigned long request = is_on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;
	bool is_found = false;

	for (unsigned pass = 0; pass < COUNTER_PASSES; pass++)
		vec_each(c, counters) {
			const struct event *e = &events->at[c->event];

			if (name ? strcmp(e->name, name) != 0 : e->wishes & EVENT_TRACKER)
				continue;
			is_found = true;
			if (counter_is_switched(c, pass) && ioctl(c->fd, request, 0))
				return err_sys(err, errno, "switching event '%s'", e->name);
		}
	return is_found || !name ? 0 : err_set(err, ERR_NOENT, "there is no event '%s'", name);
}

void counters_close(struct counters *counters)
{
	vec_each(c, counters)
		close(c->fd);
	vec_fini(counters);
}
