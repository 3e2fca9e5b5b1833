/*
 * merge.h - several recordings of one machine as one.
 *
 * In       recordings made on one machine since its last boot, timed by the same clock
 * Out      their records in order of time. Events requested in the same way become one event, and each
 *          sample says to which event it belongs. Build-ids and embedded names of all recordings; the
 *          other sections of the first one
 * Errors   ERR_INVAL with the reason why they cannot be merged; those of reading and writing
 *
 * The state that a recording notes at its start (processes, maps) has no times: in the merged recording
 * it holds from that recording's first sample on.
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
