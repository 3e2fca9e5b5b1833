#include "profile/check/processlist.h"

#include "base/hash.h"

void processlist_init(struct processlist *r,
	void (*ended)(void *ctx, const struct processlist_process *p), void *ctx)
{
	memset(r, 0, sizeof(*r));
	r->ended = ended;
	r->ctx = ctx;
}

/* ---- processes ---- */

static struct processlist_slot *find_slot(const struct processlist *r, u32 pid)
{
	struct table_probe probe = table_probe(&r->by_pid, hash_u64(pid));
	u32 i;

	while ((i = table_next(&r->by_pid, &probe)) != TABLE_NONE)
		if (r->slots.at[i].pid == pid)
			return &r->slots.at[i];
	return NULL;
}

static struct processlist_process *find(const struct processlist *r, u32 pid)
{
	const struct processlist_slot *slot = find_slot(r, pid);

	return slot ? slot->now : NULL;
}

static struct processlist_process *get(struct processlist *r, u32 pid)
{
	struct processlist_slot *slot = find_slot(r, pid);

	if (!slot) {
		table_add(&r->by_pid, hash_u64(pid), r->slots.n);
		slot = vec_push(&r->slots);
		*slot = (struct processlist_slot){.pid = pid};
	}
	if (!slot->now) {
		slot->now = mem_zalloc(sizeof(*slot->now));
		slot->now->pid = pid;
		r->n_bytes += sizeof(*slot->now);
	}
	return slot->now;
}

static void forget(struct processlist *r, struct processlist_process *p)
{
	r->n_bytes -= sizeof(*p) + p->name.n + p->by_event.n * sizeof(*p->by_event.at);
	str_fini(&p->name);
	vec_fini(&p->by_event);
	vec_fini(&p->threads);
	mem_free(p);
}

static void end(struct processlist *r, struct processlist_process *p)
{
	find_slot(r, p->pid)->now = NULL;
	r->ended(r->ctx, p);
	forget(r, p);
}

static void add_thread(struct processlist_process *p, u32 tid)
{
	for (size_t i = 0; i < p->threads.n; i++)
		if (p->threads.at[i] == tid)
			return;
	vec_add(&p->threads, tid);
}

static void remove_thread(struct processlist_process *p, u32 tid)
{
	for (size_t i = 0; i < p->threads.n; i++)
		if (p->threads.at[i] == tid)
			p->threads.at[i] = p->threads.at[--p->threads.n];
}

static void set_name(struct processlist *r, struct processlist_process *p, const void *name,
	size_t n)
{
	r->n_bytes += n - p->name.n;
	str_clear(&p->name);
	str_addn(&p->name, name, n);
}

/* ---- records ---- */

static void fork_process(struct processlist *r, const struct record_task *f, u64 time)
{
	struct processlist_process *p = find(r, f->pid), *parent;

	/* The recorder also writes a FORK for existing processes, even if the kernel did for one that was new. */
	if (p && p->is_told && !p->has_left && (!time || !p->fork_time)) {
		p->fork_time = MAX(p->fork_time, time);
		return;
	}
	/* Without an order, the process's EXIT may come before its FORK. */
	if (p && p->is_told && !(r->is_unordered && p->exit_time >= time)) {
		r->n_doubles += !p->has_left;
		end(r, p);
	}
	p = get(r, f->pid);
	p->fork_time = time;
	parent = find(r, f->ppid);
	if (parent && parent != p && !(r->is_unordered && p->name.n))
		set_name(r, p, str_text(&parent->name), parent->name.n);
}

static void fork_thread(struct processlist *r, const struct record_task *f)
{
	r->n_lone_threads += !find(r, f->pid);
	add_thread(get(r, f->pid), f->tid);
}

static void leave(struct processlist *r, const struct record_task *f, u64 time)
{
	struct processlist_process *p = r->is_unordered ? get(r, f->pid) : find(r, f->pid);

	if (!p)
		return;
	if (f->tid == f->pid)
		p->has_left = true;
	else
		remove_thread(p, f->tid);
	if (!p->has_left)
		return;
	p->exit_time = time;
	if (!p->threads.n && !r->is_unordered)
		end(r, p);
}

static void name(struct processlist *r, const struct record *rec, const struct record_comm *c)
{
	struct processlist_process *p = get(r, c->pid);

	if (c->tid != c->pid) {
		add_thread(p, c->tid);
	} else if (rec->misc & PERF_RECORD_MISC_COMM_EXEC && !r->is_unordered) {
		/* The thread that called exec is now the first and only one. */
		p->threads.n = 0;
		p->has_left = false;
		p->exit_time = 0;
	}
	/* A process has the name of its first thread. */
	if (c->tid == c->pid || !p->name.n)
		set_name(r, p, c->comm.at, c->comm.n);
}

static void note_told(struct processlist *r, u32 pid)
{
	struct processlist_process *p = find(r, pid);

	if (p)
		p->is_told = true;
}

void processlist_apply(struct processlist *r, const struct record *rec,
	const union record_body *body, u64 time)
{
	switch (rec->type) {
	case PERF_RECORD_FORK:
		if (body->task.pid == body->task.ppid && body->task.tid != body->task.pid)
			fork_thread(r, &body->task);
		else
			fork_process(r, &body->task, time);
		break;
	case PERF_RECORD_EXIT:
		leave(r, &body->task, time);
		break;
	case PERF_RECORD_COMM:
		name(r, rec, &body->comm);
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		get(r, body->mmap.pid)->n_mmaps++;
		break;
	default:
		return;
	}
	/* All of these records begin with the pid. */
	note_told(r, body->comm.pid);
}

static struct processlist_count *count_of(struct processlist *r, struct processlist_process *p,
	u32 event)
{
	for (; p->by_event.n <= event; r->n_bytes += sizeof(struct processlist_count))
		vec_add(&p->by_event, (struct processlist_count){0});
	return &p->by_event.at[event];
}

static void add_count(struct processlist_count *to, const struct processlist_count *more)
{
	to->n_samples += more->n_samples;
	to->period += more->period;
}

void processlist_add_sample(struct processlist *r, u32 pid, u32 event, u64 period)
{
	const struct processlist_count one = {1, period};
	struct processlist_process *p = r->is_unordered ? get(r, pid) : find(r, pid);

	if (!p)
		p = get(r, PROCESSLIST_NOBODY);
	add_count(&p->all, &one);
	add_count(count_of(r, p, event), &one);
}

/* Moves samples of processes that only samples name to PROCESSLIST_NOBODY. */
static void forget_untold(struct processlist *r)
{
	for (size_t i = 0; i < r->slots.n; i++) {
		struct processlist_process *p = r->slots.at[i].now, *nobody;

		if (!p || p->is_told || p->pid == PROCESSLIST_NOBODY)
			continue;
		nobody = get(r, PROCESSLIST_NOBODY);
		add_count(&nobody->all, &p->all);
		for (u32 event = 0; event < p->by_event.n; event++)
			add_count(count_of(r, nobody, event), &p->by_event.at[event]);
		r->slots.at[i].now = NULL;
		forget(r, p);
	}
}

void processlist_close(struct processlist *r)
{
	forget_untold(r);
	for (size_t i = 0; i < r->slots.n; i++)
		if (r->slots.at[i].now)
			end(r, r->slots.at[i].now);
	vec_fini(&r->slots);
	table_fini(&r->by_pid);
}
