#include "machine/machine.h"

#include <stdio.h>
#include <sys/mman.h>

#include "base/hash.h"

/*
 * The recorded map of the kernel ends with its text, but the code that set it up lies after its data,
 * and the idle task of the first CPU still has that code on its stack.
 */
#define KERNEL_IMAGE_ROOM (128ULL << 20)

/* ---- processes ---- */

static u32 new_space_id(struct machine *m)
{
	return m->next_space_id++;
}

static void add_space(struct machine *m, struct process *p, struct space value)
{
	struct space *space = m->free_spaces;

	vec_reserve(&p->spaces, p->spaces.n + 1);
	if (space)
		m->free_spaces = space->next_free;
	else
		space = arena_alloc(&m->arena, sizeof(*space));
	*space = value;
	vec_add(&p->spaces, space);
}

/* Begins a new state, which replaces one that began at the same moment. */
static void push_space(struct machine *m, struct process *p, struct space space)
{
	space.id = new_space_id(m);
	if (p->spaces.n && process_newest(p)->from == space.from)
		*process_newest(p) = space;
	else
		add_space(m, p, space);
	p->is_shared = false;
}

static struct process *new_process(struct machine *m, u32 pid, u64 from, struct process *older)
{
	struct process *p = m->free_processes;

	if (p) {
		m->free_processes = p->older;
		memset(p, 0, sizeof(*p));
	} else {
		p = arena_zalloc(&m->arena, sizeof(*p));
	}
	p->pid = pid;
	p->from = from;
	p->older = older;
	return p;
}

static u32 find_newest(const struct machine *m, const struct table *index, bool is_thread, u32 id)
{
	struct table_probe probe = table_probe(index, hash_u64(id));
	u32 i;

	while ((i = table_next(index, &probe)) != TABLE_NONE)
		if (is_thread ? m->newest_threads.at[i]->tid == id
			      : m->newest_processes.at[i]->pid == id)
			return i;
	return TABLE_NONE;
}

static struct process *find_process(const struct machine *m, u32 pid)
{
	u32 i = find_newest(m, &m->processes_by_pid, false, pid);

	return i == TABLE_NONE ? NULL : m->newest_processes.at[i];
}

const struct process *machine_newest_process(const struct machine *m, u32 pid)
{
	return find_process(m, pid);
}

/* Makes p the newest process of its pid. */
static void publish_process(struct machine *m, struct process *p)
{
	u32 i = find_newest(m, &m->processes_by_pid, false, p->pid);

	if (i != TABLE_NONE) {
		m->newest_processes.at[i] = p;
		return;
	}
	table_add(&m->processes_by_pid, hash_u64(p->pid), m->newest_processes.n);
	vec_add(&m->newest_processes, p);
}

static struct process *get_process(struct machine *m, u32 pid)
{
	struct process *p = find_process(m, pid);

	if (p)
		return p;
	p = new_process(m, pid, 0, NULL);
	push_space(m, p, (struct space){0});
	publish_process(m, p);
	return p;
}

static void add_map(struct machine *m, struct process *p, const struct map *map, u64 time)
{
	struct space *now = process_newest(p), next = *now;

	/* If the map covers another one, or a child shares the tree, the old state must stay as it is. */
	if (p->is_shared || maps_overlaps(now->maps, map->start, map->end) ||
		maps_overlaps(now->code, map->start, map->end)) {
		m->maps.owner++;
		next.from = MAX(time, now->from);
		next.maps = maps_add(&m->maps, now->maps, map);
		push_space(m, p, next);
		return;
	}
	now->maps = maps_add(&m->maps, now->maps, map);
}

bool machine_add_code(struct machine *m, u32 pid, const struct map *code, u64 time)
{
	struct process *p = get_process(m, pid);
	struct space *now = process_newest(p), next = *now;
	bool is_again = maps_overlaps(now->code, code->start, code->end);

	m->n_changes++;
	/* The first code begins a state too: until then, look-ups of these addresses found something else. */
	if (p->is_shared || is_again || !now->code) {
		m->maps.owner++;
		next.from = MAX(time, now->from);
		next.code = maps_add(&m->maps, now->code, code);
		push_space(m, p, next);
	} else {
		now->code = maps_add(&m->maps, now->code, code);
	}
	return is_again;
}

