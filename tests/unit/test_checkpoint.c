#include "file/checkpoint.h"

#include "machine/machine.h"
#include "record/record.h"
#include "record/sample.h"
#include "test.h"

#define MS 1000000ULL

enum { EXEC = PERF_RECORD_MISC_COMM_EXEC };

enum { TIMED = 8 }; /* the trailer is a time */

/* ---- records whose trailer is their time ---- */

static void put(struct str *out, u32 type, u16 misc, const union record_body *body, u64 time)
{
	CHECK(record_encode(type, misc, body, 8, out));
	memcpy(out->at + out->n - 8, &time, 8);
}

static void put_task(struct str *out, u32 type, u32 pid, u32 ppid, u32 tid, u32 ptid, u64 time)
{
	put(out, type, 0, &(union record_body){.task = {pid, ppid, tid, ptid, time}}, time);
}

static void put_comm(struct str *out, u16 misc, u32 pid, u32 tid, const char *name, u64 time)
{
	union record_body body = {.comm = {pid, tid, {(const u8 *)name, strlen(name)}}};

	put(out, PERF_RECORD_COMM, misc, &body, time);
}

static void put_map(struct str *out, u32 pid, u64 addr, u64 len, const char *path, u64 time)
{
	union record_body body = {.mmap = {pid, pid, addr, len}};

	body.mmap.path = (struct record_bytes){(const u8 *)path, strlen(path)};
	put(out, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, &body, time);
}

static bool next(const struct str *records, size_t *at, struct record *rec,
	union record_body *ret_body, u64 *ret_time)
{
	struct record_header header;
	struct err err;

	if (*at >= records->n)
		return false;
	memcpy(&header, records->at + *at, sizeof(header));
	*rec = (struct record){header.type, header.misc, header.size, (const u8 *)records->at + *at,
		0};
	*at += header.size;
	memcpy(ret_time, records->at + *at - 8, 8);
	CHECK(record_decode(rec, 8, ret_body, &err) == 1);
	return true;
}

/* "F3" for the fork of thread 3, C3=name, M3, and so on. */
static const char *letters(const struct str *records)
{
	static struct str text;
	union record_body body;
	struct record rec;
	size_t at = 0;
	u64 time;

	str_clear(&text);
	while (next(records, &at, &rec, &body, &time)) {
		str_addf(&text, "%s", text.n ? " " : "");
		switch (rec.type) {
		case PERF_RECORD_FORK:
		case PERF_RECORD_EXIT:
			str_addf(&text, "%c%u", rec.type == PERF_RECORD_FORK ? 'F' : 'E',
				body.task.tid);
			break;
		case PERF_RECORD_COMM:
			str_addf(&text, "C%u=%.*s", body.comm.tid, (int)body.comm.comm.n,
				body.comm.comm.at);
			break;
		case PERF_RECORD_MMAP2:
			str_addf(&text, "M%u=%.*s", body.mmap.pid, (int)body.mmap.path.n,
				body.mmap.path.at);
			break;
		case PERF_RECORD_KSYMBOL:
			str_addf(&text, "K%llx", (unsigned long long)body.ksymbol.addr);
			break;
		case PERF_RECORD_BPF_EVENT:
			str_addf(&text, "B%u", body.bpf.id);
			break;
		case PERF_RECORD_CGROUP:
			str_addf(&text, "G%llu", (unsigned long long)body.cgroup.id);
			break;
		}
	}
	return str_text(&text);
}

/* ---- tasks ---- */

TEST(checkpoint_drops_threads_that_ended_and_keeps_those_that_run)
{
	struct str s = {0};

	put_comm(&s, 0, 1, 1, "server", 1);
	for (u32 i = 0; i < 1000; i++) {
		put_task(&s, PERF_RECORD_FORK, 1, 1, 10 + i, 1, 2 + i);
		put_comm(&s, 0, 1, 10 + i, "worker", 2 + i);
		if (i != 500)
			put_task(&s, PERF_RECORD_EXIT, 1, 1, 10 + i, 10 + i, 2 + i);
	}
	checkpoint_reduce(TIMED, true, &s);
	CHECK_STR(letters(&s), "C1=server F510 C510=worker");
	str_fini(&s);
}

