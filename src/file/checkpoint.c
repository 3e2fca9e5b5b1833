#include "file/checkpoint.h"

#include <string.h>

#include "base/hash.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/table.h"
#include "base/vec.h"
#include "record/record.h"

enum {
	/*
	 * Records this much older than the newest one are complete: a recorder leaves records in a
	 * ring for at most a second.
	 */
	SETTLED_NS = 2000000000,
};

#define KERNEL UINT32_MAX /* the pid of the kernel's maps */

/* One record; sorted by time. */
struct entry {
	struct record_header header;
	size_t at;
	u64 time;
	u32 life;   /* the process it is about; TABLE_NONE: the machine */
	u32 thread; /* of FORK, EXIT, COMM and NAMESPACES */
	bool is_kept;
};

/* A range of addresses that later records of the same life have mapped. */
struct range {
	u64 from, to;
};

typedef VEC(struct range) ranges_t;

/* A process during its lifetime; a later process with the same pid is another life. */
struct life {
	u32 pid;
	u32 parent;     /* another life; TABLE_NONE: unknown */
	u32 fork;       /* the entry that began it; TABLE_NONE: none */
	u32 first_exec; /* entry; UINT32_MAX: none */
	u32 leader;     /* a task */
	u32 tasks;      /* head of the list of its tasks, newest first */
	u32 n_running;
	u32 n_heirs, heir; /* lives that inherited maps, and the only one */
	bool is_leaderless; /* its leader ended first: the records of all its tasks show that it went on */
	bool is_needed;   /* it runs, or a process that runs inherited from it */
	bool is_heir;     /* what its parent had at the fork still matters */
	bool is_replaced; /* it has become the first part of its heir's life */
	/* State of the walk back in time: */
	bool is_over; /* earlier records matter to nobody */
	bool is_before_exec;
	ranges_t covered[2]; /* by later maps of code, of data */
};

/* A thread. It inherits its name as a process inherits its maps. */
struct task {
	u32 life, tid;
	u32 next; /* in the list of the same life */
	u32 forker, fork;
	u32 first_comm;
	u32 n_heirs, heir;
	bool has_ended, is_needed, is_heir, is_replaced;
	/* State of the walk back in time: */
	bool is_over;
	u32 generation; /* of its name; changes where another task inherited the name */
};

/* A fact that a later record already gave. */
struct said {
	u64 of; /* a task, an address or an id */
	u32 type, part;
};

struct checkpoint {
	u32 time_from_end; /* 0: unknown */
	bool is_complete;
	const struct str *records;
	u64 newest; /* time */
	VEC(struct entry) entries;
	u32 n_settled; /* the first entries; more records may still come between the others */
	VEC(struct life) lives;
	VEC(struct task) tasks;
	VEC(struct said) said;
	struct table by_pid, by_tid, by_said;
};

/* ---- bodies ---- */

/* Copies `n` bytes at `off` of the record's body; zeros if the body is too short. */
static void copy_from(const struct checkpoint *s, const struct entry *e, u32 off, void *ret, u32 n)
{
	memset(ret, 0, n);
	if (sizeof(e->header) + off + n <= e->header.size)
		memcpy(ret, s->records->at + e->at + sizeof(e->header) + off, n);
}

static u16 half_at(const struct checkpoint *s, const struct entry *e, u32 off)
{
	u16 v;

	copy_from(s, e, off, &v, sizeof(v));
	return v;
}

static u32 word_at(const struct checkpoint *s, const struct entry *e, u32 off)
{
	u32 v;

	copy_from(s, e, off, &v, sizeof(v));
	return v;
}

static u64 long_at(const struct checkpoint *s, const struct entry *e, u32 off)
{
	u64 v;

	copy_from(s, e, off, &v, sizeof(v));
	return v;
}

/* Offsets in the bodies of FORK and EXIT, of maps, of KSYMBOL, of BPF_EVENT. */
enum { PID = 0, TASK_PPID = 4, TASK_TID = 8, TASK_PTID = 12, TID = 4, MAP_ADDR = 8, MAP_LEN = 16 };
enum { KSYMBOL_ADDR = 0, KSYMBOL_FLAGS = 14, BPF_TYPE = 0, BPF_ID = 4 };
enum { KSYMBOL_UNREGISTER = 1, BPF_UNLOAD = 2 };

/* ---- the order of time ---- */

