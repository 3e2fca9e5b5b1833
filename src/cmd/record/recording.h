/*
 * recording.h - one run of 'record': what is open, and who does what with it.
 *
 *     record.c         set-up, the run, its end
 *     record_output.c  what gets into files beside what comes out of rings: beginnings, ends
 *     record_switch.c  the next file
 *     record_watchers.c  the table of those that look on meanwhile, each in a file of its own:
 *     record_ring.c    what --ring keeps, and when it goes into a file
 *     record_signal.c  SIGUSR2, at which the next file begins
 *     record_trigger.c --switch-output-event: events for which the next file begins
 *     record_when.c    --when: counters beside the sampled events
 *     record_until.c   --until: how sure the hottest code's share is
 *     record_overhead.c  --max-overhead: lowers the rate
 *     record_deeper.c  larger copies of stacks, once they are needed
 *     record_wall.c    --wall: threads that come and go
 *     record_waits.c   --wall, where the kernel may not be seen: where they wait
 *     record_embed.c   what a file needs to be read elsewhere
 *     record_end.c     what is in it, in three lines
 *     record_pilot.c   what happens meanwhile: delays, --control, other files, limits
 */
#ifndef PACE_CMD_RECORDING_H
#define PACE_CMD_RECORDING_H

#include "cmd/record/record_options.h"
#include "collect/run/attach.h"
#include "collect/run/condition.h"
#include "collect/run/control.h"
#include "collect/open/counting.h"
#include "collect/record/convergence.h"
#include "collect/record/governor.h"
#include "collect/record/growth.h"
#include "collect/around/perfclock.h"
#include "collect/record/roots.h"
#include "collect/run/schedule.h"
#include "collect/record/waiting.h"
#include "collect/run/workload.h"
#include "collect/record/recorder.h"
#include "file/rotation.h"
#include "file/window.h"
#include "edit/lookback.h"
#include "record/formats.h"
#include "session/session.h"
#include "symbol/live/liveunwind.h"

/* What decides about a recording while it runs. */
struct record_pilot {
	struct recorder_pilot pilot;
	struct schedule schedule;
	u64 roots_ns;   /* when to look for containers next; UINT64_MAX: never */
	u64 hotplug_ns; /* when to look for CPUs next; UINT64_MAX: never */
	bool is_off;    /* the events are switched off at the moment */
	struct control control;
	int snapshot_fd; /* SIGUSR2; -1: nobody waits for it */
	u64 start_ns;    /* of the target */
	u64 file_ns;     /* when the present file began */
	const char *why; /* it was enough; NULL: it was not */
	bool is_told;    /* by --control stop */
};

/* --switch-output-event */
struct record_trigger {
	struct event_list events;
	struct counters counters;
	VEC(struct ring) rings; /* by counter */
};

/* When perf maps grew: names hold from then on. */
struct record_growth {
	struct growth growth;
	struct perfclock clock;
	u64 due_ns; /* when to look again; UINT64_MAX: when the kernel says so */
};

/* --ring: the file gets nothing before a snapshot is wanted. */
struct record_ring {
	struct window window;
	struct sink sink;
	struct str note; /* why the present file is written, a line each */
};

/* What is counted for a term of --when; `cycles` for ipc only. */
struct record_when_term {
	struct event_list events;
	struct counting counting;
	double total, cycles;
	u64 read_ns, quick_ns; /* when these were read, and how long it takes at least; 0: never */
};

struct record_when {
	struct condition condition;
	struct record_when_term *terms; /* as many as the condition has */
	double *values;
	u64 looked_ns, fired_ns; /* 0: never */
};

/* --until: samples are counted on their way into the file. */
struct record_until {
	struct convergence convergence;
	struct sink sink;
	const struct sink *behind; /* it gets all of them */
	struct formats formats;
	struct sample sample;
	struct str records; /* of one round */
};

/* --max-overhead: how often is sampled depends on what it costs. */
struct record_overhead {
	struct governor governor;
	unsigned cpus; /* that the target can use */
	u64 start_ns, looked_ns;
	u64 start_cpu_ns, cpu_ns; /* the recorder's own time then */
	unsigned n_changes;
	bool has_failed; /* the kernel took no other rate, which was said */
	struct perfclock clock;
	struct reweigh reweigh;
};

/* Copies of stacks are too small for a program: larger ones take their place. */
struct record_deeper {
	bool is_decided; /* whether they are needed was seen, or they cannot be had */
	u64 since_ns;    /* 0: they are not taken */
	u64 n_before;    /* stacks that were cut until then */
	char comm[16];   /* the last program of which one was */
};

/* --wall without the right to see the kernel: where threads wait is looked up, and told as samples. */
struct record_waits {
	struct waiting waiting;
	bool is_on;
	const struct event *event; /* whose samples they are */
	struct sample_format format;
	struct str out;
};

/* Files are completed by children while the recording goes on in the next one. */
struct record_aside {
	pid_t children[4];
	size_t n_children;
	bool has_said_busy;
};

/* How much is added to a file at its end: what is known anyway, what reading it back tells, all. */
enum record_depth { RECORD_NOT_READ, RECORD_READ, RECORD_EMBEDDED };

