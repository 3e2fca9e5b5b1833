/*
 * script_records.c - records that are not samples, which --show-x-events ask for.
 */
#include "cmd/script/scripting.h"
#include "event/abi.h"
#include "view/records/recordtext.h"

/* Which option shows a record of a type. */
static const struct {
	u32 type;
	u16 option; /* offset of the option's bool */
} shown_types[] = {
	{PERF_RECORD_FORK, offsetof(struct script_command, shows_tasks)},
	{PERF_RECORD_COMM, offsetof(struct script_command, shows_tasks)},
	{PERF_RECORD_EXIT, offsetof(struct script_command, shows_tasks)},
	{PERF_RECORD_MMAP, offsetof(struct script_command, shows_mmaps)},
	{PERF_RECORD_MMAP2, offsetof(struct script_command, shows_mmaps)},
	{PERF_RECORD_SWITCH, offsetof(struct script_command, shows_switches)},
	{PERF_RECORD_SWITCH_CPU_WIDE, offsetof(struct script_command, shows_switches)},
	{PERF_RECORD_LOST, offsetof(struct script_command, shows_lost)},
	{PERF_RECORD_LOST_SAMPLES, offsetof(struct script_command, shows_lost)},
	{PERF_RECORD_NAMESPACES, offsetof(struct script_command, shows_namespaces)},
	{PERF_RECORD_KSYMBOL, offsetof(struct script_command, shows_bpf)},
	{PERF_RECORD_BPF_EVENT, offsetof(struct script_command, shows_bpf)},
	{PERF_RECORD_CGROUP, offsetof(struct script_command, shows_cgroups)},
	{PERF_RECORD_TEXT_POKE, offsetof(struct script_command, shows_pokes)},
	{PERF_RECORD_FINISHED_ROUND, offsetof(struct script_command, shows_rounds)},
};

static bool is_shown(const struct scripting *s, u32 type)
{
	for (size_t i = 0; i < ARRAY_SIZE(shown_types); i++)
		if (shown_types[i].type == type)
			return *((const bool *)s->options + shown_types[i].option);
	return false;
}

/* Who the record's line begins with: what its trailer says, or the record itself where there are no trailers. */
static struct script_who who_of(const struct visit *v, const union record_body *body)
{
	struct sample trailer = {.cpu = (u32)-1};
	struct script_who who = {.type = v->rec->type, .misc = v->rec->misc};

	if (v->format->trailer) {
		sample_decode_trailer(v->format, v->rec, &trailer);
		who.pid = trailer.pid;
		who.tid = trailer.tid;
		who.cpu = trailer.cpu;
		who.time = trailer.time;
		return who;
	}
	switch (v->rec->type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		who.time = body->task.time;
		who.pid = body->task.pid;
		who.tid = body->task.tid;
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_NAMESPACES:
		who.pid = body->comm.pid;
		who.tid = body->comm.tid;
	}
	return who;
}

/* The thread whose name the line has: the one that the record is about, else the one that it is of. */
static void name_thread(struct scripting *s, const struct visit *v, const union record_body *body,
	struct script_who *who, struct thread_state *t)
{
	u32 pid = who->pid, tid = who->tid;

	switch (v->rec->type) {
	case PERF_RECORD_FORK:
		/* Its name is the parent's until it gets another. */
		pid = body->task.ppid;
		tid = body->task.ptid;
		break;
	case PERF_RECORD_EXIT:
		pid = body->task.pid;
		tid = body->task.tid;
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_NAMESPACES:
		pid = body->comm.pid;
		tid = body->comm.tid;
	}
	/* Maps of the kernel are nobody's. */
	machine_state_at(&s->trace.machine, pid == UINT32_MAX ? 0 : pid, tid, v->time, &s->strings,
		t);
	if (v->rec->type == PERF_RECORD_FORK && *t->comm == ':')
		machine_state_at(&s->trace.machine, body->task.pid, body->task.tid, v->time,
			&s->strings, t);
	who->comm = t->comm;
}

static void show_record(struct scripting *s, const struct visit *v, const union record_body *body)
{
	const u64 first = SCRIPT_COMM | SCRIPT_TID | SCRIPT_PID | SCRIPT_CPU | SCRIPT_MISC |
		SCRIPT_TOD | SCRIPT_TIME;
	u32 event = v->event < s->script.n_fields ? v->event : 0;
	struct thread_state t;
	struct script_who who;

	if (v->rec->type < PERF_RECORD_USER_TYPE_START && s->script.n_fields) {
		u64 fields = s->script.fields[event];

		who = who_of(v, body);
		if (s->cpus.n && who.cpu != (u32)-1 && !cpus_has(&s->cpus, who.cpu))
			return;
		name_thread(s, v, body, &who, &t);
		script_add_start(&s->script, &who, fields & first,
			script_shows_chain(&s->script, event), &s->out.text);
	}
	recordtext_add(v->rec, body, &s->out.text);
}

static bool is_for_scripts(u32 type)
{
	return type == PERF_RECORD_SWITCH || type == PERF_RECORD_SWITCH_CPU_WIDE ||
		type == PERF_RECORD_THROTTLE || type == PERF_RECORD_UNTHROTTLE ||
		type == PERF_RECORD_AUXTRACE_ERROR;
}

static void hand_out(struct scripting *s, const struct visit *v, const union record_body *body)
{
	if (s->options->script)
		script_runner_record(&s->runner, &s->script, v, body);
	else
		show_record(s, v, body);
}

void script_take_record(struct scripting *s, const struct visit *v)
{
	const struct record *rec = v->rec;
	union record_body body;
	u32 trailer;
	struct err err;

	if (s->options->script ? !is_for_scripts(rec->type)
			       : s->options->is_json || !is_shown(s, rec->type))
		return;
	if (v->body) {
		hand_out(s, v, v->body);
		return;
	}
	/* A record of the state that makes no sense is in the tally already. */
	if (record_is_state(rec->type))
		return;
	trailer = record_has_trailer(rec->type) ? v->format->trailer : 0;
	if (record_decode(rec, trailer, &body, &err) < 0)
		session_note_undecoded(&s->trace.session.tally, rec);
	else
		hand_out(s, v, &body);
}