const struct map *machine_code_at(const struct machine *m, u32 pid, u64 va)
{
	const struct process *p = find_process(m, pid);

	return p ? maps_find(process_newest(p)->code, va) : NULL;
}

void machine_advance(struct machine *m, u64 time)
{
	if (m->coder)
		m->coder->advance(m->coder->ctx, m, time);
}

/* ---- threads ---- */

static struct thread *find_thread(const struct machine *m, u32 tid)
{
	u32 i = find_newest(m, &m->threads_by_tid, true, tid);

	return i == TABLE_NONE ? NULL : m->newest_threads.at[i];
}

static struct thread *new_thread(struct machine *m, u32 pid, u32 tid, u64 from,
	struct process *process)
{
	struct thread *t = m->free_threads;
	u32 i = find_newest(m, &m->threads_by_tid, true, tid);

	if (t) {
		m->free_threads = t->older;
		memset(t, 0, sizeof(*t));
	} else {
		t = arena_zalloc(&m->arena, sizeof(*t));
	}
	t->pid = pid;
	t->tid = tid;
	t->from = from;
	t->exit_time = UINT64_MAX;
	t->process = process;
	vec_add(&m->threads, t);
	if (i != TABLE_NONE) {
		t->older = m->newest_threads.at[i];
		m->newest_threads.at[i] = t;
		return t;
	}
	table_add(&m->threads_by_tid, hash_u64(tid), m->newest_threads.n);
	vec_add(&m->newest_threads, t);
	return t;
}

static struct thread *get_thread(struct machine *m, u32 pid, u32 tid, u64 time)
{
	struct thread *t = find_thread(m, tid);

	if (t && t->pid == pid)
		return t;
	/*
	 * If the tid belonged to another process until now, the FORK was lost. Else the thread existed
	 * before the recording.
	 */
	return new_thread(m, pid, tid, t ? time : 0, get_process(m, pid));
}

static void set_comm(struct machine *m, struct thread *t, const char *text, bool is_exec, u64 time)
{
	struct comm comm = {time, text, is_exec};

	if (t->comms.n && t->comms.at[t->comms.n - 1].from == time)
		t->comms.at[t->comms.n - 1] = comm;
	else
		vec_add(&t->comms, comm);
	m->n_comms++;
}

/* ---- records ---- */

static void apply_comm(struct machine *m, const struct record *rec, const struct record_comm *c,
	u64 time)
{
	struct thread *t = get_thread(m, c->pid, c->tid, time);
	bool is_exec = rec->misc & PERF_RECORD_MISC_COMM_EXEC;

	set_comm(m, t, intern_add(&m->strings, (const char *)c->comm.at, c->comm.n), is_exec, time);
	if (is_exec) {
		m->maps.owner++;
		push_space(m, t->process,
			(struct space){.from = time, .before = process_newest(t->process)->maps});
	}
}

static void apply_fork(struct machine *m, const struct record *rec, const struct record_task *f,
	u64 time)
{
	struct thread *parent = find_thread(m, f->ptid), *t;
	struct process *process;
	u64 from, until;
	const char *comm;

	if (f->pid == f->ppid && f->tid != f->pid) {
		/* A new thread of the same process. */
		process = get_process(m, f->pid);
	} else {
		struct process *parents = find_process(m, f->ppid);

		process = new_process(m, f->pid, time, find_process(m, f->pid));
		if (parents && !(rec->misc & PERF_RECORD_MISC_FORK_EXEC)) {
			struct space copy = *process_newest(parents);

			/* One tree for two processes: the first one to change it gets a new one. */
			copy.from = time;
			add_space(m, process, copy);
			process->is_shared = parents->is_shared = true;
			m->maps.owner++;
		} else {
			push_space(m, process, (struct space){.from = time});
		}
		publish_process(m, process);
	}
	t = new_thread(m, f->pid, f->tid, time, process);
	t->ppid = f->ppid;
	comm = parent ? thread_comm_at(parent, time, &from, &until) : NULL;
	if (comm)
		set_comm(m, t, comm, false, time);
}

