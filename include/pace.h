/*
 * pace.h - libpace: performance counters for programs that measure themselves, and the recordings
 * of perf and pace.
 *
 * The chapters: counting, reading recordings, sampling, and measuring whole programs with all their
 * threads.
 *
 *     struct pace_error err;
 *     struct pace_counter *c = pace_counter_open("instructions:u", 0, -1, &err);
 *     if (!c)
 *             fprintf(stderr, "%s\n", err.message);
 *     pace_counter_enable(c, &err);
 *     ... the work ...
 *     struct pace_value v;
 *     pace_counter_read(c, &v, &err);
 *     printf("%llu\n", (unsigned long long)v.value);
 *     pace_counter_close(c);
 *
 * Promises  no global state, no printing, no exit; every function that can fail says why in a
 *           struct pace_error that the caller owns, even if memory runs out (ENOMEM in its `system`):
 *           an open that fails leaves nothing open; a recording whose reading fails so can only be closed
 * Threads   a counter belongs to one thread at a time; different counters may belong to different threads
 * Link      -lpace (pkg-config --cflags --libs pace); libpace.a with pkg-config --static. In it
 *           perf_event_open() is weak: the one of a libc that has it, or of the program, is called.
 *           libpace.so makes the system call itself
 * Manual    pace(3); its HISTORY gives today's names of config, record_type and record types in texts from before
 *           Linux 2.6.31. doc/perf-data.md describes recordings
 */
#ifndef PACE_H
#define PACE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0" */
const char *pace_version(void);

/* Negative numbers that functions return and store in pace_error.code. */
enum pace_error_code {
	PACE_ERROR_SYSTEM = -1,      /* a system call failed: see pace_error.system */
	PACE_ERROR_PERMISSION = -2,  /* the message says which setting or capability is missing */
	PACE_ERROR_NOT_FOUND = -3,   /* no such event, process, CPU, control group */
	PACE_ERROR_ARGUMENT = -4,    /* arguments that contradict each other */
	PACE_ERROR_FORMAT = -5,      /* bytes that break their format */
	PACE_ERROR_UNSUPPORTED = -6, /* this machine or kernel cannot do it */
	/* a limit is reached; a pinned counter that lost its place on the PMU */
	PACE_ERROR_LIMIT = -7,
};

struct pace_error {
	int code;
	int system; /* errno of the failed call, or 0 */
	char message[1024];
};

/* ---- counters ---- */

enum pace_counted {
	/* Never on the hardware (time_running is 0), or never switched on: the value means nothing. */
	PACE_NOT_COUNTED,
	PACE_COUNTED, /* counted all the time it was switched on: the value is exact */
	PACE_ESTIMATED, /* counted for a part of the time: other counters had the hardware; see time_running */
};

struct pace_value {
	uint64_t value; /* as the kernel counted it; always 64 bits wide */
	/* ns that the counter was switched on while its task ran, on its CPU if it has one */
	uint64_t time_enabled;
	uint64_t time_running; /* ns of these that it was on the hardware */
	uint64_t id;           /* the kernel's id of the counter, which samples carry */
	uint64_t lost;         /* samples that were lost because the ring was full (Linux 6.0) */
	enum pace_counted counted;
	/*
	 * The estimate for all of time_enabled: the value if PACE_COUNTED; value * time_enabled / time_running, which
	 * assumes that the rest was like the part, if PACE_ESTIMATED; NAN if PACE_NOT_COUNTED.
	 */
	double scaled;
};

struct pace_counter;

/*
 * Opens an event, written as for `pace record -e` (one event, no group), switched off.
 * pid   0 the calling thread; > 0 that process's main thread, or that thread; -1 everybody (then
 *       cpu must be >= 0)
 * cpu   -1 wherever the thread runs; >= 0 only there
 * NULL on failure. Close it with pace_counter_close().
 */
struct pace_counter *pace_counter_open(const char *event, pid_t pid, int cpu,
	struct pace_error *err);
void pace_counter_close(struct pace_counter *counter); /* NULL is fine */

/* 0, or a negative enum pace_error_code. */
int pace_counter_enable(struct pace_counter *counter, struct pace_error *err);
int pace_counter_disable(struct pace_counter *counter,
	struct pace_error *err); /* keeps the count */
