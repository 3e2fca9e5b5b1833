#include <fcntl.h>
#include <unistd.h>

#include "cmd/record/recording.h"
#include "collect/open/open.h"
#include "event/abi.h"
#include "record/record.h"

static int fail(struct err *err)
{
	return err_prefix(err, "--switch-output-event");
}

/* ---- opening ---- */

static int open_counters(void *ctx, struct err *err)
{
	struct recording *rec = ctx;
	struct record_trigger *t = &rec->trigger;

	return open_events(&t->events, &rec->target, &t->counters, &rec->log, err) ? fail(err) : 0;
}

static void close_counters(void *ctx)
{
	struct recording *rec = ctx;

	counters_close(&rec->trigger.counters);
}

/* Opens ring i, of counter i, and wakes the recorder when it fills. */
static int open_ring(struct recording *rec, size_t i, struct err *err)
{
	int fd = rec->trigger.counters.at[i].fd;

	if (ring_open(&rec->trigger.rings.at[i], fd, 1, err) ||
		recorder_watch_task(&rec->recorder, fd, err))
		return fail(err);
	return 0;
}

static bool open_one_again(struct recording *rec, size_t i)
{
	struct record_trigger *t = &rec->trigger;
	struct err ignored;
	int fd;

	recorder_unwatch(&rec->recorder, t->counters.at[i].fd);
	ring_close(&t->rings.at[i]);
	if (open_again(&t->events, &t->counters, i, &fd, &ignored))
		return false;
	dup3(fd, t->counters.at[i].fd, O_CLOEXEC);
	close(fd);
	return !open_ring(rec, i, &ignored);
}

static size_t open_cpu_again(void *ctx, s32 cpu)
{
	struct recording *rec = ctx;
	size_t n_failed = 0;

	for (size_t i = 0; i < rec->trigger.counters.n; i++)
		if (rec->trigger.counters.at[i].cpu == cpu)
			n_failed += !open_one_again(rec, i);
	return n_failed;
}

static int add(struct recording *rec, struct err *err)
{
	const struct event_list *sampled = &rec->events;
	struct record_trigger *t = &rec->trigger;

	if (!rec->options->files.triggers.has_events)
		return 0;
	if (event_words_parse(&rec->options->files.triggers, NULL, &t->events, &rec->log, err))
		return fail(err);
	vec_each(e, &t->events) {
		struct event_attr *a = &e->attr;

		a->size = MAX(attr_needed_size(a), (u32)ATTR_SIZE_VER7);
		a->sample_type |= PERF_SAMPLE_IP;
		/* Events trigger for the same tasks that are sampled. */
		a->flags |= ATTR_EXCLUDE_GUEST | (sampled->at[0].attr.flags & ATTR_INHERIT);
		a->sample_period = e->wishes & EVENT_OWN_PERIOD ? a->sample_period : 1;
		a->wakeup_events = 1;
		if (rec->measures_workload)
			a->flags |= ATTR_DISABLED | ATTR_ENABLE_ON_EXEC;
	}
	attach_add(&rec->attach,
		&(struct attach_part){rec, open_counters, close_counters, open_cpu_again});
	return 0;
}

static int open_rings(struct recording *rec, struct err *err)
{
	struct record_trigger *t = &rec->trigger;

	for (size_t i = 0; i < t->counters.n; i++) {
		*vec_push(&t->rings) = (struct ring){0};
		if (open_ring(rec, i, err))
			return err->code;
	}
	return 0;
}

static void close_rings(struct recording *rec)
{
	struct record_trigger *t = &rec->trigger;

	vec_each(ring, &t->rings)
		ring_close(ring);
	vec_fini(&t->rings);
	counters_close(&t->counters);
	event_list_fini(&t->events);
}

/* ---- looking ---- */

static const char *wants_file(struct recording *rec)
{
	bool is_there = false;
	struct record record;

	vec_each(ring, &rec->trigger.rings) {
		ring_acquire(ring);
		while (ring_next(ring, &record))
			is_there |= record.type == PERF_RECORD_SAMPLE;
		ring_release(ring);
	}
	return is_there ? "--switch-output-event" : NULL;
}

const struct record_watcher record_trigger_watcher = {
	.add = add,
	.open = open_rings,
	.wants_file = wants_file,
	.close = close_rings,
};
