#include "machine/machine.h"

#include "test.h"
#include "unit/recording.h"

/* ---- records, straight into a machine ---- */

enum {
	EXEC = PERF_RECORD_MISC_COMM_EXEC,
	USER = PERF_RECORD_MISC_USER,
	KERNEL = PERF_RECORD_MISC_KERNEL
};

static struct record_bytes run_of(const char *text)
{
	return (struct record_bytes){(const u8 *)text, strlen(text)};
}

static void apply(struct machine *m, u32 type, u16 misc, const union record_body *body, u64 time)
{
	struct record rec = {.type = type, .misc = misc, .size = 8};

	machine_apply(m, &rec, body, time);
}

static void comm(struct machine *m, u64 time, u16 misc, u32 pid, u32 tid, const char *name)
{
	union record_body body = {.comm = {pid, tid, run_of(name)}};

	apply(m, PERF_RECORD_COMM, misc, &body, time);
}

static void forked(struct machine *m, u64 time, u32 ppid, u32 ptid, u32 pid, u32 tid)
{
	union record_body body = {.task = {pid, ppid, tid, ptid, time}};

	apply(m, PERF_RECORD_FORK, 0, &body, time);
}

static void exited(struct machine *m, u64 time, u32 pid, u32 tid)
{
	union record_body body = {.task = {pid, pid, tid, tid, time}};

	apply(m, PERF_RECORD_EXIT, 0, &body, time);
}

static void mapped_as(struct machine *m, u64 time, u16 misc, u32 pid, u64 addr, u64 len, u64 pgoff,
	const char *path)
{
	union record_body body = {.mmap = {.pid = pid,
					  .tid = pid,
					  .addr = addr,
					  .len = len,
					  .pgoff = pgoff,
					  .path = run_of(path)}};

	apply(m, PERF_RECORD_MMAP2, misc, &body, time);
}

static void mapped(struct machine *m, u64 time, u32 pid, u64 addr, u64 len, u64 pgoff,
	const char *path)
{
	mapped_as(m, time, USER, pid, addr, len, pgoff, path);
}

static void ksymbol(struct machine *m, u64 time, u16 flags, u64 addr, u32 len, const char *name)
{
	union record_body body = {.ksymbol = {addr, len, 1, flags, run_of(name)}};

	apply(m, PERF_RECORD_KSYMBOL, KERNEL, &body, time);
}

/* ---- questions ---- */

static struct intern names; /* of threads that have none */

static struct thread_state at(const struct machine *m, u64 time, u32 pid, u32 tid)
{
	struct thread_state s;

	machine_state_at(m, pid, tid, time, &names, &s);
	CHECK(s.from <= time);
	CHECK(time < s.until || time == UINT64_MAX);
	CHECK(s.comm);
	CHECK(s.kernel);
	return s;
}

/* "name+offset" of the map that covers va, or "-". */
static const char *place(const struct space *space, u64 va)
{
	static char buf[4][128];
	static unsigned next;
	char *text = buf[next++ % 4];
	const struct map *map = machine_find(space, va);

	if (!map)
		return "-";
	snprintf(text, sizeof(buf[0]), "%s+0x%llx", map->dso->name,
		(unsigned long long)map_offset(map, va));
	return text;
}

static const char *place_at(const struct machine *m, u64 time, u32 pid, u64 va)
{
	return place(at(m, time, pid, pid).user, va);
}

static void fini(struct machine *m)
{
	machine_fini(m);
	intern_fini(&names);
}

/* ---- threads ---- */

TEST(machine_that_saw_nothing_knows_nobody)
{
	struct thread_state s;
	struct machine m;

	machine_init(&m);
	s = at(&m, 77, 5, 6);
	CHECK(!s.thread);
	CHECK(!s.user);
	CHECK_STR(s.comm, ":6");
	CHECK_EQ(s.from, 0);
	CHECK(s.until == UINT64_MAX);
	CHECK_STR(at(&m, 0, 0, 0).comm, "swapper");
	CHECK(!machine_find(NULL, 5));
	CHECK_STR(place(s.kernel, 0xffffffff81000000), "-");
	fini(&m);
}

TEST(machine_names_hold_from_the_moment_they_were_given)
{
	struct machine m;

	machine_init(&m);
	comm(&m, 10, 0, 1, 1, "first");
	comm(&m, 20, 0, 1, 1, "second");
	comm(&m, 20, 0, 1, 1, "third");
	comm(&m, 30, EXEC, 1, 1, "fourth");
	/* Before the first name that is known, that one. */
	CHECK_STR(at(&m, 0, 1, 1).comm, "first");
	CHECK_STR(at(&m, 19, 1, 1).comm, "first");
	CHECK_STR(at(&m, 20, 1, 1).comm, "third");
	CHECK_STR(at(&m, 29, 1, 1).comm, "third");
	CHECK_STR(at(&m, 30, 1, 1).comm, "fourth");
	CHECK_STR(at(&m, UINT64_MAX, 1, 1).comm, "fourth");
	fini(&m);
}

TEST(machine_child_begins_with_its_parents_name)
{
	struct machine m;

	machine_init(&m);
	comm(&m, 0, 0, 1, 1, "shell");
	forked(&m, 10, 1, 1, 2, 2);
	comm(&m, 15, 0, 1, 1, "renamed");
	comm(&m, 20, EXEC, 2, 2, "ls");
	CHECK_STR(at(&m, 10, 2, 2).comm, "shell");
	CHECK_STR(at(&m, 17, 2, 2).comm, "shell");
	CHECK_STR(at(&m, 20, 2, 2).comm, "ls");
	CHECK_STR(at(&m, 25, 1, 1).comm, "renamed");
	CHECK_EQ(at(&m, 12, 2, 2).thread->ppid, 1);
	fini(&m);
}

TEST(machine_child_of_nobody_known_has_no_name_until_it_gets_one)
{
	struct machine m;

	machine_init(&m);
	forked(&m, 10, 1, 1, 2, 2);
	CHECK_STR(at(&m, 11, 2, 2).comm, ":2");
	CHECK(at(&m, 11, 2, 2).thread);
	CHECK(at(&m, 11, 2, 2).user);
	comm(&m, 30, 0, 2, 2, "late");
	/* A name that came late is better than none. */
	CHECK_STR(at(&m, 11, 2, 2).comm, "late");
	fini(&m);
}