static u64 time_of(const struct checkpoint *s, const struct entry *e, u64 before)
{
	u64 time;

	if (!s->time_from_end)
		return 0;
	if (!record_has_trailer(e->header.type) ||
		e->header.size < sizeof(e->header) + s->time_from_end)
		return before;
	memcpy(&time, s->records->at + e->at + e->header.size - s->time_from_end, sizeof(time));
	return time;
}

static void read_entries(struct checkpoint *s)
{
	VEC(struct entry) read = {0};
	VEC(struct sort_item) order = {0};
	struct record rec;
	u64 time = 0;

	for (size_t at = 0; record_in(s->records->at, s->records->n, at, &rec); at += rec.size) {
		struct entry e = {.header = {rec.type, rec.misc, rec.size},
			.at = at,
			.life = TABLE_NONE,
			.thread = TABLE_NONE};

		e.time = time = time_of(s, &e, time);
		s->newest = MAX(s->newest, time);
		vec_add(&order, ((struct sort_item){time, read.n}));
		vec_add(&read, e);
	}
	if (order.n)
		sort_by_key(order.at, order.n);
	vec_each(item, &order) {
		vec_add(&s->entries, read.at[item->value]);
		if (!s->time_from_end || s->is_complete || item->key + SETTLED_NS < s->newest)
			s->n_settled = (u32)s->entries.n;
	}
	vec_fini(&read);
	vec_fini(&order);
}

/* ---- forward: who lived ---- */

static u32 find_life(const struct checkpoint *s, u32 pid)
{
	struct table_probe probe = table_probe(&s->by_pid, hash_u64(pid));
	u32 i, newest = TABLE_NONE;

	while ((i = table_next(&s->by_pid, &probe)) != TABLE_NONE)
		if (s->lives.at[i].pid == pid && (newest == TABLE_NONE || i > newest))
			newest = i;
	return newest;
}

static u64 hash_task(u32 life, u32 tid)
{
	return hash_u64((u64)life << 32 | tid);
}

static u32 find_task(const struct checkpoint *s, u32 life, u32 tid)
{
	struct table_probe probe = table_probe(&s->by_tid, hash_task(life, tid));
	u32 i, newest = TABLE_NONE;

	while ((i = table_next(&s->by_tid, &probe)) != TABLE_NONE)
		if (s->tasks.at[i].life == life && s->tasks.at[i].tid == tid &&
			(newest == TABLE_NONE || i > newest))
			newest = i;
	return newest;
}

static u32 begin_task(struct checkpoint *s, u32 life, u32 tid)
{
	u32 i = (u32)s->tasks.n;

	table_add(&s->by_tid, hash_task(life, tid), i);
	vec_add(&s->tasks,
		((struct task){.life = life,
			.tid = tid,
			.next = s->lives.at[life].tasks,
			.forker = TABLE_NONE,
			.fork = TABLE_NONE,
			.first_comm = UINT32_MAX}));
	s->lives.at[life].tasks = i;
	s->lives.at[life].n_running++;
	return i;
}

/*
 * If records are in order of time, one of a task that has ended belongs to a new task whose FORK
 * was lost.
 */
static u32 get_task(struct checkpoint *s, u32 life, u32 tid)
{
	u32 i = find_task(s, life, tid);
	bool is_another = i != TABLE_NONE && s->tasks.at[i].has_ended && s->time_from_end;

	return i == TABLE_NONE || is_another ? begin_task(s, life, tid) : i;
}

static void end_task(struct checkpoint *s, u32 i)
{
	struct task *t = &s->tasks.at[i];

	if (!t->has_ended)
		s->lives.at[t->life].n_running--;
	t->has_ended = true;
}

static u32 begin_life(struct checkpoint *s, u32 pid)
{
	u32 i = (u32)s->lives.n;

	table_add(&s->by_pid, hash_u64(pid), i);
	vec_add(&s->lives,
		((struct life){.pid = pid,
			.parent = TABLE_NONE,
			.fork = TABLE_NONE,
			.tasks = TABLE_NONE,
			.first_exec = UINT32_MAX}));
	s->lives.at[i].leader = begin_task(s, i, pid);
	return i;
}

static u32 get_life(struct checkpoint *s, u32 pid)
{
	u32 i = find_life(s, pid);
	bool is_another = i != TABLE_NONE && !s->lives.at[i].n_running && s->time_from_end;

	return i == TABLE_NONE || is_another ? begin_life(s, pid) : i;
}

/* Ends a life whose EXIT was lost: its pid belongs to another process now. */
static void end_lost(struct checkpoint *s, u32 life)
{
	for (u32 i = s->lives.at[life].tasks; i != TABLE_NONE; i = s->tasks.at[i].next)
		end_task(s, i);
}