/* ---- guests ---- */

static struct guest *find_guest(const struct machine *m, u32 pid)
{
	vec_each(guest, &m->guests)
		if (guest->pid == pid)
			return guest;
	return NULL;
}

const struct guest *machine_guest(const struct machine *m, u32 pid)
{
	const struct guest *own = find_guest(m, pid);

	return own || !pid ? own : find_guest(m, 0);
}

/* More than a host runs; bounds what a damaged file costs. */
enum { GUESTS_MAX = 4096 };

static void apply_guest_mmap(struct machine *m, const struct record_mmap *r, u64 time)
{
	struct map map = {.start = r->addr, .end = r->addr + r->len, .pgoff = r->addr};
	struct guest *guest = find_guest(m, r->pid);

	if (map.end < map.start)
		map.end = UINT64_MAX;
	if (!guest && m->guests.n == GUESTS_MAX)
		return;
	if (!guest) {
		vec_add(&m->guests,
			((struct guest){.pid = r->pid, .kernel = new_process(m, r->pid, 0, NULL)}));
		guest = &m->guests.at[m->guests.n - 1];
		push_space(m, guest->kernel, (struct space){0});
	}
	map.dso = dso_get_guest(&m->dsos, (const char *)r->path.at, r->path.n, r->pid);
	if (map.dso->kind == DSO_KERNEL && map.end - map.start < KERNEL_IMAGE_ROOM)
		map.end = MAX(map.end, map.start + KERNEL_IMAGE_ROOM);
	if (r->build_id_size) {
		dso_set_build_id(map.dso, r->build_id, r->build_id_size);
		map.dso->has_build_id_said = true;
	}
	if (map.dso->kind == DSO_MODULE) {
		map.dso->base = map.start;
		map.pgoff = r->pgoff;
	} else if (!guest->text) {
		guest->text = r->pgoff;
	}
	add_map(m, guest->kernel, &map, time);
}

/* MMAP does not record the protection; a misc bit marks maps of data, if these are recorded at all. */
static bool is_code(const struct record *rec, const struct record_mmap *r)
{
	return !(rec->misc & PERF_RECORD_MISC_MMAP_DATA) && (!r->prot || r->prot & PROT_EXEC);
}

static void apply_mmap(struct machine *m, const struct record *rec, const struct record_mmap *r,
	u64 time)
{
	unsigned mode = rec->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	bool is_kernel = mode == PERF_RECORD_MISC_KERNEL;
	struct process *p = is_kernel ? m->kernel : get_process(m, r->pid);
	struct map map = {.start = r->addr, .end = r->addr + r->len, .pgoff = r->pgoff};

	if (mode == PERF_RECORD_MISC_GUEST_USER || !r->len)
		return;
	if (mode == PERF_RECORD_MISC_GUEST_KERNEL) {
		apply_guest_mmap(m, r, time);
		return;
	}
	if (map.end < map.start)
		map.end = UINT64_MAX;
	map.dso = dso_get_mapped(&m->dsos, r, is_kernel);
	if (map.dso->kind == DSO_FILE && is_code(rec, r))
		dso_note_code(map.dso, r->pgoff, map.end - map.start);
	if (map.dso->kind == DSO_MODULE)
		map.dso->base = map.start;
	else if (map.dso->kind != DSO_FILE && map.dso->kind != DSO_VDSO)
		map.pgoff = map.start;
	if (map.dso->kind == DSO_KERNEL && map.end - map.start < KERNEL_IMAGE_ROOM)
		map.end = MAX(map.end, map.start + KERNEL_IMAGE_ROOM);
	if (map.dso->kind == DSO_KERNEL && !m->kernel_text)
		m->kernel_text = r->pgoff;
	p->n_mmaps++;
	add_map(m, p, &map, time);
	if (m->coder && (map.dso->kind == DSO_FILE || map.dso->kind == DSO_JIT))
		m->coder->mapped(m->coder->ctx, m, r->pid, map.dso, time);
}

