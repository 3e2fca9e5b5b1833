#include "collect/around/perfclock.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/counter/counter.h"
#include "event/abi.h"

enum { VALID_NS = 1000000000 }; /* clocks drift apart by less than a microsecond in a second */

int perfclock_open(struct perfclock *c, const struct event_attr *like, struct err *err)
{
	struct event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = ATTR_SIZE_VER5,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.flags = ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV | ATTR_COMM | ATTR_SAMPLE_ID_ALL |
			(like->flags & ATTR_USE_CLOCKID),
		.clockid = like->flags & ATTR_USE_CLOCKID ? like->clockid : 0};

	memset(c, 0, sizeof(*c));
	c->fd = perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (c->fd < 0)
		return err_sys(err, errno, "opening an event that tells the time");
	if (ring_open(&c->ring, c->fd, 1, err)) {
		close(c->fd);
		c->fd = -1;
		return err->code;
	}
	return 0;
}

void perfclock_close(struct perfclock *c)
{
	if (c->fd < 0)
		return;
	ring_close(&c->ring);
	close(c->fd);
	c->fd = -1;
}

/* Gets the clock's time from a record, which ends with pid, tid and time. */
static u64 ask(struct perfclock *c)
{
	char name[17] = "";
	struct record rec;
	u64 time = 0;

	if (prctl(PR_GET_NAME, name) || prctl(PR_SET_NAME, name))
		return 0;
	ring_acquire(&c->ring);
	while (ring_next(&c->ring, &rec))
		if (rec.type == PERF_RECORD_COMM && rec.size >= sizeof(u64))
			time = load_u64(rec.at + rec.size - sizeof(u64));
	ring_release(&c->ring);
	return time;
}

u64 perfclock_now(struct perfclock *c)
{
	u64 now = clock_now_ns(), time;

	if (c->fd < 0)
		return 0;
	if (!c->is_known || now - c->asked_ns >= VALID_NS) {
		time = ask(c);
		if (!time)
			return 0;
		c->asked_ns = now;
		c->ahead = time - now;
		c->is_known = true;
	}
	return now + c->ahead;
}
