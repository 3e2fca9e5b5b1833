#include "collect/counter/presence.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "event/abi.h"

static const struct event_attr idle = {.type = PERF_TYPE_SOFTWARE,
	.size = ATTR_SIZE_VER0,
	.config = PERF_COUNT_SW_DUMMY,
	.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};

void presence_open(struct presence *p, const struct event_attr *attr, pid_t pid, int cpu,
	unsigned long flags)
{
	struct event_attr a = idle;

	p->fd = -1;
	if (pid < 0 || cpu < 0 || flags & PERF_FLAG_PID_CGROUP)
		return;
	a.flags = attr->flags &
		(ATTR_DISABLED | ATTR_ENABLE_ON_EXEC | ATTR_INHERIT | ATTR_INHERIT_STAT |
			ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV);
	p->fd = perf_event_open(&a, pid, cpu, -1, flags);
}

void presence_close(struct presence *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

void presence_enable(const struct presence *p)
{
	if (p->fd >= 0)
		ioctl(p->fd, PERF_EVENT_IOC_ENABLE, 0);
}

void presence_disable(const struct presence *p)
{
	if (p->fd >= 0)
		ioctl(p->fd, PERF_EVENT_IOC_DISABLE, 0);
}

u64 presence_read(const struct presence *p)
{
	const struct counter c = {.fd = p->fd};
	struct counter_value there;
	struct err ignored;
	size_t n;

	if (p->fd < 0 || counter_read(&c, &idle, &there, 1, &n, &ignored))
		return UINT64_MAX;
	return there.time_running;
}

void presence_correct(u64 there, u64 leader_running, struct counter_value *value)
{
	if (there == UINT64_MAX || !leader_running)
		return;
	value->time_enabled = value->time_running;
	if (there > leader_running + PRESENCE_TOLERANCE_NS)
		value->time_enabled = (u64)((double)value->time_running *
			((double)there / (double)leader_running));
}
