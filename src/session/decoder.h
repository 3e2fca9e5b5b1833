/*
 * decoder.h - SAMPLE records of a session, one after the other, as struct sample.
 *
 * In       records, and the events that they belong to
 * Out      samples: fields that the event does not have are 0, `cpu` (u32)-1; `period` is always
 *          filled in, from the event if all of its samples have the same
 * Owns     the sample
 * Life     a sample is valid until the next one is decoded; its bytes as long as the record's
 * Errors   none: samples that cannot be decoded, or belong to no event, are counted in the tally
 * Threads  a decoder belongs to one thread
 */
#ifndef PACE_SESSION_DECODER_H
#define PACE_SESSION_DECODER_H

#include "session/session.h"

struct decoder {
	const struct session *session;
	struct session_tally *tally;
	u64 wanted; /* PERF_SAMPLE_* fields; the others may be missing */
	u32 event;  /* of `sample`, which is cleared when another event comes */
	struct oddity_limits limits;
	struct oddity_bounds bounds;
	u64 fields; /* those that are decoded */
	struct sample sample;
};

void decoder_init(struct decoder *d, const struct session *session, u64 wanted,
	struct session_tally *tally);

/* The sample in that record, or NULL. */
struct sample *decoder_next(struct decoder *d, const struct record *rec, u32 event);

#endif
