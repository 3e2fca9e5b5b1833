#include "profile/chart/scheduling.h"

#include <endian.h>
#include <string.h>

#include "file/tracepoints.h"
#include "profile/gather/wallmarks.h"

/* ---- events ---- */

/* Where a role's fields are among those of its event. */
enum { PREV_PID, PREV_STATE, NEXT_PID, PREV_COMM, NEXT_COMM };
enum { WOKEN_PID, WOKEN_COMM, WOKEN_FLAGS };
enum { POWER_STATE, POWER_CPU };
enum { CALL_FD };
enum { CALL_RESULT };

static const char *const fields_of[SCHEDULING_ROLES][SCHEDULING_FIELDS] = {
	[SCHEDULING_SWITCH] = {[PREV_PID] = "prev_pid",
		[PREV_STATE] = "prev_state",
		[NEXT_PID] = "next_pid",
		[PREV_COMM] = "prev_comm",
		[NEXT_COMM] = "next_comm"},
	[SCHEDULING_WAKEUP] =
		{[WOKEN_PID] = "pid", [WOKEN_COMM] = "comm", [WOKEN_FLAGS] = "common_flags"},
	[SCHEDULING_WAKING] =
		{[WOKEN_PID] = "pid", [WOKEN_COMM] = "comm", [WOKEN_FLAGS] = "common_flags"},
	[SCHEDULING_IDLE] = {[POWER_STATE] = "state", [POWER_CPU] = "cpu_id"},
	[SCHEDULING_FREQUENCY] = {[POWER_STATE] = "state", [POWER_CPU] = "cpu_id"},
	[SCHEDULING_ENTER] = {[CALL_FD] = "fd"},
	[SCHEDULING_EXIT] = {[CALL_RESULT] = "ret"},
};

/* How many of them an event must have. */
static const u8 n_needed[SCHEDULING_ROLES] = {[SCHEDULING_SWITCH] = 3,
	[SCHEDULING_WAKEUP] = 1,
	[SCHEDULING_WAKING] = 1,
	[SCHEDULING_IDLE] = 2,
	[SCHEDULING_FREQUENCY] = 2,
	[SCHEDULING_EXIT] = 1};

static const struct {
	const char *name;
	u8 role;
} roles[] = {
	{"sched:sched_switch", SCHEDULING_SWITCH},
	{"sched:sched_wakeup", SCHEDULING_WAKEUP},
	{"sched:sched_wakeup_new", SCHEDULING_WAKEUP},
	{"sched:sched_waking", SCHEDULING_WAKING},
	{"power:cpu_idle", SCHEDULING_IDLE},
	{"power:cpu_frequency", SCHEDULING_FREQUENCY},
};

static const struct {
	const char *name;
	u8 kind;
} calls[] = {
	{"read", CHART_DISK_IN},
	{"pread64", CHART_DISK_IN},
	{"readv", CHART_DISK_IN},
	{"preadv", CHART_DISK_IN},
	{"preadv2", CHART_DISK_IN},
	{"write", CHART_DISK_OUT},
	{"pwrite64", CHART_DISK_OUT},
	{"writev", CHART_DISK_OUT},
	{"pwritev", CHART_DISK_OUT},
	{"pwritev2", CHART_DISK_OUT},
	{"sync", CHART_SYNC},
	{"sync_file_range", CHART_SYNC},
	{"fsync", CHART_SYNC},
	{"fdatasync", CHART_SYNC},
	{"msync", CHART_SYNC},
	{"recvfrom", CHART_NET_IN},
	{"recvmmsg", CHART_NET_IN},
	{"recvmsg", CHART_NET_IN},
	{"sendto", CHART_NET_OUT},
	{"sendmsg", CHART_NET_OUT},
	{"sendmmsg", CHART_NET_OUT},
	{"epoll_pwait", CHART_POLL},
	{"epoll_wait", CHART_POLL},
	{"poll", CHART_POLL},
	{"ppoll", CHART_POLL},
	{"pselect6", CHART_POLL},
	{"select", CHART_POLL},
};

