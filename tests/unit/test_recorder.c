#include "collect/record/recorder.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "event/abi.h"
#include "file/reader.h"
#include "file/writer.h"
#include "trace/follow.h"
#include "test.h"
#include "unit/recording.h"
#include "unit/said.h"

enum { SAMPLE_BITS = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER };

struct fixture {
	struct event_list events;
	struct counters counters;
	struct workload workload;
	bool has_workload;
	struct recorder recorder;
	struct writer writer;
	struct sink file; /* the writer */
	const char *path;
};

static void add_event(struct fixture *f, u64 config, u64 period)
{
	struct event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = ATTR_SIZE_VER7,
		.config = config,
		.sample_period = period,
		.sample_type = SAMPLE_BITS,
		.read_format = PERF_FORMAT_ID,
		.flags = ATTR_DISABLED | ATTR_INHERIT | ATTR_ENABLE_ON_EXEC | ATTR_SAMPLE_ID_ALL |
			ATTR_EXCLUDE_KERNEL};

	if (!f->events.n)
		attr.flags |= ATTR_MMAP | ATTR_MMAP2 | ATTR_COMM | ATTR_COMM_EXEC | ATTR_TASK;
	event_add(&f->events, &attr, "an event");
}

/* Opens every event for that task on every CPU; skips where that is not allowed. */
static void open_counters(struct fixture *f, pid_t tid)
{
	long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct err err;

	vec_each(e, &f->events) {
		e->ids = arena_alloc(&f->events.arena, n_cpus * sizeof(u64));
		for (int cpu = 0; cpu < n_cpus; cpu++) {
			struct counter c = {.event = e - f->events.at, .cpu = cpu, .tid = tid};

			c.fd = perf_event_open(&e->attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
			if (c.fd < 0)
				SKIP("perf_event_open: %s", strerror(errno));
			CHECK_EQ(counter_fetch_id(&c, &e->attr, &err), 0);
			e->ids[e->n_ids++] = c.id;
			vec_add(&f->counters, c);
		}
	}
}

static void block_signals(void)
{
	sigset_t signals;

	stop_signals(&signals);
	CHECK_EQ(sigprocmask(SIG_BLOCK, &signals, NULL), 0);
}

/* A shell at its gate, watched by the events that were added. */
static void start_shell(struct fixture *f, const char *script, u64 pages)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};
	struct err err;

	block_signals();
	CHECK_EQ(workload_start(&f->workload, argv, &err), 0);
	f->has_workload = true;
	open_counters(f, f->workload.pid);
	if (recorder_open(&f->recorder, &f->counters, &f->events, pages, NULL, &err))
		SKIP("%s", err.msg);
	if (!f->path)
		f->path = test_path("perf.data");
	if (writer_open(&f->writer, f->path, &f->events, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
}

static enum recorder_end run(struct fixture *f, struct err *err)
{
	if (f->has_workload)
		CHECK_EQ(workload_go(&f->workload, "sh", err), 0);
	f->file = writer_sink(&f->writer);
	if (!f->recorder.sink)
		f->recorder.sink = &f->file;
	return recorder_run(&f->recorder, f->has_workload ? &f->workload : NULL, err);
}

static void fixture_fini(struct fixture *f)
{
	recorder_close(&f->recorder);
	writer_close(&f->writer, true);
	counters_close(&f->counters);
	if (f->has_workload)
		workload_close(&f->workload);
	event_list_fini(&f->events);
}

/* What the file has, though nobody has finished it yet. */
struct contents {
	u64 n_samples, n_by_event[2], n_exec, n_exit, n_rounds, n_lost;
	u32 last_type;
};

static void count_record(const struct fixture *f, const struct record *rec, struct contents *c)
{
	union record_body body;
	struct err err;
	u64 id;

	c->last_type = rec->type;
	c->n_rounds += rec->type == PERF_RECORD_FINISHED_ROUND;
	if (rec->type == PERF_RECORD_SAMPLE) {
		c->n_samples++;
		id = load_u64(rec->at + RECORD_HEADER_SIZE);
		vec_each(e, &f->events)
			for (u32 i = 0; i < e->n_ids; i++)
				c->n_by_event[e - f->events.at] += e->ids[i] == id;
		return;
	}
	if (record_decode(rec, rec->type < PERF_RECORD_USER_TYPE_START ? 40 - 8 * 2 : 0, &body,
		    &err) <= 0)
		return;
	c->n_exec += rec->type == PERF_RECORD_COMM && rec->misc & PERF_RECORD_MISC_COMM_EXEC;
	c->n_exit += rec->type == PERF_RECORD_EXIT;
	c->n_lost += rec->type == PERF_RECORD_LOST ? body.lost.lost : 0;
}

static struct contents read_file(const struct fixture *f)
{
	struct contents c = {0};
	struct reader_cursor cursor;
	struct reader reader;
	struct record rec;
	struct err err;

	if (reader_open(&reader, f->path, NULL, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	reader_cursor_init(&cursor, &reader, reader.data_start, reader.data_end);
	while (reader_next(&cursor, &rec, &err) > 0)
		count_record(f, &rec, &c);
	CHECK(!cursor.damage.reason);
	CHECK_EQ(reader.header.data.size, writer_data_bytes(&f->writer));
	reader_cursor_fini(&cursor);
	reader_close(&reader);
	return c;
}

/* ---- to the end ---- */

TEST(recorder_records_a_command_from_its_exec_to_its_exit)
{
	struct fixture f = {0};
	struct contents c;
	struct err err;

	add_event(&f, PERF_COUNT_SW_PAGE_FAULTS, 1);
	start_shell(&f, "exit 7", 64);
	CHECK_EQ(run(&f, &err), RECORDER_TARGET_ENDED);
	CHECK_EQ(f.recorder.stop.signal, 0);
	CHECK(workload_reap(&f.workload, true));
	CHECK_EQ(workload_exit_status(&f.workload), 7);
	c = read_file(&f);
	CHECK_EQ(c.n_exec, 1);
	CHECK_EQ(c.n_exit, 1);
	CHECK(c.n_samples > 20);
	CHECK_EQ(c.n_by_event[0], c.n_samples);
	CHECK_EQ(c.n_rounds, f.recorder.n_rounds);
	CHECK_EQ(c.last_type, PERF_RECORD_FINISHED_ROUND);
	CHECK_EQ(c.n_lost, 0);
	CHECK_EQ(f.recorder.n_broken_rings, 0);
	fixture_fini(&f);
}

TEST(recorder_follows_the_children_of_a_command)
{
	struct fixture f = {0};
	struct contents c;
	struct err err;

	add_event(&f, PERF_COUNT_SW_PAGE_FAULTS, 1);
	start_shell(&f, "for i in 1 2 3; do /bin/true; done; (exit 0) & wait", 64);
	CHECK_EQ(run(&f, &err), RECORDER_TARGET_ENDED);
	c = read_file(&f);
	CHECK_EQ(c.n_exec, 4);
	CHECK_EQ(c.n_exit, 5);
	fixture_fini(&f);
}

TEST(recorder_lets_all_events_of_a_cpu_share_a_ring)
{
	struct fixture f = {0};
	struct contents c;
	struct err err;
	u64 counted[2] = {0};

	add_event(&f, PERF_COUNT_SW_PAGE_FAULTS, 1);
	add_event(&f, PERF_COUNT_SW_PAGE_FAULTS_MIN, 1);
	start_shell(&f, ":", 64);
	CHECK_EQ(f.recorder.rings.n, sysconf(_SC_NPROCESSORS_ONLN));
	CHECK_EQ(f.recorder.rings.at[0].counters.n, 2);
	CHECK_EQ(run(&f, &err), RECORDER_TARGET_ENDED);
	c = read_file(&f);
	vec_each(counter, &f.counters) {
		struct counter_value value;
		size_t n;

		CHECK_EQ(counter_read(counter, &f.events.at[counter->event].attr, &value, 1, &n,
				 &err),
			0);
		counted[counter->event] += value.value;
	}
	/* Every event that was counted is a sample in the file. */
	CHECK_EQ(c.n_by_event[0], counted[0]);
	CHECK_EQ(c.n_by_event[1], counted[1]);
	CHECK(c.n_by_event[1] > 0);
	CHECK_EQ(c.n_samples, counted[0] + counted[1]);
	fixture_fini(&f);
}

TEST(recorder_with_rings_that_are_too_small_loses_nothing_silently)
{
	struct fixture f = {0};
	struct contents c;
	struct err err;
	u64 counted = 0, lost = 0;

	add_event(&f, PERF_COUNT_SW_PAGE_FAULTS, 1);
	/* Samples only, so that every record that is lost is one of them. */
	f.events.at[0].attr.flags &=
		~(ATTR_MMAP | ATTR_MMAP2 | ATTR_COMM | ATTR_COMM_EXEC | ATTR_TASK);
	f.events.at[0].attr.read_format |= PERF_FORMAT_LOST;
	start_shell(&f, "for i in 1 2 3 4 5 6; do (i=1; :) ; done", 1);
	CHECK_EQ(f.recorder.pages, 1);
	CHECK_EQ(run(&f, &err), RECORDER_TARGET_ENDED);
	c = read_file(&f);
	vec_each(counter, &f.counters) {
		struct counter_value value;
		size_t n;

		CHECK_EQ(counter_read(counter, &f.events.at[0].attr, &value, 1, &n, &err), 0);
		counted += value.value;
		lost += value.lost;
	}
	CHECK_EQ(c.n_samples + lost, counted);
	/* What was lost last is told by no record: none came behind it. */
	CHECK(c.n_lost <= lost);
	fixture_fini(&f);
}

TEST(recorder_of_threads_ends_when_they_have_ended)
{
	struct fixture f = {0};
	struct err err;
	pid_t pid;
	int gate[2];

	block_signals();
	CHECK_EQ(pipe(gate), 0);
	pid = fork();
	if (!pid) {
		char byte;

		close(gate[1]);
		_exit(read(gate[0], &byte, 1) != 1);
	}
	add_event(&f, PERF_COUNT_SW_PAGE_FAULTS, 1);
	f.events.at[0].attr.flags &= ~(ATTR_DISABLED | ATTR_ENABLE_ON_EXEC);
	open_counters(&f, pid);
	if (recorder_open(&f.recorder, &f.counters, &f.events, 8, NULL, &err))
		SKIP("%s", err.msg);
	f.path = test_path("perf.data");
	CHECK_EQ(writer_open(&f.writer, f.path, &f.events, &err), 0);
	CHECK_EQ(write(gate[1], "g", 1), 1);
	CHECK_EQ(run(&f, &err), RECORDER_TARGET_ENDED);
	CHECK_EQ(read_file(&f).n_exit, 1);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	fixture_fini(&f);
	close(gate[0]);
	close(gate[1]);
}

/* A look back at a large file may take longer than a second. */
static int look_long(void *ctx, bool *ret_is_end, struct err *err)
{
	unsigned *n = ctx;

	(void)ret_is_end;
	(void)err;
	if (!(*n)++)
		usleep(1200000);
	return 0;
}

TEST(recorder_goes_on_each_second_behind_a_pilot_who_took_longer)
{
	struct fixture f = {0};
	unsigned n = 0;
	struct recorder_pilot pilot = {&n, UINT64_MAX, look_long};
	struct err err;

	add_event(&f, PERF_COUNT_SW_PAGE_FAULTS, 1);
	start_shell(&f, "sleep 4", 64);
	f.recorder.pilot = &pilot;
	CHECK_EQ(run(&f, &err), RECORDER_TARGET_ENDED);
	CHECK(n >= 2);
	fixture_fini(&f);
}

/* ---- without a file ---- */

struct kept {
	struct fixture *f;
	struct contents contents;
	struct str round;
	u64 n_synced, n_left; /* bytes that were no whole record */
};

static int keep(void *ctx, const struct iovec *runs, int n, struct err *err)
{
	struct kept *k = ctx;
	struct record rec;
	size_t at = 0;

	(void)err;
	str_clear(&k->round);
	for (int i = 0; i < n; i++)
		str_addn(&k->round, runs[i].iov_base, runs[i].iov_len);
	for (; record_in(k->round.at, k->round.n, at, &rec); at += rec.size)
		count_record(k->f, &rec, &k->contents);
	k->n_left += k->round.n - at;
	return 0;
}

static int note_sync(void *ctx, struct err *err)
{
	(void)err;
	((struct kept *)ctx)->n_synced++;
	return 0;
}

TEST(recorder_hands_all_that_is_measured_to_a_sink_in_memory)
{
	struct fixture f = {0};
	struct kept kept = {.f = &f};
	struct sink sink = {&kept, keep, note_sync};
	u64 counted = 0;
	struct err err;

	add_event(&f, PERF_COUNT_SW_PAGE_FAULTS, 1);
	start_shell(&f, "for i in 1 2 3 4 5 6; do (i=1; :) ; done", 64);
	f.recorder.sink = &sink;
	CHECK_EQ(run(&f, &err), RECORDER_TARGET_ENDED);
	vec_each(counter, &f.counters) {
		struct counter_value value;
		size_t n;

		CHECK_EQ(counter_read(counter, &f.events.at[0].attr, &value, 1, &n, &err), 0);
		counted += value.value;
	}
	CHECK(counted > 100);
	CHECK_EQ(kept.contents.n_samples, counted);
	CHECK_EQ(kept.contents.n_exec, 1);
	CHECK_EQ(kept.contents.n_exit, 7);
	CHECK_EQ(kept.contents.n_rounds, f.recorder.n_rounds);
	CHECK_EQ(kept.contents.last_type, PERF_RECORD_FINISHED_ROUND);
	CHECK_EQ(kept.n_left, 0);
	CHECK(kept.n_synced > 0);
	/* The file got nothing. */
	CHECK_EQ(writer_data_bytes(&f.writer), 0);
	str_fini(&kept.round);
	fixture_fini(&f);
}

/* A trace that follows what is measured, with no file between. */
struct live {
	struct follow follow;
	u64 n_samples, n_unknown;
	u64 last_time, n_backwards;
};

static void take_visits(struct live *live)
{
	struct visit *v;
	struct err err;
	int r;

	while ((r = follow_next(&live->follow, &v, &err)) > 0) {
		live->n_backwards += v->time && v->time < live->last_time;
		live->last_time = MAX(live->last_time, v->time);
		if (!v->sample)
			continue;
		live->n_samples++;
		/* Its children have its name, from the moment of the fork on. */
		live->n_unknown += !visit_state(v)->thread || strcmp(visit_state(v)->comm, "sh");
	}
	CHECK_EQ(r, 0);
}

static int look_live(void *ctx, bool *ret_is_end, struct err *err)
{
	(void)ret_is_end, (void)err;
	take_visits(ctx);
	return 0;
}

TEST(recorder_is_followed_live_from_its_rings_to_visits)
{
	struct fixture f = {0};
	struct live live = {0};
	struct recorder_pilot pilot = {&live, UINT64_MAX, look_live};
	struct trace trace;
	struct sink sink;
	u64 counted = 0;
	struct err err;

	add_event(&f, PERF_COUNT_SW_PAGE_FAULTS, 1);
	start_shell(&f, "for i in 1 2 3 4 5 6; do (i=1; :) ; done", 64);
	trace_begin_live(&trace, &f.events, NULL);
	follow_init(&live.follow, &trace, FOLLOW_LIVE, SAMPLE_BITS);
	sink = follow_sink(&live.follow);
	f.recorder.sink = &sink;
	f.recorder.pilot = &pilot;
	CHECK_EQ(run(&f, &err), RECORDER_TARGET_ENDED);
	take_visits(&live);
	follow_end(&live.follow);
	take_visits(&live);
	vec_each(counter, &f.counters) {
		struct counter_value value;
		size_t n;

		CHECK_EQ(counter_read(counter, &f.events.at[0].attr, &value, 1, &n, &err), 0);
		counted += value.value;
	}
	CHECK(counted > 100);
	CHECK_EQ(live.n_samples, counted);
	CHECK_EQ(live.n_unknown, 0);
	CHECK_EQ(live.n_backwards, 0);
	CHECK_EQ(live.follow.stream.disorder.n_rounds, f.recorder.n_rounds);
	CHECK_EQ(writer_data_bytes(&f.writer), 0);
	follow_fini(&live.follow);
	trace_close(&trace);
	fixture_fini(&f);
}

static int refuse(void *ctx, const struct iovec *runs, int n, struct err *err)
{
	(void)ctx, (void)runs, (void)n;
	return err_set(err, ERR_LIMIT, "no more");
}

TEST(recorder_ends_with_the_error_of_a_sink_that_takes_no_more)
{
	struct fixture f = {0};
	struct sink sink = {NULL, refuse, NULL};
	struct err err;

	add_event(&f, PERF_COUNT_SW_PAGE_FAULTS, 1);
	start_shell(&f, "exit 0", 64);
	f.recorder.sink = &sink;
	CHECK_EQ(run(&f, &err), RECORDER_FAILED);
	CHECK_STR(err.msg, "no more");
	fixture_fini(&f);
}

/* ---- with a filter ---- */

/* Hands everything on, samples twice. */
struct doubling {
	u64 n_seen[2], n_seen_samples, n_settled, n_taken, n_taken_samples, n_unseen;
};

static void see_record(void *ctx, const struct record *rec, bool is_due)
{
	struct doubling *d = ctx;

	d->n_seen[is_due]++;
	d->n_seen_samples += rec->type == PERF_RECORD_SAMPLE;
}

static void settle(void *ctx)
{
	((struct doubling *)ctx)->n_settled++;
}

static void take_record(void *ctx, const struct record *rec, struct str *out)
{
	struct doubling *d = ctx;

	d->n_taken++;
	d->n_unseen += d->n_taken > d->n_seen[0] + d->n_seen[1];
	str_addn(out, rec->at, rec->size);
	if (rec->type != PERF_RECORD_SAMPLE)
		return;
	d->n_taken_samples++;
	str_addn(out, rec->at, rec->size);
}

TEST(recorder_gives_every_record_to_a_filter_once_and_whole)
{
	/* Of small rings, many records stand partly at the end and partly at the beginning. */
	static const u64 pages[] = {1, 2, 64};

	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		struct doubling d = {0};
		struct recorder_filter filter = {&d, see_record, settle, take_record};
		struct fixture f = {0};
		struct contents c;
		struct err err;
		u64 counted = 0, lost = 0;

		add_event(&f, PERF_COUNT_SW_PAGE_FAULTS, 1);
		f.events.at[0].attr.read_format |= PERF_FORMAT_LOST;
		start_shell(&f, "for i in 1 2 3 4 5 6; do (i=1; :) ; done", pages[i]);
		f.recorder.filter = &filter;
		CHECK_EQ(run(&f, &err), RECORDER_TARGET_ENDED);
		c = read_file(&f);
		vec_each(counter, &f.counters) {
			struct counter_value value;
			size_t n;

			CHECK_EQ(counter_read(counter, &f.events.at[0].attr, &value, 1, &n, &err),
				0);
			counted += value.value;
			lost += value.lost;
		}
		/* On a busy machine most do not fit into a small ring; what is in it at the end is read. */
		CHECK(d.n_taken_samples > (pages[i] < 64 ? 0 : 100));
		CHECK(d.n_taken_samples + lost > 100);
		/* What is lost may be other records too. */
		CHECK(d.n_taken_samples + lost >= counted);
		CHECK(pages[i] < 64 || d.n_taken_samples == counted);
		CHECK_EQ(c.n_samples, 2 * d.n_taken_samples);
		CHECK_EQ(c.n_by_event[0], c.n_samples);
		CHECK_EQ(d.n_seen[0] + d.n_seen[1], d.n_taken);
		CHECK_EQ(d.n_seen_samples, d.n_taken_samples);
		CHECK_EQ(d.n_unseen, 0);
		CHECK(d.n_settled >= c.n_rounds);
		CHECK_EQ(f.recorder.n_broken_rings, 0);
		fixture_fini(&f);
		unlink(test_path("perf.data"));
	}
}

/* ---- before the end ---- */

static bool is_called(pid_t process, const char *name)
{
	char path[40], comm[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)process);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(comm, sizeof(comm), file))
		comm[0] = '\0';
	fclose(file);
	return !strncmp(comm, name, strlen(name));
}