int pace_counter_reset(struct pace_counter *counter,
	struct pace_error *err); /* count to 0; the times go on */

/* PACE_ERROR_LIMIT: a pinned counter could not stay on the PMU; it has to be enabled again. */
int pace_counter_read(struct pace_counter *counter, struct pace_value *ret_value,
	struct pace_error *err);

/* The file descriptor: for poll(2), fcntl(2), and whatever perf_event_open(2) allows. */
int pace_counter_fd(const struct pace_counter *counter);

/* The event's name as given. Lives as long as the counter. */
const char *pace_counter_name(const struct pace_counter *counter);

/* "Joules" and the factor that turns values into them; NULL and 1.0: values are counts of events. */
const char *pace_counter_unit(const struct pace_counter *counter, double *ret_scale);

/*
 * The difference of two reads of one counter, scaled by the share of the hardware that it had in between.
 * PACE_ERROR_ARGUMENT if the second read was not later, or there was a reset between them.
 */
int pace_value_between(const struct pace_value *first, const struct pace_value *second,
	struct pace_value *ret_value, struct pace_error *err);

/*
 * Translates an event without opening it: the first `size` bytes of a struct perf_event_attr, for programs that call
 * perf_event_open(2) themselves. PACE_ERROR_LIMIT if the event needs more bytes.
 */
int pace_event_parse(const char *event, void *ret_attr, size_t size, struct pace_error *err);

/* An event of this machine, as `pace list` shows it. Its pointers are valid during the call. */
struct pace_listed {
	const char *name;  /* as events are written */
	const char *alias; /* another way to write it, or NULL */
	const char *kind;  /* hardware, software, cache, pmu, raw, breakpoint, table, tracepoint */
	const char *group; /* a PMU, a topic, a system of tracepoints, or NULL */
	const char *description; /* or NULL */
	const char *unit;        /* "Joules", or NULL */
	int is_form;        /* 1: not an event, but a way to write events: "rNNN", "mem:ADDRESS" */
	int opens;          /* 1 if it can be opened here and now */
	const char *reason; /* why it cannot be opened, or only without the kernel; or NULL */
};

/*
 * Calls `see` for each event that can be measured here, until it returns something other than 0, which is then
 * returned. `word` is what `pace list` takes: a kind, a PMU, a pattern like "sched:*", text in names or descriptions;
 * NULL: everything but tracepoints. PACE_ERROR_NOT_FOUND: nothing matches.
 */
int pace_events_list(const char *word, int (*see)(void *context, const struct pace_listed *listed),
	void *context, struct pace_error *err);

/* ---- how to open ---- */

enum pace_flag {
	PACE_ENABLED = 1 << 0,        /* counts from the beginning */
	PACE_ENABLE_ON_EXEC = 1 << 1, /* counts from the next exec of its task */
	PACE_INHERIT = 1 << 2,        /* also counts threads and children that start later */
	PACE_INHERIT_STAT = 1 << 3,   /* with PACE_INHERIT: each task keeps its own counts */
	/* On the PMU whenever its task runs, or in error: see pace_counter_read(). Leaders only. */
	PACE_PINNED = 1 << 4,
	PACE_EXCLUSIVE = 1 << 5, /* nothing else on the PMU at the same time. Leaders only. */
	/*
	 * Reads without a system call where kernel and CPU allow it, and with read(2) otherwise. Only for counters of
	 * the calling thread (pid 0, cpu -1); each takes a page of the mlock limit.
	 */
	PACE_USER_READ = 1 << 6,
	/*
	 * Sampling: records of maps, names, forks and exits go to the ring too, and samples carry their thread and time
	 * (PERF_SAMPLE_TID, PERF_SAMPLE_TIME), so that addresses can be named.
	 */
	PACE_SIDE_BAND = 1 << 7,
	/* Sampling: the ring keeps the latest records, not the first; see pace_ring_read(). */
	PACE_KEEP_LATEST = 1 << 8,
	/*
	 * Sampling: records what pace_sample_callers() needs, however programs were built: the kernel's part of the
	 * call chain, the user's registers and `stack_bytes` of the stack. A sample is then a few KiB large, and its
	 * ring needs 8 pages or more.
	 */
	PACE_CALLERS = 1 << 9,
	/*
	 * Sampling cycles on machines without a counter for them, like most virtual machines: uses the timer cpu-clock
	 * instead, and pace_counter_name() says so.
	 */
	PACE_FALLBACK = 1 << 10,
};

