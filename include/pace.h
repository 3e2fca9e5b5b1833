/*
 * pace.h - libpace: performance counters for programs that measure themselves, and the recordings
 * of perf and pace.
 *
 * First chapter: count. Second: read recordings. (Sampling follows.)
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
 *           struct pace_error that the caller owns
 * Threads   a counter belongs to one thread at a time; different counters to any
 * Link      -lpace (pkg-config --cflags --libs pace)
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

/* Negative numbers that functions return, and that stand in pace_error.code. */
enum pace_error_code {
	PACE_ERROR_SYSTEM = -1,      /* a system call failed: see pace_error.system */
	PACE_ERROR_PERMISSION = -2,  /* the message says which setting or capability is missing */
	PACE_ERROR_NOT_FOUND = -3,   /* no such event, process, CPU */
	PACE_ERROR_ARGUMENT = -4,    /* arguments that make no sense together */
	PACE_ERROR_FORMAT = -5,      /* bytes that break their format */
	PACE_ERROR_UNSUPPORTED = -6, /* this machine or kernel cannot do it */
	PACE_ERROR_LIMIT =
		-7, /* a limit is reached; a pinned counter that lost its place on the PMU */
};

struct pace_error {
	int code;
	int system; /* errno of the failed call, or 0 */
	char message[1024];
};

struct pace_value {
	uint64_t value; /* as the kernel counted it; 64 bits wide whatever the hardware has */
	uint64_t time_enabled; /* ns the counter was switched on */
	uint64_t
		/* ns it was on the hardware; less than enabled: value is a part of the truth */
		time_running;
};

struct pace_counter;

/*
 * Opens an event, written as for `pace record -e` (one event, no group), switched off.
 * pid   0 the calling thread; > 0 that process's main thread; -1 everybody (then cpu must be >= 0)
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
int pace_counter_read(struct pace_counter *counter, struct pace_value *ret_value,
	struct pace_error *err);

/* The file descriptor: for poll(2), fcntl(2), and whatever perf_event_open(2) allows. */
int pace_counter_fd(const struct pace_counter *counter);

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

/* Reads from a descriptor of a file or pipe, which stays the caller's. */
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

/* Events are numbered from 0. In pipe mode later ones may come while it is read. */
uint32_t pace_recording_events(const struct pace_recording *recording);
int pace_recording_event(const struct pace_recording *recording, uint32_t number,
	struct pace_event *ret_event, struct pace_error *err);

/* What the recording says of itself. NULL where it does not say. */
struct pace_facts {
	const char *hostname, *release, *arch, *cpu, *cpuid, *version;
	const char *const *command; /* n_command words */
	uint32_t n_command;
	uint64_t n_cpus, total_memory_kb;
	uint64_t first_time, last_time; /* ns; 0: not known */
};
void pace_recording_facts(const struct pace_recording *recording, struct pace_facts *ret_facts);

struct pace_record {
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc;
	uint16_t size;
	const void *bytes; /* `size` of them, header included, in this machine's byte order */
	uint64_t offset;   /* in the file */
	/* ns; 0: none. In a recording without times it is the offset */
	uint64_t time;
	uint32_t event; /* UINT32_MAX: of none that is described */
};

/* The fields of a sample; those that were not recorded are 0. */
struct pace_sample {
	const struct pace_record *record;
	uint64_t fields; /* PERF_SAMPLE_* of its event */
	uint32_t pid, tid, cpu;
	uint64_t time, ip, addr, id, stream_id, period, weight, data_src, phys_addr, cgroup;
	uint64_t transaction;
	const uint64_t *chain; /* n_chain addresses, innermost first, with PERF_CONTEXT_* markers */
	uint64_t n_chain;
	const void *raw; /* n_raw bytes: a tracepoint's */
	uint32_t n_raw;
};

/* Whatever is left out is not called. What they are given ends with the call. */
struct pace_slots {
	void *context;
	/* PERF_SAMPLE_* that `sample` wants; 0: all. Others may be 0 in it. */
	uint64_t wanted;
	int (*record)(void *context, const struct pace_record *record); /* all but samples */
	int (*sample)(void *context, const struct pace_sample *sample);
	/* What is missing: bytes behind damage, records that do not decode; one sentence each. */
	void (*loss)(void *context, const char *sentence);
};

enum pace_order {
	PACE_FILE_ORDER,
	PACE_TIME_ORDER, /* in memory that does not grow with the recording */
};

/*
 * Walks over all of it. A slot that returns something else than 0 ends the walk, and this returns
 * that (let it be positive); 0 at the end, a negative enum pace_error_code if reading failed.
 * Damage is no failure: what is before it is handed out, and `loss` told. A file can be read again,
 * in either order; a pipe only once.
 */
int pace_recording_read(struct pace_recording *recording, enum pace_order order,
	const struct pace_slots *slots, struct pace_error *err);

struct pace_place {
	const char *function; /* NULL: has no name */
	uint64_t offset;      /* from the function's start */
	const char *file;     /* where the code is from, as recorded; "[unknown]" */
	const char *thread;   /* its name at that time */
};

/*
 * In a sample slot, in PACE_TIME_ORDER: where an address of that sample is, its ip or one of its
 * chain. What it is given lives until the recording is read again in that order, or closed.
 */
int pace_recording_place(struct pace_recording *recording, const struct pace_sample *sample,
	uint64_t ip, struct pace_place *ret_place, struct pace_error *err);

#ifdef __cplusplus
}
#endif

#endif
