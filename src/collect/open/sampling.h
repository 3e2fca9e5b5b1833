/*
 * sampling.h - how often to sample and what each sample carries: options in, attr bits out.
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
	SAMPLING_MAX_STACK = 65528, /* the kernel's: a record has a size of 16 bits */
};

/* Whether something is asked for, forbidden, or as it is by default. */
enum sampling_choice { SAMPLING_DEFAULT, SAMPLING_YES, SAMPLING_NO };

struct sampling {
	u64 frequency;  /* samples a second and CPU; 0: a fixed period */
	u64 period;     /* events between samples, if not 0 */
	bool is_max;    /* -F max: as often as the kernel allows */
	bool is_strict; /* what the kernel does not allow is an error, not lowered */

	/* What every sample carries besides the usual, and what its event leaves out. */
	u64 sample_type, flags;
	u64 cleared_flags;               /* taken from what the event says of itself */
	enum sampling_choice has_time;   /* by default yes */
	enum sampling_choice has_period; /* by default where it differs from sample to sample */
	u64 read_format;                 /* besides id and losses */
	u64 intr_regs, user_regs;        /* masks of registers; 0: none */
	u64 branches;                    /* branch_sample_type; 0: no branches */

	/* Callers. */
	bool has_chains;
	bool has_lbr;      /* chains of user code are the CPU's own record of calls */
	u16 max_stack;     /* addresses of a chain; 0: what the kernel allows */
	u32 stack_bytes;   /* of the user's stack, with his registers, in each sample; 0: none */
	bool keeps_stacks; /* these go into the file: perf is to find callers in them */
	/* The kernel follows frame pointers besides: that may lead further than the copy does. */
	bool has_frame_pointers;
	bool has_few_stacks; /* what happens at places in programs is too much for copies */

	bool has_no_samples; /* side-band records only */
	bool has_data_maps;  /* of the side-band records, maps that hold data too */
	u64 side_flags;      /* side-band records besides the usual */
	u64 no_side_flags;   /* usual ones that are not wanted */
	bool has_no_inherit; /* children are not measured */
	bool is_unbuffered;  /* each sample wakes the reader */
	bool is_overwritten; /* rings keep the newest samples */
	bool has_clock;      /* times are of `clock`, not of the kernel's scheduler */
	s32 clock;
	bool is_command;             /* counting begins when the workload is exec'd */
	bool changes_periods;        /* while it goes on: samples tell theirs */
	bool is_late;                /* not even then: who records says when */
	const struct compat *compat; /* for a perf that is older; NULL: today's */
};

/*
 * Whether the event's rate can be changed while it is open so that its samples tell it: with
 * `changes_periods` by the kernel's words, but that what timers tell is put right (collect/record/reweigh.h).
 */
bool sampling_can_change(const struct event *e);

/* A clock that the kernel has fire; it turns a frequency into a period when it opens it. */
bool sampling_is_timer(const struct event_attr *a);

/* The name of an event that counts nothing, and tells who runs where while others are switched off. */
#define SAMPLING_TRACKER "dummy:HG"

/*
 * Whether such an event is needed: the others are switched on and off, or their rings forget. It is
 * appended by sampling_apply(), and last.
 */
bool sampling_needs_tracker(const struct sampling *s, const struct event_list *events);

/*
 * Fills in sample_type, read_format, frequency and the side-band bits of all events; what an event's
 * own terms say goes before; what holds for an event's chains is in its own.max_stack afterwards. A frequency above the kernel's limit is lowered and said. The first
 * event that may carries mmap, comm and task records. ERR_UNSUPPORTED for events that cannot be
 * sampled and terms that nobody can honour here.
 */
int sampling_apply(struct sampling *s, struct event_list *events, const struct target *target,
	struct log *log, struct err *err);

#endif