/* All members 0: the same as pace_counter_open(). */
struct pace_options {
	unsigned flags;     /* enum pace_flag */
	const char *cgroup; /* count only tasks of this control group; needs pid -1 and cpu >= 0 */

	/* Sampling counters have one of these two; in a group the leader has it. */
	uint64_t period;    /* take a sample every so many events */
	uint64_t frequency; /* take about so many samples per second */
	uint64_t sample;    /* PERF_SAMPLE_* of linux/perf_event.h: what samples hold */
	uint64_t branches;  /* PERF_SAMPLE_BRANCH_*, with PERF_SAMPLE_BRANCH_STACK */
	/* poll(2) returns after so many samples or bytes; both 0: when half of the ring is full */
	uint32_t wakeup_samples, wakeup_bytes;
	/* Masks of registers, by the numbers of asm/perf_regs.h, and bytes of the user's stack: */
	uint64_t user_regs;   /* with PERF_SAMPLE_REGS_USER: as the program had them */
	uint64_t intr_regs;   /* with PERF_SAMPLE_REGS_INTR: at the place of the sample */
	uint32_t stack_bytes; /* with PERF_SAMPLE_STACK_USER or PACE_CALLERS: 8 to 65528; 0: 8192 */
	uint32_t max_chain;   /* addresses of a call chain; 0: kernel.perf_event_max_stack */
	uint64_t reserved[5]; /* 0 */
};

struct pace_counter *pace_counter_open_with(const char *event, pid_t pid, int cpu,
	const struct pace_options *options, struct pace_error *err);

/* 1 if reading needs no system call at the moment, else 0. */
int pace_counter_is_user_read(const struct pace_counter *counter);

/* Switches all counters that the calling thread has opened, whatever they count. */
int pace_counters_enable_all(struct pace_error *err);
int pace_counters_disable_all(struct pace_error *err);

/* ---- groups ---- */

/*
 * Counters that are on the PMU together or not at all, so that their values belong together. The
 * first one leads.
 */
struct pace_group;

/*
 * Opens events given as "a,b,c" or "{a,b,c}:u", in that order, except that Intel's slots come before the topdown-
 * metrics. options may be NULL.
 */
struct pace_group *pace_group_open(const char *events, pid_t pid, int cpu,
	const struct pace_options *options, struct pace_error *err);
void pace_group_close(struct pace_group *group); /* NULL is fine */

/* All members in one call. */
int pace_group_enable(struct pace_group *group, struct pace_error *err);
int pace_group_disable(struct pace_group *group, struct pace_error *err);
int pace_group_reset(struct pace_group *group, struct pace_error *err);

/*
 * Reads all values in one call, in the order of the events, over the same time. Returns their number; PACE_ERROR_LIMIT
 * if `max` is smaller.
 */
int pace_group_read(struct pace_group *group, struct pace_value *ret_values, size_t max,
	struct pace_error *err);

size_t pace_group_size(const struct pace_group *group);

/*
 * A member, numbered from 0, to be switched or read on its own. The group owns it: do not close it. Disabling the
 * leader stops all members; disabling another member stops only that one, which then has counted for a shorter time
 * than pace_group_read() reports. NULL: there is no such member.
 */
struct pace_counter *pace_group_counter(struct pace_group *group, size_t number);

/* ---- what a region's time goes to: TopDown ---- */

/*
 * On Intel processors since Ice Lake a thread can ask, at any moment and without a system call, what the slots of its pipeline were used
 * for: each could have issued an operation in each cycle.
 *
 *     struct pace_topdown *t = pace_topdown_open(&err);
 *     struct pace_topdown_point begin;
 *     struct pace_topdown_shares s;
 *
 *     pace_topdown_begin(t, &begin, &err);
 *     ... the region ...
 *     if (pace_topdown_end(t, &begin, &s, &err) == 0)
 *             printf("Retiring %.2f%%\n", s.share[PACE_RETIRING] * 100);
 *
 * A pace_topdown belongs to the thread that opened it. Its registers are 0 again after each read(2) of such a counter, so it is a group of
 * its own and is never read in this way.
 */
struct pace_topdown;