static void see_fork(struct checkpoint *s, u32 at)
{
	struct entry *e = &s->entries.at[at];
	u32 pid = word_at(s, e, PID), ppid = word_at(s, e, TASK_PPID);
	u32 tid = word_at(s, e, TASK_TID), parent = find_life(s, ppid), forker, old;
	struct task *t;

	/* If the parent is unknown by now, the child has nothing of it left. */
	forker = parent == TABLE_NONE ? TABLE_NONE : find_task(s, parent, word_at(s, e, TASK_PTID));
	if (pid == ppid) {
		e->life = get_life(s, pid);
		old = find_task(s, e->life, tid);
		if (old != TABLE_NONE)
			end_task(s, old);
		e->thread = begin_task(s, e->life, tid);
	} else {
		old = find_life(s, pid);
		if (old != TABLE_NONE)
			end_lost(s, old);
		e->life = begin_life(s, pid);
		e->thread = s->lives.at[e->life].leader;
		s->lives.at[e->life].fork = at;
		s->lives.at[e->life].parent = parent;
	}
	t = &s->tasks.at[e->thread];
	t->forker = forker;
	t->fork = at;
}

/* An EXIT of an otherwise unknown task is ignored. */
static void see_exit(struct checkpoint *s, struct entry *e)
{
	u32 life = find_life(s, word_at(s, e, PID)), tid = word_at(s, e, TASK_TID), task;

	if (life == TABLE_NONE || !s->lives.at[life].n_running)
		return;
	task = find_task(s, life, tid);
	if (task != TABLE_NONE && s->tasks.at[task].has_ended)
		return;
	e->life = life;
	e->thread = task == TABLE_NONE ? begin_task(s, life, tid) : task;
	end_task(s, e->thread);
	if (s->lives.at[life].n_running && s->tasks.at[s->lives.at[life].leader].has_ended)
		s->lives.at[life].is_leaderless = true;
}

static void see_comm(struct checkpoint *s, u32 at)
{
	const struct entry *e = &s->entries.at[at];
	struct life *l = &s->lives.at[e->life];
	struct task *t = &s->tasks.at[e->thread];

	t->first_comm = MIN(t->first_comm, at);
	if (e->header.misc & PERF_RECORD_MISC_COMM_EXEC)
		l->first_exec = MIN(l->first_exec, at);
}

static void see(struct checkpoint *s, u32 at)
{
	struct entry *e = &s->entries.at[at];

	switch (e->header.type) {
	case PERF_RECORD_FORK:
		see_fork(s, at);
		break;
	case PERF_RECORD_EXIT:
		see_exit(s, e);
		break;
	case PERF_RECORD_COMM:
	case PERF_RECORD_NAMESPACES:
		e->life = get_life(s, word_at(s, e, PID));
		e->thread = get_task(s, e->life, word_at(s, e, TID));
		if (e->header.type == PERF_RECORD_COMM)
			see_comm(s, at);
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		e->life = get_life(s, word_at(s, e, PID));
		break;
	}
}

/* Marks which lives are needed and who inherits from whom. Children stand behind their parents. */
static void find_heirs(struct checkpoint *s)
{
	for (u32 i = (u32)s->lives.n; i--;) {
		struct life *l = &s->lives.at[i], *parent;
		bool runs = l->n_running || l->pid == KERNEL;

		l->is_needed |= runs;
		l->is_heir |= runs && l->first_exec == UINT32_MAX;
		l->is_over = !runs;
		if (!l->is_needed || !l->is_heir || l->parent == TABLE_NONE)
			continue;
		parent = &s->lives.at[l->parent];
		parent->is_needed = true;
		parent->is_heir |= l->fork < parent->first_exec;
		parent->n_heirs++;
		parent->heir = i;
	}
}

/* The same for threads' names. */
static void find_name_heirs(struct checkpoint *s)
{
	for (u32 i = (u32)s->tasks.n; i--;) {
		struct task *t = &s->tasks.at[i], *forker;

		t->is_needed |= !t->has_ended || s->lives.at[t->life].is_leaderless;
		t->is_heir |= !t->has_ended && t->first_comm == UINT32_MAX;
		t->is_over = t->has_ended;
		if (!t->is_needed || !t->is_heir || t->forker == TABLE_NONE)
			continue;
		forker = &s->tasks.at[t->forker];
		forker->is_needed = true;
		forker->is_heir |= t->fork < forker->first_comm;
		forker->n_heirs++;
		forker->heir = i;
	}
}

