#include "profile/gather/wallmarks.h"

#include <string.h>

#include "event/abi.h"
#include "file/tracepoints.h"

/* ---- events ---- */

static bool is_software(const struct event *e, u64 config)
{
	return e->attr.type == PERF_TYPE_SOFTWARE && e->attr.config == config;
}

static enum wall_role role_of(const struct event *e)
{
	/* sched_waking comes before the thread can run, and may have no effect. */
	if (e->attr.type == PERF_TYPE_TRACEPOINT)
		return strcmp(e->name, "sched:sched_wakeup") ? WALL_ROLE_NONE : WALL_ROLE_WAKE;
	if (is_software(e, PERF_COUNT_SW_CONTEXT_SWITCHES))
		return e->attr.sample_period != 1 || e->attr.flags & ATTR_FREQ ? WALL_ROLE_NONE
			: e->attr.flags & ATTR_EXCLUDE_KERNEL                  ? WALL_ROLE_WAIT
									       : WALL_ROLE_OUT;
	return WALL_ROLE_CPU;
}

u32 wallmarks_clock(const struct session *s)
{
	u32 i = 0;

	while (i < s->reader.events.n && role_of(&s->reader.events.at[i]) != WALL_ROLE_CPU)
		i++;
	return i;
}

enum wall_role wallmarks_role(const struct session *s, u32 event)
{
	enum wall_role role = role_of(&s->reader.events.at[event]);

	return role == WALL_ROLE_CPU && event != wallmarks_clock(s) ? WALL_ROLE_NONE : role;
}

static bool has(const struct session *s, enum wall_role role, u64 flag)
{
	vec_each(e, &s->reader.events)
		if ((role == WALL_ROLE_NONE || role_of(e) == role) &&
			(e->attr.flags & flag) == flag)
			return true;
	return false;
}

bool wallmarks_can_have_wall(const struct session *s)
{
	return s->has_times && has(s, WALL_ROLE_NONE, ATTR_CONTEXT_SWITCH) &&
		has(s, WALL_ROLE_CPU, 0);
}

bool wallmarks_has_wall(const struct session *s)
{
	return wallmarks_can_have_wall(s) &&
		(has(s, WALL_ROLE_OUT, ATTR_CONTEXT_SWITCH) ||
			has(s, WALL_ROLE_WAIT, ATTR_CONTEXT_SWITCH));
}

/* ---- records ---- */

void wallmarks_learn(struct wallmarks *m, const struct session *s)
{
	const struct reader *r = &s->reader;
	struct tracepoints tracepoints;
	struct err err;

	m->session = s;
	m->roles.n = m->pid_at.n = 0;
	/* After an error, the formats before it are usable. */
	(void)tracepoints_open(&tracepoints, &r->info.tracing_data, &err);
	for (u32 i = 0; i < r->events.n; i++) {
		u32 at = UINT32_MAX;

		vec_add(&m->roles, (u8)wallmarks_role(s, i));
		if (m->roles.at[i] == WALL_ROLE_WAKE &&
			!tracepoints_find_field(&tracepoints, r->events.at[i].attr.config, "pid", 4,
				&at))
			at = UINT32_MAX;
		vec_add(&m->pid_at, at);
	}
	tracepoints_close(&tracepoints);
}

bool wallmarks_woken(const struct wallmarks *m, u32 event, const struct sample *s, u32 *ret_tid)
{
	const u32 at = m->pid_at.at[event];

	if (at >= s->raw.n || s->raw.n - at < 4)
		return false;
	*ret_tid = load_u32(s->raw.at + at);
	return true;
}

static void see_sample(struct wallmarks *m, const struct record *rec)
{
	u32 event = formats_event(&m->session->reader.formats, rec), tid;
	const struct sample *s;

	if (event >= m->roles.n || m->roles.at[event] == WALL_ROLE_NONE)
		return;
	s = decoder_next(&m->decoder, rec, event);
	if (!s)
		return;
	switch (m->roles.at[event]) {
	case WALL_ROLE_CPU:
		wall_add(m->wall, s->pid, s->tid, s->time, WALL_SAMPLED);
		return;
	case WALL_ROLE_OUT:
		wall_add(m->wall, s->pid, s->tid, s->time, WALL_SAMPLED_OUT);
		return;
	case WALL_ROLE_WAIT:
		wall_add(m->wall, s->pid, s->tid, s->time, WALL_SEEN_WAITING);
		return;
	}
	/* The record does not name the woken thread's process; its other marks do. */
	if (wallmarks_woken(m, event, s, &tid))
		wall_add(m->wall, 0, tid, s->time, WALL_WOKEN);
}

enum wall_mark wallmarks_of_switch(const struct record *rec)
{
	if (!(rec->misc & PERF_RECORD_MISC_SWITCH_OUT))
		return WALL_IN;
	return rec->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? WALL_PREEMPTED : WALL_LEFT;
}

static void see_switch(struct wallmarks *m, const struct record *rec)
{
	const struct formats *f = &m->session->reader.formats;
	struct sample s = {0};

	if (!sample_decode_trailer(formats_format(f, formats_event(f, rec)), rec, &s))
		return;
	wall_add(m->wall, s.pid, s.tid, s.time, wallmarks_of_switch(rec));
}

/* Births and ends. */
static void see_task(struct wallmarks *m, const struct record *rec)
{
	const struct formats *f = &m->session->reader.formats;
	u32 event = formats_event(f, rec);
	union record_body body;
	struct err err;

	if (record_decode(rec, formats_format(f, event)->trailer, &body, &err) > 0)
		wall_add(m->wall, body.task.pid, body.task.tid, formats_time(f, rec, event),
			rec->type == PERF_RECORD_FORK ? WALL_BORN : WALL_ENDED);
}

static void see(void *ctx, const struct record *rec)
{
	struct wallmarks *m = ctx;

	/* Events may come while the stream goes on. */
	if (m->roles.n != m->session->reader.events.n)
		wallmarks_learn(m, m->session);
	switch (rec->type) {
	case PERF_RECORD_SAMPLE:
		see_sample(m, rec);
		return;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		see_switch(m, rec);
		return;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		see_task(m, rec);
		return;
	}
}

void wallmarks_watch(struct wallmarks *m, struct session *s, struct wall *w)
{
	memset(m, 0, sizeof(*m));
	m->observer = (struct session_observer){.ctx = m, .see = see};
	m->session = s;
	m->wall = w;
	decoder_init(&m->decoder, s, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
		&m->ignored);
	session_watch(s, &m->observer);
}

void wallmarks_fini(struct wallmarks *m)
{
	vec_fini(&m->roles);
	vec_fini(&m->pid_at);
}