enum pace_topdown_share {
	/* Level 1: together all slots. */
	PACE_RETIRING,
	PACE_BAD_SPECULATION,
	PACE_FRONTEND_BOUND,
	PACE_BACKEND_BOUND,
	/* Level 2, since Sapphire Rapids: two parts of each of these, of which the second is what the first leaves. */
	PACE_HEAVY_OPERATIONS,
	PACE_LIGHT_OPERATIONS,
	PACE_BRANCH_MISPREDICTS,
	PACE_MACHINE_CLEARS,
	PACE_FETCH_LATENCY,
	PACE_FETCH_BANDWIDTH,
	PACE_MEMORY_BOUND,
	PACE_CORE_BOUND,
	PACE_TOPDOWN_SHARES,
};

/* What makes a result doubtful. */
enum pace_topdown_doubt {
	/*
	 * Fewer than 10000 slots (some 2000 cycles): what was in flight at both ends, up to 512 operations at each, is a large part of the
	 * region. Measure a larger part of the program: basic blocks are too small.
	 */
	PACE_TOPDOWN_SHORT = 1 << 0,
	/* `error` is above 0.05: the region is short beside what came since the last reset. Call pace_topdown_reset() before it. */
	PACE_TOPDOWN_COARSE = 1 << 1,
};

struct pace_topdown_point {
	uint64_t slots, metrics; /* the registers */
	uint64_t period;         /* counts the resets */
};

struct pace_topdown_shares {
	uint64_t slots; /* that passed in the region */
	double share
		[PACE_TOPDOWN_SHARES]; /* of these: 0 to 1; NAN: this processor does not have level 2 */
	double error; /* the processor rounds to a 255th: shares are off by less than this, those that are what others leave by twice this */
	unsigned doubts; /* enum pace_topdown_doubt; 0: none */
};

/*
 * Opens and starts the counters of the calling thread, for its own code only, not the kernel's. PACE_ERROR_UNSUPPORTED: the processor does
 * not have these registers, or the kernel does not let programs read them.
 */
struct pace_topdown *pace_topdown_open(struct pace_error *err);
void pace_topdown_close(struct pace_topdown *topdown); /* NULL is fine */

/* 1 or 2: how many levels this processor has. */
int pace_topdown_level(const struct pace_topdown *topdown);

/*
 * Notes the registers. Regions may be nested or overlap. If no other is open and the last reset is more than 2 s ago, the counters are
 * reset first, because shares lose precision as slots add up. PACE_ERROR_LIMIT: others have the PMU now (or, with two kinds of cores,
 * the thread is on one without these registers). PACE_ERROR_ARGUMENT: the caller is another thread, or a child after fork(2).
 */
int pace_topdown_begin(struct pace_topdown *topdown, struct pace_topdown_point *ret_begin,
	struct pace_error *err);

/*
 * What the slots since `begin` were used for. Errors as above; PACE_ERROR_ARGUMENT also if there was a reset since, or no slot has passed.
 */
int pace_topdown_end(struct pace_topdown *topdown, const struct pace_topdown_point *begin,
	struct pace_topdown_shares *ret_shares, struct pace_error *err);

/* Begins a new period: both registers are 0. Regions that are open cannot be ended any more. */
int pace_topdown_reset(struct pace_topdown *topdown, struct pace_error *err);

/* ---- notification ---- */

/*
 * From now on the calling thread gets `signal` (0: none) for each overflow of a counter that has a period, with or
 * without a ring: see sigaction(2), SA_SIGINFO; si_fd is pace_counter_fd(). Signals below SIGRTMIN do not queue: two
 * that arrive while one is pending are one.
 */
int pace_counter_notify(struct pace_counter *counter, int signal, struct pace_error *err);

/* Switches the counter on for `overflows` more overflows; then it switches itself off, and poll(2) reports POLLHUP. */
int pace_counter_refresh(struct pace_counter *counter, unsigned overflows, struct pace_error *err);

/* ---- recordings ---- */