/*
 * Finds ended tasks that can be renamed to their only heir. No other task with the heir's tid may
 * be among those kept.
 */
static void replace_ended(struct checkpoint *s)
{
	struct table kept = {0};

	vec_each(t, &s->tasks)
		if (t->is_needed || t - s->tasks.at == s->lives.at[t->life].leader)
			table_add(&kept, hash_u64(t->tid), (u32)(t - s->tasks.at));
	vec_each(t, &s->tasks) {
		struct life *l = &s->lives.at[t->life];
		bool is_leader = t - s->tasks.at == l->leader;
		struct table_probe probe;
		u32 heir, i, n = 0;

		if (!t->has_ended || l->pid == KERNEL || !l->is_needed || l->is_leaderless)
			continue;
		if (is_leader ? l->n_running || l->n_heirs != 1 : t->n_heirs != 1)
			continue;
		heir = is_leader ? s->lives.at[l->heir].leader : t->heir;
		/* The leader forked a process; or a thread forked another of the same process. */
		if (is_leader ? s->tasks.at[heir].forker != l->leader
			      : s->tasks.at[heir].life != t->life)
			continue;
		probe = table_probe(&kept, hash_u64(s->tasks.at[heir].tid));
		while ((i = table_next(&kept, &probe)) != TABLE_NONE)
			n += s->tasks.at[i].tid == s->tasks.at[heir].tid &&
				s->lives.at[s->tasks.at[i].life].is_needed;
		if (n != 1)
			continue;
		t->is_replaced = true;
		t->heir = heir;
		l->is_replaced |= is_leader;
	}
	table_fini(&kept);
}

/* ---- backward: what is still true ---- */

/* Whether a later record gave this fact already; remembers it as given. */
static bool is_said(struct checkpoint *s, u32 type, u64 of, u32 part)
{
	u64 hash = hash_mix(hash_mix(type, part), of);
	struct table_probe probe = table_probe(&s->by_said, hash);
	u32 i;

	while ((i = table_next(&s->by_said, &probe)) != TABLE_NONE)
		if (s->said.at[i].of == of && s->said.at[i].type == type &&
			s->said.at[i].part == part)
			return true;
	table_add(&s->by_said, hash, (u32)s->said.n);
	vec_add(&s->said, ((struct said){of, type, part}));
	return false;
}

/* Adds [from, to) to the union. False: the union covered it already. */
static bool cover(ranges_t *covered, u64 from, u64 to)
{
	const size_t first = search_first(i, covered->n, covered->at[i].to >= from);
	size_t behind;

	if (first < covered->n && covered->at[first].from <= from && to <= covered->at[first].to)
		return false;
	for (behind = first; behind < covered->n && covered->at[behind].from <= to; behind++) {
		from = MIN(from, covered->at[behind].from);
		to = MAX(to, covered->at[behind].to);
	}
	if (behind == first)
		vec_push(covered);
	memmove(covered->at + first + 1, covered->at + behind,
		(covered->n - (behind == first) - behind) * sizeof(*covered->at));
	covered->n -= behind > first ? behind - first - 1 : 0;
	covered->at[first] = (struct range){from, to};
	return true;
}

static bool keeps_map(struct checkpoint *s, const struct entry *e)
{
	struct life *l = &s->lives.at[e->life];
	u64 from = long_at(s, e, MAP_ADDR), to = from + long_at(s, e, MAP_LEN);

	if (l->is_over || l->is_before_exec)
		return false;
	return to <= from ||
		cover(&l->covered[!!(e->header.misc & PERF_RECORD_MISC_MMAP_DATA)], from, to);
}

static bool keeps_fork(struct checkpoint *s, u32 at)
{
	const struct entry *e = &s->entries.at[at];
	const struct life *l = &s->lives.at[e->life];
	const struct task *t = &s->tasks.at[e->thread];
	bool is_process = l->fork == at;

	if (!is_process && !t->is_needed)
		return false;
	/* The parent's earlier records matter again, to the task forked here. */
	if (t->is_heir && t->is_needed && t->forker != TABLE_NONE) {
		s->tasks.at[t->forker].is_over = false;
		s->tasks.at[t->forker].generation++;
	}
	if (is_process && l->is_heir && l->parent != TABLE_NONE) {
		struct life *parent = &s->lives.at[l->parent];

		parent->is_over = parent->is_before_exec = false;
		parent->covered[0].n = parent->covered[1].n = 0;
	}
	/* A task that continues another's life needs no FORK of its own. */
	return t->forker == TABLE_NONE || !s->tasks.at[t->forker].is_replaced ||
		s->tasks.at[t->forker].heir != e->thread;
}