/* Sends us the signal a little after the workload has become a program of this name. */
static pid_t send_later(int signal, pid_t workload, const char *name)
{
	enum { ROUNDS = 1000, US = 10000 };
	pid_t to = getpid(), pid = fork();

	if (!pid) {
		for (int i = 0; i < ROUNDS && !is_called(workload, name); i++)
			usleep(US);
		usleep(150000);
		kill(to, signal);
		_exit(0);
	}
	return pid;
}

TEST(recorder_ends_at_a_signal_and_says_which)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		struct fixture f = {0};
		struct contents c;
		struct err err;
		pid_t sender;

		add_event(&f, PERF_COUNT_SW_PAGE_FAULTS, 1);
		start_shell(&f, "exec sleep 60", 64);
		sender = send_later(signals[i], f.workload.pid, "sleep");
		CHECK_EQ(run(&f, &err), RECORDER_SIGNAL);
		CHECK_EQ(f.recorder.stop.signal, signals[i]);
		/* kill(1) meant only us; a terminal would have told the command too. */
		CHECK(!f.recorder.stop.is_group);
		CHECK(!workload_reap(&f.workload, false));
		c = read_file(&f);
		CHECK_EQ(c.n_exec, 2);
		CHECK_EQ(c.n_exit, 0);
		CHECK(c.n_samples > 0);
		kill(f.workload.pid, SIGKILL);
		CHECK(workload_reap(&f.workload, true));
		CHECK_EQ(workload_exit_status(&f.workload), 128 + SIGKILL);
		waitpid(sender, NULL, 0);
		fixture_fini(&f);
		unlink(test_path("perf.data"));
	}
}