static void apply_ksymbol(struct machine *m, const struct record_ksymbol *k, u64 time)
{
	enum { UNREGISTER = 1 };
	struct map map = {.start = k->addr, .end = k->addr + k->len, .pgoff = k->addr};
	const struct space *now = process_newest(m->kernel);

	if (!k->len || map.end < map.start)
		return;
	if (k->flags & UNREGISTER) {
		m->maps.owner++;
		push_space(m, m->kernel,
			(struct space){.from = MAX(time, now->from),
				.maps = maps_remove(&m->maps, now->maps, map.start, map.end)});
		return;
	}
	map.dso = dso_get_kind(&m->dsos, (const char *)k->name.at, k->name.n, DSO_BPF);
	add_map(m, m->kernel, &map, time);
}

/* Ids of cgroups are never used again: the first record of one holds for all times. */
static void apply_cgroup(struct machine *m, const struct record_cgroup *c)
{
	if (machine_cgroup(m, c->id))
		return;
	table_add(&m->cgroups_by_id, hash_u64(c->id), m->cgroups.n);
	vec_add(&m->cgroups,
		((struct machine_cgroup){c->id,
			intern_add(&m->strings, (const char *)c->path.at,
				strnlen((const char *)c->path.at, c->path.n))}));
}

const char *machine_cgroup(const struct machine *m, u64 id)
{
	struct table_probe probe = table_probe(&m->cgroups_by_id, hash_u64(id));
	u32 i;

	while ((i = table_next(&m->cgroups_by_id, &probe)) != TABLE_NONE)
		if (m->cgroups.at[i].id == id)
			return m->cgroups.at[i].path;
	return NULL;
}

void machine_apply(struct machine *m, const struct record *rec, const union record_body *body,
	u64 time)
{
	struct thread *t;

	machine_advance(m, time);
	m->n_changes++;
	switch (rec->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		apply_mmap(m, rec, &body->mmap, time);
		break;
	case PERF_RECORD_COMM:
		apply_comm(m, rec, &body->comm, time);
		break;
	case PERF_RECORD_FORK:
		apply_fork(m, rec, &body->task, time);
		break;
	case PERF_RECORD_EXIT:
		t = find_thread(m, body->task.tid);
		if (t && t->pid == body->task.pid)
			t->exit_time = time;
		m->n_ended++;
		break;
	case PERF_RECORD_CGROUP:
		apply_cgroup(m, &body->cgroup);
		break;
	case PERF_RECORD_KSYMBOL:
		apply_ksymbol(m, &body->ksymbol, time);
		break;
	}
}

/* The vectors of processes and threads double, and have a minimum size: see vec_grow(). */
static u64 bytes_held(const struct machine *m)
{
	enum { SMALL = 8 };
	u64 states = (u64)m->next_space_id * SMALL, comms = m->n_comms * SMALL;

	return m->arena.total + m->maps.arena.total + m->strings.arena.total + m->dsos.arena.total +
		states * sizeof(struct space *) / 2 + comms * sizeof(struct comm) / 2 +
		m->threads.cap * (sizeof(*m->threads.at) + 4 * sizeof(void *));
}

void machine_apply_late(struct machine *m, const struct record *rec, const union record_body *body,
	u64 time)
{
	m->followed_to = MAX(m->followed_to, time);
	machine_apply(m, rec, body, m->followed_to);
}

int machine_follow(struct machine *m, struct session *session, const struct stream_event *e,
	union record_body *ret_body)
{
	struct err err;
	u32 trailer;

	if (!record_is_state(e->rec.type)) {
		machine_advance(m, MAX(m->followed_to, e->time));
		return 0;
	}
	trailer = formats_format(&session->reader.formats, e->event)->trailer;
	if (record_decode(&e->rec, trailer, ret_body, &err) <= 0) {
		session_note_undecoded(&session->tally, &e->rec);
		return -1;
	}
	session_note_odd(&session->tally, &e->rec, oddity_of_state(e->rec.type, ret_body));
	if (m->is_foreseen)
		return 1;
	machine_apply_late(m, &e->rec, ret_body, e->time);
	session->n_held = bytes_held(m);
	return 1;
}