const char *scheduling_io_call(size_t i)
{
	return i < ARRAY_SIZE(calls) ? calls[i].name : NULL;
}

static enum scheduling_role role_of(const char *name, u8 *ret_kind)
{
	static const char enter[] = "syscalls:sys_enter_", leave[] = "syscalls:sys_exit_";
	const bool is_enter = !strncmp(name, enter, sizeof(enter) - 1),
		   is_exit = !strncmp(name, leave, sizeof(leave) - 1);

	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		if (!strcmp(name, roles[i].name))
			return roles[i].role;
	if (!is_enter && !is_exit)
		return SCHEDULING_NONE;
	name += (is_enter ? sizeof(enter) : sizeof(leave)) - 1;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (!strcmp(name, calls[i].name)) {
			*ret_kind = calls[i].kind;
			return is_enter ? SCHEDULING_ENTER : SCHEDULING_EXIT;
		}
	return SCHEDULING_NONE;
}

static void find_field(const struct tracepoints *t, u64 id, const char *name,
	struct scheduling_field *f)
{
	static const u8 sizes[] = {4, 8, 16, 1, 2};

	for (size_t i = 0; name && i < ARRAY_SIZE(sizes); i++)
		if (tracepoints_find_field(t, id, name, sizes[i], &f->at)) {
			f->size = sizes[i];
			return;
		}
	f->at = UINT32_MAX;
}

/* Events may come while a pipe goes on. */
static void learn_events(struct scheduling *s)
{
	const struct reader *r = &s->session->reader;
	struct tracepoints tracepoints;
	struct err err;

	s->events.n = 0;
	s->sampler = CHART_NONE;
	/* After an error, the formats before it are usable. */
	(void)tracepoints_open(&tracepoints, &r->info.tracing_data, &err);
	vec_each(e, &r->events) {
		struct scheduling_event event = {0};

		s->has_records |= e->attr.flags & ATTR_CONTEXT_SWITCH;
		if (e->attr.type != PERF_TYPE_TRACEPOINT && s->sampler == CHART_NONE &&
			(e->attr.sample_period || e->attr.flags & ATTR_FREQ))
			s->sampler = (u32)(e - r->events.at);
		if (e->attr.type == PERF_TYPE_TRACEPOINT)
			event.role = role_of(e->name, &event.io_kind);
		for (size_t i = 0; i < SCHEDULING_FIELDS; i++)
			find_field(&tracepoints, e->attr.config, fields_of[event.role][i],
				&event.fields[i]);
		for (size_t i = 0; i < n_needed[event.role]; i++)
			if (event.fields[i].at == UINT32_MAX)
				event.role = SCHEDULING_NONE;
		s->has[event.role] = true;
		vec_add(&s->events, event);
	}
	tracepoints_close(&tracepoints);
}

void scheduling_init(struct scheduling *s, struct chart *t, const struct session *session)
{
	*s = (struct scheduling){.chart = t, .session = session};
	learn_events(s);
}

void scheduling_fini(struct scheduling *s)
{
	vec_fini(&s->events);
}

u64 scheduling_needs(void)
{
	return PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;
}

/* ---- samples ---- */

static bool has_field(const struct scheduling_field *f, const struct record_bytes *raw)
{
	return f->at != UINT32_MAX && f->at <= raw->n && raw->n - f->at >= f->size;
}

/* A number in raw data, which is in the byte order of the machine that recorded it. */
static u64 number(const struct scheduling *s, const struct scheduling_field *f,
	const struct record_bytes *raw)
{
	const bool is_swapped = s->session->reader.is_foreign;
	const u8 *at = raw->at + f->at;

	switch (f->size) {
	case 1:
		return *at;
	case 2:
		return is_swapped ? __builtin_bswap16(load_u16(at)) : load_u16(at);
	case 4:
		return is_swapped ? __builtin_bswap32(load_u32(at)) : load_u32(at);
	}
	return is_swapped ? __builtin_bswap64(load_u64(at)) : load_u64(at);
}

