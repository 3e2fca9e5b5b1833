/*
 * pace.h - libpace: performance counters for programs that measure themselves.
 *
 * First chapter: count. (Sampling and reading recordings follow.)
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

#ifdef __cplusplus
}
#endif

#endif