TEST(checkpoint_believes_times_and_not_the_order_of_rings)
{
	struct str s = {0};

	put_comm(&s, 0, 1, 1, "sh", 1);
	/* It ended on a CPU whose ring was read before that of the one it was forked on. */
	put_task(&s, PERF_RECORD_EXIT, 7, 1, 7, 1, 30);
	put_task(&s, PERF_RECORD_FORK, 7, 1, 7, 1, 20);
	put_map(&s, 7, 0x1000, 0x1000, "a", 25);
	checkpoint_reduce(TIMED, true, &s);
	CHECK_STR(letters(&s), "C1=sh");
	str_fini(&s);
}

TEST(checkpoint_waits_for_what_is_still_in_a_ring)
{
	struct str s = {0};

	put_comm(&s, 0, 1, 1, "sh", 1);
	put_map(&s, 1, 0x1000, 0x1000, "a", 2);
	put_map(&s, 1, 0x1000, 0x1000, "b", 5000 * MS);
	put_task(&s, PERF_RECORD_EXIT, 7, 1, 7, 1, 5001 * MS);
	put_task(&s, PERF_RECORD_EXIT, 8, 1, 8, 1, 1000 * MS);
	checkpoint_reduce(TIMED, false, &s);
	CHECK_STR(letters(&s), "C1=sh M1=a M1=b E7");
	/* It has the map that was there before. */
	put_task(&s, PERF_RECORD_FORK, 7, 1, 7, 1, 4500 * MS);
	put_task(&s, PERF_RECORD_FORK, 9, 1, 9, 1, 4500 * MS);
	checkpoint_reduce(TIMED, true, &s);
	CHECK_STR(letters(&s), "C1=sh M1=a F9 M1=b");
	str_fini(&s);
}

TEST(checkpoint_keeps_a_chain_of_processes_as_short_as_its_last_link)
{
	struct str s = {0};

	put_comm(&s, 0, 1, 1, "init", 1);
	put_task(&s, PERF_RECORD_FORK, 100, 1, 100, 1, 2);
	put_map(&s, 100, 0x1000, 0x1000, "a", 3);
	put_comm(&s, 0, 100, 100, "daemon", 4);
	for (u32 i = 100; i < 1100; i++) {
		put_task(&s, PERF_RECORD_FORK, i + 1, i, i + 1, i, 10 * i);
		/* What is mapped behind the fork nobody inherits. */
		put_map(&s, i, 0x1000, 0x1000, "b", 10 * i + 1);
		put_task(&s, PERF_RECORD_EXIT, i, 1, i, i, 10 * i + 2);
		if (i % 100 == 0)
			checkpoint_reduce(TIMED, false, &s);
	}
	checkpoint_reduce(TIMED, true, &s);
	CHECK_STR(letters(&s), "C1=init F1100 M1100=a C1100=daemon");
	str_fini(&s);
}

TEST(checkpoint_forgets_what_was_before_an_exec)
{
	struct str s = {0};

	put_comm(&s, 0, 1, 1, "init", 1);
	put_task(&s, PERF_RECORD_FORK, 2, 1, 2, 1, 2);
	put_map(&s, 2, 0x1000, 0x1000, "a", 3);
	/* 3 has what 2 had before. */
	put_task(&s, PERF_RECORD_FORK, 3, 2, 3, 2, 4);
	for (u64 i = 0; i < 5; i++) {
		put_comm(&s, EXEC, 2, 2, "b", 10 + 10 * i);
		put_map(&s, 2, 0x2000, 0x1000, "b", 11 + 10 * i);
	}
	checkpoint_reduce(TIMED, true, &s);
	CHECK_STR(letters(&s), "C1=init F2 M2=a F3 C2=b M2=b");
	put_task(&s, PERF_RECORD_EXIT, 3, 2, 3, 2, 100);
	checkpoint_reduce(TIMED, true, &s);
	CHECK_STR(letters(&s), "C1=init F2 C2=b M2=b");
	str_fini(&s);
}

