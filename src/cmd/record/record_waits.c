#include <string.h>

#include "base/clock.h"
#include "cmd/record/recording.h"
#include "event/abi.h"
#include "record/regs.h"

enum { STACK_BYTES = 8192 };

/* The event that reports when tasks leave a CPU, if the kernel tells only that they did and when. */
static const struct event *blind_event(const struct recording *rec)
{
	vec_each(e, &rec->events)
		if (rec->options->records.has_wall && e->attr.type == PERF_TYPE_SOFTWARE &&
			e->attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES &&
			e->attr.flags & ATTR_CONTEXT_SWITCH && e->attr.flags & ATTR_EXCLUDE_KERNEL)
			return e;
	return NULL;
}

static void start(struct recording *rec)
{
	struct record_waits *w = &rec->waits;
	const struct event *e = blind_event(rec);

	/* The times must come from the clock of the kernel's records. */
	if (!e || rec->target.is_system_wide || !(e->attr.flags & ATTR_USE_CLOCKID))
		return;
	w->event = e;
	w->is_on = true;
	sample_format_init(&w->format, &e->attr);
	waiting_init(&w->waiting, e->attr.clockid, STACK_BYTES);
	vec_each(t, &rec->target.threads)
		waiting_add(&w->waiting, t->pid);
	w->waiting.due_ns = clock_now_ns();
}

static u64 due(const struct recording *rec)
{
	return rec->waits.is_on ? rec->waits.waiting.due_ns : UINT64_MAX;
}

/* The mask of the two registers that are known: the stack pointer and the instruction pointer. */
static u64 known_registers(void)
{
	const struct arch *arch = arch_of_host();
	u64 mask = 0;

	for (unsigned i = 0; arch && i < arch->n_regs; i++)
		if (arch->regs[i].dwarf == arch->sp || arch->regs[i].dwarf == arch->ip)
			mask |= 1ull << i;
	return mask;
}

/* With -t only the named threads are meant; of processes all threads. */
static bool is_meant(const struct recording *rec, pid_t tid)
{
	if (!rec->options->target.tids)
		return true;
	vec_each(t, &rec->target.threads)
		if (t->tid == tid)
			return true;
	return false;
}

/* Writes the sample that the kernel would have written, had it been allowed to. */
static void tell(void *ctx, const struct waiting_place *place)
{
	struct recording *rec = ctx;
	struct record_waits *w = &rec->waits;
	/* The stack pointer's number is lower on all machines. */
	u64 chain[] = {PERF_CONTEXT_USER, place->ip}, values[] = {place->sp, place->ip};
	size_t n_stack = place->n & ~(size_t)7, start = w->out.n;
	struct record_header header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 0};
	struct sample s = {.id = w->event->n_ids ? w->event->ids[0] : 0,
		.ip = place->ip,
		.pid = (u32)place->pid,
		.tid = (u32)place->tid,
		.time = place->time,
		.period = 1};

	if (!is_meant(rec, place->tid))
		return;
	if (w->event->attr.sample_type & PERF_SAMPLE_STACK_USER && rec->recorder.filter) {
		s.user_regs = (struct sample_regs){2, {(const u8 *)values, ARRAY_SIZE(values)}};
		s.user_stack = (struct sample_stack){{place->stack, (u32)n_stack}, n_stack};
		liveunwind_add(&rec->liveunwind, (u32)(w->event - rec->events.at), &s,
			known_registers(), PERF_RECORD_MISC_USER, &w->out);
		return;
	}
	/* Unwinding later would need registers that are not known: the chain is the place alone. */
	s.chain = (struct sample_words){(const u8 *)chain, ARRAY_SIZE(chain)};
	str_fill(&w->out, '\0', sizeof(header));
	sample_encode(&w->format, &s, &w->out);
	header.size = (u16)(w->out.n - start);
	memcpy(w->out.at + start, &header, sizeof(header));
}

static int look(struct recording *rec, struct err *err)
{
	struct record_waits *w = &rec->waits;

	if (!w->is_on || clock_now_ns() < w->waiting.due_ns)
		return 0;
	str_clear(&w->out);
	waiting_look(&w->waiting, tell, rec);
	return sink_append(rec->recorder.sink, w->out.at, w->out.n, err);
}

static void close_waiting(struct recording *rec)
{
	struct record_waits *w = &rec->waits;

	if (w->is_on && w->waiting.n_refused)
		log_note(&rec->log,
			"--wall: /proc does not show where some threads wait: for processes that pace did not start it needs kernel.yama.ptrace_scope to be 0");
	if (w->is_on)
		log_debug(&rec->log, "--wall: saw %llu waits in %u scans of /proc",
			(unsigned long long)w->waiting.n_told, w->waiting.n_looks);
	if (w->is_on)
		waiting_fini(&w->waiting);
	str_fini(&w->out);
}

const struct record_watcher record_waits_watcher = {
	.start = start,
	.due = due,
	.look = look,
	.close = close_waiting,
};