TEST(machine_threads_of_a_process_share_its_maps)
{
	struct machine m;

	machine_init(&m);
	comm(&m, 0, 0, 1, 1, "a");
	mapped(&m, 0, 1, 0x1000, 0x1000, 0, "/bin/a");
	forked(&m, 10, 1, 1, 1, 2);
	forked(&m, 11, 1, 2, 1, 3);
	mapped(&m, 20, 1, 0x8000, 0x1000, 0x40, "/lib/b");
	for (u32 tid = 1; tid <= 3; tid++) {
		struct thread_state s = at(&m, 25, 1, tid);

		CHECK(s.user == at(&m, 25, 1, 1).user);
		CHECK_STR(place(s.user, 0x1800), "a+0x800");
		CHECK_STR(place(s.user, 0x8010), "b+0x50");
		CHECK_STR(s.comm, "a");
		CHECK_EQ(s.thread->tid, tid);
	}
	fini(&m);
}

TEST(machine_tid_that_belongs_to_another_process_is_nobody)
{
	struct thread_state s;
	struct machine m;

	machine_init(&m);
	comm(&m, 0, 0, 1, 5, "worker");
	mapped(&m, 0, 2, 0x1000, 0x1000, 0, "/bin/two");
	s = at(&m, 10, 2, 5);
	CHECK(!s.thread);
	CHECK_STR(s.comm, ":5");
	/* What is known of the process holds all the same. */
	CHECK_STR(place(s.user, 0x1000), "two+0x0");
	fini(&m);
}

TEST(machine_reused_tids_are_told_apart_by_time)
{
	struct machine m;

	machine_init(&m);
	comm(&m, 0, 0, 1, 1, "init");
	forked(&m, 10, 1, 1, 7, 7);
	comm(&m, 11, EXEC, 7, 7, "old");
	mapped(&m, 12, 7, 0x1000, 0x1000, 0, "/bin/old");
	exited(&m, 20, 7, 7);
	forked(&m, 30, 1, 1, 7, 7);
	comm(&m, 31, EXEC, 7, 7, "new");
	mapped(&m, 32, 7, 0x1000, 0x1000, 0, "/bin/new");
	exited(&m, 40, 7, 7);
	/* And a third time, as a thread of another process. */
	forked(&m, 50, 1, 1, 1, 7);
	CHECK_STR(at(&m, 10, 7, 7).comm, "init");
	CHECK_STR(at(&m, 19, 7, 7).comm, "old");
	CHECK_STR(place_at(&m, 19, 7, 0x1000), "old+0x0");
	/* After its exit and before the next life it is still the old one: exiting takes time. */
	CHECK_STR(at(&m, 29, 7, 7).comm, "old");
	CHECK_STR(place_at(&m, 29, 7, 0x1000), "old+0x0");
	CHECK_STR(at(&m, 30, 7, 7).comm, "init");
	CHECK_STR(place_at(&m, 30, 7, 0x1000), "-");
	CHECK_STR(at(&m, 32, 7, 7).comm, "new");
	CHECK_STR(place_at(&m, 32, 7, 0x1000), "new+0x0");
	CHECK_STR(at(&m, 45, 7, 7).comm, "new");
	CHECK_STR(at(&m, 50, 1, 7).comm, "init");
	CHECK(!at(&m, 50, 7, 7).thread);
	CHECK_EQ(at(&m, 19, 7, 7).thread->exit_time, 20);
	CHECK_EQ(at(&m, 35, 7, 7).thread->exit_time, 40);
	CHECK(at(&m, 50, 1, 7).thread->exit_time == UINT64_MAX);
	fini(&m);
}

TEST(machine_tid_taken_over_without_a_fork_keeps_its_older_life)
{
	struct machine m;

	machine_init(&m);
	comm(&m, 0, 0, 1, 1, "one");
	forked(&m, 10, 1, 1, 5, 5);
	comm(&m, 11, EXEC, 5, 5, "old");
	mapped(&m, 12, 5, 0x1000, 0x1000, 0, "/bin/old");
	/* The FORK that made 5 a thread of process 2 was lost. */
	comm(&m, 100, 0, 2, 5, "new");
	CHECK_STR(at(&m, 50, 5, 5).comm, "old");
	CHECK_STR(place_at(&m, 50, 5, 0x1000), "old+0x0");
	CHECK_STR(at(&m, 100, 2, 5).comm, "new");
	CHECK(!at(&m, 100, 5, 5).thread);
	fini(&m);
}

TEST(machine_exit_of_another_process_with_that_tid_ends_nobody)
{
	struct machine m;

	machine_init(&m);
	comm(&m, 0, 0, 1, 5, "worker");
	exited(&m, 10, 2, 5);
	exited(&m, 10, 3, 6);
	CHECK(at(&m, 20, 1, 5).thread->exit_time == UINT64_MAX);
	exited(&m, 30, 1, 5);
	CHECK_EQ(at(&m, 20, 1, 5).thread->exit_time, 30);
	fini(&m);
}

TEST(machine_samples_before_the_first_record_get_what_is_known_first)
{
	struct machine m;

	machine_init(&m);
	comm(&m, 100, 0, 1, 1, "late");
	mapped(&m, 100, 1, 0x1000, 0x1000, 0, "/bin/late");
	mapped(&m, 200, 1, 0x1000, 0x1000, 0, "/bin/later");
	forked(&m, 150, 9, 9, 2, 2);
	CHECK_STR(at(&m, 0, 1, 1).comm, "late");
	CHECK_STR(place_at(&m, 0, 1, 0x1000), "late+0x0");
	CHECK_STR(place_at(&m, 199, 1, 0x1000), "late+0x0");
	CHECK_STR(place_at(&m, 200, 1, 0x1000), "later+0x0");
	CHECK(at(&m, 0, 2, 2).thread);
	fini(&m);
}

/* ---- address spaces ---- */

TEST(machine_child_has_its_parents_maps_until_one_of_them_maps_anew)
{
	struct machine m;

	machine_init(&m);
	mapped(&m, 0, 1, 0x1000, 0x1000, 0, "/bin/a");
	forked(&m, 10, 1, 1, 2, 2);
	CHECK_EQ(at(&m, 10, 2, 2).user->id, at(&m, 10, 1, 1).user->id);
	mapped(&m, 20, 1, 0x5000, 0x1000, 0, "/lib/parent");
	mapped(&m, 30, 2, 0x5000, 0x1000, 0, "/lib/child");
	mapped(&m, 40, 2, 0x1000, 0x800, 0, "/lib/over");
	CHECK_STR(place_at(&m, 15, 2, 0x1000), "a+0x0");
	CHECK_STR(place_at(&m, 15, 2, 0x5000), "-");
	CHECK_STR(place_at(&m, 25, 1, 0x5000), "parent+0x0");
	CHECK_STR(place_at(&m, 25, 2, 0x5000), "-");
	CHECK_STR(place_at(&m, 35, 2, 0x5000), "child+0x0");
	CHECK_STR(place_at(&m, 35, 1, 0x5000), "parent+0x0");
	CHECK_STR(place_at(&m, 45, 2, 0x1000), "over+0x0");
	CHECK_STR(place_at(&m, 45, 2, 0x1800), "a+0x800");
	CHECK_STR(place_at(&m, 45, 1, 0x1000), "a+0x0");
	CHECK_STR(place_at(&m, 35, 2, 0x1000), "a+0x0");
	CHECK(at(&m, 45, 1, 1).user->id != at(&m, 45, 2, 2).user->id);
	fini(&m);
}

