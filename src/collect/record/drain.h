/*
 * drain.h - moves the contents of a recorder's rings to its sink.
 *
 * In       a running recorder
 * Out      records in its sink, unchanged or as the recorder's filter makes them
 * Owns     nothing
 * Errors   the sink's
 */
#ifndef PACE_COLLECT_DRAIN_H
#define PACE_COLLECT_DRAIN_H

#include "collect/record/recorder.h"

/*
 * Moves what has come, then adds the mark that ends a round. Unless `is_whole`, rings with less
 * than r->flush_bytes may wait.
 */
int drain_rings(struct recorder *r, bool is_whole, struct err *err);

/* Moves what has come, since the last call, to rings that keep the newest records; the oldest first. */
int drain_newest(struct recorder *r, struct err *err);

/*
 * Adds what each counter dropped since the last call, as LOST_SAMPLES (Linux >= 6.0). Not for the
 * window of --ring: the numbers are those of the whole recording.
 */
int drain_losses(struct recorder *r, struct err *err);

#endif