/* 0: it has a header, no damage, and many records. */
static int look_at(const char *path)
{
	struct reader_cursor cursor;
	struct reader reader;
	struct record rec;
	struct err err;
	u64 n = 0;
	int r;

	if (reader_open(&reader, path, NULL, &err))
		return 1;
	if (reader.is_unfinished) {
		reader_close(&reader);
		return 1;
	}
	reader_cursor_init(&cursor, &reader, reader.data_start, reader.data_end);
	while (reader_next(&cursor, &rec, &err) > 0)
		n++;
	r = cursor.damage.reason ? 2 : n < 100 ? 3 : 0;
	reader_cursor_fini(&cursor);
	reader_close(&reader);
	return r;
}

TEST(recorder_file_can_be_read_while_it_runs)
{
	const char *seen = test_path("seen");
	struct fixture f = {0};
	char script[512];
	struct err err;
	int status;
	pid_t looker;

	add_event(&f, PERF_COUNT_SW_PAGE_FAULTS, 1);
	snprintf(script, sizeof(script), "until test -e %s; do sleep 0.05; done", seen);
	start_shell(&f, script, 64);
	looker = fork();
	if (!looker) {
		/* The header is brought up to date once a second. */
		for (int i = 0; i < 600 && (status = look_at(f.path)); i++)
			usleep(100000);
		test_write(seen, "", 0);
		_exit(status);
	}
	CHECK_EQ(run(&f, &err), RECORDER_TARGET_ENDED);
	CHECK_EQ(waitpid(looker, &status, 0), looker);
	CHECK_EQ(status, 0);
	fixture_fini(&f);
}

