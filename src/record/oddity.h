/*
 * oddity.h - what a sample says that no kernel can have written: a sign of damage in bytes that decode.
 *
 * In       a decoded sample, its format, and what the recording says of its machine and its time
 * Out      the first thing that cannot be, or ODDITY_NONE
 * Source   PID_MAX_LIMIT of Linux' include/linux/threads.h; perf_callchain() and perf_output_sample() of
 *          kernel/events: a chain begins with a PERF_CONTEXT_ marker, a dump holds what it says it does
 *
 * A number that could be true is not looked at twice: that a sample was another thread's, on another CPU,
 * at another address cannot be seen in it. No sample of a whole file may be odd.
 */
#ifndef PACE_RECORD_ODDITY_H
#define PACE_RECORD_ODDITY_H

#include "record/sample.h"

enum oddity {
	ODDITY_NONE,
	ODDITY_NUMBER,
	ODDITY_CPU,
	ODDITY_PERIOD,
	ODDITY_TIME,
	ODDITY_PLACE,
	ODDITY_CHAIN,
	ODDITY_REGS,
	ODDITY_STACK,
	ODDITY_REST,
	ODDITIES
};

/* What the recording says of all its samples. */
struct oddity_limits {
	u32 n_cpus;                /* 0: unknown */
	bool has_halves;           /* the kernel has the upper half of addresses, programs the lower */
	u64 first_time, last_time; /* last_time 0: unknown */
};

/* misc: of its record; fields: those PERF_SAMPLE_* that were decoded. */
enum oddity oddity_of(const struct sample *s, u16 misc, u64 fields,
	const struct oddity_limits *limits);

/* "a thread number that no kernel gives" */
const char *oddity_text(enum oddity oddity);

#endif
