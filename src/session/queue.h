/*
 * queue.h - records that wait until nothing older can come, and are handed out in the order of time.
 *
 * In       records as they come, from several rings; the time up to which none is missing any more
 * Out      the records up to that time, the oldest first; those of one time in the order they came in
 * Owns     copies of the records, except those whose bytes stay where they are
 * Life     a record that was handed out is valid until the next call
 * Units    times are in the unit of the records
 * Errors   none. A record that comes after later ones were handed out is handed out all the same
 * Threads  one
 */
#ifndef PACE_SESSION_QUEUE_H
#define PACE_SESSION_QUEUE_H

#include "base/sort.h"
#include "base/str.h"
#include "base/types.h"
#include "base/vec.h"
#include "record/record.h"

struct queued {
	struct record rec; /* `at` is filled in when the record is handed out, unless it stays */
	u64 nr;
	u32 event;
	bool is_handed_out, stays;
	u64 time;
	size_t at; /* in `bytes`, unless it stays */
};

struct queue {
	VEC(struct queued) records;  /* in the order they came in */
	struct str bytes;            /* of those that do not stay where they are */
	u64 n_bytes;                 /* taken by all records that wait */
	VEC(struct sort_item) order; /* those that may be handed out, by time */
	size_t next;                 /* of `order` */
	u64 newest, handed_out;      /* the latest times that came, and that were handed out */
};

void queue_fini(struct queue *q);

/* `stays`: its bytes outlive the queue. */
void queue_add(struct queue *q, const struct record *rec, u64 nr, u32 event, u64 time, bool stays);

/* Releases all records up to a time. Only allowed while queue_next() returns NULL. */
void queue_release(struct queue *q, u64 until);

/* Releases the older half of the records that wait. */
void queue_release_half(struct queue *q);

/* Frees the room of records that were handed out. */
void queue_compact(struct queue *q);

/* per record: the next released record; NULL: none */
static inline const struct queued *queue_next(struct queue *q)
{
	struct queued *r;

	if (UNLIKELY(q->next == q->order.n)) {
		if (q->order.n)
			queue_compact(q);
		return NULL;
	}
	r = &q->records.at[q->order.at[q->next++].value];
	r->is_handed_out = true;
	if (!r->stays)
		r->rec.at = (const u8 *)q->bytes.at + r->at;
	q->handed_out = MAX(q->handed_out, r->time);
	return r;
}

#endif