static void know_name(const struct scheduling *s, const struct scheduling_field *f,
	const struct record_bytes *raw, u32 pid, u32 tid)
{
	const char *name = has_field(f, raw) ? (const char *)raw->at + f->at : NULL;

	chart_know(s->chart, pid, tid, name, f->size);
}

/*
 * The states that sched_switch tells: 0 could go on, and bits above the known ones say that it was preempted; 1 sleeps, 2
 * waits for I/O; 0x10 and 0x20 are ends. 0x40 was the end in old kernels, and is parking now.
 */
static enum chart_leave leave_of(u64 state)
{
	enum { DISK = 2, DEAD = 0x10 | 0x20, DEAD_OR_PARKED = 0x40, KNOWN = 0xff };

	if (!(state & KNOWN))
		return CHART_PREEMPTED;
	if (state & DEAD)
		return CHART_DIES;
	if (state & DEAD_OR_PARKED)
		return CHART_MAY_DIE;
	return state & DISK ? CHART_BLOCKS : CHART_SLEEPS;
}

static void take_switch(struct scheduling *s, const struct scheduling_event *e,
	const struct sample *sample)
{
	const struct record_bytes *raw = &sample->raw;
	const u32 prev = (u32)number(s, &e->fields[PREV_PID], raw),
		  next = (u32)number(s, &e->fields[NEXT_PID], raw);

	/* The sample is one of the task that leaves. */
	know_name(s, &e->fields[PREV_COMM], raw, sample->tid == prev ? sample->pid : 0, prev);
	know_name(s, &e->fields[NEXT_COMM], raw, 0, next);
	chart_switch(s->chart, sample->time, sample->cpu, prev,
		leave_of(number(s, &e->fields[PREV_STATE], raw)), next);
}

/* Who was running when a task was woken did that itself, unless an interrupt did. */
static u32 waker_of(const struct scheduling *s, const struct scheduling_event *e,
	const struct sample *sample)
{
	enum { HARD = 0x08, SOFT = 0x10 };
	const struct scheduling_field *f = &e->fields[WOKEN_FLAGS];

	if (has_field(f, &sample->raw) && number(s, f, &sample->raw) & (HARD | SOFT))
		return 0;
	return sample->tid;
}

static void take_wakeup(struct scheduling *s, const struct scheduling_event *e,
	const struct sample *sample)
{
	const u32 tid = (u32)number(s, &e->fields[WOKEN_PID], &sample->raw);

	if (!tid)
		return;
	/* Records of switches may be of some tasks only: of others that these wake, it is never seen that they run. */
	if (!s->has[SCHEDULING_SWITCH] && !chart_has_seen(s->chart, tid))
		return;
	know_name(s, &e->fields[WOKEN_COMM], &sample->raw, 0, tid);
	if (e->role == SCHEDULING_WAKING)
		chart_waking(s->chart, tid, waker_of(s, e, sample));
	else
		chart_wakeup(s->chart, sample->time, tid, waker_of(s, e, sample));
}

