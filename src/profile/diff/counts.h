/*
 * counts.h - turns readings of counters into counts: for all, or for each CPU, core, socket or thread.
 *
 * The value of a counter that was on the PMU for a part of its time is scaled up; the size of that part is
 * kept, and so is whether it ran at all: zero, not counted and not supported are three different results.
 * In       opened counters and their readings: one run or many; intervals
 * Out      a count for each event and place
 * Owns     counts and places
 * Units    values in the event's unit (ms for clocks), times in ns
 */
#ifndef PACE_PROFILE_COUNTS_H
#define PACE_PROFILE_COUNTS_H

#include "base/mem.h"
#include "base/vec.h"
#include "collect/open/counting.h"
#include "collect/around/topology.h"
#include "profile/maths/variance.h"

enum counts_scope {
	COUNTS_ALL,
	COUNTS_SOCKET,
	COUNTS_DIE,
	COUNTS_CLUSTER,
	COUNTS_CACHE,
	COUNTS_CORE,
	COUNTS_NODE,
	COUNTS_CPU,
	COUNTS_THREAD,
};

struct counts_place {
	const char *name; /* "S0-D0-C1", "CPU3", "bash-812"; "" for COUNTS_ALL */
	s32 key[4];       /* identifies it; the last number is its scope */
	u32 n_counters;   /* CPUs or threads: the most counters that one event has here */
	u32 found;        /* scratch: its position before sorting */
	s32 core[3];      /* of COUNTS_CPU with shows_cores: the core that the CPU is a thread of */
};

struct count {        /* of one event in one place */
	double value; /* scaled, in the event's unit */
	u64 raw;      /* unscaled */
	u64 enabled_ns, running_ns;
	u32 n_counters;
	u64 n_samples; /* EVENT_RETIRE_LATENCY: the value is the mean of so many; 0: a table's */
	u32 n_idle;    /* enabled, but never on the PMU */
	u32 n_failed;  /* pinned, but lost their place */
};

/* Source of the topology of CPUs and the names of threads: this machine, or a recording. */
struct counts_places {
	void (*topology)(const void *ctx, s32 cpu, struct topology *ret);
	/* False if the name is not known. */
	bool (*comm)(const void *ctx, pid_t tid, char *buf, size_t size);
	const void *ctx;
};

extern const struct counts_places counts_here;

enum count_state {
	COUNT_OK,
	COUNT_NEVER_RAN,  /* was never on the PMU */
	COUNT_NOT_OPENED, /* could not be opened */
};

struct counts_total { /* of one event in one place, over the runs */
	struct variance values;
	u64 raw, enabled_ns, running_ns, n_samples;
	u32 n_counters, n_idle, n_failed;
	struct variance rates; /* of multiplexed slices: count per ms on the PMU */
};

struct counts {
	const struct event_list *events;
	const struct counting *counting;
	enum counts_scope scope;
	s32 cache_level; /* of COUNTS_CACHE; 0: the last level */
	bool is_unscaled;
	bool shows_cores; /* COUNTS_CPU: percore events have at each CPU the count of its whole core */
	VEC(struct counts_place) places;
	u32 *place_of;          /* by counter */
	bool *is_double;        /* by counter: another counter of its package counts the same */
	struct reading *before; /* by counter: when the interval began */
	struct reading *slice;  /* by counter: when the slice began */
	struct count *now;      /* [event * places.n + place]: the last interval or run */
	struct counts_total *totals;
	u64 n_runs;
	const u32 *pass_of; /* by event: the pass (set of runs) that counted it; NULL: every run */
	struct variance elapsed_ns, user_ns, system_ns;
	struct arena arena;
};

void counts_init(struct counts *s, const struct event_list *events, enum counts_scope scope);
void counts_fini(struct counts *s);

/* Begins a run with these counters. */
void counts_begin(struct counts *s, const struct counting *counting,
	const struct counts_places *places);

/* Puts the counts since the interval began into s->now, and begins the next interval. */
void counts_take_interval(struct counts *s);

/* Puts the counts since counts_begin() into s->now and adds them to s->totals. */
void counts_take_run(struct counts *s);

/* Ends a slice of a run, to learn how steady multiplexed counters are. True if any counter is multiplexed. */
bool counts_take_slice(struct counts *s);

static inline struct count *counts_now(const struct counts *s, u32 event, u32 place)
{
	return &s->now[event * s->places.n + place];
}

static inline struct counts_total *counts_total(const struct counts *s, u32 event, u32 place)
{
	return &s->totals[event * s->places.n + place];
}

/* The mean of all runs, as one count. */
struct count counts_mean(const struct counts *s, u32 event, u32 place);

enum count_state count_state(const struct count *c);

/*
 * Why the count, or a part of it, is missing: a sentence that lives as long as the arena; NULL if nothing is
 * missing.
 */
const char *counts_reason(const struct counts *s, u32 event, const struct count *c,
	struct arena *arena);

/* The share of its enabled time that the count was on the PMU, 0 to 1. */
double count_share(const struct count *c);

/* Half of the 95% interval of a scaled count, as a share of the count; < 0: not known. */
double counts_scaling_error(const struct counts_total *t);

/* The unit of a count: "msec", "Joules", or ""; and the factor from the raw count to that unit. */
const char *counts_unit(const struct event *e);
double counts_scale(const struct event *e);
bool counts_is_clock(const struct event *e);
/* Its value is a mean of cycles, not a count. */
bool counts_is_latency(const struct event *e);

#endif