TEST(machine_grandchildren_share_through_two_forks)
{
	struct machine m;

	machine_init(&m);
	mapped(&m, 0, 1, 0x1000, 0x1000, 0, "/bin/a");
	forked(&m, 10, 1, 1, 2, 2);
	forked(&m, 20, 2, 2, 3, 3);
	mapped(&m, 30, 2, 0x3000, 0x1000, 0, "/lib/two");
	mapped(&m, 40, 3, 0x4000, 0x1000, 0, "/lib/three");
	mapped(&m, 50, 1, 0x5000, 0x1000, 0, "/lib/one");
	for (u32 pid = 1; pid <= 3; pid++) {
		CHECK_STR(place_at(&m, 60, pid, 0x1000), "a+0x0");
		CHECK_STR(place_at(&m, 60, pid, 0x3000), pid == 2 ? "two+0x0" : "-");
		CHECK_STR(place_at(&m, 60, pid, 0x4000), pid == 3 ? "three+0x0" : "-");
		CHECK_STR(place_at(&m, 60, pid, 0x5000), pid == 1 ? "one+0x0" : "-");
	}
	fini(&m);
}

TEST(machine_exec_starts_an_address_space_with_nothing_but_the_callers_of_exec)
{
	struct machine m;

	machine_init(&m);
	comm(&m, 0, 0, 1, 1, "a");
	mapped(&m, 0, 1, 0x1000, 0x1000, 0, "/bin/a");
	forked(&m, 10, 1, 1, 2, 2);
	comm(&m, 20, EXEC, 2, 2, "b");
	mapped(&m, 21, 2, 0x2000, 0x1000, 0, "/bin/b");
	CHECK_STR(place_at(&m, 19, 2, 0x1000), "a+0x0");
	/* In the exec itself, the kernel's callers are those of the program that was. */
	CHECK_STR(place_at(&m, 20, 2, 0x1000), "a+0x0");
	CHECK_STR(place_at(&m, 25, 2, 0x2000), "b+0x0");
	CHECK_STR(place_at(&m, 25, 1, 0x1000), "a+0x0");
	CHECK_STR(place_at(&m, 25, 1, 0x2000), "-");
	/* Not those of the program before that. */
	comm(&m, 27, EXEC, 2, 2, "d");
	CHECK_STR(place_at(&m, 28, 2, 0x2000), "b+0x0");
	CHECK_STR(place_at(&m, 28, 2, 0x1000), "-");
	mapped(&m, 29, 2, 0x2000, 0x1000, 0, "/bin/b");
	/* A name alone changes nothing. */
	comm(&m, 30, 0, 2, 2, "c");
	CHECK_STR(place_at(&m, 30, 2, 0x2000), "b+0x0");
	fini(&m);
}

TEST(machine_fork_that_is_an_exec_copies_no_maps)
{
	union record_body body = {.task = {2, 1, 2, 1, 10}};
	struct machine m;

	machine_init(&m);
	mapped(&m, 0, 1, 0x1000, 0x1000, 0, "/bin/a");
	apply(&m, PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC, &body, 10);
	CHECK(at(&m, 10, 2, 2).user);
	CHECK_STR(place_at(&m, 10, 2, 0x1000), "-");
	fini(&m);
}

TEST(machine_map_over_others_splits_them_from_then_on)
{
	struct machine m;

	machine_init(&m);
	mapped(&m, 0, 1, 0x1000, 0x3000, 0x100000, "/bin/a");
	mapped(&m, 10, 1, 0x2000, 0x1000, 0, "/bin/b");
	CHECK_STR(place_at(&m, 9, 1, 0x2000), "a+0x101000");
	CHECK_STR(place_at(&m, 10, 1, 0x1fff), "a+0x100fff");
	CHECK_STR(place_at(&m, 10, 1, 0x2000), "b+0x0");
	CHECK_STR(place_at(&m, 10, 1, 0x3000), "a+0x102000");
	CHECK_STR(place_at(&m, 10, 1, 0x4000), "-");
	CHECK_EQ(at(&m, 9, 1, 1).until, 10);
	CHECK_EQ(at(&m, 10, 1, 1).from, 10);
	fini(&m);
}

TEST(machine_map_in_a_free_place_makes_no_new_state)
{
	struct machine m;

	machine_init(&m);
	for (u64 i = 0; i < 100; i++)
		mapped(&m, i, 1, i * 0x2000, 0x1000, 0, "/bin/a");
	CHECK_EQ(m.newest_processes.at[0]->spaces.n, 1);
	CHECK_EQ(m.newest_processes.at[0]->n_mmaps, 100);
	CHECK(at(&m, 0, 1, 1).until == UINT64_MAX);
	fini(&m);
}

TEST(machine_maps_that_make_no_sense_are_counted)
{
	struct machine m;

	machine_init(&m);
	mapped(&m, 0, 1, 0x1000, 0, 0, "/bin/a");
	mapped_as(&m, 0, PERF_RECORD_MISC_GUEST_KERNEL, 1, 0x1000, 0, 0, "[guest.kernel.kallsyms]");
	mapped_as(&m, 0, PERF_RECORD_MISC_GUEST_USER, 1, 0x1000, 0x1000, 0, "/bin/a");
	ksymbol(&m, 0, 0, 0xffffffffc0000000, 0, "empty");
	ksymbol(&m, 0, 0, UINT64_MAX - 10, 100, "wraps");
	CHECK_EQ(m.n_ignored, 5);
	CHECK_STR(place_at(&m, 0, 1, 0x1000), "-");
	/* One that wraps around ends where the addresses do. */
	mapped(&m, 0, 1, UINT64_MAX - 0xfff, 0x2000, 0, "/bin/top");
	CHECK_STR(place_at(&m, 0, 1, UINT64_MAX - 1), "top+0xffe");
	CHECK_STR(place_at(&m, 0, 1, 0), "-");
	CHECK_EQ(m.n_ignored, 5);
	fini(&m);
}

