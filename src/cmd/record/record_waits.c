#include <string.h>

#include "base/clock.h"
#include "cmd/record/recording.h"
#include "event/abi.h"
#include "record/regs.h"

enum { STACK_BYTES = 8192 };

void record_waits_begin(struct record_waits *w, const struct event *e, const struct target *t,
	bool names_threads)
{
	w->event = e;
	w->target = t;
	w->names_threads = names_threads;
	w->is_on = true;
	sample_format_init(&w->format, &e->attr);
	waiting_init(&w->waiting, e->attr.clockid, STACK_BYTES);
	vec_each(thread, &t->threads)
		waiting_add(&w->waiting, thread->pid);
	w->waiting.due_ns = clock_now_ns();
}

void record_waits_end(struct record_waits *w)
{
	if (w->is_on)
		waiting_fini(&w->waiting);
	str_fini(&w->out);
	w->is_on = false;
}

static void start(struct recording *rec)
{
	const struct event *e =
		rec->options->records.has_wall ? record_wall_event(&rec->events) : NULL;

	/* The times must come from the clock of the kernel's records; and those say more, if they may. */
	if (e && !rec->target.is_system_wide && e->attr.flags & ATTR_USE_CLOCKID &&
		e->attr.flags & ATTR_EXCLUDE_KERNEL)
		record_waits_begin(&rec->waits, e, &rec->target, rec->options->target.tids);
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

bool record_waits_is_meant(const struct record_waits *w, pid_t tid)
{
	if (!w->names_threads)
		return true;
	vec_each(t, &w->target->threads)
		if (t->tid == tid)
			return true;
	return false;
}

static struct sample sample_of(const struct record_waits *w, const struct waiting_place *place)
{
	return (struct sample){.id = w->event->n_ids ? w->event->ids[0] : 0,
		.ip = place->ip,
		.pid = (u32)place->pid,
		.tid = (u32)place->tid,
		.time = place->time,
		.period = 1};
}

void record_waits_add(struct record_waits *w, const struct waiting_place *place)
{
	const u64 chain[] = {PERF_CONTEXT_USER, place->ip};
	const size_t start = w->out.n;
	struct record_header header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 0};
	struct sample s = sample_of(w, place);

	/* Unwinding later would need registers that are not known. */
	s.chain = (struct sample_words){(const u8 *)chain, ARRAY_SIZE(chain)};
	str_fill(&w->out, '\0', sizeof(header));
	sample_encode(&w->format, &s, &w->out);
	header.size = (u16)(w->out.n - start);
	memcpy(w->out.at + start, &header, sizeof(header));
}

static void tell(void *ctx, const struct waiting_place *place)
{
	struct recording *rec = ctx;
	struct record_waits *w = &rec->waits;
	/* The stack pointer's number is lower on all machines. */
	const u64 values[] = {place->sp, place->ip};
	const size_t n_stack = place->n & ~(size_t)7;
	struct sample s = sample_of(w, place);

	if (!record_waits_is_meant(w, place->tid))
		return;
	if (!(w->event->attr.sample_type & PERF_SAMPLE_STACK_USER && rec->recorder.filter)) {
		record_waits_add(w, place);
		return;
	}
	s.user_regs = (struct sample_regs){2, {(const u8 *)values, ARRAY_SIZE(values)}};
	s.user_stack = (struct sample_stack){{place->stack, (u32)n_stack}, n_stack};
	liveunwind_add(&rec->liveunwind, (u32)(w->event - rec->events.at), &s, known_registers(),
		PERF_RECORD_MISC_USER, &w->out);
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
	record_waits_end(w);
}

const struct record_watcher record_waits_watcher = {
	.start = start,
	.due = due,
	.look = look,
	.close = close_waiting,
};
