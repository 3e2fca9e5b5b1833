#include "base/hash.h"
#include "machine/machine.h"

/* ---- threads and processes ---- */

static bool has_ended(const struct thread *t, u64 before)
{
	return t->exit_time < before;
}

static void drop_thread(struct machine *m, struct thread *t)
{
	m->n_comms -= t->comms.n;
	vec_fini(&t->comms);
	t->older = m->free_threads;
	m->free_threads = t;
}

static void drop_space(struct machine *m, struct space *space)
{
	/* A pointer that is still held finds an empty space, rather than maps that are gone. */
	*space = (struct space){.next_free = m->free_spaces};
	m->free_spaces = space;
}

static void drop_process(struct machine *m, struct process *p)
{
	vec_each(space, &p->spaces)
		drop_space(m, *space);
	vec_fini(&p->spaces);
	p->older = m->free_processes;
	m->free_processes = p;
}

/* Drops the names that newer ones had replaced. */
static void drop_comms(struct machine *m, struct thread *t, u64 before)
{
	size_t first = 0;

	while (first + 1 < t->comms.n && t->comms.at[first + 1].from <= before)
		first++;
	if (!first)
		return;
	memmove(t->comms.at, t->comms.at + first, (t->comms.n - first) * sizeof(*t->comms.at));
	t->comms.n -= first;
	m->n_comms -= first;
}

static void drop_spaces(struct machine *m, struct process *p, u64 before)
{
	size_t first = 0;

	while (first + 1 < p->spaces.n && p->spaces.at[first + 1]->from <= before)
		drop_space(m, p->spaces.at[first++]);
	if (!first)
		return;
	memmove(p->spaces.at, p->spaces.at + first, (p->spaces.n - first) * sizeof(*p->spaces.at));
	p->spaces.n -= first;
}

/*
 * Drops the lives of one tid, newest first, that were over, and returns the rest of the list. A life is over
 * when a later one begins, whether its end was recorded or not.
 */
static struct thread *drop_lives(struct machine *m, struct thread *newest, u64 before)
{
	struct thread **at = &newest;
	bool is_over = false;

	while (*at) {
		struct thread *t = *at;

		if (!is_over && !has_ended(t, before)) {
			is_over = t->from <= before;
			drop_comms(m, t, before);
			t->process->is_kept = true;
			at = &t->older;
			continue;
		}
		is_over |= t->from <= before;
		*at = t->older;
		drop_thread(m, t);
	}
	return newest;
}

/* A process whose threads no record mentions existed before the recording, and may still exist. */
static bool is_there(const struct process *p)
{
	return p->is_kept || !p->has_threads;
}

static struct process *drop_generations(struct machine *m, struct process *newest, u64 before)
{
	struct process **at = &newest;
	bool is_over = false;

	while (*at) {
		struct process *p = *at;

		if (is_there(p) && (!is_over || p->is_kept)) {
			is_over |= p->from <= before;
			p->is_kept = false;
			drop_spaces(m, p, before);
			at = &p->older;
			continue;
		}
		*at = p->older;
		drop_process(m, p);
	}
	return newest;
}

static void drop_threads(struct machine *m, u64 before)
{
	size_t n = 0;

	table_clear(&m->threads_by_tid);
	for (size_t i = 0; i < m->newest_threads.n; i++) {
		struct thread *t = drop_lives(m, m->newest_threads.at[i], before);

		if (!t)
			continue;
		table_add(&m->threads_by_tid, hash_u64(t->tid), (u32)n);
		m->newest_threads.at[n++] = t;
	}
	m->newest_threads.n = n;
	m->threads.n = 0;
	vec_each(newest, &m->newest_threads)
		for (struct thread *t = *newest; t; t = t->older)
			vec_add(&m->threads, t);
}