TEST(machine_guests_have_kernels_of_their_own)
{
	enum { GUEST = PERF_RECORD_MISC_GUEST_KERNEL };
	const u64 text = 0xffffffff81000000, module = 0xffffffffc0001000;
	struct machine m;

	machine_init(&m);
	mapped_as(&m, 0, KERNEL, (u32)-1, text, 0x1000, text, "[kernel.kallsyms]_text");
	CHECK(!at(&m, 0, 7, 7).guest && !machine_guest(&m, 7));
	mapped_as(&m, 0, GUEST, 0, text + 0x1000, 0x1000, text, "[guest.kernel.kallsyms]_text");
	mapped_as(&m, 0, GUEST, 0, module, 0x1000, 0, "[nf_tables]");
	mapped_as(&m, 5, GUEST, 7, text, 0x1000, text + 1, "[guest.kernel.kallsyms.7]_text");
	mapped_as(&m, 5, GUEST, 7, module, 0x1000, 0, "[nf_tables]");
	CHECK_STR(place(at(&m, 9, 7, 7).guest, text),
		"[guest.kernel.kallsyms.7]+0xffffffff81000000");
	/* Who runs no guest that is known by its pid, runs that of nobody. */
	CHECK_STR(place(at(&m, 9, 8, 8).guest, text), "-");
	CHECK_STR(place(at(&m, 9, 8, 8).guest, text + 0x1000),
		"[guest.kernel.kallsyms]+0xffffffff81001000");
	CHECK_STR(place(at(&m, 9, 8, 8).kernel, text), "[kernel.kallsyms]+0xffffffff81000000");
	/* A module of the same name in each: two DSOs. */
	CHECK_STR(place(at(&m, 9, 7, 7).guest, module + 1), "[nf_tables]+0x1");
	CHECK(machine_find(at(&m, 9, 7, 7).guest, module)->dso !=
		machine_find(at(&m, 9, 8, 8).guest, module)->dso);
	CHECK_EQ(machine_guest(&m, 7)->text, text + 1);
	CHECK_EQ(machine_guest(&m, 8)->text, text);
	CHECK_EQ(machine_guest(&m, 8)->pid, 0);
	/* What a guest's kernel mapped later was not there before. */
	mapped_as(&m, 20, GUEST, 7, module, 0x800, 0, "[other]");
	CHECK_STR(place(at(&m, 19, 7, 7).guest, module), "[nf_tables]+0x0");
	CHECK_STR(place(at(&m, 20, 7, 7).guest, module), "[other]+0x0");
	CHECK_EQ(m.n_ignored, 0);
	fini(&m);
}

TEST(machine_counts_guests_that_nobody_can_have)
{
	struct machine m;

	machine_init(&m);
	for (u32 pid = 1; pid <= 5000; pid++)
		mapped_as(&m, 0, PERF_RECORD_MISC_GUEST_KERNEL, pid, 0x1000, 0x1000, 0, "[x]");
	CHECK_EQ(m.n_ignored, 5000 - 4096);
	fini(&m);
}

TEST(machine_anonymous_memory_belongs_to_its_process)
{
	struct machine m;

	machine_init(&m);
	mapped(&m, 0, 1, 0x10000, 0x1000, 0x55, "//anon");
	mapped(&m, 0, 2, 0x10000, 0x1000, 0, "//anon");
	mapped(&m, 0, 2, 0x20000, 0x1000, 0, "[heap]");
	/* Addresses in it are those of the process: there is no file. */
	CHECK_STR(place_at(&m, 0, 1, 0x10010), "[JIT] tid 1+0x10010");
	CHECK_STR(place_at(&m, 0, 2, 0x10010), "[JIT] tid 2+0x10010");
	CHECK_STR(place_at(&m, 0, 2, 0x20010), "[heap]+0x20010");
	CHECK_STR(machine_find(at(&m, 0, 2, 2).user, 0x10010)->dso->path, "/tmp/perf-2.map");
	fini(&m);
}

/* ---- the kernel ---- */

TEST(machine_kernel_map_is_where_the_recording_says_text_was)
{
	struct machine m;

	machine_init(&m);
	mapped_as(&m, 0, KERNEL, (u32)-1, 0xffffffff9a000000, 0x1000000, 0xffffffff9a000000,
		"[kernel.kallsyms]_text");
	CHECK(m.kernel_text == 0xffffffff9a000000);
	CHECK_STR(place(at(&m, 0, 1, 1).kernel, 0xffffffff9a000010),
		"[kernel.kallsyms]+0xffffffff9a000010");
	/* The code that sets the kernel up lies behind its data. */
	CHECK_STR(place(at(&m, 0, 1, 1).kernel, 0xffffffff9a000000 + (127 << 20)),
		"[kernel.kallsyms]+0xffffffffa1f00000");
	CHECK_STR(place(at(&m, 0, 1, 1).kernel, 0xffffffff99ffffff), "-");
	CHECK(!at(&m, 0, 1, 1).user);
	/* The first one counts: synthesized maps come again in long recordings. */
	mapped_as(&m, 5, KERNEL, (u32)-1, 0xffffffff9b000000, 0x1000, 0xffffffff9b000000,
		"[kernel.kallsyms]_stext");
	CHECK(m.kernel_text == 0xffffffff9a000000);
	fini(&m);
}

TEST(machine_modules_know_where_they_were_loaded)
{
	static const char path[] = "/lib/modules/6.1/kernel/fs/ext4/ext4.ko";
	struct machine m;
	const struct map *map;

	machine_init(&m);
	mapped_as(&m, 0, KERNEL, (u32)-1, 0xffffffff81000000, 0x1000000, 0xffffffff81000000,
		"[kernel.kallsyms]_text");
	mapped_as(&m, 0, KERNEL, (u32)-1, 0xffffffffc0400000, 0x80000, 0, path);
	map = machine_find(at(&m, 0, 1, 1).kernel, 0xffffffffc0400123);
	CHECK(map);
	CHECK_EQ(map->dso->kind, DSO_MODULE);
	CHECK_STR(map->dso->name, "[ext4]");
	CHECK(map->dso->base == 0xffffffffc0400000);
	CHECK_EQ(map_offset(map, 0xffffffffc0400123), 0x123);
	CHECK_STR(place(at(&m, 0, 1, 1).kernel, 0xffffffffc0480000), "-");
	fini(&m);
}

