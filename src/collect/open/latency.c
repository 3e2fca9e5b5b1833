#include "collect/open/latency.h"

#include "base/bytes.h"

enum {
	SAMPLES_A_SECOND = 1000,
	PAGES = 8, /* two seconds; who counts reads at least once a second */
	RETIRE_SHIFT = 48,
};

void latency_complete(struct event_attr *a)
{
	a->flags |= ATTR_FREQ;
	a->sample_period = SAMPLES_A_SECOND;
	a->sample_type |= PERF_SAMPLE_WEIGHT_STRUCT;
	/* Only PEBS measures it. */
	attr_set_precise(a, MAX(attr_precise(a), 1));
}

int latency_open(struct latency *l, int fd, struct err *err)
{
	*l = (struct latency){0};
	return ring_open(&l->ring, fd, PAGES, err);
}

int latency_reopen(struct latency *l, int fd, struct err *err)
{
	latency_read(l);
	ring_close(&l->ring);
	return ring_open(&l->ring, fd, PAGES, err);
}

void latency_close(struct latency *l)
{
	ring_close(&l->ring);
}

void latency_read(struct latency *l)
{
	struct record rec;

	if (!l->ring.page)
		return;
	ring_acquire(&l->ring);
	while (ring_next(&l->ring, &rec)) {
		/* The weight is all that a sample has, or the last of it. */
		if (rec.type != PERF_RECORD_SAMPLE || rec.size < RECORD_HEADER_SIZE + sizeof(u64))
			continue;
		l->cycles += load_u64(rec.at + rec.size - sizeof(u64)) >> RETIRE_SHIFT;
		l->n_samples++;
	}
	ring_release(&l->ring);
}
