#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/selfname.h"
#include "cmd/record/recording.h"
#include "record/record.h"

/* Counts the samples' addresses, of the first event only: the report's rows are its. */
static void count(struct record_until *u)
{
	struct record r;
	struct err ignored;

	for (size_t at = 0; record_in(u->records.at, u->records.n, at, &r); at += r.size)
		if (r.type == PERF_RECORD_SAMPLE && !formats_event(&u->formats, &r) &&
			!sample_decode(formats_format(&u->formats, 0), r.at + RECORD_HEADER_SIZE,
				r.size - RECORD_HEADER_SIZE, PERF_SAMPLE_IP, &u->sample, &ignored))
			convergence_add(&u->convergence, u->sample.ip);
}

static int append(void *until, const struct iovec *runs, int n, struct err *err)
{
	struct record_until *u = until;

	str_clear(&u->records);
	for (int i = 0; i < n; i++)
		str_addn(&u->records, runs[i].iov_base, runs[i].iov_len);
	count(u);
	return u->behind->append(u->behind->ctx, runs, n, err);
}

static int sync_behind(void *until, struct err *err)
{
	return sink_sync(((struct record_until *)until)->behind, err);
}

static int check(const struct record_options *o, struct err *err)
{
	if (!o->timing.until_pct)
		return 0;
	if (o->timing.ring_ns || o->rings.is_overwritten)
		return err_set(err, ERR_INVAL,
			"--until ends when enough is recorded, but %s drops older records: choose one",
			o->timing.ring_ns ? "--ring" : "--overwrite");
	if (o->has_no_samples)
		return err_set(err, ERR_INVAL, "--until counts samples, and -n records none");
	return 0;
}

/* Called for each file. */
static void begin(struct recording *rec)
{
	struct record_until *u = &rec->until;

	if (!rec->options->timing.until_pct)
		return;
	if (!u->formats.n)
		formats_init(&u->formats, rec->unwound.n ? &rec->unwound : &rec->events);
	u->sink = (struct sink){u, append, sync_behind};
	u->behind = rec->recorder.sink;
	rec->recorder.sink = &u->sink;
}

static bool is_reached(const struct recording *rec)
{
	return rec->options->timing.until_pct &&
		100 * convergence_width(&rec->until.convergence) <= rec->options->timing.until_pct;
}

static const char *is_enough(const struct recording *rec)
{
	return is_reached(rec) ? "--until is reached" : NULL;
}

static u64 due(const struct recording *rec)
{
	return rec->options->timing.until_pct ? clock_now_ns() + RECORD_ROUND_NS : UINT64_MAX;
}

static void say(struct recording *rec)
{
	const struct convergence *e = &rec->until.convergence;
	struct str text = {0};

	if (!rec->options->timing.until_pct)
		return;
	str_addf(&text, "until: %s %g%%: ", is_reached(rec) ? "reached" : "did not reach",
		rec->options->timing.until_pct);
	if (isinf(convergence_width(e)))
		str_addf(&text, "the hottest code has %llu of %llu samples, too few to tell",
			(unsigned long long)e->most, (unsigned long long)e->n);
	else
		str_addf(&text,
			"the hottest code has %.2f%% +- %.2f%% of itself (95%%), by %llu samples",
			100 * convergence_share(e), 100 * convergence_width(e),
			(unsigned long long)e->n);
	if (!rec->options->is_quiet)
		fprintf(stderr, "[ %s record: --%s ]\n", program_name(), str_text(&text));
	str_addf(&rec->notes, "%s\n", str_text(&text));
	str_fini(&text);
}

static void close_until(struct recording *rec)
{
	formats_fini(&rec->until.formats);
	convergence_fini(&rec->until.convergence);
	str_fini(&rec->until.records);
}

const struct record_watcher record_until_watcher = {
	.check = check,
	.begin = begin,
	.resume = begin,
	.due = due,
	.is_enough = is_enough,
	.say = say,
	.close = close_until,
};
