#include "collect/record/pacing.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "collect/open/sampling.h"
#include "collect/record/drain.h"
#include "event/abi.h"

enum { LOWEST_HZ = 10 };

/* How many CPUs the target can keep busy, as far as the start tells. */
static unsigned cpus_of(const struct target *t)
{
	if (t->is_system_wide)
		return (unsigned)t->cpus.n;
	return (unsigned)MAX(1, MIN(t->threads.n, t->cpus.n));
}

static u64 first_period(const struct event_attr *a)
{
	return a->flags & ATTR_FREQ ? 1000000000 / a->sample_period : a->sample_period;
}

/* The event's frequency in Hz or its period, at the present rate. */
static u64 period_of(const struct event_attr *a, double rate)
{
	if (a->flags & ATTR_FREQ && !sampling_is_timer(a))
		return MAX((u64)((double)a->sample_period * rate), 1ULL);
	return (u64)((double)first_period(a) / rate);
}

/* False: the kernel refused the new rate. */
static bool change(struct pacing *p, const struct counter *c)
{
	const struct event *e = &p->recorder->events->at[c->event];
	const struct event_attr *a = &e->attr;
	u64 period = period_of(a, p->governor.rate), now;

	if (!sampling_can_change(e) || c->fd < 0)
		return true;
	now = sampling_is_timer(a) ? perfclock_now(&p->clock) : 0;
	if (ioctl(c->fd, PERF_EVENT_IOC_PERIOD, &period))
		return false;
	if (sampling_is_timer(a))
		reweigh_set(&p->reweigh, c->event, c->id, first_period(a), period, now);
	return true;
}

/* Takes what was sampled at the old rate, then changes the rate. */
static int apply(struct pacing *p, struct err *err)
{
	unsigned n_failed = 0;
	int sys = 0;

	if (drain_rings(p->recorder, true, err))
		return err->code;
	vec_each(c, p->recorder->counters) {
		if (change(p, c))
			continue;
		sys = errno;
		n_failed++;
	}
	p->recorder->reweigh = &p->reweigh;
	if (n_failed && !p->has_failed) {
		p->has_failed = true;
		log_warn(p->log,
			"--max-overhead: the kernel refused a new rate for %u counters: %s",
			n_failed, strerror(sys));
	}
	return 0;
}

void pacing_reopened(struct pacing *p, s32 cpu)
{
	if (!p->recorder || !p->recorder->reweigh)
		return;
	vec_each(c, p->recorder->counters)
		if (c->cpu == cpu)
			change(p, c);
}

/* Warns about events whose rate cannot change. */
static void say_unchanging(const struct pacing *p)
{
	vec_each(e, p->recorder->events)
		if (e->attr.sample_period && !(e->wishes & EVENT_TRACKER) &&
			!sampling_can_change(e))
			log_warn(p->log,
				"--max-overhead: event '%s' keeps its fixed period; with a frequency (-F) its rate can change",
				e->name);
}

void pacing_begin(struct pacing *p, struct recorder *r, const struct target *target, double most,
	struct log *log)
{
	struct err err;
	u64 most_hz = 0;

	*p = (struct pacing){.recorder = r, .log = log, .clock.fd = -1};
	say_unchanging(p);
	if (perfclock_open(&p->clock, &r->events->at[0].attr, &err))
		log_debug(log, "--max-overhead: the times at which rates change are not exact: %s",
			err.msg);
	reweigh_init(&p->reweigh, r->events);
	vec_each(e, r->events)
		if (sampling_can_change(e) && e->attr.flags & ATTR_FREQ)
			most_hz = MAX(most_hz, e->attr.sample_period);
	p->governor = (struct governor){.most = most,
		.lowest = most_hz ? MIN(1.0, (double)LOWEST_HZ / (double)most_hz) : 0.001,
		.rate = 1};
	p->cpus = cpus_of(target);
	p->start_ns = p->looked_ns = clock_now_ns();
	p->start_cpu_ns = p->cpu_ns = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID);
	r->fullest_pct = 0;
}

void pacing_end(struct pacing *p)
{
	if (!p->recorder)
		return;
	perfclock_close(&p->clock);
	reweigh_fini(&p->reweigh);
	p->recorder = NULL;
}

int pacing_look(struct pacing *p, u64 now_ns, enum governor_reason *ret_reason,
	double *ret_overhead, struct err *err)
{
	const u64 cpu = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID);

	*ret_overhead = (double)(cpu - p->cpu_ns) / ((double)(now_ns - p->looked_ns) * p->cpus);
	*ret_reason = governor_look(&p->governor, now_ns - p->looked_ns, cpu - p->cpu_ns, p->cpus,
		p->recorder->fullest_pct);
	p->looked_ns = now_ns;
	p->cpu_ns = cpu;
	p->recorder->fullest_pct = 0;
	if (*ret_reason == GOVERNOR_KEEP)
		return 0;
	p->n_changes++;
	return *ret_reason == GOVERNOR_IS_LOWEST ? 0 : apply(p, err);
}
