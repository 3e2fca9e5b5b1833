#include "test.h"

#include "profile/check/processlist.h"

/* Writes down who ended: "pid name mmaps fork exit samples period; ". */
static void note(void *ctx, const struct processlist_process *p)
{
	str_addf(ctx, "%x %s %llu %llu %llu %llu %llu; ", p->pid, str_text(&p->name),
		(unsigned long long)p->n_mmaps, (unsigned long long)p->fork_time,
		(unsigned long long)p->exit_time, (unsigned long long)p->all.n_samples,
		(unsigned long long)p->all.period);
}

static void comm(struct processlist *r, u32 pid, u32 tid, const char *text, u16 misc)
{
	struct record rec = {.type = PERF_RECORD_COMM, .misc = misc};
	union record_body body = {.comm = {.pid = pid, .tid = tid}};

	body.comm.comm = (struct record_bytes){(const u8 *)text, strlen(text)};
	processlist_apply(r, &rec, &body, 0);
}

static void task(struct processlist *r, u32 type, u32 ppid, u32 pid, u32 tid, u64 time)
{
	struct record rec = {.type = type};
	union record_body body = {.task = {.pid = pid, .tid = tid, .ppid = ppid, .ptid = ppid}};

	processlist_apply(r, &rec, &body, time);
}

static void map(struct processlist *r, u32 type, u32 pid)
{
	struct record rec = {.type = type};
	union record_body body = {.mmap = {.pid = pid, .tid = pid}};

	processlist_apply(r, &rec, &body, 0);
}

static void leave(struct processlist *r, u32 pid, u32 tid, u64 time)
{
	task(r, PERF_RECORD_EXIT, 1, pid, tid, time);
}

static void check(struct processlist *r, const char *expected)
{
	struct str *said = r->ctx;

	CHECK_STR(str_text(said), expected);
	str_clear(said);
}

static void check_rest(struct processlist *r, const char *expected)
{
	processlist_close(r);
	check(r, expected);
	str_fini(r->ctx);
}

TEST(processlist_without_an_order_gives_samples_to_whoever_has_the_number)
{
	struct str said = {0};
	struct processlist r;

	processlist_init(&r, note, &said);
	r.is_unordered = true;
	/* One CPU's ring stands before the other's: samples, then the end, then the beginning. */
	processlist_add_sample(&r, 7, 0, 100);
	leave(&r, 7, 7, 50);
	processlist_add_sample(&r, 7, 1, 10);
	comm(&r, 7, 7, "child", PERF_RECORD_MISC_COMM_EXEC);
	comm(&r, 1, 1, "parent", 0);
	task(&r, PERF_RECORD_FORK, 1, 7, 7, 20);
	processlist_add_sample(&r, 7, 0, 1);
	processlist_add_sample(&r, 9, 0, 1000);
	/* Of 9 nothing but a sample tells. */
	check_rest(&r, "7 child 0 20 50 3 111; 1 parent 0 0 0 0 0; ffffffff  0 0 0 1 1000; ");
}

TEST(processlist_follows_a_process_from_fork_to_exit)
{
	struct str said = {0};
	struct processlist r;

	processlist_init(&r, note, &said);
	comm(&r, 10, 10, "sh", 0);
	task(&r, PERF_RECORD_FORK, 10, 11, 11, 100);
	map(&r, PERF_RECORD_MMAP, 11);
	map(&r, PERF_RECORD_MMAP2, 11);
	processlist_add_sample(&r, 11, 0, 7);
	processlist_add_sample(&r, 11, 0, 8);
	leave(&r, 11, 11, 200);
	/* forked without exec, it is called as its parent */
	check(&r, "b sh 2 100 200 2 15; ");
	check_rest(&r, "a sh 0 0 0 0 0; ");
}

