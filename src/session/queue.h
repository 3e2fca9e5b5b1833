/*
 * queue.h - records that wait until nothing older can come, and are handed out in the order of time.
 *
 * In       records as they come, of several rings; up to which time none is missing any more
 * Out      the records up to that time, the oldest first; those of one moment in the order they came in
 * Owns     copies of the records, but for those whose bytes stay where they are
 * Life     what was handed out is valid until the next call
 * Units    times in whatever the records count
 * Errors   none. What comes when later records went out already is handed out all the same
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
	struct record rec; /* `at` is filled in when it is handed out, unless it stays */
	u64 nr;
	u32 event;
	bool is_handed_out, stays;
	u64 time;
	size_t at; /* in `bytes`, unless it stays */
};

struct queue {
	VEC(struct queued) records;  /* in the order they came in */
	struct str bytes;            /* of those that do not stay where they are */
	u64 n_bytes;                 /* that all that wait take */
	VEC(struct sort_item) order; /* those that may be handed out, by time */
	size_t next;                 /* of `order` */
	u64 newest, handed_out;      /* times of the latest that came, of the latest that went */
};

void queue_fini(struct queue *q);

/* `stays`: its bytes outlive the queue. */
void queue_add(struct queue *q, const struct record *rec, u64 nr, u32 event, u64 time, bool stays);

/* Lets everything up to a time go. Only while queue_next() has nothing. */
void queue_release(struct queue *q, u64 until);

/* The same with the older half of what waits. */
void queue_release_half(struct queue *q);

/* What was handed out makes room. */
void queue_compact(struct queue *q);

/* per record: NULL: nothing may go now */
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
