/*
 * sampling.h - how often to sample and what each sample carries: turns options into attr bits.
 *
 * Units    Hz; events
 * Source   perf-record(1); linux/perf_event.h
 */
#ifndef PACE_COLLECT_SAMPLING_H
#define PACE_COLLECT_SAMPLING_H

#include "base/err.h"
#include "base/log.h"
#include "event/compat.h"
#include "event/event.h"
#include "event/target.h"

enum {
	SAMPLING_DEFAULT_HZ = 4000,
	SAMPLING_DEFAULT_STACK = 8192,
	SAMPLING_MAX_STACK = 65528, /* the kernel's limit: a record's size has 16 bits */
};

/* Whether something is requested, excluded, or left to the default. */
enum sampling_choice { SAMPLING_DEFAULT, SAMPLING_YES, SAMPLING_NO };

struct sampling {
	u64 frequency; /* samples per second and CPU; 0: a fixed period */
	u64 period;    /* events between two samples; 0: not set */
	bool is_max;   /* -F max: as often as the kernel allows */
	/* Exceeding the kernel's limits is an error; otherwise values are lowered. */
	bool is_strict;

	/* What every sample carries besides the usual, and what is removed from each event. */
	u64 sample_type, flags;
	u64 cleared_flags;               /* removed from the event's own flags */
	enum sampling_choice has_time;   /* by default yes */
	enum sampling_choice has_period; /* by default if it differs from sample to sample */
	u64 read_format;                 /* besides ids and losses */
	u64 intr_regs, user_regs;        /* masks of registers; 0: none */
	u64 branches;                    /* branch_sample_type; 0: no branches */

	/* Callers. */
	bool has_chains;
	bool has_lbr;  /* user call chains come from the CPU's own record of calls */
	u16 max_stack; /* addresses in a call chain; 0: the kernel's limit */
	/* Bytes of the user's stack, copied with the user's registers into each sample; 0: none. */
	u32 stack_bytes;
	bool keeps_stacks; /* stack copies go into the file, for perf to find callers in */
	/* The kernel also follows frame pointers, which may lead further than the copy does. */
	bool has_frame_pointers;
	bool has_few_stacks; /* probes in programs get no stack copies: they would be too many */

	bool has_no_samples; /* side-band records only */
	bool has_data_maps;  /* side-band records of maps include data */
	u64 side_flags;      /* side-band records besides the usual */
	u64 no_side_flags;   /* usual ones to leave out */
	bool has_no_inherit; /* children are not measured */
	bool is_unbuffered;  /* each sample wakes the reader */
	bool is_overwritten; /* rings keep the newest samples */
	bool has_clock;      /* times come from `clock` instead of the scheduler's clock */
	s32 clock;
	bool is_command;             /* the workload's exec starts counting */
	bool changes_periods;        /* periods change while recording: samples carry theirs */
	bool is_late;                /* not even the exec starts counting: the recorder does */
	bool tracks_everywhere;      /* tasks are reported from CPUs without other events, too */
	bool runs_transactions;      /* the machine's programs may run some (event/tsx.h) */
	const struct compat *compat; /* the older perf that is to read it; NULL: today's */
};

/*
 * Whether the event's rate can be changed while it is open, with samples that tell their period.
 * With `changes_periods` the kernel's periods are used, except that timers' periods are corrected
 * (collect/record/reweigh.h).
 */
bool sampling_can_change(const struct event *e);

/*
 * Whether a clock of the kernel fires the event; the kernel turns its frequency into a period on
 * opening.
 */
bool sampling_is_timer(const struct event_attr *a);

/*
 * The name of the event that counts nothing but reports who runs where while others are off.
 * sampling_apply() appends it as the last event where it is needed.
 */
#define SAMPLING_TRACKER "dummy:HG"

/*
 * Fills in sample_type, read_format, frequency and the side-band bits of all events. An event's own
 * terms take precedence. Afterwards its own.max_stack holds the limit for its call chains. A
 * frequency above the kernel's limit is lowered and logged. The first event that can carries the
 * mmap, comm and task records. ERR_UNSUPPORTED: an event cannot be sampled, or a term cannot be
 * honoured here.
 */
int sampling_apply(struct sampling *s, struct event_list *events, const struct target *target,
	struct log *log, struct err *err);

#endif