/* The first DSO at the path that an entry of the table names; NULL: the entry names none. */
static struct dso *dso_of_entry(struct machine *m, const struct file_build_id *entry)
{
	unsigned mode = entry->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	if (mode != PERF_RECORD_MISC_KERNEL && mode != PERF_RECORD_MISC_USER &&
		mode != PERF_RECORD_MISC_GUEST_KERNEL)
		return NULL;
	return mode == PERF_RECORD_MISC_GUEST_KERNEL
		? dso_get_guest(&m->dsos, entry->path, strlen(entry->path), (u32)MAX(entry->pid, 0))
		: dso_get(&m->dsos, entry->path, strlen(entry->path), 0,
			  mode == PERF_RECORD_MISC_KERNEL);
}

void machine_set_build_ids(struct machine *m, const struct file_info *info)
{
	VEC(struct dso *) firsts = {0};
	u32 *n, *n_seen;

	vec_each(entry, &info->build_ids)
		vec_add(&firsts, dso_of_entry(m, entry));
	n = mem_zalloc((m->dsos.at.n + 1) * sizeof(*n));
	n_seen = mem_zalloc((m->dsos.at.n + 1) * sizeof(*n_seen));
	vec_each(first, &firsts)
		if (*first && n[(*first)->id]++)
			dso_expect(&m->dsos, *first, n[(*first)->id] - 1);
	for (size_t i = 0; i < firsts.n; i++) {
		const struct file_build_id *entry = &info->build_ids.at[i];
		struct dso *dso = firsts.at[i];

		if (!dso)
			continue;
		/* A single entry describes the file that was there at the end; several stand in order. */
		if (n[dso->id] > 1)
			dso = dso_expect(&m->dsos, dso, n_seen[dso->id]++);
		else
			while (dso->namesake)
				dso = dso->namesake;
		if (entry->id_size && !dso->has_build_id_said)
			dso_set_build_id(dso, entry->id, entry->id_size);
	}
	mem_free(n);
	mem_free(n_seen);
	vec_fini(&firsts);
}

static u64 take_state(void *ctx, const struct record *rec, const union record_body *body, u64 time)
{
	machine_apply(ctx, rec, body, time);
	return bytes_held(ctx);
}

/*
 * Without times, the state at a sample's place in the file may be older than the sample, because another
 * CPU's ring holds the records between them. Maps that the state lacks are then looked up in the newest state.
 */
static void settle_unordered(struct machine *m)
{
	vec_each(newest, &m->newest_processes)
		for (struct process *p = *newest; p; p = p->older)
			for (size_t i = 0; i + 1 < p->spaces.n; i++) {
				struct space *s = p->spaces.at[i];

				if (s->before)
					continue;
				s->before = process_newest(p)->maps;
				/* No other process shares it any more. */
				s->id = m->next_space_id++;
			}
}

int machine_scan(struct machine *m, struct session *session, struct err *err)
{
	return machine_scan_coded(m, session, NULL, err);
}

int machine_scan_coded(struct machine *m, struct session *session,
	const struct machine_coder *coder, struct err *err)
{
	int r;

	machine_init(m);
	m->coder = coder;
	machine_set_build_ids(m, &session->reader.info);
	r = session_scan(session, take_state, m, err);
	machine_advance(m, UINT64_MAX);
	if (!session->has_times)
		settle_unordered(m);
	return r;
}

int machine_foresee(struct machine *m, struct session *session, struct err *err)
{
	if (session->has_times || session->reader.is_stream)
		return 0;
	if (session_scan(session, take_state, m, err))
		return err->code;
	machine_advance(m, UINT64_MAX);
	settle_unordered(m);
	m->coder = NULL;
	m->is_foreseen = true;
	/* All records will be read again. */
	memset(&session->tally, 0, sizeof(session->tally));
	session->pieces.n = session->readings.n = session->values.n = 0;
	return 0;
}

/* ---- look-ups ---- */

/* The life of that tid at a time; the first one for earlier times. */
static const struct thread *thread_at(const struct machine *m, u32 tid, u64 time, u64 *ret_until)
{
	const struct thread *t = find_thread(m, tid);

	*ret_until = UINT64_MAX;
	while (t && t->from > time && t->older) {
		*ret_until = t->from;
		t = t->older;
	}
	return t;
}