/*
 * A perf.data file of any dialect, from perf or from pace: a file, a directory, a pipe, memory.
 *
 *     static int count(void *context, const struct pace_sample *s)
 *     {
 *             ((uint64_t *)context)[0] += s->period;
 *             return 0;
 *     }
 *
 *     uint64_t sum = 0;
 *     struct pace_recording *r = pace_recording_open("perf.data", &err);
 *     struct pace_slots slots = {.context = &sum, .sample = count};
 *     if (!r || pace_recording_read(r, PACE_TIME_ORDER, &slots, &err) < 0)
 *             fprintf(stderr, "%s\n", err.message);
 *     pace_recording_close(r);
 *
 * A recording belongs to one thread at a time.
 */
struct pace_recording;

struct pace_recording *pace_recording_open(const char *path, struct pace_error *err);

/* Reads from a descriptor of a file or pipe, which remains the caller's. */
struct pace_recording *pace_recording_open_fd(int fd, struct pace_error *err);

/* Reads from a copy of these bytes. */
struct pace_recording *pace_recording_open_memory(const void *bytes, size_t size,
	struct pace_error *err);
void pace_recording_close(struct pace_recording *recording); /* NULL is fine */

struct pace_event {
	const char *name;
	const void
		*attr; /* struct perf_event_attr of attr_size bytes, in this machine's byte order */
	uint32_t attr_size;
	const uint64_t *ids;
	uint32_t n_ids;
};

/* Events are numbered from 0. In pipe mode more of them may come during reading. */
uint32_t pace_recording_events(const struct pace_recording *recording);
int pace_recording_event(const struct pace_recording *recording, uint32_t number,
	struct pace_event *ret_event, struct pace_error *err);

/* What the recording says about itself. NULL: unknown. */
struct pace_facts {
	const char *hostname, *release, *arch, *cpu, *cpuid, *version;
	const char *const *command; /* n_command words */
	uint32_t n_command;
	uint64_t n_cpus, total_memory_kb;
	uint64_t first_time, last_time; /* ns; 0: unknown */
};
void pace_recording_facts(const struct pace_recording *recording, struct pace_facts *ret_facts);

struct pace_record {
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc;
	uint16_t size;
	const void *bytes; /* `size` of them, header included, in this machine's byte order */
	uint64_t offset;   /* in the file */
	/* ns; 0: none. In a recording without times, the offset */
	uint64_t time;
	uint32_t event; /* UINT32_MAX: no event that is described */
};

enum pace_branch_flag { /* for pace_branch.flags; the rest is as in struct perf_branch_entry */
	PACE_BRANCH_MISPREDICTED = 1 << 0,
	PACE_BRANCH_PREDICTED = 1 << 1, /* neither of both: the hardware does not tell */
	PACE_BRANCH_IN_TRANSACTION = 1 << 2,
	PACE_BRANCH_ABORT = 1 << 3,
};

struct pace_branch {
	uint64_t from, to;
	uint64_t flags;
};

/* The mode of the CPU: PERF_RECORD_MISC_CPUMODE_MASK. */
enum pace_mode {
	PACE_MODE_UNKNOWN,
	PACE_MODE_KERNEL,
	PACE_MODE_USER,
	PACE_MODE_HYPERVISOR,
	PACE_MODE_GUEST_KERNEL,
	PACE_MODE_GUEST_USER,
};

/* Registers: a value for each bit of the mask, the lowest bit's first. */
struct pace_regs {
	uint64_t abi; /* 0: no registers, 1: of a 32-bit program, 2: of a 64-bit program */
	uint64_t mask;
	const uint64_t *values;
	uint32_t n_values;
};

struct pace_source;

/* The fields of a sample; those that were not recorded are 0. */
struct pace_sample {
	const struct pace_record *record;
	uint64_t fields; /* PERF_SAMPLE_* of its event */
	uint32_t pid, tid, cpu;
	uint64_t time, ip, addr, id, stream_id, period, weight, data_src, phys_addr, cgroup;
	uint64_t transaction;
	/* n_chain addresses, innermost first, with PERF_CONTEXT_* markers, possibly also at the end */
	const uint64_t *chain;
	uint64_t n_chain;
	const void *raw; /* n_raw bytes: the fields of a tracepoint */
	uint32_t n_raw;
	uint32_t n_branches;
	const struct pace_branch *branches; /* n_branches, newest first */

	enum pace_mode mode;
	uint64_t data_page_size, code_page_size;
	/* With PERF_SAMPLE_READ: the value of its counter, or of each member of its group. */
	const struct pace_value *values;
	uint32_t n_values;
	struct pace_regs user_regs, intr_regs;
	const void *stack; /* n_stack bytes of the user's stack, from the stack pointer up */
	uint32_t n_stack;
	const struct pace_source *source; /* for the functions below */
};