TEST(checkpoint_drops_maps_that_others_replaced)
{
	struct str s = {0};

	put_comm(&s, 0, 1, 1, "a", 1);
	put_map(&s, 1, 0x1000, 0x4000, "whole", 2);
	put_map(&s, 1, 0x1000, 0x2000, "low", 3);
	put_map(&s, 1, 0x8000, 0x1000, "far", 4);
	checkpoint_reduce(TIMED, true, &s);
	CHECK_STR(letters(&s), "C1=a M1=whole M1=low M1=far");
	put_map(&s, 1, 0x3000, 0x2000, "high", 5);
	checkpoint_reduce(TIMED, true, &s);
	CHECK_STR(letters(&s), "C1=a M1=low M1=far M1=high");
	str_fini(&s);
}

/* ---- the machine's code ---- */

TEST(checkpoint_keeps_the_symbols_and_programs_that_are_loaded)
{
	union record_body body = {0};
	struct str s = {0};

	for (u32 i = 0; i < 100; i++) {
		body.ksymbol = (struct record_ksymbol){0x1000 + i % 3 * 0x100, 8, 1, 0,
			{(const u8 *)"f", 1}, {0}};
		put(&s, PERF_RECORD_KSYMBOL, 0, &body, 10 * i);
		body.ksymbol.flags = 1;
		if (i < 99)
			put(&s, PERF_RECORD_KSYMBOL, 0, &body, 10 * i + 5);
		body.bpf = (struct record_bpf){.bpf_type = 1, .id = i};
		put(&s, PERF_RECORD_BPF_EVENT, 0, &body, 10 * i);
		body.bpf.bpf_type = 2;
		if (i < 99)
			put(&s, PERF_RECORD_BPF_EVENT, 0, &body, 10 * i + 5);
		body = (union record_body){.cgroup = {.id = i % 2, .path = {(const u8 *)"/a", 2}}};
		put(&s, PERF_RECORD_CGROUP, 0, &body, 10 * i);
	}
	checkpoint_reduce(TIMED, true, &s);
	CHECK_STR(letters(&s), "G0 K1000 B99 G1");
	str_fini(&s);
}

/* ---- whatever happens ---- */

enum { PIDS = 40, THREADS = 4, PAGES = 8 };

/* What is true, beside the records that tell of it. */
struct truth {
	bool lives;
	u32 tids[THREADS]; /* 0: none; the first is the leader */
	char comms[THREADS][8];
	char pages[PAGES]; /* 0: nothing is mapped */
};

struct world {
	struct truth processes[PIDS];
	struct str rings[2]; /* not read yet */
	u64 random, now;
	u32 next_tid;
};

static u32 pick(struct world *w, u32 n)
{
	w->random = w->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)(w->random >> 33) % n;
}

static struct str *ring(struct world *w)
{
	return &w->rings[pick(w, 2)];
}

/* A thread that lives. */
static u32 pick_thread(struct world *w, const struct truth *t)
{
	u32 i;

	do
		i = pick(w, THREADS);
	while (!t->tids[i]);
	return i;
}

static void begin(struct world *w, struct truth *parent, u32 by)
{
	struct truth *child = &w->processes[pick(w, PIDS)];
	u32 pid = (u32)(child - w->processes) + 1000;

	if (child->lives || child == parent)
		return;
	*child = *parent;
	memset(child->tids, 0, sizeof(child->tids));
	child->tids[0] = pid;
	memcpy(child->comms[0], parent->comms[by], sizeof(child->comms[0]));
	put_task(ring(w), PERF_RECORD_FORK, pid, (u32)(parent - w->processes) + 1000, pid,
		parent->tids[by], w->now);
}

static void begin_thread(struct world *w, struct truth *t, u32 pid, u32 by)
{
	u32 slot = 1 + pick(w, THREADS - 1);

	if (t->tids[slot])
		return;
	t->tids[slot] = w->next_tid++;
	memcpy(t->comms[slot], t->comms[by], sizeof(t->comms[0]));
	put_task(ring(w), PERF_RECORD_FORK, pid, pid, t->tids[slot], t->tids[by], w->now);
}

static void end(struct world *w, struct truth *t, u32 pid, u32 i)
{
	put_task(ring(w), PERF_RECORD_EXIT, pid, pid, t->tids[i], t->tids[i], w->now);
	t->tids[i] = 0;
	t->lives = false;
	for (u32 k = 0; k < THREADS; k++)
		t->lives |= t->tids[k] != 0;
}

