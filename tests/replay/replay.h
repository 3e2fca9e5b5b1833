/*
 * replay.h - a machine that is not here: its PMUs, and counts that were written down.
 *
 * libreplay.so (LD_PRELOAD) stands between a program and the kernel: perf_event_open() and what is done
 * with its descriptors, files that describe PMUs and CPUs, and the instruction rdpmc. The program's own
 * code for opening, grouping, reading, scaling and decoding is what runs.
 *
 * In       REPLAY_PLAN    a file that replay.py wrote: `struct machine` has its words
 *          REPLAY_LOG     a file to which each opening and each refusal is added, a line each
 * Out      what the kernel would answer; nothing of the program's reaches the real perf_event_open()
 * Threads  any; one lock (replay.c) around all that is here
 * Source   Linux 6.12: kernel/events/core.c, arch/x86/events/core.c and intel/core.c; each rule in
 *          rules.c names its function
 */
#ifndef PACE_TESTS_REPLAY_H
#define PACE_TESTS_REPLAY_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	PMUS_MAX = 64,
	CPUS_MAX = 64,
	EVENTS_MAX = 4096,
	SCRIPTS_MAX = 512,
	FIXED_MAX = 8,
	LIMITS_MAX = 32,
	METRICS_MAX = 8,
	CHAIN_MAX = 16,
	BRANCHES_MAX = 32,
	TYPE_SHIFT = 32, /* above it in a generic event's config: the PMU's type */
};

enum pmu_kind {
	KIND_INTEL,  /* a core's, with the rules of arch/x86/events/intel */
	KIND_AMD,    /* a core's, arch/x86/events/amd */
	KIND_ARM,    /* a core's, drivers/perf/arm_pmu.c */
	KIND_UNCORE, /* counts for a whole package; never for a task */
	KIND_PLAIN,  /* takes what comes: msr, power */
};

/* The counters that events of some codes may use. */
struct limit {
	uint64_t first, last; /* event select, with the unit mask if it is above 0xff */
	uint32_t counters;
};

struct pmu {
	char name[32];
	uint32_t type;
	enum pmu_kind kind;
	uint64_t cpus;               /* a bit each; 0: all */
	unsigned n_gp;               /* general purpose counters */
	uint64_t fixed[FIXED_MAX];   /* config of each fixed counter; ~0: none */
	unsigned n_fixed, n_metrics; /* metrics: topdown-* of PERF_METRICS */
	unsigned max_precise;
	bool has_rtm, has_aux, no_rdpmc;     /* transactions; loads need mem-loads-aux */
	uint64_t generic[PERF_COUNT_HW_MAX]; /* 0: the processor has no such event */
	struct limit limits[LIMITS_MAX];
	unsigned n_limits;
};

/* What an event counts: one line of a plan. */
struct script {
	uint32_t type;
	uint64_t config;
	int cpu;           /* -1: each */
	unsigned running;  /* percent of the time for which it is on a counter */
	double rate;       /* events a ms; 0: `values` */
	uint64_t every_ns; /* the next value is added in the middle of each; 0: by each read */
	uint64_t *values;
	size_t n_values;
};

/* One moment of the slots counter and of what PERF_METRICS divides it into. */
struct step {
	uint64_t slots, parts[METRICS_MAX];
};

/* A sample that is delivered when its event is enabled. */
struct scripted_sample {
	uint32_t type;
	uint64_t config, ip, addr, weight, ins_latency, retire_latency, transaction, data_src,
		period;
	uint64_t count; /* so many times */
	/* As the kernel writes them: contexts among the callers; of each branch from, to and flags, the newest first. */
	uint64_t chain[CHAIN_MAX], branches[3 * BRANCHES_MAX];
	unsigned n_chain, n_branch_words;
	uint64_t ax; /* of the registers at the interrupt; the others are 0 */
	bool has_ax;
};

struct machine {
	char root[512]; /* files that stand for /sys/... and /proc/... */
	unsigned n_cpus;
	struct pmu pmus[PMUS_MAX];
	unsigned n_pmus;
	struct script scripts[SCRIPTS_MAX];
	unsigned n_scripts;
	struct step *steps;
	size_t n_steps, step; /* the next */
	struct scripted_sample samples[SCRIPTS_MAX];
	unsigned n_samples;
};

/* A descriptor that perf_event_open() returned. */
struct event {
	bool is_open;
	int fd, cpu, memory; /* memory: of its pages; -1: none yet */
	pid_t pid;
	struct perf_event_attr attr;
	const struct pmu *pmu; /* NULL: the kernel's own (software) */
	uint64_t config;       /* that the PMU counts: of generic events, too */
	struct script *script; /* NULL: none is written down */
	struct event *leader, *output;
	uint64_t id;
	int index; /* of its counter, as in the user page; 0: none */
	/* Counting. */
	bool is_on, was_on;
	bool waits; /* for exec(), until seen_ns at least */
	uint64_t enabled_ns, since_ns, seen_ns, count, base;
	size_t n_taken; /* of the script's values */
	/* Its ring. */
	struct perf_event_mmap_page *page;
	size_t page_bytes;
	bool is_delivered;
};

extern struct machine machine;

/* plan.c: NULL or what is wrong. */
const char *plan_read(const char *path);
struct script *plan_script(uint32_t type, uint64_t config, int cpu);
void replay_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* rules.c: 0, or the error that the kernel would return. `event` has its leader but is not in its group. */
int rules_check(struct event *event);
bool rules_is_slots(const struct event *e);
bool rules_is_metric(const struct event *e);

/* counts.c */
void counts_switch(struct event *e, bool is_on);
void counts_reset(struct event *e);
/* Events that wait for exec() begin to count if it has happened since: true if there are any. */
bool counts_notice_exec(void);
ssize_t counts_read(struct event *e, void *buffer, size_t size);
void counts_page(struct event *e);
void counts_place(struct event *leader);
bool counts_register(uint32_t number, uint64_t *ret_value);

/* samples.c: what is written down for this event goes to its ring. */
void samples_deliver(struct event *e);
/* The words of a read(), as in samples; the number of bytes. */
size_t counts_words(struct event *e, uint64_t words[3 + 3 * 64]);

/* replay.c */
struct event *event_next(struct event *after); /* NULL: the first */
void event_wake(struct event *e);

#define each_event(e) for (struct event * (e) = event_next(NULL); (e); (e) = event_next(e))

#endif