static const struct process *process_at(const struct machine *m, u32 pid, u64 time, u64 *ret_until)
{
	const struct process *p = find_process(m, pid);

	*ret_until = UINT64_MAX;
	while (p && p->from > time && p->older) {
		*ret_until = p->from;
		p = p->older;
	}
	return p;
}

static const char *nameless(const struct machine *m, u32 tid, struct intern *strings)
{
	char text[24];

	if (!tid)
		return m->swapper;
	snprintf(text, sizeof(text), ":%d", (s32)tid);
	return intern_str(strings, text);
}

void machine_state_at(const struct machine *m, u32 pid, u32 tid, u64 time, struct intern *strings,
	struct thread_state *ret_state)
{
	struct thread_state s = {.until = UINT64_MAX};
	const struct process *p;
	const struct guest *guest;
	u64 from, until;

	s.thread = thread_at(m, tid, time, &until);
	s.until = MIN(s.until, until);
	if (s.thread && s.thread->from <= time)
		s.from = s.thread->from;
	else if (s.thread)
		s.until = MIN(s.until, s.thread->from);
	/* Even that the tid is another process's holds only during this life of it. */
	if (s.thread && s.thread->pid != pid)
		s.thread = NULL;
	if (s.thread) {
		s.comm = thread_comm_at(s.thread, time, &from, &until);
		s.from = MAX(s.from, from);
		s.until = MIN(s.until, until);
	}
	if (!s.comm)
		s.comm = nameless(m, tid, strings);
	p = s.thread ? s.thread->process : process_at(m, pid, time, &until);
	if (!s.thread)
		s.until = MIN(s.until, until);
	if (p) {
		s.user = process_space_at(p, time, &until);
		s.from = MAX(s.from, s.user->from <= time ? s.user->from : 0);
		s.until = MIN(s.until, until);
	}
	s.kernel = process_space_at(m->kernel, time, &until);
	s.from = MAX(s.from, s.kernel->from <= time ? s.kernel->from : 0);
	s.until = MIN(s.until, until);
	guest = m->guests.n ? machine_guest(m, pid) : NULL;
	if (guest) {
		s.guest = process_space_at(guest->kernel, time, &until);
		s.from = MAX(s.from, s.guest->from <= time ? s.guest->from : 0);
		s.until = MIN(s.until, until);
	}
	/* The state is valid for this very moment at least. */
	if (s.from > time)
		s.from = time;
	*ret_state = s;
}

const struct map *machine_find(const struct space *space, u64 va)
{
	const struct map *map, *code;

	if (!space)
		return NULL;
	map = maps_find(space->maps, va);
	if (space->code && (!map || map_may_be_code(map))) {
		code = maps_find(space->code, va);
		if (code)
			return code;
	}
	return map || !space->before ? map : maps_find(space->before, va);
}

void machine_init(struct machine *m)
{
	memset(m, 0, sizeof(*m));
	m->maps.owner = 1;
	dso_list_init(&m->dsos, &m->strings);
	m->swapper = intern_str(&m->strings, "swapper");
	m->kernel = new_process(m, (u32)-1, 0, NULL);
	push_space(m, m->kernel, (struct space){0});
}

void machine_fini(struct machine *m)
{
	vec_each(t, &m->threads)
		vec_fini(&(*t)->comms);
	vec_each(newest, &m->newest_processes) {
		for (struct process *p = *newest; p; p = p->older)
			vec_fini(&p->spaces);
	}
	if (m->kernel)
		vec_fini(&m->kernel->spaces);
	vec_each(guest, &m->guests)
		vec_fini(&guest->kernel->spaces);
	vec_fini(&m->guests);
	vec_fini(&m->threads);
	vec_fini(&m->newest_threads);
	vec_fini(&m->newest_processes);
	vec_fini(&m->cgroups);
	table_fini(&m->cgroups_by_id);
	table_fini(&m->threads_by_tid);
	table_fini(&m->processes_by_pid);
	dso_list_fini(&m->dsos);
	intern_fini(&m->strings);
	arena_fini(&m->maps.arena);
	arena_fini(&m->arena);
}
