/*
 * sideband.h - what side-band records tell of a moment: how many threads ran, and in which namespaces.
 *
 * In       all records of a session's first pass
 * Out      the number of threads on a CPU at a time; the cgroup namespace of a thread at a time
 * Owns     texts, valid until sideband_fini()
 * Units    times as session_sample.time
 * Errors   none: records that cannot be read are skipped here and counted by the session
 * Threads  any number of readers after sideband_settle()
 * Source   linux/perf_event.h: PERF_RECORD_SWITCH, PERF_RECORD_NAMESPACES, struct perf_ns_link_info
 *
 * A thread that leaves a CPU without a record of its birth or of coming to a CPU ran from the beginning.
 */
#ifndef PACE_PROFILE_SIDEBAND_H
#define PACE_PROFILE_SIDEBAND_H

#include "base/str.h"
#include "session/session.h"

enum sideband_kind { SIDEBAND_BORN, SIDEBAND_IN, SIDEBAND_OUT, SIDEBAND_NAMESPACES };

struct sideband_mark {
	u64 time, offset; /* offset: in the file */
	u32 tid;
	u8 kind;
	const char *cgroup; /* SIDEBAND_NAMESPACES: "dev/0xinode" */
};

struct sideband_running {
	u64 time; /* when the number changed to n */
	u32 n;
};

struct sideband {
	struct session_observer observer;
	const struct session *session;
	struct intern strings;
	VEC(struct sideband_mark) marks;
	VEC(struct sideband_running) running;    /* by time */
	VEC(struct sideband_mark) of_namespaces; /* by tid, time */
};

/* Watches the first pass; call this before it. *m must not move until the pass is over. */
void sideband_watch(struct sideband *m, struct session *s);
/* Makes the answers ready; call this after the pass. */
void sideband_settle(struct sideband *m);
void sideband_fini(struct sideband *m);

/* per sample: at least 1, because the sampled thread ran */
u32 sideband_parallelism(const struct sideband *m, u64 time);
/* per sample: NULL if no record tells */
const char *sideband_cgroup_namespace(const struct sideband *m, u32 tid, u64 time);

#endif
