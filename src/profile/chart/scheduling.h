/*
 * scheduling.h - turns a recording's samples of the scheduler, of CPUs' power states and of system calls into a chart.
 *
 * Where the recording has no samples of sched:sched_switch, its records of context switches do: these do not tell sleeping
 * from waiting for I/O, nor when a task was woken.
 * In       visits, in the order of time
 * Out      calls of profile/chart/chart
 * Owns     what it knows of events
 * Errors   none: samples without the fields of their event are counted
 * Threads  one
 * Source   the formats in the recording: events/sched/sched_switch/format and the like
 */
#ifndef PACE_PROFILE_SCHEDULING_H
#define PACE_PROFILE_SCHEDULING_H

#include "profile/chart/chart.h"
#include "trace/visit.h"

enum scheduling_role {
	SCHEDULING_NONE,
	SCHEDULING_SWITCH,
	SCHEDULING_WAKEUP,
	SCHEDULING_WAKING,
	SCHEDULING_IDLE,
	SCHEDULING_FREQUENCY,
	SCHEDULING_ENTER, /* a system call for I/O begins */
	SCHEDULING_EXIT,
	SCHEDULING_ROLES
};

struct scheduling_field {
	u32 at; /* offset in raw data; UINT32_MAX: there is none */
	u8 size;
};

/* The most fields that an event needs. */
enum { SCHEDULING_FIELDS = 6 };

struct scheduling_event {
	u8 role;    /* enum scheduling_role */
	u8 io_kind; /* enum chart_io_kind */
	struct scheduling_field fields[SCHEDULING_FIELDS];
};

struct scheduling {
	struct chart *chart;
	const struct session *session;
	VEC(struct scheduling_event) events;
	bool has[SCHEDULING_ROLES]; /* the recording has such events */
	bool has_records;           /* of context switches */
	u32 sampler; /* the event whose samples tell where tasks ran; CHART_NONE: there is none */
	u64 n_seen;  /* samples and records that the chart was made from */
	u64 n_unreadable;
};

void scheduling_init(struct scheduling *s, struct chart *t, const struct session *session);
void scheduling_fini(struct scheduling *s);

/* Takes in one visit of a sample or another record. */
void scheduling_take(struct scheduling *s, const struct visit *v);

/* The fields of samples that it needs (PERF_SAMPLE_*). */
u64 scheduling_needs(void);

/* The system calls for I/O: "read", "write", ...; NULL after the last one. */
const char *scheduling_io_call(size_t i);

#endif
