/*
 * wallmarks.h - turns a recording's records of threads into marks for profile/gather/wall.
 *
 * In       all records of a session's first pass
 * Out      marks: births, ends, switches, wake-ups, and when samples were taken
 * Owns     its arrays; not the wall
 * Errors   none: records that cannot be read are skipped here and counted by the session
 * Threads  one
 */
#ifndef PACE_PROFILE_WALLMARKS_H
#define PACE_PROFILE_WALLMARKS_H

#include "profile/gather/wall.h"
#include "session/decoder.h"
#include "session/session.h"

/* What the samples of an event mean for wall-clock time. */
enum wall_role {
	WALL_ROLE_NONE,
	WALL_ROLE_CPU, /* taken while the thread ran; only the first such event has this role */
	WALL_ROLE_OUT, /* taken when the thread left the CPU */
	WALL_ROLE_WAIT, /* taken while it was off the CPU, by a recorder that may not see the kernel */
	WALL_ROLE_WAKE, /* a tracepoint: another thread wakes it */
};

struct wallmarks {
	struct session_observer observer;
	const struct session *session;
	struct wall *wall;
	struct session_tally ignored;
	struct decoder decoder;
	VEC(u8) roles; /* by event */
	VEC(u32)
	pid_at; /* by event: offset of the woken tid in its raw data; UINT32_MAX: not known */
};

/* Whether the session was recorded for wall-clock time: it has switches, and samples on and off CPUs. */
bool wallmarks_has_wall(const struct session *s);

/* Whether it can be read as wall-clock time: it has switches, and samples on CPUs. */
bool wallmarks_can_have_wall(const struct session *s);

/* What samples of the session's events mean: to be called again when it has other events. */
void wallmarks_learn(struct wallmarks *m, const struct session *s);

/* The thread that a sample of WALL_ROLE_WAKE wakes; false: it does not tell. */
bool wallmarks_woken(const struct wallmarks *m, u32 event, const struct sample *s, u32 *ret_tid);

/* Watches the first pass; call this before it. *m must not move until the pass is over. */
void wallmarks_watch(struct wallmarks *m, struct session *s, struct wall *w);
void wallmarks_fini(struct wallmarks *m);

/* What a record of a context switch says: WALL_IN, WALL_PREEMPTED or WALL_LEFT. */
enum wall_mark wallmarks_of_switch(const struct record *rec);

/* The event of WALL_ROLE_CPU; as many as there are events if none has that role. */
u32 wallmarks_clock(const struct session *s);

/* The role of an event of the session. */
enum wall_role wallmarks_role(const struct session *s, u32 event);

#endif
