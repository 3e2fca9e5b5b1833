/*
 * schedule.h - when measuring is on: -D MS, -D -1, -D 10-20,30-40.
 *
 * Owns     the list of its spans
 * Units    ms in the text, ns from the start of the target elsewhere
 * Errors   ERR_INVAL
 * Source   perf-record(1), --delay
 */
#ifndef PACE_COLLECT_SCHEDULE_H
#define PACE_COLLECT_SCHEDULE_H

#include "base/err.h"
#include "base/types.h"
#include "base/vec.h"

struct schedule_span {
	u64 on_ns, off_ns; /* off_ns UINT64_MAX: stays on */
};

struct schedule {
	bool is_late; /* measuring does not begin with the target */
	VEC(struct schedule_span) spans;
	size_t n_done; /* switches done: on, off, on, ... */
};

int schedule_parse(struct schedule *s, const char *text, struct err *err);
void schedule_fini(struct schedule *s);

/* The moment of the next switch, or UINT64_MAX. */
u64 schedule_next(const struct schedule *s);

/* Performs that switch. Returns whether measuring is on after it. */
bool schedule_step(struct schedule *s);

/* Whether the last span is over, so that nothing more will be measured. */
bool schedule_is_over(const struct schedule *s);

#endif