static bool keeps_name(struct checkpoint *s, const struct entry *e)
{
	struct life *l = &s->lives.at[e->life];
	const struct task *t = &s->tasks.at[e->thread];
	bool is_exec =
		e->header.type == PERF_RECORD_COMM && e->header.misc & PERF_RECORD_MISC_COMM_EXEC;

	if (l->is_over || (e->header.type == PERF_RECORD_COMM && l->is_before_exec))
		return false;
	l->is_before_exec |= is_exec;
	if (is_exec)
		return true;
	/* A process is named after its leader, even when the leader has ended. */
	if (t->is_over && (l->is_replaced || e->thread != l->leader))
		return false;
	return !is_said(s, e->header.type, e->thread, t->generation);
}

static bool keeps_exit(const struct checkpoint *s, const struct entry *e)
{
	const struct life *l;

	if (e->life == TABLE_NONE)
		return false;
	l = &s->lives.at[e->life];
	return !s->tasks.at[e->thread].is_replaced &&
		(e->thread == l->leader || s->tasks.at[e->thread].is_needed);
}

static bool keeps(struct checkpoint *s, u32 at)
{
	const struct entry *e = &s->entries.at[at];

	if (e->life != TABLE_NONE && !s->lives.at[e->life].is_needed)
		return false;
	switch (e->header.type) {
	case PERF_RECORD_FORK:
		return keeps_fork(s, at);
	case PERF_RECORD_EXIT:
		return keeps_exit(s, e);
	case PERF_RECORD_COMM:
	case PERF_RECORD_NAMESPACES:
		return keeps_name(s, e);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return keeps_map(s, e);
	case PERF_RECORD_KSYMBOL:
		return !is_said(s, e->header.type, long_at(s, e, KSYMBOL_ADDR), 0) &&
			!(half_at(s, e, KSYMBOL_FLAGS) & KSYMBOL_UNREGISTER);
	case PERF_RECORD_BPF_EVENT:
		return !is_said(s, e->header.type, word_at(s, e, BPF_ID), 0) &&
			half_at(s, e, BPF_TYPE) != BPF_UNLOAD;
	case PERF_RECORD_CGROUP:
	case PERF_RECORD_TEXT_POKE:
		return !is_said(s, e->header.type, long_at(s, e, 0), 0);
	}
	return true;
}

/* ---- what is left ---- */

/* Rewrites the ids in a record of a replaced task to those of its last heir. */
static void rename_task(const struct checkpoint *s, const struct entry *e, char *record)
{
	u32 i = e->thread == TABLE_NONE ? s->lives.at[e->life].leader : e->thread;
	char *body = record + sizeof(e->header);
	const struct task *t = &s->tasks.at[i];

	if (!t->is_replaced)
		return;
	while (t->is_replaced)
		t = &s->tasks.at[t->heir];
	memcpy(body + PID, &s->lives.at[t->life].pid, sizeof(u32));
	memcpy(body + (e->header.type == PERF_RECORD_FORK ? TASK_TID : TID), &t->tid, sizeof(u32));
}

static void write_kept(const struct checkpoint *s, struct str *out)
{
	vec_each(e, &s->entries) {
		size_t at = out->n;

		if (!e->is_kept)
			continue;
		str_addn(out, s->records->at + e->at, e->header.size);
		if (e->life != TABLE_NONE && e->header.size >= sizeof(e->header) + 16)
			rename_task(s, e, out->at + at);
	}
}

void checkpoint_reduce(u32 time_from_end, bool is_complete, struct str *records)
{
	struct checkpoint s = {.time_from_end = time_from_end,
		.is_complete = is_complete,
		.records = records};
	struct str kept = {0};

	read_entries(&s);
	for (u32 i = 0; i < s.n_settled; i++)
		see(&s, i);
	find_heirs(&s);
	find_name_heirs(&s);
	replace_ended(&s);
	for (u32 i = (u32)s.entries.n; i--;)
		s.entries.at[i].is_kept = i >= s.n_settled || keeps(&s, i);
	write_kept(&s, &kept);
	str_fini(records);
	*records = kept;

	vec_each(l, &s.lives) {
		vec_fini(&l->covered[0]);
		vec_fini(&l->covered[1]);
	}
	vec_fini(&s.entries);
	vec_fini(&s.lives);
	vec_fini(&s.tasks);
	vec_fini(&s.said);
	table_fini(&s.by_pid);
	table_fini(&s.by_tid);
	table_fini(&s.by_said);
}