static void drop_processes(struct machine *m, u64 before)
{
	size_t n = 0;

	table_clear(&m->processes_by_pid);
	for (size_t i = 0; i < m->newest_processes.n; i++) {
		struct process *p = drop_generations(m, m->newest_processes.at[i], before);

		if (!p)
			continue;
		table_add(&m->processes_by_pid, hash_u64(p->pid), (u32)n);
		m->newest_processes.at[n++] = p;
	}
	m->newest_processes.n = n;
}

/* ---- maps ---- */

struct copied {
	const struct maps_node *from, *to;
};

/* Trees that several spaces share are copied once. */
struct copying {
	struct maps_pool to;
	struct table by_old;
	VEC(struct copied) done;
};

static const struct maps_node *copy_tree(struct copying *c, const struct maps_node *tree)
{
	u64 hash = hash_u64((u64)(uintptr_t)tree);
	struct table_probe probe = table_probe(&c->by_old, hash);
	u32 i;

	if (!tree)
		return NULL;
	while ((i = table_next(&c->by_old, &probe)) != TABLE_NONE)
		if (c->done.at[i].from == tree)
			return c->done.at[i].to;
	table_add(&c->by_old, hash, (u32)c->done.n);
	vec_add(&c->done, ((struct copied){tree, maps_copy(&c->to, tree)}));
	return c->done.at[c->done.n - 1].to;
}

static void copy_spaces(struct copying *c, struct process *p)
{
	vec_each(at, &p->spaces) {
		struct space *space = *at;

		space->maps = copy_tree(c, space->maps);
		space->before = copy_tree(c, space->before);
		space->code = copy_tree(c, space->code);
	}
}

/* Copies the trees that are left, which frees the nodes that only dropped spaces had. */
static void copy_maps(struct machine *m)
{
	struct copying c = {.to.owner = m->maps.owner + 1};

	vec_each(newest, &m->newest_processes)
		for (struct process *p = *newest; p; p = p->older)
			copy_spaces(&c, p);
	copy_spaces(&c, m->kernel);
	vec_each(guest, &m->guests)
		copy_spaces(&c, guest->kernel);
	arena_fini(&m->maps.arena);
	m->maps = c.to;
	m->maps_kept = m->maps.arena.total;
	table_fini(&c.by_old);
	vec_fini(&c.done);
}

static void mark(void *ctx, const struct map *map)
{
	u8 *mapped = ctx;

	mapped[map->dso->id] = 1;
}

static void mark_spaces(const struct process *p, u8 *mapped)
{
	vec_each(space, &p->spaces) {
		maps_each((*space)->maps, mark, mapped);
		maps_each((*space)->before, mark, mapped);
		maps_each((*space)->code, mark, mapped);
	}
}

void machine_mark_mapped(const struct machine *m, u8 *mapped)
{
	vec_each(newest, &m->newest_processes)
		for (const struct process *p = *newest; p; p = p->older)
			mark_spaces(p, mapped);
	mark_spaces(m->kernel, mapped);
	vec_each(guest, &m->guests)
		mark_spaces(guest->kernel, mapped);
}

void machine_forget(struct machine *m, u64 before)
{
	enum { MAPS_LEAST = 1 << 16 };

	vec_each(t, &m->threads)
		(*t)->process->has_threads = true;
	drop_threads(m, before);
	drop_processes(m, before);
	drop_spaces(m, m->kernel, before);
	if (m->maps.arena.total > 2 * m->maps_kept + MAPS_LEAST)
		copy_maps(m);
	m->n_ended = 0;
	m->n_changes++;
	m->n_kept = m->threads.n;
}

/* Samples come at most a round late. */
enum { LATE_NS = 1000000000, ENDED_LEAST = 512 };

bool machine_should_forget(const struct machine *m, u64 now)
{
	return m->n_ended >= ENDED_LEAST + m->n_kept && now >= LATE_NS;
}

bool machine_forget_ended(struct machine *m, u64 now)
{
	if (!machine_should_forget(m, now))
		return false;
	machine_forget(m, now - LATE_NS);
	return true;
}
