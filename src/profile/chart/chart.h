/*
 * chart.h - what all CPUs and tasks did during a recording, in bounded memory.
 *
 * CPUs have a lane each. Tasks have lives, from their birth or the beginning to their end; lives of one name that do not
 * overlap share a row, so that a thousand compilers one after the other need no thousand rows. When there are more pieces
 * than the budget allows, all lanes are made coarser (lane.h), again and again; wake-ups and I/O likewise.
 * In       switches, wake-ups, idle states, frequencies, births, ends and I/O in the order of time; then chart_finish()
 * Out      CPUs, rows, lives, wake-ups, I/O
 * Owns     all of it
 * Units    ns of the perf clock; kHz
 * Errors   none: what contradicts (records were lost) is counted, and the task's state is unknown in between
 * Threads  one
 */
#ifndef PACE_PROFILE_CHART_H
#define PACE_PROFILE_CHART_H

#include "base/str.h"
#include "base/table.h"
#include "profile/chart/lane.h"

#define CHART_NONE UINT32_MAX

/* Why a task left a CPU. */
enum chart_leave { CHART_PREEMPTED, CHART_SLEEPS, CHART_BLOCKS, CHART_DIES, CHART_MAY_DIE };

struct chart_life {
	u32 tid, pid; /* pid 0: not known */
	const char *name;
	u64 from, until;
	u32 row;
	bool is_born, has_ended; /* in the recording */
	u64 ns[LANE_STATES];
	u32 n_runs;
};

struct chart_row {
	const char *name;
	u32 pid;            /* of its threads; 0: it has whole processes */
	u32 n_lives, first; /* the first of them */
	u64 from, until;
	u64 ns[LANE_STATES];
	struct lane lane;
};

struct chart_wake {
	u64 time;
	u32 from, to; /* lives; from CHART_NONE: an interrupt woke it, or it is not known what */
	u32 n;        /* merged into it */
	u32 stack;    /* of what woke it; 0: not known */
};

/* A time off the CPU, and where the task was. */
struct chart_wait {
	u64 from, until;
	u32 life, stack;
	u8 state; /* enum lane_state */
};

/* A sample of a task that ran. */
struct chart_sample {
	u64 time;
	u32 life, stack;
};

enum chart_io_kind {
	CHART_DISK_IN,
	CHART_DISK_OUT,
	CHART_SYNC,
	CHART_NET_IN,
	CHART_NET_OUT,
	CHART_POLL,
	CHART_IO_KINDS
};

struct chart_io {
	u64 from, until;
	u64 bytes;
	u32 life, n;   /* n: merged into it */
	s32 fd, error; /* -1: several, or none; an errno, or 0 */
	u8 kind;
};

struct chart_speed {
	u64 time, khz;
};

struct chart_cpu {
	bool is_seen, is_idle_known;
	u32 running;   /* life; CHART_NONE: idle, or not known */
	u8 idle_state; /* enum lane_state */
	struct lane lane;
	VEC(struct chart_speed) speeds;
};

struct chart_limits {
	u64 pieces, wakes, ios; /* that are kept at most; 0: no limit */
	u64 io_merge_ns; /* I/O of one task, file and result that is so close together is one */
	u64 waits;       /* with stacks, and samples, each, that are kept at most; 0: none */
};

struct chart_task { /* whoever has this tid now */
	u32 tid, pid;
	const char *name;
	u32 life; /* CHART_NONE: nothing was seen of it yet, or it has ended */
	u32 cpu;  /* while it runs */
	u8 state; /* enum lane_state, since `since` */
	bool is_ending, has_waker, is_in_io;
	bool is_listed; /* in chart.awake */
	u32 waker;
	u32 stack,
		waker_stack; /* where it left its CPU, and where it is being woken from; 0: not known */
	u64 since, io_since;
	u8 io_kind;
	s32 io_fd;
	u32 last_io[CHART_IO_KINDS];
	struct lane lane;
};

