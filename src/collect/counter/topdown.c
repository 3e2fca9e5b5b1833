#include "collect/counter/topdown.h"

#include <math.h>

enum {
	WHOLE = 0xff, /* the register's fractions are of this */
	TRIES_MAX = 1000,
};

/* rdpmc: fixed counter 3, and the register of metrics. */
static const u32 SLOTS = 1u << 30 | 3, METRICS = 1u << 29;

/* What the kernel says of a page, if nobody is writing to it. */
struct look {
	u32 lock, index;
};

static struct look look_at(const struct ring_page *page)
{
	const volatile struct ring_page *p = page;
	struct look l;

	/* Acquire: nothing below is read before the lock is. */
	l.lock = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
	l.index = userread_may(page) ? p->index : 0;
	return l;
}

static bool is_same(const struct ring_page *page, const struct look *l)
{
	return __atomic_load_n(&page->lock, __ATOMIC_RELAXED) == l->lock;
}

bool topdown_read_pages(const struct ring_page *slots, const struct ring_page *metric,
	const struct userread_registers *registers, struct topdown_point *ret_point)
{
	for (unsigned i = 0; i < TRIES_MAX; i++) {
		struct look a = look_at(slots), b = look_at(metric);
		struct topdown_point p;
		unsigned width = slots->pmc_width;

		if ((a.lock | b.lock) & 1)
			continue;
		if (a.index != SLOTS + 1 || b.index != METRICS + 1 || !width || width > 64)
			return false;
		p.slots = registers->counter(SLOTS) & (~0ULL >> (64 - width));
		p.metrics = registers->counter(METRICS);
		/* Acquire: everything above is read before the locks are checked again. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!is_same(slots, &a) || !is_same(metric, &b))
			continue;
		*ret_point = p;
		return true;
	}
	return false;
}

bool topdown_read(const struct userread *slots, const struct userread *metric,
	struct topdown_point *ret_point)
{
	return userread_is_own(slots) && userread_is_own(metric) &&
		topdown_read_pages(slots->page, metric->page, userread_registers(), ret_point);
}

/* The slots of a fraction; all of them are too many for integers that are multiplied. */
static double slots_of(const struct topdown_point *p, unsigned field)
{
	return (double)(p->metrics >> (8 * field) & WHOLE) / WHOLE * (double)p->slots;
}

bool topdown_between(const struct topdown_point *first, const struct topdown_point *second,
	int level, struct topdown_shares *ret_shares)
{
	struct topdown_shares s = {.slots = second->slots - first->slots};
	double slots = (double)s.slots;

	if (second->slots <= first->slots)
		return false;
	s.error = ((double)first->slots + (double)second->slots) / WHOLE / slots;
	for (unsigned i = 0; i < TOPDOWN_COUNT; i++)
		s.share[i] = NAN;
	for (unsigned i = 0; i < TOPDOWN_LEVEL1; i++) {
		double *lower = &s.share[TOPDOWN_LEVEL1 + 2 * i];

		s.share[i] = (slots_of(second, i) - slots_of(first, i)) / slots;
		if (level < 2)
			continue;
		lower[0] = (slots_of(second, TOPDOWN_LEVEL1 + i) -
				   slots_of(first, TOPDOWN_LEVEL1 + i)) /
			slots;
		lower[1] = s.share[i] - lower[0];
	}
	/* Rounding only: less than nothing is nothing. */
	for (unsigned i = 0; i < TOPDOWN_COUNT; i++)
		if (s.share[i] < 0)
			s.share[i] = 0;
	*ret_shares = s;
	return true;
}