TEST(processlist_creates_who_is_only_named_or_mapped)
{
	struct str said = {0};
	struct processlist r;

	processlist_init(&r, note, &said);
	comm(&r, 3, 3, "a", 0);
	map(&r, PERF_RECORD_MMAP, 2);
	leave(&r, 9, 9, 5);
	check_rest(&r, "3 a 0 0 0 0 0; 2  1 0 0 0 0; ");
}

TEST(processlist_gives_samples_of_the_unknown_to_nobody)
{
	struct str said = {0};
	struct processlist r;

	processlist_init(&r, note, &said);
	map(&r, PERF_RECORD_MMAP, PROCESSLIST_NOBODY);
	processlist_add_sample(&r, 5, 0, 10);
	comm(&r, 5, 5, "late", 0);
	processlist_add_sample(&r, 5, 0, 1);
	leave(&r, 5, 5, 50);
	processlist_add_sample(&r, 5, 0, 100);
	check_rest(&r, "5 late 0 0 50 1 1; ffffffff  1 0 0 2 110; ");
}

TEST(processlist_keeps_a_process_until_its_last_thread_has_left)
{
	struct str said = {0};
	struct processlist r;

	processlist_init(&r, note, &said);
	comm(&r, 7, 7, "p", 0);
	task(&r, PERF_RECORD_FORK, 7, 7, 8, 10);
	comm(&r, 7, 8, "worker", 0);
	leave(&r, 7, 7, 20);
	processlist_add_sample(&r, 7, 0, 3);
	check(&r, "");
	leave(&r, 7, 8, 30);
	check(&r, "7 p 0 0 30 1 3; ");
	check_rest(&r, "");
}

TEST(processlist_survives_an_exec_by_another_thread_than_the_first)
{
	struct str said = {0};
	struct processlist r;

	processlist_init(&r, note, &said);
	comm(&r, 7, 7, "p", 0);
	task(&r, PERF_RECORD_FORK, 7, 7, 8, 10);
	leave(&r, 7, 7, 20);
	comm(&r, 7, 7, "new", PERF_RECORD_MISC_COMM_EXEC);
	leave(&r, 7, 7, 40);
	check_rest(&r, "7 new 0 0 40 0 0; ");
}

TEST(processlist_counts_what_contradicts_itself_and_goes_on)
{
	struct str said = {0};
	struct processlist r;

	processlist_init(&r, note, &said);
	comm(&r, 1, 1, "init", 0);
	task(&r, PERF_RECORD_FORK, 1, 4, 4, 10);
	task(&r, PERF_RECORD_FORK, 1, 4, 4, 20);
	check(&r, "4 init 0 10 0 0 0; ");
	CHECK_EQ(r.n_doubles, 1);
	task(&r, PERF_RECORD_FORK, 6, 6, 60, 30);
	CHECK_EQ(r.n_lone_threads, 1);
	/* what the recorder found there and what the kernel told are one */
	comm(&r, 5, 5, "x", 0);
	task(&r, PERF_RECORD_FORK, 1, 5, 5, 40);
	task(&r, PERF_RECORD_FORK, 1, 5, 5, 0);
	CHECK_EQ(r.n_doubles, 1);
	check_rest(&r, "1 init 0 0 0 0 0; 4 init 0 20 0 0 0; 6  0 0 0 0 0; 5 x 0 40 0 0 0; ");
}

static void note_events(void *ctx, const struct processlist_process *p)
{
	vec_each(e, &p->by_event)
		str_addf(ctx, "%llu/%llu ", (unsigned long long)e->n_samples,
			(unsigned long long)e->period);
}

TEST(processlist_counts_events_apart)
{
	struct str said = {0};
	struct processlist r;

	processlist_init(&r, note_events, &said);
	comm(&r, 1, 1, "a", 0);
	processlist_add_sample(&r, 1, 2, 5);
	processlist_add_sample(&r, 1, 0, 1);
	processlist_add_sample(&r, 1, 2, 6);
	check_rest(&r, "1/1 0/0 2/11 ");
}
