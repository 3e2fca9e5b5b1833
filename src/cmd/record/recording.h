/*
 * recording.h - one run of 'record': its state, and which file does what with it.
 *
 *     record.c         set-up, the run, its end
 *     record_output.c  what files hold besides the contents of rings: their beginnings and ends
 *     record_switch.c  the next file
 *     record_watchers.c  the table of watchers, each of which has its own file:
 *     record_ring.c    what --ring keeps, and when it goes into a file
 *     record_signal.c  SIGUSR2, which starts the next file
 *     record_trigger.c --switch-output-event: events that start the next file
 *     record_when.c    --when: counters next to the sampled events
 *     record_until.c   --until: how certain the share of the hottest code is
 *     record_overhead.c  --max-overhead: lowers the rate
 *     record_deeper.c  larger copies of stacks, when they are needed
 *     record_wall.c    --wall: context switches and wake-ups
 *     record_waits.c   --wall without access to the kernel: where threads wait
 *     record_embed.c   what a file needs to be read elsewhere
 *     record_end.c     sums up the file in three lines
 *     record_pilot.c   what happens while recording: delays, --control, other files, limits
 */
#ifndef PACE_CMD_RECORDING_H
#define PACE_CMD_RECORDING_H

#include "cmd/record/record_options.h"
#include "cmd/record/record_wall.h"
#include "collect/run/attach.h"
#include "collect/run/condition.h"
#include "collect/run/control.h"
#include "collect/open/counting.h"
#include "collect/record/convergence.h"
#include "collect/record/pacing.h"
#include "collect/record/growth.h"
#include "collect/around/perfclock.h"
#include "collect/record/roots.h"
#include "collect/run/schedule.h"
#include "collect/run/workload.h"
#include "collect/record/recorder.h"
#include "file/rotation.h"
#include "file/window.h"
#include "edit/lookback.h"
#include "record/formats.h"
#include "session/session.h"
#include "trace/liveunwind.h"

/* What steers a recording while it runs. */
struct record_pilot {
	struct recorder_pilot pilot;
	struct schedule schedule;
	u64 roots_ns;   /* when to look for containers next; UINT64_MAX: never */
	u64 hotplug_ns; /* when to look for CPUs next; UINT64_MAX: never */
	bool is_off;    /* the events are switched off at the moment */
	struct control control;
	int snapshot_fd; /* receives SIGUSR2; -1: not used */
	u64 start_ns;    /* when the target started */
	u64 file_ns;     /* when the current file began */
	const char *why; /* why the recording ends; NULL: it goes on */
	bool is_told;    /* the reason is a --control stop */
};

/* --switch-output-event */
struct record_trigger {
	struct event_list events;
	struct counters counters;
	VEC(struct ring) rings; /* by counter */
};

/* When perf maps grew: their names hold from then on. */
struct record_growth {
	struct growth growth;
	struct perfclock clock;
	u64 due_ns; /* when to look again; UINT64_MAX: when the kernel says so */
};

/* --ring: the file stays empty until a snapshot is wanted. */
struct record_ring {
	struct window window;
	struct sink sink;
	struct str note; /* why the current file is written, one reason per line */
};

/* The counters of a term of --when; `cycles` is for ipc only. */
struct record_when_term {
	struct event_list events;
	struct counting counting;
	double total, cycles;
	u64 read_ns, quick_ns; /* when they were read, and the shortest time that took; 0: never */
};

struct record_when {
	struct condition condition;
	struct record_when_term *terms; /* one for each term of the condition */
	double *values;
	u64 looked_ns, fired_ns; /* 0: never */
};

/* --until: samples are counted on their way into the file. */
struct record_until {
	struct convergence convergence;
	struct sink sink;
	const struct sink *behind; /* receives the records afterwards */
	struct formats formats;
	struct sample sample;
	struct str records; /* those of one round */
};

/* Copies of the stack that are too small for a program are replaced by larger ones. */
struct record_deeper {
	bool is_decided; /* larger ones were seen to be needed, or cannot be had */
	u64 since_ns;    /* when they began; 0: they are not used */
	u64 n_before;    /* stacks that were cut off until then */
	char comm[16];   /* the last program with such a stack */
};

/* Files are completed by children while the recording goes on in the next one. */
struct record_aside {
	pid_t children[4];
	size_t n_children;
	bool has_said_busy;
};

/* How much is added to a file at its end: what is known anyway, also what reading it back tells, everything. */
enum record_depth { RECORD_NOT_READ, RECORD_READ, RECORD_EMBEDDED };

struct recording {
	const struct record_options *options;
	struct log log;
	struct event_list events;
	struct event_list unwound; /* as the file describes them, if stacks are walked now */
	struct liveunwind liveunwind;
	struct target target;
	struct workload workload;
	bool has_workload, measures_workload;
	bool is_aside;       /* this is a child that completes a file */
	bool loses_counters; /* the kernel takes them from this command, which was reported */
	bool has_begun;      /* the target was measured: from now on the file is a recording */
	struct attach attach;
	struct roots roots; /* of containers that the command starts */
	struct counters counters;
	struct recorder recorder;
	struct writer writer;
	struct sink file; /* the writer; watchers may put their own sinks before it */
	struct packer packer;
	int level; /* of compression; 0: none */
	struct rotation rotation;
	struct record_pilot pilot;
	struct record_growth growth;
	struct record_ring ring;
	struct record_aside aside;
	struct record_trigger trigger;
	struct record_when when;
	struct record_until until;
	struct pacing pacing; /* --max-overhead */
	struct record_waits waits;
	struct record_deeper deeper;
	struct str notes; /* notes for every file of this recording, one per line */
	bool is_pipe;     /* -o -: the descriptor is the writer's, stdout is stderr */
	int pipe_fd;
	char **command;
	int argc;
	char **argv; /* the whole command line */
};

