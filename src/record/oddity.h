/*
 * oddity.h - values in a record that no kernel can have written: damage in bytes that still decode.
 *
 * In       a decoded sample, its format, and what the recording says about its machine and its time; or a
 *          decoded record about processes and threads
 * Out      the first impossible value, or ODDITY_NONE
 * Source   PID_MAX_LIMIT of Linux' include/linux/threads.h; perf_callchain() and perf_output_sample() of
 *          kernel/events: a chain begins with a PERF_CONTEXT_ marker, a dump holds what it says it does
 *
 * Plausible values pass: damage that moves a sample to another thread, CPU or address cannot be seen in it.
 * No sample of an undamaged file may be odd.
 */
#ifndef PACE_RECORD_ODDITY_H
#define PACE_RECORD_ODDITY_H

#include "event/abi.h"
#include "record/record.h"
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

/* What the recording says about all its samples. */
struct oddity_limits {
	u32 n_cpus;      /* 0: unknown */
	bool has_halves; /* the kernel has the upper half of addresses, programs the lower */
	u64 first_time, last_time; /* last_time 0: unknown */
};

enum { ODDITY_PID_MOST = 4 << 20 }; /* of 64-bit kernels */

#define ODDITY_PERIOD_MOST ((u64)1 << 62)

/*
 * Bounds that nearly every sample is within, for a quick check of all fields at once: fields that were not
 * decoded are 0, or have no limit here. `fields` as for oddity_of().
 */
struct oddity_bounds {
	u64 cpu_end, first_time, time_span;
	bool has_long; /* registers, or copies of stacks */
};

struct oddity_bounds oddity_bounds_of(const struct oddity_limits *limits, u64 fields);

/* Whether a chain may be odd. Markers are in the last page of addresses; a second marker needs a closer look. */
static inline bool oddity_chain_may_be(const struct sample_words *chain)
{
	u64 first = load_u64(chain->at), second = chain->n > 1 ? load_u64(chain->at + 8) : 0;

	return first < PERF_CONTEXT_MAX ||
		(first == PERF_CONTEXT_KERNEL ? !(second >> 63) : second >> 57 != 0);
}

/* per sample: whether it may be odd; oddity_of() decides */
static inline bool oddity_may_be(const struct sample *s, u16 misc, const struct oddity_bounds *b)
{
	unsigned mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
	bool is_odd = (s->pid > ODDITY_PID_MOST) | (s->tid > ODDITY_PID_MOST) |
		(s->cpu >= b->cpu_end) | (s->period > ODDITY_PERIOD_MOST) |
		(s->time - b->first_time > b->time_span) | (s->n_rest != 0);

	is_odd |= mode == PERF_RECORD_MISC_USER
		? s->ip >> 57 != 0
		: (mode == PERF_RECORD_MISC_KERNEL) & !(s->ip >> 63);
	if (s->chain.n)
		is_odd |= oddity_chain_may_be(&s->chain);
	if (b->has_long)
		is_odd |= (s->user_stack.dyn_size > s->user_stack.bytes.n) |
			(s->user_regs.abi > PERF_SAMPLE_REGS_ABI_64) |
			(s->intr_regs.abi > PERF_SAMPLE_REGS_ABI_64);
	return is_odd;
}

/* misc: of its record; fields: the PERF_SAMPLE_* that were decoded. */
enum oddity oddity_of(const struct sample *s, u16 misc, u64 fields,
	const struct oddity_limits *limits);

/* The same for a record that changes the state of processes and threads: record_is_state(). */
enum oddity oddity_of_state(u32 type, const union record_body *body);

/* "a CPU that its machine does not have" */
const char *oddity_text(enum oddity oddity);

#endif