/*
 * A SAMPLE record with the counts of a group (":S" of record) is handed out once for each member that has counted
 * something since the last one: record->event is the member, and period its count.
 */
/* Slots that are NULL are not called. Their arguments are valid during the call. */
struct pace_slots {
	void *context;
	/* The PERF_SAMPLE_* that `sample` needs; 0: all. Other fields may be 0. */
	uint64_t wanted;
	int (*record)(void *context, const struct pace_record *record); /* everything but samples */
	/*
	 * In recordings a reading of a group ("{a,b}:S") comes once for each member that has counted since the previous
	 * one: record->event is the member, `period` its count. From a ring it comes once.
	 */
	int (*sample)(void *context, const struct pace_sample *sample);
	/* Something is missing: bytes after damage, records that cannot be decoded. One sentence each. */
	void (*loss)(void *context, const char *sentence);
};

enum pace_order {
	PACE_FILE_ORDER,
	PACE_TIME_ORDER, /* in memory that does not grow with the recording */
};

/*
 * Reads the whole recording. A slot that returns something other than 0 (let it be positive) ends reading, and its
 * value is returned; otherwise 0 at the end, or a negative enum pace_error_code if reading failed. Damage is no
 * failure: what comes before it is handed out, and `loss` is called. A file can be read again, in either order; a pipe
 * only once.
 */
int pace_recording_read(struct pace_recording *recording, enum pace_order order,
	const struct pace_slots *slots, struct pace_error *err);

/* ---- names ---- */

/*
 * In a `sample` slot, while it runs: its callers, their places and source lines. The sample may come from
 * a recording that is read in PACE_TIME_ORDER, the ring of a counter with PACE_SIDE_BAND, or a
 * session. For all others these functions fail with PACE_ERROR_ARGUMENT and say what to open instead.
 *
 *     struct pace_frame frames[64];
 *     int n = pace_sample_callers(sample, frames, 64, NULL, &err);
 *     for (int i = 0; i < n && i < 64; i++)
 *             if (!pace_sample_place(sample, &frames[i], &place, &err))
 *                     printf("%s\n", place.function ? place.function : place.file);
 *
 * For live samples the maps are read from /proc when their ring is opened, and later from the kernel's
 * records; with PACE_KEEP_LATEST, which loses records, from /proc when a name is first asked for in a
 * call of pace_ring_read().
 */

struct pace_frame {
	uint64_t ip;
	enum pace_mode mode;
	int is_return; /* 1: the address that a call returns to; 0: the address that the CPU was at */
};

/*
 * Finds the place of the sample, then its callers, innermost first, as `pace report` does: from the kernel's call
 * chain, from the registers and the copy of the stack, or from the CPU's own record of calls. Returns their number; the
 * first `max` are filled in. *ret_ending (ret_ending may be NULL): "complete", or why there are no more ("stack dump
 * too small"); NULL: unknown.
 */
int pace_sample_callers(const struct pace_sample *sample, struct pace_frame *ret_frames, size_t max,
	const char **ret_ending, struct pace_error *err);

struct pace_place {
	/* "f", "f@plt"; in stripped code "fun_4220", after the function's address; NULL: unknown */
	const char *function;
	uint64_t offset;    /* from the function's start */
	const char *file;   /* the file of the code, as recorded; "[unknown]" */
	const char *thread; /* the thread's name at that time */
};

/*
 * The place of a frame; NULL: of the sample itself. The strings live until the recording is read again in that order,
 * or as long as the ring or session.
 */
int pace_sample_place(const struct pace_sample *sample, const struct pace_frame *frame,
	struct pace_place *ret_place, struct pace_error *err);

struct pace_line {
	const char *function;  /* NULL: unknown */
	const char *file;      /* as the compiler was given it */
	const char *folder;    /* the folder that a relative `file` starts from; NULL: unknown */
	uint32_t line, column; /* 0: unknown */
};

/*
 * The source lines of a frame (NULL: of the sample itself): the functions that are inlined there, innermost first, and
 * last the function that contains them. Returns their number; the first `max` are filled in; 0 without debug
 * information. The strings live as long as those of pace_sample_place().
 */
