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
	u64 n_told_lost; /* samples it lost that are in a recording */
	/* Of the user's stack in its samples; 0: what its event says (collect/run/deeper.h). */
	u32 stack_bytes;
	bool is_idle; /* nobody switches it on: others of its event are in its place */
};

struct counters {
	struct counter *at;
	size_t n, cap;
};

/*
 * perf_event_open(2): an fd, or -1 and errno. glibc has no such function; ours is weak, so that of
 * a libc that has one, or of a test or a program that is linked with libpace.a, wins. In libpace.so the name
 * is its own affair.
 */
int perf_event_open(const struct event_attr *attr, pid_t pid, int cpu, int group_fd,
	unsigned long flags);

/*
 * The counter of an event at the place of another one, or NULL. `hint` is where it is looked for first, and
 * then where it was found: who asks in the order of opening gets his answer at once.
 */
struct counter *counters_find(const struct counters *counters, u32 event,
	const struct counter *beside, size_t *hint);

struct counter_value {
	u64 value, time_enabled,
		time_running; /* the times are 0 unless the attr's read_format asks for them */
	u64 id, lost;
};

/*
 * Reads one counter, or with PERF_FORMAT_GROUP the whole group of a leader: up to `max` values,
 * *ret_n of them. All values of a group were counted over the same time.
 */
int counter_read(const struct counter *c, const struct event_attr *attr,
	struct counter_value *ret_values, size_t max, size_t *ret_n, struct err *err);

/* Linux >= 3.12 tells the id by ioctl; older ones by a read. */
int counter_fetch_id(struct counter *c, const struct event_attr *attr, struct err *err);

/*
 * Counters of tasks are switched twice: who is cloned meanwhile may be left as it was on a CPU (seen on Linux
 * 6.18: tasks with the same events swap them when one follows the other, and a clone of such a task is no longer
 * made under the lock that switching takes). The second time reaches it. Those of whole CPUs have no clones.
 */
enum { COUNTER_PASSES = 2 };

static inline bool counter_is_switched(const struct counter *c, unsigned pass)
{
	return !c->is_idle && (!pass || c->tid >= 0);
}

int counters_enable(const struct counters *counters, struct err *err);

/*
 * Switches the events of a name on or off; NULL: all but the one that nobody asked for. ERR_NOENT if
 * there is none.
 */
int counters_switch(const struct counters *counters, const struct event_list *events,
	const char *name, bool is_on, struct err *err);
int counters_disable(const struct counters *counters, struct err *err);
void counters_close(struct counters *counters);

#endif
