#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/record/recording.h"
#include "collect/open/open.h"
#include "event/abi.h"
#include "collect/record/drain.h"

enum { ROOTS_NS = 250000000 };   /* how often to look for containers */
enum { HOTPLUG_NS = 500000000 }; /* how often to look for CPUs */

/* ---- switching on and off ---- */

static int switch_events(struct recording *rec, const char *name, bool is_on, struct err *err)
{
	if (counters_switch(&rec->counters, &rec->events, name, is_on, err))
		return err->code;
	rec->pilot.is_off = name ? rec->pilot.is_off : !is_on;
	if (!name && !rec->options->is_quiet)
		fprintf(stderr, "Events %s\n", is_on ? "enabled" : "disabled");
	return 0;
}

static int follow_schedule(struct recording *rec, struct err *err)
{
	struct record_pilot *p = &rec->pilot;

	while (schedule_next(&p->schedule) != UINT64_MAX &&
		clock_now_ns() >= p->start_ns + schedule_next(&p->schedule))
		if (switch_events(rec, NULL, schedule_step(&p->schedule), err))
			return err->code;
	if (schedule_is_over(&p->schedule))
		p->why = "the last range of -D is over";
	return 0;
}

/* ---- --control ---- */

static void list_events(const struct recording *rec)
{
	const char *how = rec->pilot.control.argument;

	vec_each(e, &rec->events) {
		struct str text = {0};

		str_add(&text, e->name);
		if (!strcmp(how, "-v")) {
			str_add(&text, ": ");
			attr_add_text(&e->attr, ": ", &text);
		} else if (!strcmp(how, "-F")) {
			str_addf(&text, ": sample_%s=%llu",
				e->attr.flags & ATTR_FREQ ? "freq" : "period",
				(unsigned long long)e->attr.sample_period);
		} else if (!strcmp(how, "-g") &&
			event_is_group_member(&rec->events, e - rec->events.at)) {
			str_addf(&text, " (in the group of %s)", rec->events.at[e->leader].name);
		}
		fprintf(stderr, "%s\n", str_text(&text));
		str_fini(&text);
	}
}

/* A name that is not one of our events is warned about and ignored. */
static void switch_named(struct recording *rec, bool is_on)
{
	const char *name = rec->pilot.control.argument;
	struct err err;

	if (switch_events(rec, name[0] ? name : NULL, is_on, &err))
		log_warn(&rec->log, "--control: %s", err.msg);
}

static int switch_output(struct recording *rec, const char *why, struct err *err);

static int obey(struct recording *rec, struct err *err)
{
	struct record_pilot *p = &rec->pilot;
	enum control_command command;

	while ((command = control_next(&p->control, &rec->log)) != CONTROL_NONE) {
		switch (command) {
		case CONTROL_CLOSED:
			recorder_unwatch(&rec->recorder, p->control.fd);
			control_close(&p->control);
			return 0;
		case CONTROL_ENABLE:
		case CONTROL_DISABLE:
			switch_named(rec, command == CONTROL_ENABLE);
			break;
		case CONTROL_EVLIST:
			list_events(rec);
			break;
		case CONTROL_SNAPSHOT:
			if (drain_newest(&rec->recorder, err) ||
				((rec->options->files.switch_mode ||
					 rec->options->timing.ring_ns) &&
					switch_output(rec, "--control said snapshot", err)))
				return err->code;
			break;
		case CONTROL_STOP:
			p->is_told = true;
			p->why = "--control said stop";
			break;
		case CONTROL_PING:
		case CONTROL_NONE:
			break;
		}
		control_ack(&p->control);
	}
	return 0;
}

/* ---- other files, limits ---- */

static int switch_output(struct recording *rec, const char *why, struct err *err)
{
	if (drain_rings(&rec->recorder, true, err) || drain_newest(&rec->recorder, err) ||
		record_ring_spill(rec, why, err) || record_switch_output(rec, err))
		return err->code;
	record_watchers_resume(rec);
	rec->pilot.file_ns = clock_now_ns();
	return 0;
}

/* Why to continue in another file now; NULL: no reason. */
static const char *must_switch(struct recording *rec)
{
	const struct record_options *o = rec->options;
	const char *why = record_watchers_want_file(rec);

	if (o->files.switch_mode == RECORD_SWITCH_SIZE)
		return writer_data_bytes(&rec->writer) >= o->files.switch_size ? "size" : NULL;
	if (o->files.switch_mode == RECORD_SWITCH_TIME)
		return clock_now_ns() >= rec->pilot.file_ns + o->files.switch_size ? "time" : NULL;
	if (o->files.switch_mode != RECORD_SWITCH_SIGNAL && !o->timing.ring_ns)
		return NULL;
	return why;
}

