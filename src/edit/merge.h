/*
 * merge.h - several recordings of one machine as one.
 *
 * In       recordings made on the same machine since it was started, timed by the same clock
 * Out      their records in the order of time; events that were asked for in the same way are one
 *          event, samples say which; build-ids and embedded names of all of them, other sections of
 *          the first one
 * Errors   ERR_INVAL with the reason why they cannot be merged; those of reading and writing
 *
 * What a recording says of processes that were there when it began has no time of its own: in the
 * merged one it holds from when that recording's first sample was taken.
 */
#ifndef PACE_EDIT_MERGE_H
#define PACE_EDIT_MERGE_H

#include "base/log.h"
#include "file/fresh.h"

enum { MERGE_MAX = 64 };

struct merge_tally {
	u64 n_samples;
	size_t n_events;
};

int merge_write(const char *const *paths, size_t n, struct fresh *to, struct log *log,
	struct merge_tally *ret_tally, struct err *err);

#endif
