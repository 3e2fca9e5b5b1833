/*
 * wallmarks.h - what a recording tells of threads that come and go, as marks for profile/gather/wall.
 *
 * In       all records of a session's first pass
 * Out      marks: births, ends, switches, wake-ups, and when samples were taken
 * Owns     nothing of the wall's
 * Errors   none: records that cannot be read are counted by who reads them for their own sake
 * Threads  one
 */
#ifndef PACE_PROFILE_WALLMARKS_H
#define PACE_PROFILE_WALLMARKS_H

#include "profile/gather/wall.h"
#include "session/decoder.h"
#include "session/session.h"

/* What samples of an event are to the wall clock. */
enum wall_role {
	WALL_ROLE_NONE,
	WALL_ROLE_CPU, /* taken while the thread ran: of all such events the first */
	WALL_ROLE_OUT, /* taken when it left the CPU */
	WALL_ROLE_WAIT, /* taken while it was off the CPU, by a recorder that may not see the kernel */
	WALL_ROLE_WAKE, /* a tracepoint: somebody wakes it */
};

struct wallmarks {
	struct session_observer observer;
	const struct session *session;
	struct wall *wall;
	struct session_tally ignored;
	struct decoder decoder;
	VEC(u8) roles; /* by event */
	VEC(u32)
	pid_at; /* by event: where its raw bytes have who is woken; UINT32_MAX: nobody knows */
};

/* Whether it was made to be read so: it has switches, and samples on both sides of them. */
bool wallmarks_has_wall(const struct session *s);

/* Whether it can be read so: it has switches, and samples on CPUs. */
bool wallmarks_can_have_wall(const struct session *s);

/* Before the first pass, which it watches. *m must stay where it is until the pass is over. */
void wallmarks_watch(struct wallmarks *m, struct session *s, struct wall *w);
void wallmarks_fini(struct wallmarks *m);

/* By event of the session: enum wall_role. */
enum wall_role wallmarks_role(const struct session *s, u32 event);

#endif
