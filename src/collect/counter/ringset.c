#include "collect/counter/ringset.h"

#include <errno.h>
#include <sys/ioctl.h>

#include "event/abi.h"

static struct ringset_ring *ring_of(struct ringset *s, const struct counter *c)
{
	vec_each(ring, &s->rings)
		if (ring->cpu == c->cpu && (c->cpu >= 0 || ring->tid == c->tid))
			return ring;
	return NULL;
}

static void close_rings(struct ringset *s)
{
	vec_each(ring, &s->rings)
		ring_close(&ring->ring);
	s->rings.n = 0;
}

/* A CPU's first counter maps the ring, the others write into it. */
static int map_rings(struct ringset *s, const struct counters *counters, u64 pages, struct err *err)
{
	vec_each(c, counters) {
		struct ringset_ring *ring = ring_of(s, c);

		if (ring) {
			if (ioctl(c->fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd))
				return err_sys(err, errno, "sharing the ring of CPU %d", c->cpu);
			continue;
		}
		ring = vec_push(&s->rings);
		*ring = (struct ringset_ring){.cpu = c->cpu, .tid = c->tid, .fd = c->fd};
		if (ring_open(&ring->ring, c->fd, pages, err)) {
			s->rings.n--;
			return err->code;
		}
	}
	return 0;
}

/* Undoes the sharing: a counter must not map a ring of its own while it writes into another's. */
static void unshare(const struct counters *counters)
{
	vec_each(c, counters)
		ioctl(c->fd, PERF_EVENT_IOC_SET_OUTPUT, -1);
}

int ringset_open(struct ringset *s, const struct counters *counters, const struct formats *formats,
	u64 pages, bool may_shrink, struct err *err)
{
	*s = (struct ringset){.formats = formats};
	while (map_rings(s, counters, pages, err)) {
		bool is_limit = err->sys == EPERM || err->sys == ENOMEM;

		unshare(counters);
		close_rings(s);
		if (is_limit && may_shrink && pages > 1) {
			pages /= 2;
			*err = (struct err){0};
			continue;
		}
		if (is_limit)
			err_set(err, ERR_PERM,
				"mapping rings of %llu pages: more than this user may pin: raise "
				"kernel.perf_event_mlock_kb or 'ulimit -l'",
				(unsigned long long)pages);
		ringset_close(s);
		return err->code;
	}
	return 0;
}

void ringset_close(struct ringset *s)
{
	close_rings(s);
	vec_fini(&s->rings);
}

static void step(struct ringset *s, struct ringset_ring *ring)
{
	ring->at = ring->ring.tail;
	ring->has_next = ring_next(&ring->ring, &ring->rec);
	if (!ring->has_next)
		return;
	ring->event = formats_event(s->formats, &ring->rec);
	ring->time = formats_time(s->formats, &ring->rec, ring->event);
}

void ringset_acquire(struct ringset *s)
{
	s->last = NULL;
	/* All rings first: then records older than the last one seen are in the other rings already. */
	vec_each(ring, &s->rings)
		ring_acquire(&ring->ring);
	vec_each(ring, &s->rings)
		step(s, ring);
}

const struct ringset_ring *ringset_next(struct ringset *s)
{
	struct ringset_ring *oldest = NULL;

	if (s->last)
		step(s, s->last);
	vec_each(ring, &s->rings)
		if (ring->has_next && (!oldest || ring->time < oldest->time))
			oldest = ring;
	return s->last = oldest;
}

bool ringset_release(struct ringset *s)
{
	bool is_broken = false;

	vec_each(ring, &s->rings) {
		/* Its next record was looked at, but not returned. */
		if (ring->has_next && ring != s->last)
			ring->ring.tail = ring->at;
		ring->has_next = false;
		ring_release_read(&ring->ring);
		is_broken |= ring->ring.is_broken;
		ring->ring.is_broken = false;
	}
	s->last = NULL;
	return is_broken;
}
