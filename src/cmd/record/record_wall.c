#include <time.h>

#include "cmd/record/recording.h"
#include "collect/around/privilege.h"
#include "event/abi.h"
#include "event/tracefs.h"

/* Options that would leave holes in the threads' time. */
static const struct {
	size_t at; /* offset of the option's bool */
	const char *option, *why;
} exclusions[] = {
	{offsetof(struct record_options, has_no_samples), "-n", "--wall measures time by samples"},
	{offsetof(struct record_options, rings.is_overwritten), "--overwrite",
		"overwritten context switches would be missing; --ring keeps the newest seconds whole"},
	{offsetof(struct record_options, is_all_user), "--all-user",
		"threads leave the CPU in the kernel"},
};

int record_wall_check(const struct record_options *o, struct err *err)
{
	if (!o->records.has_wall)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(exclusions); i++)
		if (*(const bool *)((const u8 *)o + exclusions[i].at))
			return err_set(err, ERR_INVAL, "--wall does not work with %s: %s",
				exclusions[i].option, exclusions[i].why);
	if (o->samples.has_timestamps == 0)
		return err_set(err, ERR_INVAL,
			"--wall does not work with --no-timestamp: it needs the times");
	if (o->timing.delay || o->timing.control)
		return err_set(err, ERR_INVAL,
			"--wall does not work with %s: a thread's state is known only once it was seen leaving a CPU",
			o->timing.delay ? "-D" : "--control");
	if (o->timing.overhead_pct > 0)
		return err_set(err, ERR_INVAL,
			"--wall does not work with --max-overhead: it records every context switch, and a lower rate does not reduce their number");
	if (o->target.cpus)
		return err_set(err, ERR_INVAL,
			"--wall does not work with -C: a thread that moves to another CPU would count as blocked");
	return 0;
}

/* Adds a sample whenever a thread leaves a CPU, and a record of that and of its return. */
static void add_switches(struct event_list *events)
{
	static const struct event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.sample_period = 1,
		.flags = ATTR_CONTEXT_SWITCH};

	event_add(events, &attr, "context-switches")->wishes = EVENT_OWN_PERIOD;
}

/* Only the time of a wake-up matters: waiting for a CPU begins then. */
static void add_wakes(struct event_list *events, u64 id)
{
	struct event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .config = id, .sample_period = 1};
	struct event *e = event_add(events, &attr, "sched:sched_wakeup");

	e->wishes = EVENT_OWN_PERIOD;
	e->own.chain = EVENT_CHAIN_NONE;
}

bool record_wall_is_blind(void)
{
	struct privilege p;

	privilege_read(&p);
	return !privilege_allows(&p, PRIVILEGE_KERNEL);
}

void record_wall_imply(struct record_options *o, bool wants_proc)
{
	/* A blocked thread is in the kernel: only its callers tell why. */
	o->callers.has_chains = true;
	if (!wants_proc || o->samples.has_clock)
		return;
	/* The thread states that are read besides the samples need times of the same clock. */
	o->samples.has_clock = true;
	o->samples.clock = CLOCK_MONOTONIC;
}

const struct event *record_wall_event(const struct event_list *events)
{
	vec_each(e, events)
		if (e->attr.type == PERF_TYPE_SOFTWARE &&
			e->attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES &&
			e->attr.flags & ATTR_CONTEXT_SWITCH)
			return e;
	return NULL;
}

void record_wall_add(struct event_list *events, struct log *log)
{
	struct privilege p;
	struct err why;
	char text[512];
	u64 id;

	privilege_read(&p);
	add_switches(events);
	if (!privilege_allows(&p, PRIVILEGE_TRACEPOINT))
		log_debug(log,
			"--wall: threads count as blocked until they run again, because wake-ups cannot be seen (%s)",
			privilege_explain(&p, PRIVILEGE_TRACEPOINT, text, sizeof(text)));
	else if (tracefs_id(NULL, "sched", "sched_wakeup", &id, &why))
		log_debug(log,
			"--wall: threads count as blocked until they run again, because wake-ups cannot be seen (%s)",
			why.msg);
	else
		add_wakes(events, id);
	if (!privilege_allows(&p, PRIVILEGE_KERNEL))
		log_note(log,
			"--wall: pace looks up in /proc where threads block, and misses most short waits: %s",
			privilege_explain(&p, PRIVILEGE_KERNEL, text, sizeof(text)));
}

const struct record_watcher record_wall_watcher = {.check = record_wall_check};