/* ---- what fails ---- */

TEST(recorder_on_a_full_disk_fails_with_a_file_that_can_be_read)
{
	struct fixture f = {0};
	struct file_info info;
	struct contents c;
	struct reader reader;
	struct err err = {0};

	CHECK_EQ(mkdir(test_path("disk"), 0700), 0);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		mount("tmpfs", test_path("disk"), "tmpfs", 0, "size=96k"))
		SKIP("mounting a small tmpfs: %s", strerror(errno));
	f.path = test_path("disk/perf.data");
	add_event(&f, PERF_COUNT_SW_PAGE_FAULTS, 1);
	start_shell(&f, "while :; do (:); done", 64);
	CHECK_EQ(run(&f, &err), RECORDER_FAILED);
	CHECK_EQ(err.code, ERR_LIMIT);
	CHECK_HAS(err.msg, "no space left on the device");
	c = read_file(&f);
	CHECK(c.n_samples > 100);
	file_info_init(&info);
	info.host.hostname = "vm";
	CHECK_EQ(writer_finish(&f.writer, &info, &err), 0);
	CHECK_EQ(reader_open(&reader, f.path, NULL, &err), 0);
	CHECK_STR(reader.info.host.hostname, "vm");
	reader_close(&reader);
	file_info_fini(&info);
	kill(f.workload.pid, SIGKILL);
	workload_reap(&f.workload, true);
	fixture_fini(&f);
}