static u64 next_moment(const struct recording *rec)
{
	const struct record_pilot *p = &rec->pilot;
	const struct record_options *o = rec->options;
	u64 next = schedule_next(&p->schedule);

	next = MIN(next == UINT64_MAX ? next : p->start_ns + next, p->hotplug_ns);
	next = MIN(next, p->roots_ns);
	next = MIN(next, record_watchers_due(rec));
	if (o->timing.for_ns)
		next = MIN(next, p->start_ns + o->timing.for_ns);
	return rec->options->files.switch_mode == RECORD_SWITCH_TIME
		? MIN(next, p->file_ns + rec->options->files.switch_size)
		: next;
}

/* ---- CPUs that come and go ---- */

static void look_for_cpus(struct recording *rec)
{
	struct record_pilot *p = &rec->pilot;

	if (clock_now_ns() < p->hotplug_ns)
		return;
	attach_look(&rec->attach);
	p->hotplug_ns = clock_now_ns() + HOTPLUG_NS;
}

/* ---- containers ---- */

static void look_for_roots(struct recording *rec)
{
	u64 now = clock_now_ns();
	pid_t last = 0;

	if (now < rec->pilot.roots_ns)
		return;
	if (rec->target.is_system_wide)
		roots_look_everywhere(&rec->roots);
	else if (rec->measures_workload)
		roots_look(&rec->roots, rec->workload.pid);
	vec_each(t, &rec->target.threads) {
		if (t->pid != last)
			roots_look(&rec->roots, t->pid);
		last = t->pid;
	}
	rec->pilot.roots_ns = now + ROOTS_NS;
}

static int look(void *ctx, bool *ret_is_end, struct err *err)
{
	struct recording *rec = ctx;
	struct record_pilot *p = &rec->pilot;
	const struct record_options *o = rec->options;
	const char *why;

	if (follow_schedule(rec, err) || (p->control.fd >= 0 && obey(rec, err)) ||
		record_watchers_look(rec, err))
		return err->code;
	if (!p->why && o->timing.for_ns && clock_now_ns() >= p->start_ns + o->timing.for_ns)
		p->why = "the time of --for is over";
	if (!p->why)
		p->why = record_watchers_enough(rec);
	if (!p->why && (why = must_switch(rec)) && switch_output(rec, why, err))
		return err->code;
	if (!p->why && o->files.max_size && !o->timing.ring_ns &&
		writer_data_bytes(&rec->writer) >= o->files.max_size)
		p->why = "the recording is as large as --max-size allows";
	look_for_cpus(rec);
	look_for_roots(rec);
	p->pilot.due_ns = next_moment(rec);
	*ret_is_end = p->why != NULL;
	return 0;
}

/* ---- opening ---- */

int record_pilot_open(struct recording *rec, struct err *err)
{
	const struct record_options *o = rec->options;
	struct record_pilot *p = &rec->pilot;

	p->pilot = (struct recorder_pilot){rec, UINT64_MAX, look};
	p->is_off = p->schedule.is_late;
	p->hotplug_ns = UINT64_MAX;
	p->roots_ns = UINT64_MAX;
	if (rec->target.is_system_wide)
		p->hotplug_ns = clock_now_ns() + HOTPLUG_NS;
	rec->recorder.pilot = &p->pilot;
	if (record_watchers_open(rec, err))
		return err->code;
	if (!o->timing.control)
		return 0;
	if (control_open(&p->control, o->timing.control, err))
		return err->code;
	p->control.is_recording = true;
	return recorder_watch(&rec->recorder, p->control.fd, err);
}

void record_pilot_close(struct recording *rec)
{
	struct record_pilot *p = &rec->pilot;

	control_close(&p->control);
	schedule_fini(&p->schedule);
}

void record_pilot_start(struct recording *rec)
{
	rec->pilot.start_ns = rec->has_workload ? rec->workload.went_ns : clock_now_ns();
	rec->pilot.file_ns = rec->pilot.start_ns;
	/* A command has not started anything yet; running targets may end soon. */
	if (!rec->options->files.has_no_embedding) {
		rec->pilot.roots_ns = rec->pilot.start_ns + (rec->measures_workload ? ROOTS_NS : 0);
		look_for_roots(rec);
	}
	record_watchers_start(rec);
	rec->pilot.pilot.due_ns = next_moment(rec);
}
