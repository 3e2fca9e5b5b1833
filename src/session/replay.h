/*
 * replay.h - the counters of a stat recording, and their readings at each moment.
 *
 * A first walk finds all counters, a second one hands out moment by moment what they had counted.
 * In       a session on a file that `stat record` wrote, pace's or perf's
 * Out      a struct counting whose readings change with each moment
 * Owns     the counting, the events' units
 * Errors   ERR_FORMAT if it is not such a recording; ERR_LIMIT if its counts would take more memory than the
 *          recording is allowed (file/allowance.h)
 * Source   perf.data-file-format.txt: STAT_CONFIG, STAT, STAT_ROUND, EVENT_UPDATE
 */
#ifndef PACE_SESSION_REPLAY_H
#define PACE_SESSION_REPLAY_H

#include "base/str.h"
#include "base/table.h"
#include "collect/open/counting.h"
#include "file/statfile.h"
#include "session/session.h"

struct replay {
	struct session *session;
	struct statfile_config config;
	struct counting counting;
	struct table index;  /* of counters, by (id, cpu, thread) */
	struct table places; /* of the first counter on each (cpu, thread) */
	VEC(u32) threads;    /* by counter: its thread's number in the recording */
	VEC(s32) tids;       /* of the recording's threads */
	VEC(const char *) comms;
	struct reader_cursor cursor;
	struct arena arena;
	bool is_open;  /* the cursor is open */
	bool is_found; /* the first walk is over */
	u64 n_undecoded;
	u64 n_unknown; /* records and rounds of unknown types */
};

struct replay_moment {
	bool is_final;
	u64 time_ns; /* since the start */
};

int replay_open(struct replay *r, struct session *session, struct err *err);
void replay_close(struct replay *r);

/* 1: the readings are those of *ret_moment; 0: the end; < 0: error. */
int replay_next(struct replay *r, struct replay_moment *ret_moment, struct err *err);

#endif
