/*
 * sideband.h - what records beside the samples tell of a moment: how many threads ran, in which namespaces.
 *
 * In       all records of a session's first pass
 * Out      for a time the number of threads that were on a CPU; for a thread and a time its cgroup namespace
 * Owns     texts, valid until sideband_fini()
 * Units    times as session_sample.time
 * Errors   none: records that cannot be read are counted by who reads them for their own sake
 * Threads  behind sideband_settle() any number of readers
 * Source   linux/perf_event.h: PERF_RECORD_SWITCH, PERF_RECORD_NAMESPACES, struct perf_ns_link_info
 *
 * A thread that leaves a CPU and was never seen to come to one, nor to begin, ran from the beginning on.
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
	const char *cgroup; /* MOMENTS_NAMESPACES: "dev/0xinode" */
};

struct sideband_running {
	u64 time; /* from then on */
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

/* Before the first pass, which it watches. *m must stay where it is until the pass is over. */
void sideband_watch(struct sideband *m, struct session *s);
/* After it. */
void sideband_settle(struct sideband *m);
void sideband_fini(struct sideband *m);

/* per sample: at least 1, as somebody ran who was sampled */
u32 sideband_parallelism(const struct sideband *m, u64 time);
/* per sample: NULL if no record tells */
const char *sideband_cgroup_namespace(const struct sideband *m, u32 tid, u64 time);

#endif
