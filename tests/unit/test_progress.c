#include "base/progress.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/session.h"
#include "test.h"
#include "unit/recording.h"

static void check_text(const struct progress *p, double passed_s, const char *expected)
{
	struct str text = {0};

	progress_add_text(p, (u64)(passed_s * 1e9), &text);
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
}

TEST(progress_says_how_much_is_done_and_how_long_the_rest_takes)
{
	struct progress p = {.what = "reading", .subject = "a\033b", .offer = "ends it"};

	/* Nobody knows how much there is: Ctrl-C ends the process as always. */
	check_text(&p, 3, "reading 'a\\x1bb': 3 s");
	progress_expect(&p, 2000);
	check_text(&p, 3, "reading 'a\\x1bb': 0%, Ctrl-C ends it");
	progress_add(&p, 500);
	check_text(&p, 3, "reading 'a\\x1bb': 25%, 9 s left, Ctrl-C ends it");
	check_text(&p, 150, "reading 'a\\x1bb': 25%, 8 min left, Ctrl-C ends it");
	progress_set(&p, 2500);
	check_text(&p, 3, "reading 'a\\x1bb': 100%, 0 s left, Ctrl-C ends it");
	p.offer = p.subject = NULL;
	check_text(&p, 3, "reading: 100%, 0 s left");
	p.subject = "/a/long/name/whose/last/thirty-two/characters/are/shown.data";
	check_text(&p, 3, "reading '...ty-two/characters/are/shown.data': 100%, 0 s left");
}

TEST(progress_of_nothing_is_accepted)
{
	progress_begin(NULL);
	progress_add(NULL, 1);
	progress_set(NULL, 1);
	progress_expect(NULL, 1);
	progress_expect_more(NULL, 1);
	progress_rename(NULL, "");
	progress_say(NULL, "");
	CHECK(!progress_is_stopped(NULL));
	progress_heed(NULL);
	progress_end(NULL);
}

TEST(progress_limit_stops_each_work_by_itself)
{
	struct progress p = {.what = "work"};

	progress_limit(20000000 / PROGRESS_PATIENCE);
	for (int i = 0; i < 2; i++) {
		progress_begin(&p);
		CHECK(!progress_is_stopped(&p));
		usleep(25000);
		CHECK(progress_is_stopped(&p));
		progress_heed(&p); /* the rest has as long again */
		CHECK(!progress_is_stopped(&p));
		usleep(25000);
		CHECK(progress_is_stopped(&p));
		progress_end(&p);
	}
	progress_limit(0);
	progress_begin(&p);
	usleep(25000);
	CHECK(!progress_is_stopped(&p));
	progress_end(&p);
}

TEST(progress_hears_one_signal_and_dies_of_the_second)
{
	struct progress p = {.what = "work", .hears_always = true};
	int status;
	pid_t pid;

	progress_begin(&p);
	CHECK(!progress_is_stopped(&p));
	raise(SIGINT);
	CHECK(progress_is_stopped(&p));
	progress_heed(&p);
	CHECK(!progress_is_stopped(&p));
	raise(SIGINT);
	pid = fork();
	if (!pid) {
		raise(SIGINT);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	progress_end(&p);
	/* Afterwards the signal is the caller's again. */
	pid = fork();
	if (!pid) {
		raise(SIGINT);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status));
}

/* ---- recordings whose reading is stopped ---- */

enum {
	BITS = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
		PERF_SAMPLE_IDENTIFIER,
	SAMPLES = 60000, /* 3 MB: several pieces */
	STOP_AT = 30000,
};

struct stopping {
	struct recording r;
	struct session s;
	struct progress line;
	u64 n_seen, stop_at;
	struct session_observer observer;
};

static u64 ignore_state(void *ctx, const struct record *rec, const union record_body *body,
	u64 time)
{
	(void)ctx, (void)rec, (void)body, (void)time;
	return 0;
}

/* The user presses Ctrl-C at one of the samples. */
static void count(struct stopping *f)
{
	if (++f->n_seen == f->stop_at)
		raise(SIGINT);
}

static void take(void *ctx, const struct session_sample *sample)
{
	(void)sample;
	count(ctx);
}

static void see(void *ctx, const struct record *rec)
{
	if (rec->type == PERF_RECORD_SAMPLE)
		count(ctx);
}