TEST(recorder_open_refuses_a_number_of_pages_that_is_no_power_of_two)
{
	struct fixture f = {0};
	struct err err;

	add_event(&f, PERF_COUNT_SW_PAGE_FAULTS, 1);
	open_counters(&f, 0);
	CHECK_EQ(recorder_open(&f.recorder, &f.counters, &f.events, 3, NULL, &err), ERR_INVAL);
	CHECK_HAS(err.msg, "power of two of pages, not 3");
	f.writer.fd = -1;
	fixture_fini(&f);
}

/* Without privileges, and with half of what perf_event_mlock_kb allows by default used up by `f`.
 */
static void use_up_locked_memory(struct fixture *f)
{
	struct rlimit none = {0, 0};
	struct err err;

	CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &none), 0);
	if (!geteuid() && (setgid(65534) || setuid(65534)))
		SKIP("cannot become another user: %s", strerror(errno));
	/* Else the leak checker may not look at this process any more. */
	CHECK_EQ(prctl(PR_SET_DUMPABLE, 1), 0);
	add_event(f, PERF_COUNT_SW_PAGE_FAULTS, 1);
	open_counters(f, 0);
	if (recorder_open(&f->recorder, &f->counters, &f->events, 64, NULL, &err))
		SKIP("%s", err.msg);
}