TEST(machine_ksymbols_are_there_from_register_to_unregister)
{
	const u64 a = 0xffffffffc0100000;
	struct machine m;

	machine_init(&m);
	mapped_as(&m, 0, KERNEL, (u32)-1, 0xffffffff81000000, 0x1000000, 0xffffffff81000000,
		"[kernel.kallsyms]_text");
	ksymbol(&m, 10, 0, a, 0x100, "bpf_prog_one");
	ksymbol(&m, 20, 1, a, 0x100, "bpf_prog_one");
	ksymbol(&m, 30, 0, a, 0x80, "bpf_prog_two");
	CHECK_STR(place(at(&m, 15, 1, 1).kernel, a + 0xff), "bpf_prog_one+0xffffffffc01000ff");
	CHECK_STR(place(at(&m, 15, 1, 1).kernel, a + 0x100), "-");
	CHECK_STR(place(at(&m, 20, 1, 1).kernel, a + 0xff), "-");
	CHECK_STR(place(at(&m, 30, 1, 1).kernel, a + 0x7f), "bpf_prog_two+0xffffffffc010007f");
	CHECK_STR(place(at(&m, 30, 1, 1).kernel, a + 0x80), "-");
	CHECK_EQ(machine_find(at(&m, 30, 1, 1).kernel, a)->dso->kind, DSO_BPF);
	/* The kernel itself was there all the time. */
	for (u64 time = 0; time < 40; time += 5)
		CHECK_STR(place(at(&m, time, 1, 1).kernel, 0xffffffff81000001),
			"[kernel.kallsyms]+0xffffffff81000001");
	fini(&m);
}

/* ---- build-ids ---- */

static void mapped_inode(struct machine *m, u64 time, u32 pid, u64 addr, u64 inode, const char *path)
{
	union record_body body = {.mmap = {.pid = pid,
					  .tid = pid,
					  .addr = addr,
					  .len = 0x1000,
					  .maj = 8,
					  .min = 1,
					  .ino = inode,
					  .prot = 5,
					  .path = run_of(path)}};

	apply(m, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, &body, time);
}

/* As pace writes it: each file of a path has its entry, in the order in which they were mapped first. */
TEST(machine_build_ids_of_files_at_one_path_belong_to_each_in_turn)
{
	struct file_info info = {0};
	struct machine m;
	struct dso *first;

	machine_init(&m);
	vec_add(&info.build_ids, ((struct file_build_id){USER, -1, {1}, 1, "/lib/x.so"}));
	vec_add(&info.build_ids, ((struct file_build_id){USER, -1, {0}, 0, "/lib/x.so"}));
	vec_add(&info.build_ids, ((struct file_build_id){USER, -1, {3}, 1, "/lib/x.so"}));
	vec_add(&info.build_ids, ((struct file_build_id){USER, -1, {4}, 1, "/lib/y.so"}));
	machine_set_build_ids(&m, &info);
	for (u32 i = 0; i < 3; i++)
		mapped_inode(&m, i, 10 + i, 0x1000, 100 + i, "/lib/x.so");
	/* Only of the last one the table tells. */
	mapped_inode(&m, 1, 20, 0x1000, 200, "/lib/y.so");
	mapped_inode(&m, 2, 21, 0x1000, 201, "/lib/y.so");
	for (unsigned twice = 0; twice < 2; twice++) {
		first = dso_get(&m.dsos, "/lib/x.so", 9, 0, false);
		CHECK(first->inode == 100 && first->build_id_size == 1 && first->build_id[0] == 1);
		CHECK(first->namesake->inode == 101 && !first->namesake->build_id_size);
		CHECK_EQ(first->namesake->namesake->build_id[0], 3);
		CHECK(!first->namesake->namesake->namesake);
		first = dso_get(&m.dsos, "/lib/y.so", 9, 0, false);
		CHECK(!first->build_id_size && first->namesake->build_id[0] == 4);
		machine_set_build_ids(&m, &info);
	}
	vec_fini(&info.build_ids);
	fini(&m);
}

TEST(machine_build_ids_come_from_maps_before_the_table)
{
	union record_body body = {.mmap = {.pid = 1,
					  .addr = 0x1000,
					  .len = 0x1000,
					  .build_id = {1, 2, 3},
					  .build_id_size = 3,
					  .path = run_of("/bin/said")}};
	struct file_info info;
	struct machine m;
	const struct dso *dso;

	file_info_init(&info);
	vec_add(&info.build_ids, ((struct file_build_id){USER, -1, {9, 9, 9, 9}, 4, "/bin/said"}));
	vec_add(&info.build_ids, ((struct file_build_id){USER, -1, {8, 7}, 2, "/bin/listed"}));
	vec_add(&info.build_ids, ((struct file_build_id){KERNEL, -1, {5}, 1, "[kernel.kallsyms]"}));
	vec_add(&info.build_ids, ((struct file_build_id){USER, -1, {0}, 0, "/bin/empty"}));
	vec_add(&info.build_ids,
		((struct file_build_id){PERF_RECORD_MISC_GUEST_USER, 7, {6}, 1, "/bin/guest"}));
	machine_init(&m);
	machine_set_build_ids(&m, &info);
	apply(&m, PERF_RECORD_MMAP2, USER | PERF_RECORD_MISC_MMAP_BUILD_ID, &body, 0);
	machine_set_build_ids(&m, &info);
	dso = machine_find(at(&m, 0, 1, 1).user, 0x1000)->dso;
	CHECK_EQ(dso->build_id_size, 3);
	CHECK(!memcmp(dso->build_id, "\1\2\3", 3));
	dso = dso_get(&m.dsos, "/bin/listed", 11, 0, false);
	CHECK_EQ(dso->build_id_size, 2);
	CHECK(!memcmp(dso->build_id, "\10\7", 2));
	CHECK_EQ(dso_get(&m.dsos, "[kernel.kallsyms]", 17, 0, true)->build_id_size, 1);
	CHECK_EQ(dso_get(&m.dsos, "/bin/guest", 10, 0, false)->build_id_size, 0);
	CHECK_EQ(dso_get(&m.dsos, "/bin/empty", 10, 0, false)->build_id_size, 0);
	file_info_fini(&info);
	fini(&m);
}

/* ---- random histories, against a replay ---- */

enum { TASKS = 14, ADDRESSES = 48, STEPS = 260, FILES = 6, NAMES = 9 };

static const char *const files[FILES] = {"/a", "/b", "/c", "/d", "/e", "/f"};
static const char *const comms[NAMES] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8"};