struct chart {
	struct chart_limits limits;
	u64 begin, end; /* the first and the last moment; begin UINT64_MAX: none yet */
	VEC(struct chart_cpu) cpus;
	VEC(struct chart_row) rows;
	VEC(struct chart_life) lives;
	VEC(struct chart_wake) wakes;
	VEC(struct chart_io) ios;
	VEC(struct chart_wait) waits; /* in the order of their ends; only those with stacks */
	VEC(struct chart_sample) samples;
	u64 waits_shortest; /* shorter ones were left out */
	u32 samples_every;  /* of so many samples one was kept */
	u64 n_samples;      /* all of them */
	u32 stack;    /* of the event that is being taken in; the caller's number, 0: not known */
	u64 shortest; /* pieces that are shorter may be merged; 0: none is */
	u64 wakes_shortest, io_shortest; /* the same of wake-ups and I/O */
	u64 n_pieces, n_wakes, n_ios;    /* n_wakes, n_ios: with those that were merged */
	u64 n_contradictions;
	bool has_idle, has_wakes; /* the recording says how deep CPUs sleep, and who wakes whom */
	/* Tasks that live now, by tid. */
	VEC(struct chart_task) tasks;
	VEC(u32) awake;               /* those that run or wait for a CPU, and some that did */
	struct table by_tid, by_name; /* -> tasks, rows */
	struct intern names;
};

void chart_init(struct chart *t, const struct chart_limits *limits);
void chart_fini(struct chart *t);

/* A moment that the recording covers. */
void chart_reach(struct chart *t, u64 time);

/* What is known of a task apart from its states; pid 0, name NULL: nothing new. The name need not end with a NUL. */
void chart_know(struct chart *t, u32 pid, u32 tid, const char *name, size_t n);
void chart_birth(struct chart *t, u64 time, u32 pid, u32 tid, u32 parent);

/* A task says that it exits. is_last: nothing certain comes after that; else CHART_DIES or CHART_MAY_DIE is its end. */
void chart_exit(struct chart *t, u64 time, u32 tid, bool is_last);

/* A CPU goes from one task to another; 0 is the idle task. */
void chart_switch(struct chart *t, u64 time, u32 cpu, u32 prev, enum chart_leave why, u32 next);

/* For recordings that say of each task alone when it came and left. CHART_NONE: the CPU is not known. */
void chart_in(struct chart *t, u64 time, u32 cpu, u32 tid);
void chart_out(struct chart *t, u64 time, u32 cpu, u32 tid, enum chart_leave why);

/* Whether anything was seen of the task since it began. */
bool chart_has_seen(struct chart *t, u32 tid);

/* `waker` 0: an interrupt. A task that is already awake has no use for it, and it is not counted. */
void chart_waking(struct chart *t, u32 tid, u32 waker);
void chart_wakeup(struct chart *t, u64 time, u32 tid, u32 waker);

void chart_idle(struct chart *t, u64 time, u32 cpu, u32 state); /* UINT32_MAX: it is awake */
void chart_frequency(struct chart *t, u64 time, u32 cpu, u64 khz);

void chart_io_begin(struct chart *t, u64 time, u32 tid, enum chart_io_kind kind, s32 fd);
void chart_io_end(struct chart *t, u64 time, u32 tid, s64 result);

/* The task was sampled while it ran. */
void chart_sampled(struct chart *t, u64 time, u32 tid);

/*
 * Events of that CPU up to `time` are missing. What ran there and what waited for any CPU may have done anything since: it
 * is not known until it is seen again. CHART_NONE: of any CPU.
 */
void chart_loss(struct chart *t, u64 time, u32 cpu);

/* All records were seen: ends what still lives at the end of the recording. */
void chart_finish(struct chart *t);

/* The bytes that it holds. */
u64 chart_bytes(const void *chart);

/* Merges all pieces shorter than `shortest`. */
void chart_coarsen(struct chart *t, u64 shortest);

const char *chart_state_name(enum lane_state state);

#endif
