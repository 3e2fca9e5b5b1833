/*
 * ringset.h - the rings of many counters, one for each CPU, read as one: the oldest record first.
 *
 * In       opened counters; the formats of their events, which tell when a record was written
 * Out      records of all rings in the order of time, as far as they had come at ringset_acquire(). One
 *          that was being written then, and is older, comes with the next
 * Owns     the mappings; not the counters
 * Life     what was handed out is valid until the next step
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
	s32 cpu;   /* -1: it is the thread's, wherever that runs */
	pid_t tid; /* of the counter that mapped it */
	int fd;    /* likewise */
	bool has_next;
	struct record
		rec; /* its next record, where it began, whose it is and when it was written */
	u64 at, time;
	u32 event;
};

struct ringset {
	const struct formats *formats;
	VEC(struct ringset_ring) rings;
	struct ringset_ring *last; /* whose record was handed out */
};

/* `pages` of each; with `may_shrink` fewer if the mlock limit is lower. On failure nothing is left. */
int ringset_open(struct ringset *s, const struct counters *counters, const struct formats *formats,
	u64 pages, bool may_shrink, struct err *err);
void ringset_close(struct ringset *s);

void ringset_acquire(struct ringset *s);

/* The ring that has the oldest record, which is taken; NULL: all are read. */
const struct ringset_ring *ringset_next(struct ringset *s);

/* Gives the room of all records back that were handed out; the others stay. Whether a ring was broken. */
bool ringset_release(struct ringset *s);

#endif
