#include <stdio.h>

#include "base/clock.h"
#include "base/selfname.h"
#include "cmd/record/recording.h"

enum { LOOK_NS = 100000000, NOTES_MAX = 200 };

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

static void start(struct recording *rec)
{
	if (rec->options->timing.overhead_pct)
		pacing_begin(&rec->pacing, &rec->recorder, &rec->target,
			rec->options->timing.overhead_pct / 100, &rec->log);
}

static u64 due(const struct recording *rec)
{
	return rec->options->timing.overhead_pct ? rec->pacing.looked_ns + LOOK_NS : UINT64_MAX;
}

/* Adds a line to stderr (under -v) and to the file's notes. */
static void note(struct recording *rec, u64 now, enum governor_reason reason, double overhead)
{
	struct pacing *p = &rec->pacing;
	struct str text = {0};

	str_addf(&text, "overhead: %.3f%% at %.1f s, %s: sampling at %.2f%% of the rate",
		100 * overhead, (double)(now - p->start_ns) / 1e9, governor_reason_text(reason),
		100 * p->governor.rate);
	log_debug(&rec->log, "--max-%s", str_text(&text));
	if (p->n_changes <= NOTES_MAX)
		str_addf(&rec->notes, "%s\n", str_text(&text));
	str_fini(&text);
}

static int look(struct recording *rec, struct err *err)
{
	const u64 now = clock_now_ns();
	enum governor_reason reason;
	double overhead;

	if (!rec->options->timing.overhead_pct || now < rec->pacing.looked_ns + LOOK_NS)
		return 0;
	if (pacing_look(&rec->pacing, now, &reason, &overhead, err))
		return err->code;
	if (reason == GOVERNOR_KEEP)
		return 0;
	note(rec, now, reason, overhead);
	if (reason == GOVERNOR_IS_LOWEST)
		log_warn(&rec->log,
			"--max-overhead: %.3f%% is more than %g%%, and the rate cannot be lowered any further",
			100 * overhead, rec->options->timing.overhead_pct);
	return 0;
}

static void say(struct recording *rec)
{
	struct pacing *o = &rec->pacing;
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
	pacing_end(&rec->pacing);
}

const struct record_watcher record_overhead_watcher = {
	.check = check,
	.start = start,
	.due = due,
	.look = look,
	.say = say,
	.close = close_clock,
};