struct true_task {
	bool is_alive;
	u32 life; /* counts the lives of this tid */
	u32 pid;
	const char *comm; /* NULL: not known */
};

struct true_space {
	u32 life, execs;    /* of the process with this pid */
	u8 file[ADDRESSES]; /* + 1; 0: nothing */
	u8 offset[ADDRESSES];
	u8 file_before[ADDRESSES], offset_before[ADDRESSES]; /* the last exec */
};

/* All that holds at one moment. tids and pids are 1 .. TASKS - 1. */
struct truth {
	u64 time;
	struct true_task tasks[TASKS];
	struct true_space spaces[TASKS];
};

struct history {
	u64 dice;
	struct machine m;
	struct truth now;
	struct truth *all; /* after each step */
	size_t n;
	bool has_nonsense; /* records that no kernel writes come in between: the truths are not true
			      then */
};

static u64 roll(struct history *h, u64 limit)
{
	return recording_below(&h->dice, limit);
}

static u32 any_alive(struct history *h)
{
	for (;;) {
		u32 tid = 1 + roll(h, TASKS - 1);

		if (h->now.tasks[tid].is_alive)
			return tid;
	}
}

static u32 n_alive(const struct truth *t, u32 pid)
{
	u32 n = 0;

	for (u32 tid = 1; tid < TASKS; tid++)
		n += t->tasks[tid].is_alive && (!pid || t->tasks[tid].pid == pid);
	return n;
}

static void step_map(struct history *h)
{
	u32 pid = h->now.tasks[any_alive(h)].pid;
	struct true_space *space = &h->now.spaces[pid];
	u64 start = roll(h, ADDRESSES), len = 1 + roll(h, MIN(6, ADDRESSES - (int)start)),
	    pgoff = roll(h, 100);
	u8 file = roll(h, FILES);

	mapped(&h->m, h->now.time, pid, start, len, pgoff, files[file]);
	for (u64 i = 0; i < len; i++) {
		space->file[start + i] = file + 1;
		space->offset[start + i] = pgoff + i;
	}
}

static void step_comm(struct history *h)
{
	u32 tid = any_alive(h);

	h->now.tasks[tid].comm = comms[roll(h, NAMES)];
	comm(&h->m, h->now.time, 0, h->now.tasks[tid].pid, tid, h->now.tasks[tid].comm);
}

/* The leader execs; its other threads end before it does. */
static void step_exec(struct history *h)
{
	u32 pid = h->now.tasks[any_alive(h)].pid;
	struct true_space *space = &h->now.spaces[pid];

	if (!h->now.tasks[pid].is_alive || h->now.tasks[pid].pid != pid)
		return;
	for (u32 tid = 1; tid < TASKS; tid++) {
		if (tid == pid || !h->now.tasks[tid].is_alive || h->now.tasks[tid].pid != pid)
			continue;
		h->now.tasks[tid].is_alive = false;
		exited(&h->m, h->now.time, pid, tid);
	}
	h->now.tasks[pid].comm = comms[roll(h, NAMES)];
	comm(&h->m, h->now.time, EXEC, pid, pid, h->now.tasks[pid].comm);
	memcpy(space->file_before, space->file, sizeof(space->file));
	memcpy(space->offset_before, space->offset, sizeof(space->offset));
	memset(space->file, 0, sizeof(space->file));
	memset(space->offset, 0, sizeof(space->offset));
	space->execs++;
}

static void step_fork(struct history *h, bool is_thread)
{
	u32 parent = any_alive(h), ppid = h->now.tasks[parent].pid, tid = 1 + roll(h, TASKS - 1);
	struct true_task *child = &h->now.tasks[tid];

	/* The kernel reuses neither the tid of a task nor the pid of a process that still has
	 * threads. */
	if (child->is_alive || n_alive(&h->now, tid))
		return;
	forked(&h->m, h->now.time, ppid, parent, is_thread ? ppid : tid, tid);
	*child = (struct true_task){true, child->life + 1, is_thread ? ppid : tid,
		h->now.tasks[parent].comm};
	if (is_thread)
		return;
	u32 life = h->now.spaces[tid].life + 1;
	h->now.spaces[tid] = h->now.spaces[ppid];
	h->now.spaces[tid].life = life;
}

static void step_exit(struct history *h)
{
	u32 tid = any_alive(h);

	if (n_alive(&h->now, 0) < 3)
		return;
	h->now.tasks[tid].is_alive = false;
	exited(&h->m, h->now.time, h->now.tasks[tid].pid, tid);
}

/* As if records had been lost, or somebody had made them up. */
static void step_nonsense(struct history *h)
{
	u32 pid = 1 + roll(h, TASKS), tid = 1 + roll(h, TASKS);

	switch (roll(h, 4)) {
	case 0:
		comm(&h->m, h->now.time, roll(h, 2) ? EXEC : 0, pid, tid, comms[roll(h, NAMES)]);
		break;
	case 1:
		forked(&h->m, h->now.time, 1 + roll(h, TASKS), 1 + roll(h, TASKS), pid, tid);
		break;
	case 2:
		exited(&h->m, h->now.time, pid, tid);
		break;
	default:
		mapped(&h->m, h->now.time, pid, roll(h, ADDRESSES), 1 + roll(h, 9), 0, files[0]);
	}
}

static void history_make(struct history *h, u64 seed, bool has_nonsense)
{
	memset(h, 0, sizeof(*h));
	h->dice = seed;
	h->has_nonsense = has_nonsense;
	h->all = mem_alloc((STEPS + 1) * sizeof(*h->all));
	machine_init(&h->m);
	for (u32 pid = 1; pid <= 2; pid++) {
		h->now.tasks[pid] = (struct true_task){true, 1, pid, comms[pid]};
		comm(&h->m, 0, 0, pid, pid, comms[pid]);
	}
	h->all[h->n++] = h->now;
	while (h->n <= STEPS) {
		/* Often several things happen at one moment. */
		h->now.time += roll(h, 3);
		if (h->has_nonsense && !roll(h, 5))
			step_nonsense(h);
		switch (roll(h, 12)) {
		case 0:
		case 1:
			step_comm(h);
			break;
		case 2:
			step_exec(h);
			break;
		case 3:
		case 4:
			step_fork(h, false);
			break;
		case 5:
			step_fork(h, true);
			break;
		case 6:
			step_exit(h);
			break;
		default:
			step_map(h);
		}
		h->all[h->n++] = h->now;
	}
}

