#include "session/queue.h"

/* What a waiting record takes: itself, its place in the order, and as much again for sorting. */
static u64 bytes_of(const struct queued *q)
{
	return sizeof(*q) + 2 * sizeof(struct sort_item) + (q->stays ? 0 : q->rec.size);
}

void queue_fini(struct queue *q)
{
	vec_fini(&q->records);
	vec_fini(&q->order);
	str_fini(&q->bytes);
}

void queue_add(struct queue *q, const struct record *rec, u64 nr, u32 event, u64 time, bool stays)
{
	struct queued *r = vec_push(&q->records);

	*r = (struct queued){*rec, nr, event, false, stays, time, q->bytes.n};
	q->newest = MAX(q->newest, time);
	q->n_bytes += bytes_of(r);
	if (!stays)
		str_addn(&q->bytes, rec->at, rec->size);
}

void queue_compact(struct queue *q)
{
	size_t kept = 0, n_bytes = 0;

	q->order.n = q->next = 0;
	vec_each(r, &q->records) {
		if (r->is_handed_out) {
			q->n_bytes -= bytes_of(r);
			continue;
		}
		if (!r->stays) {
			memmove(q->bytes.at + n_bytes, q->bytes.at + r->at, r->rec.size);
			r->at = n_bytes;
			n_bytes += r->rec.size;
		}
		q->records.at[kept++] = *r;
	}
	q->records.n = kept;
	if (q->bytes.n)
		str_cut(&q->bytes, n_bytes);
	str_shrink(&q->bytes);
}

void queue_release(struct queue *q, u64 until)
{
	for (size_t i = 0; i < q->records.n; i++)
		if (q->records.at[i].time <= until)
			vec_add(&q->order, ((struct sort_item){q->records.at[i].time, i}));
	sort_by_key(q->order.at, q->order.n);
}

void queue_release_half(struct queue *q)
{
	u64 middle;

	queue_release(q, UINT64_MAX);
	middle = q->order.n ? q->order.at[q->order.n / 2].key : 0;
	q->order.n = q->next = 0;
	queue_release(q, middle);
}
