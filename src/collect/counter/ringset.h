/*
 * ringset.h - the rings of many counters, one for each CPU, read as one: the oldest record first.
 *
 * In       opened counters; the formats of their events, which tell when a record was written
 * Out      the records of all rings in order of time, as far as they had come at ringset_acquire(). A
 *          record that was still being written then is returned by the next round, even if it is older
 * Owns     the mappings; not the counters
 * Life     a record is valid until the next step
 * Errors   ringset_open(): ERR_PERM if not even the smallest rings fit the mlock limit. Reading cannot
 *          fail
 * Threads  one reader
 */
#ifndef PACE_COLLECT_RINGSET_H
#define PACE_COLLECT_RINGSET_H

#include "base/err.h"
#include "base/vec.h"
#include "collect/counter/counter.h"
#include "collect/counter/ring.h"
#include "record/formats.h"

struct ringset_ring {
	struct ring ring;
	s32 cpu;   /* -1: a thread's ring, on whatever CPU it runs */
	pid_t tid; /* of the counter that mapped it */
	int fd;    /* of the counter that mapped it */
	bool has_next;
	struct record
		rec; /* its next record, where that begins, when it was written, and its event */
	u64 at, time;
	u32 event;
};

struct ringset {
	const struct formats *formats;
	VEC(struct ringset_ring) rings;
	struct ringset_ring *last; /* the ring of the last record returned */
};

/*
 * Maps rings of `pages` each; with `may_shrink`, smaller ones if the mlock limit is lower. On
 * failure nothing is left.
 */
int ringset_open(struct ringset *s, const struct counters *counters, const struct formats *formats,
	u64 pages, bool may_shrink, struct err *err);
void ringset_close(struct ringset *s);

void ringset_acquire(struct ringset *s);

/* Takes the oldest record and returns its ring; NULL: all are read. */
const struct ringset_ring *ringset_next(struct ringset *s);

/*
 * Gives back the space of all records returned so far; the others stay. Returns whether a ring was
 * broken.
 */
bool ringset_release(struct ringset *s);

#endif