static void history_free(struct history *h)
{
	mem_free(h->all);
	fini(&h->m);
}

/* The last step at or before that time. */
static size_t step_at(const struct history *h, u64 time)
{
	size_t i = h->n;

	while (i > 1 && h->all[i - 1].time > time)
		i--;
	return i - 1;
}

/*
 * The machine may know a map before it was made, if nothing was there before: code cannot have run
 * there. But then it is the very next thing that came to that place.
 */
static bool is_next_map(const struct history *h, size_t step, u32 pid, u64 va,
	const struct map *map)
{
	const struct true_space *now = &h->all[step].spaces[pid];

	for (; step < h->n; step++) {
		const struct true_space *later = &h->all[step].spaces[pid];

		if (later->life != now->life || later->execs != now->execs)
			return false;
		if (later->file[va])
			return !strcmp(map->dso->path, files[later->file[va] - 1]) &&
				map_offset(map, va) == later->offset[va];
	}
	return false;
}

/* What was there when the process called exec. */
static bool is_before(const struct true_space *now, u64 va, const struct map *map)
{
	return now->file_before[va] && !strcmp(map->dso->path, files[now->file_before[va] - 1]) &&
		map_offset(map, va) == now->offset_before[va];
}

static void check_space(const struct history *h, size_t step, u32 pid, const struct space *space)
{
	const struct true_space *expected = &h->all[step].spaces[pid];

	for (u64 va = 0; va < ADDRESSES; va++) {
		const struct map *map = machine_find(space, va);

		if (!expected->file[va]) {
			CHECK(map ? is_next_map(h, step, pid, va, map) ||
						is_before(expected, va, map)
				  : !expected->file_before[va]);
			continue;
		}
		CHECK(map);
		CHECK_STR(map->dso->path, files[expected->file[va] - 1]);
		CHECK_EQ(map_offset(map, va), expected->offset[va]);
	}
}

/* Every task that is alive at that time has the name and the maps it had. */
static void check_moment(const struct history *h, u64 time)
{
	size_t step = step_at(h, time);

	for (u32 tid = 1; tid < TASKS; tid++) {
		const struct true_task *task = &h->all[step].tasks[tid];
		struct thread_state s;

		if (!task->is_alive)
			continue;
		s = at(&h->m, time, task->pid, tid);
		CHECK(s.thread);
		CHECK_EQ(s.thread->tid, tid);
		CHECK_EQ(s.thread->pid, task->pid);
		CHECK_STR(s.comm, task->comm);
		check_space(h, step, task->pid, s.user);
	}
}

TEST(machine_look_ups_agree_with_a_replay_of_random_histories)
{
	for (u64 seed = 1; seed <= 40; seed++) {
		struct history h;

		history_make(&h, seed, false);
		for (u64 time = 0; time <= h.now.time + 3; time++)
			check_moment(&h, time);
		check_moment(&h, UINT64_MAX);
		history_free(&h);
	}
}

/* Asks at all times within [from, until) for what was said to hold over it. */
static void check_interval(const struct history *h, u32 pid, u32 tid, const struct thread_state *s)
{
	u64 end = MIN(s->until, h->now.time + 4);

	for (u64 time = s->from; time < end; time++) {
		struct thread_state other = at(&h->m, time, pid, tid);

		if (other.thread == s->thread && other.comm == s->comm && other.user == s->user &&
			other.kernel == s->kernel)
			continue;
		test_failed(__FILE__, __LINE__,
			"the state of %u/%u is said to hold over [%llu, %llu), but at %llu it is "
			"another: \"%s\", then \"%s\"",
			pid, tid, (unsigned long long)s->from, (unsigned long long)s->until,
			(unsigned long long)time, s->comm, other.comm);
	}
}

TEST(machine_states_hold_over_the_interval_they_are_said_to)
{
	for (u64 seed = 100; seed < 140; seed++) {
		struct history h;

		history_make(&h, seed, seed % 2);
		for (unsigned i = 0; i < 400; i++) {
			/* Any pair of numbers: most of them do not belong together. */
			u32 tid = 1 + roll(&h, TASKS),
			    pid = roll(&h, 2) ? tid : 1 + roll(&h, TASKS);
			struct thread_state s = at(&h.m, roll(&h, h.now.time + 4), pid, tid);

			check_interval(&h, pid, tid, &s);
		}
		history_free(&h);
	}
}

TEST(machine_states_hold_over_kernel_changes_only_as_long_as_they_do)
{
	struct history h;

	history_make(&h, 7, false);
	for (u64 i = 0; i < 20; i++) {
		ksymbol(&h.m, h.now.time + i, i % 2, 0xffffffffc0000000, 0x100, "bpf");
		h.now.time += i % 3;
	}
	for (u64 time = 0; time < h.now.time + 4; time++) {
		struct thread_state s = at(&h.m, time, 1, 1);

		check_interval(&h, 1, 1, &s);
	}
	history_free(&h);
}

/* ---- records of a stream ---- */

TEST(machine_that_follows_a_stream_lets_what_comes_late_hold_from_then_on)
{
	const struct recording_who first = {7, 7, 1}, early = {7, 7, 10}, late = {7, 7, 4};
	struct recording r = {0};
	struct session session;
	struct machine m;
	struct stream_event e = {0};
	union record_body body;
	struct err err;

	recording_event(&r, "e", PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME, 1, 1);
	recording_comm(&r, 0, first, "first");
	recording_comm(&r, 0, early, "second");
	recording_comm(&r, 0, late, "third");
	recording_raw(&r, PERF_RECORD_FINISHED_ROUND, 0, NULL, 0);
	recording_raw(&r, PERF_RECORD_COMM, 0, "cut", 4);
	recording_write(&r, NULL, test_path("perf.data"));
	CHECK_EQ(session_open(&session, test_path("perf.data"), NULL, &err), 0);
	machine_init(&m);
	for (size_t i = 0; i < r.starts.n; i++) {
		static const u64 times[] = {1, 10, 4, 0, 0};
		static const int expected[] = {1, 1, 1, 0, -1};

		e.rec = recording_view(r.data.at + r.starts.at[i], r.data.n - r.starts.at[i]);
		e.time = times[i];
		CHECK_EQ(machine_follow(&m, &session, &e, &body), expected[i]);
	}
	CHECK_EQ(session.tally.n_undecoded, 1);
	CHECK_STR(at(&m, 9, 7, 7).comm, "first");
	CHECK_STR(at(&m, 10, 7, 7).comm, "third");
	CHECK_EQ(at(&m, 10, 7, 7).from, 10);
	fini(&m);
	session_close(&session);
	recording_fini(&r);
}