static void open_it(struct stopping *f)
{
	struct err err;

	recording_write(&f->r, NULL, test_path("perf.data"));
	if (session_open(&f->s, test_path("perf.data"), NULL, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	f->line = (struct progress){.what = "reading", .hears_always = true};
	f->s.progress = &f->line;
	progress_begin(&f->line);
}

static void scan(struct stopping *f)
{
	struct err err;

	CHECK_EQ(session_scan(&f->s, ignore_state, NULL, &err), 0);
}

static void read_samples(struct stopping *f)
{
	void *context = f;
	const struct session_sink sink = {PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD, take, &context};
	struct err err;

	f->n_seen = 0;
	CHECK_EQ(session_samples(&f->s, 1, &sink, &err), 0);
}

static void close_it(struct stopping *f)
{
	progress_end(&f->line);
	session_close(&f->s);
	recording_fini(&f->r);
}

static void add_samples(struct recording *r)
{
	recording_event(r, "e", BITS, 1, 1);
	for (u64 i = 0; i < SAMPLES; i++)
		recording_sample(r, 0, PERF_RECORD_MISC_USER,
			&(struct sample){.id = 1,
				.ip = 0x1000 + i,
				.pid = 1,
				.tid = 1,
				.time = 1 + i,
				.period = 1});
}

TEST(progress_reaches_the_whole_when_all_was_read)
{
	struct stopping f = {0};

	add_samples(&f.r);
	open_it(&f);
	scan(&f);
	CHECK(f.line.done > 0 && f.line.done < f.line.all / 4);
	read_samples(&f);
	CHECK_EQ(f.n_seen, SAMPLES);
	/* The first pass tells of whole pieces only. */
	CHECK(f.line.done <= f.line.all && f.line.done > f.line.all - (2 << 20));
	CHECK_EQ(f.s.tally.n_stopped_samples + f.s.tally.n_stopped_bytes, 0);
	close_it(&f);
}

TEST(progress_that_is_stopped_in_the_second_pass_leaves_samples_that_are_counted)
{
	struct stopping f = {.stop_at = STOP_AT};

	add_samples(&f.r);
	open_it(&f);
	scan(&f);
	read_samples(&f);
	CHECK(f.n_seen >= STOP_AT && f.n_seen < STOP_AT + 2048);
	CHECK_EQ(f.n_seen, f.s.n_read);
	CHECK_EQ(f.s.tally.n_samples, SAMPLES);
	CHECK_EQ(f.s.tally.n_stopped_samples, SAMPLES - f.n_seen);
	CHECK(!f.s.tally.damage.reason);
	/* Whoever reads on is not stopped by the same signal. */
	CHECK(!progress_is_stopped(&f.line));
	close_it(&f);
}

TEST(progress_that_is_stopped_in_the_first_pass_ends_the_recording_there)
{
	struct stopping f = {.stop_at = STOP_AT};
	u64 end;

	f.observer = (struct session_observer){.ctx = &f, .see = see};
	add_samples(&f.r);
	open_it(&f);
	end = f.s.reader.data_end;
	session_watch(&f.s, &f.observer);
	scan(&f);
	CHECK(f.n_seen >= STOP_AT && f.n_seen < SAMPLES);
	CHECK_EQ(f.s.tally.n_samples, f.n_seen);
	CHECK(f.s.tally.n_stopped_bytes > 0);
	CHECK_EQ(f.s.reader.data_end + f.s.tally.n_stopped_bytes, end);
	f.stop_at = 0;
	read_samples(&f);
	CHECK_EQ(f.n_seen, f.s.tally.n_samples);
	CHECK_EQ(f.s.tally.n_stopped_samples, 0);
	CHECK(!f.s.tally.damage.reason);
	close_it(&f);
}

TEST(progress_that_is_stopped_counts_each_counter_that_a_sample_would_have_read)
{
	enum { READS = BITS | PERF_SAMPLE_READ };
	struct stopping f = {.stop_at = STOP_AT};
	struct event *e;

	for (u32 i = 0; i < 2; i++) {
		recording_event(&f.r, "e", READS, 1 + i, 1);
		e = &f.r.events.at[i];
		e->attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	}
	for (u64 i = 0; i < SAMPLES; i++) {
		/* The second counter stands still every other time. */
		u64 words[] = {10 * (i + 1), 1, i / 2 + 1, 2};
		struct sample s = {.id = 1, .ip = 0x1000, .pid = 1, .tid = 1, .time = 1 + i};

		s.read = (struct sample_read){.values = {(const u8 *)words, 4}, .n_values = 2};
		recording_sample(&f.r, 0, PERF_RECORD_MISC_USER, &s);
	}
	open_it(&f);
	scan(&f);
	CHECK_EQ(f.s.tally.n_samples, SAMPLES + SAMPLES / 2);
	read_samples(&f);
	CHECK(f.n_seen >= STOP_AT && f.n_seen < SAMPLES);
	CHECK_EQ(f.s.tally.n_stopped_samples, f.s.tally.n_samples - f.n_seen);
	close_it(&f);
}
