/*
 * drain.h - what lies in a recorder's rings goes to its sink.
 *
 * In       a recorder that runs
 * Out      records in its sink, as they are or as the recorder's filter makes them
 * Owns     nothing
 * Errors   the sink's
 */
#ifndef PACE_COLLECT_DRAIN_H
#define PACE_COLLECT_DRAIN_H

#include "collect/record/recorder.h"

/*
 * Hands on what has come, then the mark that ends a round. Unless `is_whole`, rings with less than
 * r->flush_bytes may wait.
 */
int drain_rings(struct recorder *r, bool is_whole, struct err *err);

/*
 * The rings that keep the newest records: what has come to them since the last time goes to the
 * sink, the oldest first.
 */
int drain_newest(struct recorder *r, struct err *err);

/*
 * What each counter dropped since this was asked last, as LOST_SAMPLES (Linux >= 6.0). Not written to
 * --ring's window: it is of the whole recording.
 */
int drain_losses(struct recorder *r, struct err *err);

#endif
