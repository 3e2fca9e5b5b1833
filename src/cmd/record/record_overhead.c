#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "base/selfname.h"
#include "cmd/record/recording.h"
#include "event/abi.h"
#include "collect/record/drain.h"

enum { LOOK_NS = 100000000, LOWEST_HZ = 10, NOTES_MAX = 200 };

/* How many CPUs the target can keep busy, as far as the start tells. */
static unsigned cpus_of(const struct recording *rec)
{
	const struct target *t = &rec->target;

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
static bool change(struct recording *rec, const struct counter *c)
{
	struct record_overhead *o = &rec->overhead;
	const struct event_attr *a = &rec->events.at[c->event].attr;
	u64 period = period_of(a, o->governor.rate), now;

	if (!sampling_can_change(&rec->events.at[c->event]) || c->fd < 0)
		return true;
	now = sampling_is_timer(a) ? perfclock_now(&o->clock) : 0;
	if (ioctl(c->fd, PERF_EVENT_IOC_PERIOD, &period))
		return false;
	if (sampling_is_timer(a))
		reweigh_set(&o->reweigh, c->event, c->id, first_period(a), period, now);
	return true;
}

/* Writes what was sampled at the old rate, then changes the rate. */
static int apply(struct recording *rec, struct err *err)
{
	struct record_overhead *o = &rec->overhead;
	unsigned n_failed = 0;
	int sys = 0;

	if (drain_rings(&rec->recorder, true, err))
		return err->code;
	vec_each(c, &rec->counters) {
		if (change(rec, c))
			continue;
		sys = errno;
		n_failed++;
	}
	rec->recorder.reweigh = &o->reweigh;
	if (n_failed && !o->has_failed) {
		o->has_failed = true;
		log_warn(&rec->log,
			"--max-overhead: the kernel refused a new rate for %u counters: %s",
			n_failed, strerror(sys));
	}
	return 0;
}

void record_overhead_reopened(struct recording *rec, s32 cpu)
{
	if (!rec->recorder.reweigh)
		return;
	vec_each(c, &rec->counters)
		if (c->cpu == cpu)
			change(rec, c);
}

static int check(const struct record_options *o, struct err *err)
{
	if (!o->timing.overhead_pct)
		return 0;
	if (!o->samples.has_periods)
		return err_set(err, ERR_INVAL,
			"--max-overhead changes what a sample stands for, which --no-period leaves out: choose one");
	if (o->rings.is_overwritten)
		return err_set(err, ERR_INVAL,
			"--max-overhead measures the recorder's work, and --overwrite leaves it none until the end: choose one");
	return 0;
}

/* Warns about events whose rate cannot change. */
static void say_unchanging(struct recording *rec)
{
	vec_each(e, &rec->events)
		if (e->attr.sample_period && !(e->wishes & EVENT_TRACKER) &&
			!sampling_can_change(e))
			log_warn(&rec->log,
				"--max-overhead: event '%s' keeps its fixed period; with a frequency (-F) its rate can change",
				e->name);
}

static void start(struct recording *rec)
{
	struct record_overhead *o = &rec->overhead;
	struct err err;
	u64 most_hz = 0;

	if (!rec->options->timing.overhead_pct)
		return;
	say_unchanging(rec);
	if (perfclock_open(&o->clock, &rec->events.at[0].attr, &err))
		log_debug(&rec->log,
			"--max-overhead: the times at which rates change are not exact: %s",
			err.msg);
	reweigh_init(&o->reweigh, &rec->events);
	vec_each(e, &rec->events)
		if (sampling_can_change(e) && e->attr.flags & ATTR_FREQ)
			most_hz = MAX(most_hz, e->attr.sample_period);
	o->governor = (struct governor){.most = rec->options->timing.overhead_pct / 100,
		.lowest = most_hz ? MIN(1.0, (double)LOWEST_HZ / (double)most_hz) : 0.001,
		.rate = 1};
	o->cpus = cpus_of(rec);
	o->start_ns = o->looked_ns = clock_now_ns();
	o->start_cpu_ns = o->cpu_ns = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID);
	rec->recorder.fullest_pct = 0;
}

static u64 due(const struct recording *rec)
{
	return rec->options->timing.overhead_pct ? rec->overhead.looked_ns + LOOK_NS : UINT64_MAX;
}

/* Adds a line to stderr (under -v) and to the file's notes. */
static void note(struct recording *rec, u64 now, enum governor_reason reason, double overhead)
{
	struct record_overhead *o = &rec->overhead;
	struct str text = {0};

	str_addf(&text, "overhead: %.3f%% at %.1f s, %s: sampling at %.2f%% of the rate",
		100 * overhead, (double)(now - o->start_ns) / 1e9, governor_reason_text(reason),
		100 * o->governor.rate);
	log_debug(&rec->log, "--max-%s", str_text(&text));
	if (o->n_changes++ < NOTES_MAX)
		str_addf(&rec->notes, "%s\n", str_text(&text));
	str_fini(&text);
}

static int look(struct recording *rec, struct err *err)
{
	struct record_overhead *o = &rec->overhead;
	u64 now = clock_now_ns(), cpu;
	enum governor_reason reason;
	double overhead;

	if (!rec->options->timing.overhead_pct || now < o->looked_ns + LOOK_NS)
		return 0;
	cpu = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID);
	overhead = (double)(cpu - o->cpu_ns) / ((double)(now - o->looked_ns) * o->cpus);
	reason = governor_look(&o->governor, now - o->looked_ns, cpu - o->cpu_ns, o->cpus,
		rec->recorder.fullest_pct);
	o->looked_ns = now;
	o->cpu_ns = cpu;
	rec->recorder.fullest_pct = 0;
	if (reason == GOVERNOR_KEEP)
		return 0;
	note(rec, now, reason, overhead);
	if (reason != GOVERNOR_IS_LOWEST)
		return apply(rec, err);
	log_warn(&rec->log,
		"--max-overhead: %.3f%% is more than %g%%, and the rate cannot be lowered any further",
		100 * overhead, rec->options->timing.overhead_pct);
	return 0;
}

static void say(struct recording *rec)
{
	struct record_overhead *o = &rec->overhead;
	u64 elapsed, cpu;
	struct str text = {0};

	if (!rec->options->timing.overhead_pct || !o->start_ns)
		return;
	elapsed = clock_now_ns() - o->start_ns;
	cpu = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID) - o->start_cpu_ns;
	str_addf(&text,
		"overhead: %.3f%%, %.3f s of CPU in %.3f s of %u CPUs; %u changes, at last %.2f%% of the rate",
		100 * (double)cpu / ((double)elapsed * o->cpus), (double)cpu / 1e9,
		(double)elapsed / 1e9, o->cpus, o->n_changes, 100 * o->governor.rate);
	if (!rec->options->is_quiet)
		fprintf(stderr, "[ %s record: --max-%s ]\n", program_name(), str_text(&text));
	str_addf(&rec->notes, "%s\n", str_text(&text));
	str_fini(&text);
}

static void close_clock(struct recording *rec)
{
	perfclock_close(&rec->overhead.clock);
	reweigh_fini(&rec->overhead.reweigh);
}

const struct record_watcher record_overhead_watcher = {
	.check = check,
	.start = start,
	.due = due,
	.look = look,
	.say = say,
	.close = close_clock,
};
