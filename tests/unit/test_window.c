#include "test.h"

#include <fcntl.h>
#include <unistd.h>

#include "event/abi.h"
#include "file/window.h"
#include "record/record.h"

#define SECOND 1000000000ULL

/* A record of 24 bytes: pid, ppid, tid, ptid. */
static void add(struct window *w, u32 type, u32 pid, u32 ppid, u32 tid, u64 now_ns)
{
	struct {
		struct record_header header;
		u32 task[4];
	} rec = {{type, 0, sizeof(rec)}, {pid, ppid, tid, ppid}};
	/* In two pieces, as where a ring begins anew. */
	struct iovec runs[] = {{&rec, 12}, {(u8 *)&rec + 12, sizeof(rec) - 12}};

	window_add(w, runs, 2, now_ns);
}

/* "F3" for the fork of 3, S for samples, and so on; | where rounds begin. */
static void add_letters(const struct str *records, struct str *text)
{
	struct record_header header;
	u32 pid;

	for (size_t at = 0; at < records->n; at += header.size) {
		memcpy(&header, records->at + at, sizeof(header));
		memcpy(&pid, records->at + at + sizeof(header), sizeof(pid));
		str_addf(text, "%c%u", "?MLCETUFRS"[header.type], pid);
	}
}

static void check_window(const struct window *w, const char *expected)
{
	struct str text = {0};

	add_letters(&w->state, &text);
	vec_each(round, &w->rounds) {
		str_addc(&text, '|');
		add_letters(&round->records, &text);
	}
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
}

TEST(window_forgets_old_samples_but_not_who_ran_what)
{
	struct window w;

	window_init(&w, SECOND, 0, 0);
	add(&w, PERF_RECORD_COMM, 1, 0, 1, SECOND);
	add(&w, PERF_RECORD_SAMPLE, 1, 0, 1, SECOND);
	add(&w, PERF_RECORD_MMAP, 1, 0, 1, SECOND + 50000000);
	add(&w, PERF_RECORD_SAMPLE, 2, 0, 1, SECOND + 200000000);
	add(&w, PERF_RECORD_THROTTLE, 2, 0, 1, SECOND + 200000000);
	window_advance(&w, 2 * SECOND);
	check_window(&w, "|C1S1M1|S2T2");
	window_advance(&w, 2 * SECOND + 50000001);
	check_window(&w, "C1M1|S2T2");
	window_advance(&w, 3 * SECOND);
	check_window(&w, "C1M1");
	CHECK_EQ(w.bytes, 0);
	CHECK(!w.was_full);
	window_fini(&w);
}

TEST(window_of_so_many_bytes_is_shorter_and_tells_so)
{
	struct window w;

	window_init(&w, 100 * SECOND, 60, 0);
	for (u32 i = 1; i <= 4; i++) {
		add(&w, PERF_RECORD_SAMPLE, i, 0, 1, 2 * i * SECOND);
		window_advance(&w, 2 * i * SECOND);
	}
	check_window(&w, "|S3|S4");
	CHECK(w.was_full);
	/* The newest round is always there. */
	w.most_bytes = 1;
	window_advance(&w, 9 * SECOND);
	check_window(&w, "|S4");
	window_fini(&w);
}

TEST(window_compacts_tasks_that_ended_and_have_no_children)
{
	struct window w;

	window_init(&w, SECOND, 0, 0);
	add(&w, PERF_RECORD_COMM, 1, 0, 1, 1);
	/* 2 ends; its child 3 goes on with its maps, and as if it had begun with them. */
	add(&w, PERF_RECORD_FORK, 2, 1, 2, 1);
	add(&w, PERF_RECORD_MMAP, 2, 0, 2, 1);
	add(&w, PERF_RECORD_FORK, 3, 2, 3, 1);
	add(&w, PERF_RECORD_EXIT, 2, 2, 2, 1);
	/* 4 ends with both threads; 5's leader only. */
	add(&w, PERF_RECORD_FORK, 4, 1, 4, 1);
	add(&w, PERF_RECORD_FORK, 4, 4, 40, 1);
	add(&w, PERF_RECORD_MMAP, 4, 0, 4, 1);
	add(&w, PERF_RECORD_EXIT, 4, 4, 40, 1);
	add(&w, PERF_RECORD_EXIT, 4, 4, 4, 1);
	add(&w, PERF_RECORD_FORK, 5, 1, 5, 1);
	add(&w, PERF_RECORD_FORK, 5, 5, 50, 1);
	add(&w, PERF_RECORD_EXIT, 5, 5, 5, 1);
	/* The kernel's own maps, and a pid that comes again. */
	add(&w, PERF_RECORD_MMAP, UINT32_MAX, 0, 0, 1);
	add(&w, PERF_RECORD_FORK, 4, 1, 4, 1);
	window_advance(&w, 3 * SECOND);
	window_compact(&w, 3 * SECOND);
	check_window(&w, "C1F3M3F5F5E5M4294967295F4");
	window_fini(&w);
}

TEST(window_stays_small_however_many_processes_come_and_go)
{
	struct window w;

	window_init(&w, SECOND, 0, 0);
	add(&w, PERF_RECORD_COMM, 1, 0, 1, 1);
	for (u32 i = 2; i < 50000; i++) {
		u64 now = i * (SECOND / 10);

		add(&w, PERF_RECORD_FORK, i, 1, i, now);
		add(&w, PERF_RECORD_MMAP, i, 1, i, now);
		add(&w, PERF_RECORD_EXIT, i, 1, i, now);
		window_advance(&w, now);
		CHECK(w.state.n + w.bytes < 256 << 10);
	}
	window_fini(&w);
}

TEST(window_compacts_nothing_where_there_is_nothing)
{
	struct window w;

	window_init(&w, SECOND, 0, 0);
	window_compact(&w, 3 * SECOND);
	window_advance(&w, SECOND);
	check_window(&w, "");
	window_fini(&w);
}