struct recording {
	const struct record_options *options;
	struct log log;
	struct event_list events;
	struct event_list unwound; /* as the file describes them, if stacks are walked meanwhile */
	struct liveunwind liveunwind;
	struct target target;
	struct workload workload;
	bool has_workload, measures_workload;
	bool is_aside;       /* this is a child that completes a file */
	bool loses_counters; /* the command is one from which the kernel takes them, which was said */
	bool has_begun; /* the target was measured: whatever comes now, the file is a recording */
	struct attach attach;
	struct roots roots; /* of containers that the command starts */
	struct counters counters;
	struct recorder recorder;
	struct writer writer;
	struct sink file; /* the writer; the recorder's, unless a watcher has put one before it */
	struct packer packer;
	int level; /* of its compression; 0: none */
	struct rotation rotation;
	struct record_pilot pilot;
	struct record_growth growth;
	struct record_ring ring;
	struct record_aside aside;
	struct record_trigger trigger;
	struct record_when when;
	struct record_until until;
	struct record_overhead overhead;
	struct record_waits waits;
	struct record_deeper deeper;
	struct str notes; /* what every file of this recording says of it, a line each */
	bool is_pipe;     /* -o -: the descriptor is the writer's, stdout is stderr */
	int pipe_fd;
	char **command;
	int argc;
	char **argv; /* the whole command line */
};

/* ---- record_output.c ---- */

/* Who reads the stream must not get what the command prints: that goes where our own messages go. */
int record_divert_stdout(struct recording *rec, struct err *err);

/* Creates the file, or begins the stream. */
int record_open_output(struct recording *rec, struct err *err);

/* What was there before the first sample; nothing with --tail-synthesize. */
int record_write_beginning(struct recording *rec, struct err *err);

/* Completes the file after the recording itself, whether that ended well or not. */
int record_finish(struct recording *rec, struct err *err);

/* Who runs what at this moment, into the file, or into `carried` for a later one. */
int record_write_state(struct recording *rec, struct str *carried, struct err *err);
void record_write_late_state(struct recording *rec); /* with --tail-synthesize */

/* Adds what the file `path` still lacks. To look back takes time, in which rings fill. */
int record_complete(struct recording *rec, const char *path, enum record_depth depth,
	struct session_tally *ret_tally, struct err *err);

/* The name that the file has in the end. */
const char *record_give_name(struct recording *rec, bool is_last);
bool record_wants_build_ids(const struct record_options *o);

/* Whether files get names with the time. */
bool record_has_rotation(const struct record_options *o);

/* ---- record_switch.c ---- */

/* Completes the present file, gives it its name, and goes on in a new one. */
int record_switch_output(struct recording *rec, struct err *err);
void record_switch_close(struct recording *rec); /* waits for what is being completed */

/* ---- record_watchers.c ---- */

/*
 * Something that an option adds to a recording: it looks on meanwhile, and decides. All slots may be NULL, and do
 * nothing where the option is not given. In the order in which they are called:
 */
struct record_watcher {
	/* Nothing is opened yet. ERR_INVAL for options that exclude each other. */
	int (*check)(const struct record_options *o, struct err *err);
	/* What it counts is opened with all others: attach_add(). */
	int (*add)(struct recording *rec, struct err *err);
	/* Behind recorder_open(): what wakes the recorder. */
	int (*open)(struct recording *rec, struct err *err);
	/* Behind record_open_output(), of the first file and of those that follow. */
	void (*begin)(struct recording *rec);
	void (*resume)(struct recording *rec);
	/* The target starts now. */
	void (*start)(struct recording *rec);
	/* When to look next, of CLOCK_MONOTONIC; UINT64_MAX: whenever something comes. */
	u64 (*due)(const struct recording *rec);
	int (*look)(struct recording *rec, struct err *err);
	/* Why the recording is to end now, or to go on in another file; NULL: it is not. */
	const char *(*is_enough)(const struct recording *rec);
	const char *(*wants_file)(struct recording *rec);
	/* Behind the last record: what was seen, on stderr and as a note of the file. */
	void (*say)(struct recording *rec);
	void (*close)(struct recording *rec);
};

extern const struct record_watcher record_ring_watcher, record_until_watcher, record_wall_watcher,
	record_waits_watcher, record_overhead_watcher, record_growth_watcher, record_deeper_watcher,
	record_trigger_watcher, record_signal_watcher, record_when_watcher;

/* All of them. */
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

/* How often at least rings are read for --ring and --until. */
enum { RECORD_ROUND_NS = 100000000 };

/* ---- what watchers do besides ---- */

/* What --ring keeps goes into the present file; `why` is one of its notes. */
int record_ring_spill(struct recording *rec, const char *why, struct err *err);

/* Behind open_events(): the same events wait with larger copies of the stack, if these may be needed. */
int record_deeper_open(struct recording *rec, struct err *err);

/* The counters of a CPU are new: --max-overhead has set their rate. */
void record_overhead_reopened(struct recording *rec, s32 cpu);

/* Appends the events that tell of --wall. */
void record_wall_add(struct recording *rec);

/* Whether where threads block is told by the kernel. */
bool record_wall_sees_kernel(void);

/* ---- record_embed.c ---- */

/* Adds the section to the file, which is whole without it; how much it does not have is said. */
void record_embed(struct recording *rec, struct lookback *back, struct file_info *info);

/* ---- record_end.c ---- */

/* Says in three lines what is in the file: samples and stacks, the hottest functions, how to see more. */
void record_say_brief(struct recording *rec, const char *path, u64 n_samples);

/* ---- record_pilot.c ---- */

/* Behind recorder_open(). */
int record_pilot_open(struct recording *rec, struct err *err);
void record_pilot_close(struct recording *rec);

/* The target starts now. */
void record_pilot_start(struct recording *rec);

#endif