static void take_sample(struct scheduling *s, const struct scheduling_event *e,
	const struct sample *sample)
{
	const struct record_bytes *raw = &sample->raw;

	for (size_t i = 0; i < n_needed[e->role]; i++)
		if (!has_field(&e->fields[i], raw)) {
			s->n_unreadable++;
			return;
		}
	s->n_seen++;
	switch (e->role) {
	case SCHEDULING_SWITCH:
		take_switch(s, e, sample);
		return;
	case SCHEDULING_WAKEUP:
	case SCHEDULING_WAKING:
		take_wakeup(s, e, sample);
		return;
	case SCHEDULING_IDLE:
		chart_idle(s->chart, sample->time, (u32)number(s, &e->fields[POWER_CPU], raw),
			(u32)number(s, &e->fields[POWER_STATE], raw));
		return;
	case SCHEDULING_FREQUENCY:
		chart_frequency(s->chart, sample->time, (u32)number(s, &e->fields[POWER_CPU], raw),
			number(s, &e->fields[POWER_STATE], raw));
		return;
	case SCHEDULING_ENTER:
		chart_know(s->chart, sample->pid, sample->tid, NULL, 0);
		chart_io_begin(s->chart, sample->time, sample->tid, e->io_kind,
			has_field(&e->fields[CALL_FD], raw)
				? (s32)number(s, &e->fields[CALL_FD], raw)
				: -1);
		return;
	case SCHEDULING_EXIT:
		chart_io_end(s->chart, sample->time, sample->tid,
			(s64)number(s, &e->fields[CALL_RESULT], raw));
		return;
	}
}

/* ---- other records ---- */

static void take_switch_record(struct scheduling *s, const struct visit *v)
{
	struct sample who = {.cpu = UINT32_MAX};
	enum wall_mark mark;

	if (s->has[SCHEDULING_SWITCH] || !v->time)
		return;
	if (!sample_decode_trailer(v->format, v->rec, &who)) {
		s->n_unreadable++;
		return;
	}
	if (!(v->format->type & PERF_SAMPLE_CPU))
		who.cpu = CHART_NONE;
	s->n_seen++;
	chart_know(s->chart, who.pid, who.tid, NULL, 0);
	mark = wallmarks_of_switch(v->rec);
	if (mark == WALL_IN)
		chart_in(s->chart, v->time, who.cpu, who.tid);
	else
		chart_out(s->chart, v->time, who.cpu, who.tid,
			mark == WALL_PREEMPTED ? CHART_PREEMPTED : CHART_MAY_DIE);
}

static void take_loss(struct scheduling *s, const struct visit *v)
{
	struct sample who = {.cpu = CHART_NONE};

	if (!v->time || !sample_decode_trailer(v->format, v->rec, &who))
		return;
	chart_loss(s->chart, v->time, v->format->type & PERF_SAMPLE_CPU ? who.cpu : CHART_NONE);
}

/* Who existed before the recording has records without times. */
static void take_task(struct scheduling *s, const struct visit *v)
{
	const union record_body *body = v->body;

	switch (v->rec->type) {
	case PERF_RECORD_COMM:
		chart_know(s->chart, body->comm.pid, body->comm.tid,
			(const char *)body->comm.comm.at, body->comm.comm.n);
		return;
	case PERF_RECORD_FORK:
		if (v->time)
			chart_birth(s->chart, v->time, body->task.pid, body->task.tid,
				body->task.ptid);
		else
			chart_know(s->chart, body->task.pid, body->task.tid, NULL, 0);
		return;
	case PERF_RECORD_EXIT:
		if (v->time)
			chart_exit(s->chart, v->time, body->task.tid, !s->has[SCHEDULING_SWITCH]);
		return;
	}
}

void scheduling_take(struct scheduling *s, const struct visit *v)
{
	if (s->events.n != s->session->reader.events.n)
		learn_events(s);
	switch (v->rec->type) {
	case PERF_RECORD_SAMPLE:
		if (!v->sample)
			return;
		if (v->time)
			chart_reach(s->chart, v->time);
		if (v->event < s->events.n && s->events.at[v->event].role != SCHEDULING_NONE)
			take_sample(s, &s->events.at[v->event], v->sample);
		else if (v->event == s->sampler && v->time)
			chart_sampled(s->chart, v->time, v->sample->tid);
		return;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		take_switch_record(s, v);
		return;
	case PERF_RECORD_LOST:
		take_loss(s, v);
		return;
	default:
		if (v->body)
			take_task(s, v);
	}
}
