#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "cmd/recording.h"
#include "event/abi.h"

enum { LOOK_NS = 100000000, LOWEST_HZ = 10, NOTES_MAX = 200 };

/* How many CPUs the target can keep busy, as far as is known at the start. */
static unsigned cpus_of(const struct recording *rec)
{
	const struct target *t = &rec->target;

	if (t->is_system_wide)
		return (unsigned)t->cpus.n;
	return (unsigned)MAX(1, MIN(t->threads.n, t->cpus.n));
}

static bool samples(const struct event *e)
{
	return e->attr.sample_period && strcmp(e->name, SAMPLING_TRACKER) != 0;
}

/* The kernel's timers turn a frequency into a period when they are opened. */
static bool is_timer(const struct event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE &&
		(a->config == PERF_COUNT_SW_CPU_CLOCK || a->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* What the kernel is told of an event at the present rate: Hz, or a period. */
static u64 period_of(const struct event_attr *a, double rate)
{
	if (!(a->flags & ATTR_FREQ))
		return (u64)((double)a->sample_period / rate);
	if (is_timer(a))
		return (u64)(1e9 / ((double)a->sample_period * rate));
	return MAX((u64)((double)a->sample_period * rate), 1ULL);
}

static const char stale[] =
	"samples of cpu-clock and task-clock go on telling the period of the first rate, so that times with lower rates weigh less";

static void apply(struct recording *rec)
{
	struct record_overhead *o = &rec->overhead;
	unsigned n_failed = 0;
	bool has_timer = false;

	vec_each(c, &rec->counters) {
		const struct event *e = &rec->events.at[c->event];
		u64 period = period_of(&e->attr, o->governor.rate);

		has_timer |= samples(e) && is_timer(&e->attr);
		if (samples(e) && c->fd >= 0 && ioctl(c->fd, PERF_EVENT_IOC_PERIOD, &period))
			n_failed++;
	}
	/* Linux 6.18 still tells the period that the timer was opened with. */
	if (has_timer && !o->has_said_stale) {
		o->has_said_stale = true;
		log_note(&rec->log, "--max-overhead: %s", stale);
		str_addf(&rec->notes, "overhead: %s\n", stale);
	}
	if (n_failed && !o->has_failed) {
		o->has_failed = true;
		log_warn(&rec->log,
			"--max-overhead: the kernel did not take another rate for %u counters: %s",
			n_failed, strerror(errno));
	}
}

void record_overhead_start(struct recording *rec)
{
	struct record_overhead *o = &rec->overhead;
	u64 most_hz = 0;

	if (!rec->options->overhead_pct)
		return;
	vec_each(e, &rec->events)
		if (samples(e) && e->attr.flags & ATTR_FREQ)
			most_hz = MAX(most_hz, e->attr.sample_period);
	o->governor = (struct governor){.most = rec->options->overhead_pct / 100,
		.lowest = most_hz ? MIN(1.0, (double)LOWEST_HZ / (double)most_hz) : 0.001,
		.rate = 1};
	o->cpus = cpus_of(rec);
	o->start_ns = o->looked_ns = clock_now_ns();
	o->start_cpu_ns = o->cpu_ns = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID);
	rec->recorder.fullest_pct = 0;
}

u64 record_overhead_due(const struct recording *rec)
{
	return rec->options->overhead_pct ? rec->overhead.looked_ns + LOOK_NS : UINT64_MAX;
}

/* A line, on stderr under -v and in the file. */
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

void record_overhead_look(struct recording *rec)
{
	struct record_overhead *o = &rec->overhead;
	u64 now = clock_now_ns(), cpu;
	enum governor_reason reason;
	double overhead;

	if (!rec->options->overhead_pct || now < o->looked_ns + LOOK_NS)
		return;
	cpu = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID);
	overhead = (double)(cpu - o->cpu_ns) / ((double)(now - o->looked_ns) * o->cpus);
	reason = governor_look(&o->governor, now - o->looked_ns, cpu - o->cpu_ns, o->cpus,
		rec->recorder.fullest_pct);
	o->looked_ns = now;
	o->cpu_ns = cpu;
	rec->recorder.fullest_pct = 0;
	if (reason == GOVERNOR_KEEP)
		return;
	note(rec, now, reason, overhead);
	if (reason == GOVERNOR_IS_LOWEST)
		log_warn(&rec->log,
			"--max-overhead: %.3f%% is more than %g%%, and the rate cannot be lowered any more",
			100 * overhead, rec->options->overhead_pct);
	else
		apply(rec);
}

void record_overhead_say(struct recording *rec)
{
	struct record_overhead *o = &rec->overhead;
	u64 elapsed, cpu;
	struct str text = {0};

	if (!rec->options->overhead_pct || !o->start_ns)
		return;
	elapsed = clock_now_ns() - o->start_ns;
	cpu = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID) - o->start_cpu_ns;
	str_addf(&text,
		"overhead: %.3f%%, %.3f s of CPU in %.3f s of %u CPUs; %u changes, at last %.2f%% of the rate",
		100 * (double)cpu / ((double)elapsed * o->cpus), (double)cpu / 1e9,
		(double)elapsed / 1e9, o->cpus, o->n_changes, 100 * o->governor.rate);
	if (!rec->options->is_quiet)
		fprintf(stderr, "[ pace record: --max-%s ]\n", str_text(&text));
	str_addf(&rec->notes, "%s\n", str_text(&text));
	str_fini(&text);
}