static void exec(struct world *w, struct truth *t, u32 pid)
{
	for (u32 i = 1; i < THREADS; i++)
		if (t->tids[i])
			end(w, t, pid, i);
	w->now += MS;
	memset(t->pages, 0, sizeof(t->pages));
	snprintf(t->comms[0], sizeof(t->comms[0]), "x%u", pick(w, 1000));
	put_comm(ring(w), EXEC, pid, pid, t->comms[0], w->now);
}

static void map(struct world *w, struct truth *t, u32 pid)
{
	u32 from = pick(w, PAGES), n = 1 + pick(w, PAGES - from);
	char path[2] = {(char)('a' + pick(w, 26)), 0};

	memset(t->pages + from, path[0], n);
	put_map(ring(w), pid, 0x1000 * (from + 1), 0x1000 * n, path, w->now);
}

static void happen(struct world *w)
{
	struct truth *t = &w->processes[pick(w, PIDS)];
	u32 pid = (u32)(t - w->processes) + 1000, i;

	w->now += 10 * MS;
	if (!t->lives)
		return;
	i = pick_thread(w, t);
	switch (pick(w, 10)) {
	case 0:
	case 1:
	case 2:
		begin(w, t, i);
		break;
	case 3:
	case 4:
		begin_thread(w, t, pid, i);
		break;
	case 5:
		snprintf(t->comms[i], sizeof(t->comms[i]), "c%u", pick(w, 1000));
		put_comm(ring(w), 0, pid, t->tids[i], t->comms[i], w->now);
		break;
	case 6:
		map(w, t, pid);
		break;
	case 7:
		if (i == 0 && pick(w, 2))
			exec(w, t, pid);
		break;
	default:
		if (t != w->processes)
			end(w, t, pid, i);
	}
}

static void check(const struct world *w, const struct str *records)
{
	struct intern strings = {0};
	union record_body body;
	struct thread_state s;
	struct machine m;
	struct record rec;
	size_t at = 0;
	u64 time, before = 0;

	machine_init(&m);
	while (next(records, &at, &rec, &body, &time)) {
		CHECK(before <= time);
		before = time;
		machine_apply(&m, &rec, &body, time);
	}
	for (u32 p = 0; p < PIDS; p++) {
		const struct truth *t = &w->processes[p];

		for (u32 i = 0; t->lives && i < THREADS; i++) {
			if (!t->tids[i])
				continue;
			machine_state_at(&m, p + 1000, t->tids[i], w->now, &strings, &s);
			CHECK_STR(s.comm, t->comms[i]);
			for (u32 page = 0; page < PAGES; page++) {
				const struct map *map =
					machine_find(s.user, 0x1000 * (page + 1) + 0x10);

				if (t->pages[page])
					CHECK_EQ(map ? map->dso->name[0] : 0, t->pages[page]);
			}
		}
	}
	machine_fini(&m);
	intern_fini(&strings);
}

static void run_world(u64 seed)
{
	struct world w = {.random = seed, .now = MS, .next_tid = 100000};
	struct str state = {0};

	w.processes[0] = (struct truth){true, {1000}, {"init"}, {"qqqqqqq"}};
	w.processes[0].pages[PAGES - 1] = 'q';
	put_comm(&state, 0, 1000, 1000, "init", 0);
	put_map(&state, 1000, 0x1000, 0x1000 * PAGES, "q", 0);
	for (unsigned step = 1; step <= 3000; step++) {
		happen(&w);
		/* One ring is read, and the other later, and everything is what it was. */
		if (step % 50 == 0) {
			struct str *one = &w.rings[step / 50 % 2];

			str_addn(&state, str_text(one), one->n);
			str_clear(one);
			checkpoint_reduce(TIMED, false, &state);
		}
		if (step % 500 == 0) {
			for (unsigned i = 0; i < 2; i++) {
				str_addn(&state, str_text(&w.rings[i]), w.rings[i].n);
				str_clear(&w.rings[i]);
			}
			checkpoint_reduce(TIMED, false, &state);
			check(&w, &state);
			/* 40 processes with four threads and eight maps at most. */
			CHECK(state.n < 96 << 10);
		}
	}
	str_fini(&state);
	str_fini(&w.rings[0]);
	str_fini(&w.rings[1]);
}

TEST(checkpoint_leaves_everybody_alive_as_they_are)
{
	for (u64 seed = 1; seed <= 60; seed++)
		run_world(seed);
}
