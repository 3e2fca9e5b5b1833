/*
 * liveunwind.h - walks stacks while they are recorded: the file gets call chains instead of memory.
 *
 * In       the records of all rings, as a recorder's filter gets them; the state before, by
 *          liveunwind_begin(); the files of the processes, while these live
 * Out      the same records, byte by byte, except samples with registers and a copy of the stack: instead of
 *          these they have their callers, behind the kernel's part of their call chain, and then how the
 *          walk ended (unwind/ending.h)
 * Owns     the machine's present state, opened files, rows; bounded except by the number of processes, maps and
 *          files. Ended processes are forgotten a second later
 * Errors   none: a stack that cannot be walked further has its ending. Samples that do not have the fields
 *          of their event are counted and reported as lost
 * Threads  one
 *
 * A reader of such a recording gets the result that copies of the stacks would have given: the
 * same callers, the same endings.
 */
#ifndef PACE_TRACE_LIVEUNWIND_H
#define PACE_TRACE_LIVEUNWIND_H

#include "collect/record/recorder.h"
#include "trace/follow.h"
#include "trace/livestack.h"

struct liveunwind {
	const struct event_list *events; /* as they were opened; borrowed */
	struct sample_format *written;   /* of the file, by event */
	struct trace trace;
	struct follow follow; /* gets the records of processes and maps; samples do not wait */
	u64 due_time;         /* the latest time of a record at the end of the round */
	VEC(u64) chain;       /* of the current sample, with its ending */
	struct recorder_filter filter;
	bool is_late;  /* there is no time to walk: samples keep the kernel's own chain */
	u64 n_hurried; /* samples recorded like this */
	u64 n_samples, n_unreadable; /* samples walked; samples that could not be decoded */
	u64 n_ended[STACK_ENDINGS];
	const char *deep_comm; /* the thread whose copy was too small last; NULL: none */
	struct livestack livestack;
};

/*
 * Appends the events as the file describes them: samples have no registers and no stack, and only
 * sample_stack_user tells how much of the stack was used. Ids and names are those of `events`.
 */
void liveunwind_describe(const struct event_list *events, struct event_list *ret_written);

/* `events` must be open and have their ids; some have copies of the stack. */
void liveunwind_init(struct liveunwind *u, const struct event_list *events,
	const struct find_places *places);
void liveunwind_fini(struct liveunwind *u);

/* Call when the ids of the events have changed. */
void liveunwind_change_ids(struct liveunwind *u);

/*
 * Appends a sample of an event with stack copies, as the file gets it, for a sample that was not written by a
 * kernel: only the registers in the mask `known_regs` are valid.
 */
void liveunwind_add(struct liveunwind *u, u32 event, const struct sample *sample, u64 known_regs,
	u16 misc, struct str *out);

/* Adds whole records that are in effect from the beginning. */
void liveunwind_begin(struct liveunwind *u, const void *records, size_t n);

#endif