int pace_sample_lines(const struct pace_sample *sample, const struct pace_frame *frame,
	struct pace_line *ret_lines, size_t max, struct pace_error *err);

/*
 * pace_sample_place() for an address alone: it is the kernel's if its highest bit is set, and a return address unless
 * it is the sample's own ip.
 */
int pace_recording_place(struct pace_recording *recording, const struct pace_sample *sample,
	uint64_t ip, struct pace_place *ret_place, struct pace_error *err);

/* ---- sampling ---- */

/*
 * Where the kernel writes the samples of a counter that was opened with a period or a frequency.
 *
 *     struct pace_options options = {.period = 1000, .sample = PERF_SAMPLE_IP};
 *     struct pace_counter *c = pace_counter_open_with("page-faults:u", 0, -1, &options, &err);
 *     struct pace_ring *ring = pace_ring_open(c, 8, &err);
 *     pace_counter_enable(c, &err);
 *     ... the work ...
 *     struct pace_slots slots = {.sample = look_at_it};
 *     pace_ring_read(ring, &slots, &err);
 *
 * A ring belongs to one thread at a time. Close it before its counter.
 */
struct pace_ring;

/*
 * `pages` is a power of two. Counters that children inherit can have rings only on one CPU (cpu >= 0), and counters
 * with PACE_USER_READ cannot have any.
 */
struct pace_ring *pace_ring_open(struct pace_counter *counter, unsigned pages,
	struct pace_error *err);
void pace_ring_close(struct pace_ring *ring); /* NULL is fine */

/*
 * Hands out what there is, without waiting (use poll(2) on the counter to wait), in the order in which
 * the kernel wrote it, and gives the room back. A slot that returns something other than 0 ends
 * reading: its value (let it be positive) is returned, and the rest comes the next time. 0: all was read.
 *
 * A full ring drops new records; the kernel reports later how many, and `loss` is called. With
 * PACE_KEEP_LATEST the oldest records are overwritten instead, each call hands out everything in the
 * ring, and nothing is written meanwhile.
 */
int pace_ring_read(struct pace_ring *ring, const struct pace_slots *slots, struct pace_error *err);

/* ---- whole programs ---- */

/* Counts or samples a process with all its threads, present and future, and their children; or all processes. */
struct pace_session;

/*
 * Events as for `pace record -e`: "a,{b,c}:u". The session is switched off. `pid`: 0 the calling process, > 0 that one,
 * -1 all processes. `options` are those of single counters without PACE_USER_READ and PACE_KEEP_LATEST;
 * PACE_INHERIT, PACE_SIDE_BAND and PACE_FALLBACK are as if they were set. With a period or a frequency
 * it samples, into rings of up to 512 KiB (4 MiB with PACE_CALLERS) on each CPU; else it counts.
 */
struct pace_session *pace_session_open(const char *events, pid_t pid,
	const struct pace_options *options, struct pace_error *err);
void pace_session_close(struct pace_session *session); /* NULL is fine */

/* What had to be given up ("the timer 'cpu-clock' samples instead"), one sentence per line, or "". */
const char *pace_session_notes(const struct pace_session *session);

/* Its events are numbered from 0 and named as they were given. */
uint32_t pace_session_events(const struct pace_session *session);
int pace_session_event(const struct pace_session *session, uint32_t number,
	struct pace_event *ret_event, struct pace_error *err);

int pace_session_enable(struct pace_session *session, struct pace_error *err);
int pace_session_disable(struct pace_session *session, struct pace_error *err);

/*
 * A value for each event, summed over all threads; so are the times. Returns their number; PACE_ERROR_LIMIT if `max` is
 * smaller.
 */
int pace_session_values(struct pace_session *session, struct pace_value *ret_values, size_t max,
	struct pace_error *err);

/*
 * Like pace_ring_read(), for all threads together, in time order: a record that was being written while the previous
 * call returned may come late. record->event is the index of its event.
 */
int pace_session_read(struct pace_session *session, const struct pace_slots *slots,
	struct pace_error *err);

/* For poll(2): readable if there is something to read, or a thread has ended. -1: the session does not sample. */
int pace_session_fd(const struct pace_session *session);

#ifdef __cplusplus
}
#endif

#endif