/* ---- what is forgotten ---- */

TEST(machine_that_forgets_knows_what_holds_from_then_on)
{
	struct machine m;
	u32 id;

	machine_init(&m);
	comm(&m, 0, 0, 1, 1, "init");
	mapped(&m, 0, 1, 0x1000, 0x1000, 0, "/bin/init");
	/* Ends before; ends behind; goes on with another program; a thread outlives its process's first. */
	forked(&m, 10, 1, 1, 2, 2);
	exited(&m, 20, 2, 2);
	forked(&m, 10, 1, 1, 3, 3);
	exited(&m, 120, 3, 3);
	forked(&m, 10, 1, 1, 4, 4);
	comm(&m, 30, EXEC, 4, 4, "four");
	mapped(&m, 31, 4, 0x1000, 0x1000, 0, "/bin/four");
	comm(&m, 150, EXEC, 4, 4, "later");
	mapped(&m, 151, 4, 0x1000, 0x1000, 0, "/bin/later");
	forked(&m, 40, 1, 1, 5, 5);
	forked(&m, 41, 5, 5, 5, 6);
	exited(&m, 50, 5, 5);
	/* The same pid once more. */
	/* Nobody has told what it is called. */
	forked(&m, 45, 20, 20, 21, 21);
	forked(&m, 60, 1, 1, 2, 2);
	comm(&m, 61, 0, 2, 2, "again");
	/* Nobody has told of its threads. */
	mapped(&m, 0, 9, 0x5000, 0x1000, 0, "/bin/nine");
	id = at(&m, 100, 4, 4).user->id;
	CHECK_EQ(m.n_ended, 3);
	machine_forget(&m, 100);
	CHECK_EQ(m.n_ended, 0);
	CHECK_STR(at(&m, 100, 1, 1).comm, "init");
	CHECK_STR(place_at(&m, 100, 1, 0x1000), "init+0x0");
	CHECK_STR(at(&m, 100, 2, 2).comm, "again");
	CHECK(!at(&m, 100, 2, 2).thread->older);
	CHECK_STR(place_at(&m, 100, 2, 0x1000), "init+0x0");
	CHECK_STR(place_at(&m, 100, 3, 0x1000), "init+0x0");
	CHECK_STR(at(&m, 100, 4, 4).comm, "four");
	CHECK_STR(place_at(&m, 100, 4, 0x1000), "four+0x0");
	CHECK_EQ(at(&m, 100, 4, 4).user->id, id);
	CHECK_STR(at(&m, 152, 4, 4).comm, "later");
	CHECK_STR(place_at(&m, 152, 4, 0x1000), "later+0x0");
	CHECK(!at(&m, 100, 5, 5).thread);
	CHECK_STR(place_at(&m, 100, 9, 0x5000), "nine+0x0");
	CHECK_STR(place(at(&m, 100, 5, 6).user, 0x1000), "init+0x0");
	/* And goes on. */
	forked(&m, 200, 4, 4, 5, 5);
	CHECK_STR(at(&m, 200, 5, 5).comm, "later");
	CHECK_STR(place_at(&m, 200, 5, 0x1000), "later+0x0");
	fini(&m);
}

TEST(machine_has_spaces_where_they_were_while_records_go_on_coming)
{
	enum { STATES = 1000 };
	const struct space *known[STATES], *kernel;
	struct machine m;

	machine_init(&m);
	kernel = at(&m, 0, 1, 1).kernel;
	for (u32 i = 0; i < STATES; i++) {
		comm(&m, i * 10, EXEC, 1, 1, "again");
		mapped(&m, i * 10, 1, 0x1000, 0x1000, i * 0x1000, "/bin/a");
		ksymbol(&m, i * 10, 0, 0xffffffffc0000000 + i * 0x10, 0x10, "bpf_prog");
		known[i] = at(&m, i * 10, 1, 1).user;
	}
	CHECK(at(&m, 0, 1, 1).kernel == kernel);
	for (u32 i = 0; i < STATES; i++) {
		CHECK(at(&m, i * 10, 1, 1).user == known[i]);
		CHECK_EQ(map_offset(machine_find(known[i], 0x1000), 0x1000), i * 0x1000);
	}
	/* What goes on being there stays where it was; the others are used again. */
	machine_forget(&m, (STATES - 2) * 10);
	CHECK(at(&m, STATES * 10, 1, 1).user == known[STATES - 1]);
	CHECK(at(&m, (STATES - 2) * 10, 1, 1).user == known[STATES - 2]);
	CHECK_EQ(map_offset(machine_find(known[STATES - 1], 0x1000), 0x1000),
		(STATES - 1) * 0x1000);
	CHECK(!machine_find(known[0], 0x1000));
	comm(&m, STATES * 10, EXEC, 1, 1, "again");
	CHECK(at(&m, STATES * 10, 1, 1).user == known[STATES - 3]);
	fini(&m);
}

TEST(machine_that_forgets_has_room_for_any_number_of_processes_that_end)
{
	enum { PROCESSES = 100000, LIFE = 10, EACH = 1000 };
	u64 total = 0;
	struct machine m;

	machine_init(&m);
	comm(&m, 0, 0, 1, 1, "init");
	mapped(&m, 0, 1, 0x1000, 0x1000, 0, "/bin/init");
	for (u32 i = 1; i <= PROCESSES; i++) {
		u32 pid = 2 + i % 30000;
		u64 now = (u64)i * LIFE;

		forked(&m, now, 1, 1, pid, pid);
		comm(&m, now + 1, EXEC, pid, pid, i % 2 ? "odd" : "even");
		mapped(&m, now + 2, pid, 0x1000, 0x1000, 0, "/bin/short");
		mapped(&m, now + 2, pid, 0x3000, 0x1000, 0, "/lib/libc.so");
		CHECK_STR(place_at(&m, now + 3, pid, 0x3000), "libc.so+0x0");
		exited(&m, now + 5, pid, pid);
		if (m.n_ended >= EACH)
			machine_forget(&m, now > EACH ? now - EACH : 0);
		if (i == PROCESSES / 10)
			total = m.arena.total + m.maps.arena.total + m.threads.cap * sizeof(void *);
	}
	CHECK(m.arena.total + m.maps.arena.total + m.threads.cap * sizeof(void *) <= 2 * total);
	CHECK(m.threads.n < 2 * EACH);
	CHECK_STR(place_at(&m, (u64)PROCESSES * LIFE, 1, 0x1000), "init+0x0");
	fini(&m);
}