TEST(recorder_takes_smaller_rings_where_locked_memory_is_scarce_and_says_so)
{
	struct fixture first = {0}, second = {0}, third = {0};
	struct said said;
	struct err err;

	use_up_locked_memory(&first);
	said_init(&said, LOG_NOTE);
	add_event(&second, PERF_COUNT_SW_PAGE_FAULTS, 1);
	open_counters(&second, 0);
	CHECK_EQ(recorder_open(&second.recorder, &second.counters, &second.events, 0, &said.log,
			 &err),
		0);
	if (second.recorder.pages == 128)
		SKIP("kernel.perf_event_mlock_kb allows more than this test uses");
	CHECK(second.recorder.pages > 0 && second.recorder.pages < 128);
	CHECK(!(second.recorder.pages & (second.recorder.pages - 1)));
	CHECK_HAS(str_text(&said.text),
		"pages instead of 128, as much as kernel.perf_event_mlock_kb and 'ulimit -l' allow");
	/* What was asked for is not made smaller. */
	add_event(&third, PERF_COUNT_SW_PAGE_FAULTS, 1);
	open_counters(&third, 0);
	CHECK_EQ(recorder_open(&third.recorder, &third.counters, &third.events, 128, &said.log,
			 &err),
		ERR_PERM);
	CHECK_HAS(err.msg, "rings of 128 pages: the limit of locked memory is reached");
	said_fini(&said);
	first.writer.fd = second.writer.fd = third.writer.fd = -1;
	fixture_fini(&first);
	fixture_fini(&second);
	fixture_fini(&third);
}
