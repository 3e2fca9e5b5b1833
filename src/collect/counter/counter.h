/*
 * counter.h - one opened event on one CPU or thread: reading, switching, identifying.
 *
 * Owns     its file descriptor
 * Errors   ERR_SYS with the call and the event's name; reading a pinned counter that lost its place
 *          on the PMU gives ERR_LIMIT
 * Source   perf_event_open(2)
 */
#ifndef PACE_COLLECT_COUNTER_H
#define PACE_COLLECT_COUNTER_H

#include <sys/types.h>

#include "base/err.h"
#include "base/types.h"
#include "base/vec.h"
#include "event/event.h"

struct counter {
	int fd;
	u32 event; /* position in the event list */
	s32 cpu;   /* -1: wherever the task runs */
	pid_t tid; /* -1: every task on the CPU; 0: this thread */
	u64 id;
	u64 n_told_lost; /* samples it lost that a recording already reports */
	/* Bytes of the user's stack in its samples; 0: as its event says (collect/run/deeper.h). */
	u32 stack_bytes;
	bool is_idle; /* never switched on: other counters of its event replace it */
};

struct counters {
	struct counter *at;
	size_t n, cap;
};

/*
 * perf_event_open(2): an fd, or -1 and errno. glibc has no such function. Ours is weak, so that the
 * one of a libc, a test or a program linked with libpace.a takes precedence. In libpace.so the name
 * is private.
 */
int perf_event_open(const struct event_attr *attr, pid_t pid, int cpu, int group_fd,
	unsigned long flags);

/*
 * The counter of an event on the same CPU and thread as `beside`, or NULL. The search starts at
 * *hint, which is then set behind the result: callers that go in the order of opening find each
 * counter at once.
 */
struct counter *counters_find(const struct counters *counters, u32 event,
	const struct counter *beside, size_t *hint);

struct counter_value {
	u64 value, time_enabled,
		time_running; /* 0 unless the attr's read_format asks for the times */
	u64 id, lost;
};

/*
 * Reads one counter, or with PERF_FORMAT_GROUP a leader's whole group: *ret_n values, at most
 * `max`. All values of a group were counted over the same time.
 */
int counter_read(const struct counter *c, const struct event_attr *attr,
	struct counter_value *ret_values, size_t max, size_t *ret_n, struct err *err);

/* Fetches the id: Linux >= 3.12 has an ioctl for it, older kernels give it with a read. */
int counter_fetch_id(struct counter *c, const struct event_attr *attr, struct err *err);

/*
 * Counters of tasks are switched twice: a task cloned meanwhile may keep the old state on a CPU.
 * (Seen on Linux 6.18: tasks with the same events swap them when one follows the other on a CPU,
 * and a clone of such a task is then no longer made under the lock that switching takes.) The
 * second pass reaches it. Counters of whole CPUs have no clones.
 */
enum { COUNTER_PASSES = 2 };

static inline bool counter_is_switched(const struct counter *c, unsigned pass)
{
	return !c->is_idle && (!pass || c->tid >= 0);
}

int counters_enable(const struct counters *counters, struct err *err);

/*
 * Switches the events of a name on or off; NULL: all but the tracker (EVENT_TRACKER). ERR_NOENT if
 * no event has the name.
 */
int counters_switch(const struct counters *counters, const struct event_list *events,
	const char *name, bool is_on, struct err *err);
int counters_disable(const struct counters *counters, struct err *err);
void counters_close(struct counters *counters);

#endif
