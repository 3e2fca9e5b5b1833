#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/record/recording.h"
#include "collect/run/deeper.h"
#include "collect/open/open.h"
#include "event/abi.h"

enum {
	/*
	 * Each inherited event costs every fork: on many CPUs the waiting events would cost more than they may bring.
	 */
	FEW_CPUS = 32,
	COUNTERS_MAX = 4096,
	/* So many stacks that are deeper than their copies, and one in so many samples, are no accident. */
	STACKS_LEAST = 16,
	SAMPLES_MOST = 200,
	RING_BYTES = 1 << 20, /* a user who asks for smaller ones has a reason */
};

/* Whether all samples have copies of the stack, whose size the user has not chosen. */
static bool may_change(const struct recording *rec)
{
	const struct record_options *o = rec->options;
	u64 pages, n = 0;
	struct err ignored;

	if (record_parse_pages(o, &pages, &ignored) ||
		(pages && pages * (u64)sysconf(_SC_PAGESIZE) < RING_BYTES))
		return false;
	if (o->callers.has_stack_size || o->callers.keeps_stacks || o->rings.is_overwritten)
		return false;
	vec_each(e, &rec->events) {
		if (e->wishes & EVENT_TRACKER)
			continue;
		if (!(e->attr.sample_type & PERF_SAMPLE_STACK_USER) || e->own.stack_bytes ||
			e->attr.flags & ATTR_WRITE_BACKWARD)
			return false;
		n++;
	}
	return n > 0;
}

int record_deeper_open(struct recording *rec, struct err *err)
{
	const struct target *t = &rec->target;
	struct err why;

	if (!may_change(rec) || rec->counters.n > COUNTERS_MAX ||
		(!t->is_system_wide && t->cpus.n > FEW_CPUS))
		return 0;
	if (!deeper_open(&rec->events, &rec->counters, SAMPLING_MAX_STACK, &why))
		return 0;
	log_debug(&rec->log, "stacks will be copied up to %u bytes only: %s",
		SAMPLING_DEFAULT_STACK, why.msg);
	/* The events get the ids of the remaining counters back, which were fetched before. */
	return open_fetch_ids(&rec->events, &rec->counters, err);
}

static int look(struct recording *rec, struct err *ret_err)
{
	struct record_deeper *d = &rec->deeper;
	const struct liveunwind *u = &rec->liveunwind;
	u64 n = u->n_ended[STACK_DUMP_TOO_SMALL];
	struct err err;

	(void)ret_err;
	/* A recorder that cannot keep up with small copies cannot with large ones. */
	if (d->is_decided || n < STACKS_LEAST || n * SAMPLES_MOST < u->n_samples || u->n_hurried)
		return 0;
	d->is_decided = true;
	d->n_before = n;
	snprintf(d->comm, sizeof(d->comm), "%s", u->deep_comm ? u->deep_comm : "");
	if (!deeper_is_there(&rec->counters))
		return 0;
	if (recorder_go_deeper(&rec->recorder, rec->pilot.is_off, &err)) {
		log_debug(&rec->log, "copies of the stack stay as they are: %s", err.msg);
		return 0;
	}
	d->since_ns = clock_now_ns();
	return 0;
}

static void say(struct recording *rec)
{
	const struct record_deeper *d = &rec->deeper;

	if (rec->liveunwind.n_hurried)
		log_note(&rec->log,
			"%llu samples have only the kernel's chains of frame pointers: there was no time to walk their stacks; larger rings (-m) or a lower frequency (-F) help",
			(unsigned long long)rec->liveunwind.n_hurried);
	if (!d->since_ns)
		return;
	log_note(&rec->log,
		"stacks of '%s' are deeper than %d KiB: from %.2f s on up to %d KiB were copied (the stacks of %llu earlier samples are cut off)",
		d->comm, SAMPLING_DEFAULT_STACK / 1024,
		(double)(d->since_ns - MIN(rec->pilot.start_ns, d->since_ns)) / 1e9,
		(SAMPLING_MAX_STACK + 1023) / 1024, (unsigned long long)d->n_before);
}

const struct record_watcher record_deeper_watcher = {
	.look = look,
	.say = say,
};
