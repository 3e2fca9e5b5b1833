/*
 * liveunwind.h - stacks walked while they are recorded: call chains go into the file, not memory.
 *
 * In       the records of all rings, as a recorder's filter gets them; what was there before, by
 *          liveunwind_begin(); the files of the processes, while these live
 * Out      the same records, byte by byte; but samples with registers and a copy of the stack have,
 *          in their place, their callers behind the kernel's part of their call chain, and behind
 *          these how the stack ended (unwind/ending.h)
 * Owns     the machine as it is, opened files, rows; bounded but for what processes, maps and files there
 *          are. What ended is forgotten a second later
 * Errors   none: a stack that cannot be walked further has its ending. Counted: samples that do not
 *          have the fields of their event, which are told as lost
 * Threads  one
 *
 * Who looks at such a recording later finds what he would have found in the copies of the stacks: the
 * same callers, the same endings.
 */
#ifndef PACE_SYMBOL_LIVEUNWIND_H
#define PACE_SYMBOL_LIVEUNWIND_H

#include "collect/record/recorder.h"
#include "record/formats.h"
#include "session/queue.h"
#include "symbol/resolve/callers.h"
#include "symbol/embed/jitcode.h"
#include "symbol/live/livestack.h"

struct liveunwind {
	const struct event_list *events; /* as they were opened; borrowed */
	struct formats formats;          /* of the rings */
	struct sample_format *written;   /* of the file, by event */
	struct machine machine;
	struct jitcode jitcode;
	struct intern strings;
	struct dso_files files;
	struct callers callers;
	struct callers_walk walk;
	struct queue
		pending; /* records of who ran where, that have been seen and do not hold yet */
	u64 due_time;    /* the latest time of a record that the round ends behind */
	VEC(u64) chain;
	struct sample sample;
	u32 sample_event; /* whose fields `sample` has */
	struct recorder_filter filter;
	bool is_late;                /* there is no time to walk: the kernel's own chains do */
	u64 n_hurried;               /* samples that have these therefore */
	u64 n_samples, n_unreadable; /* samples that were walked; that could not be read */
	u64 n_ended[STACK_ENDINGS];
	const char *deep_comm; /* whose copy was too small last; NULL: none */
	struct livestack livestack;
};

/*
 * Appends the events as the file is to describe them: samples have no registers and no stack, and
 * sample_stack_user alone tells how much of the stack was looked at. Ids and names stay those of
 * `events`.
 */
void liveunwind_describe(const struct event_list *events, struct event_list *ret_written);

/* `events`: opened, with their ids, some with copies of the stack. `arch` NULL: this machine's. */
void liveunwind_init(struct liveunwind *u, const struct event_list *events,
	const struct find_places *places, const char *arch);
void liveunwind_fini(struct liveunwind *u);

/* The events that it was given have other ids now. */
void liveunwind_change_ids(struct liveunwind *u);

/*
 * A sample of an event with copies of the stack that no kernel wrote: of its registers only those in the
 * mask are known. Appended as it gets into the file.
 */
void liveunwind_add(struct liveunwind *u, u32 event, const struct sample *sample, u64 known_regs,
	u16 misc, struct str *out);

/* Takes in whole records that hold from the beginning. */
void liveunwind_begin(struct liveunwind *u, const void *records, size_t n);

#endif