/* ---- record_output.c ---- */

/* Creates the file, or begins the stream. */
int record_open_output(struct recording *rec, struct err *err);

/* Writes what existed before the first sample; nothing with --tail-synthesize. */
int record_write_beginning(struct recording *rec, struct err *err);

/* Completes the file after the recording, whether that ended well or not. */
int record_finish(struct recording *rec, struct err *err);

/* Writes which tasks and maps exist now, into the file, or into `carried` for a later one. */
int record_write_state(struct recording *rec, struct str *carried, struct err *err);
void record_write_late_state(struct recording *rec); /* with --tail-synthesize */

/* Adds what the file `path` still lacks. Reading it back takes time, in which rings fill. */
int record_complete(struct recording *rec, const char *path, enum record_depth depth,
	struct session_tally *ret_tally, struct err *err);

/* Renames the file if it has to have the time in its name; returns its final name. */
const char *record_give_name(struct recording *rec, bool is_last);
bool record_wants_build_ids(const struct record_options *o);

/* Whether the time is appended to the names of files. */
bool record_has_rotation(const struct record_options *o);

/* ---- record_switch.c ---- */

/* Completes the current file, names it, and continues in a new one. */
int record_switch_output(struct recording *rec, struct err *err);
void record_switch_close(struct recording *rec); /* waits for the children that complete files */

/* ---- record_watchers.c ---- */

/*
 * Something that an option adds to a recording: it watches the recording and decides about it. Every slot may be NULL,
 * and does nothing unless the option is given. The slots are called in this order:
 */
struct record_watcher {
	/* Before anything is opened. ERR_INVAL: options that exclude each other. */
	int (*check)(const struct record_options *o, struct err *err);
	/* Adds the watcher's own counters with attach_add(), to be opened with all others. */
	int (*add)(struct recording *rec, struct err *err);
	/* After recorder_open(): sets up what wakes the recorder. */
	int (*open)(struct recording *rec, struct err *err);
	/* After record_open_output(): `begin` for the first file, `resume` for later ones. */
	void (*begin)(struct recording *rec);
	void (*resume)(struct recording *rec);
	/* When the target starts. */
	void (*start)(struct recording *rec);
	/* When to look next (CLOCK_MONOTONIC); UINT64_MAX: whenever something comes. */
	u64 (*due)(const struct recording *rec);
	int (*look)(struct recording *rec, struct err *err);
	/* Why the recording has to end now, or to continue in another file; NULL: it does not. */
	const char *(*is_enough)(const struct recording *rec);
	const char *(*wants_file)(struct recording *rec);
	/* After the last record: reports what was seen, on stderr and as a note in the file. */
	void (*say)(struct recording *rec);
	void (*close)(struct recording *rec);
};

extern const struct record_watcher record_ring_watcher, record_until_watcher, record_wall_watcher,
	record_waits_watcher, record_overhead_watcher, record_growth_watcher, record_deeper_watcher,
	record_trigger_watcher, record_signal_watcher, record_when_watcher;

/* Call the slot of every watcher. */
int record_watchers_check(const struct record_options *o, struct err *err);
int record_watchers_add(struct recording *rec, struct err *err);
int record_watchers_open(struct recording *rec, struct err *err);
void record_watchers_begin(struct recording *rec);
void record_watchers_resume(struct recording *rec);
void record_watchers_start(struct recording *rec);
u64 record_watchers_due(const struct recording *rec); /* the earliest */
int record_watchers_look(struct recording *rec, struct err *err);
const char *record_watchers_enough(const struct recording *rec);
const char *record_watchers_want_file(struct recording *rec);
void record_watchers_say(struct recording *rec);
void record_watchers_close(struct recording *rec);

/* The longest time between two readings of the rings for --ring and --until. */
enum { RECORD_ROUND_NS = 100000000 };

/* ---- what else watchers offer ---- */

/* Writes what --ring has kept into the current file; `why` becomes one of its notes. */
int record_ring_spill(struct recording *rec, const char *why, struct err *err);

/* After open_events(): opens the same events with larger copies of the stack, disabled, if these may be needed. */
int record_deeper_open(struct recording *rec, struct err *err);

/* ---- record_embed.c ---- */

/* Adds the section to the file, which is complete without it, and reports what is left out. */
void record_embed(struct recording *rec, struct lookback *back, struct file_info *info);

/* ---- record_cache.c ---- */

/* Keeps the files of the table of build-ids in perf's cache, as far as they are still the builds that ran. */
void record_fill_cache(struct recording *rec, const struct file_info *info);

/* ---- record_end.c ---- */

/* Prints three lines about the file: samples and stacks, the hottest functions, how to see more. */
void record_say_brief(struct recording *rec, const char *path, u64 n_samples);

/* ---- record_pilot.c ---- */

/* After recorder_open(). */
int record_pilot_open(struct recording *rec, struct err *err);
void record_pilot_close(struct recording *rec);

/* When the target starts. */
void record_pilot_start(struct recording *rec);

#endif
