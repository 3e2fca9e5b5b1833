/* Whole programs, with all their threads, by pace.h alone. */
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pace.h"
#include "test.h"
#include "unit/freshpages.h"

static struct pace_error err;

/* A function that stays one, under its name. */
#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noinline, noclone))
#endif

enum { N_THREADS = 3, N_PAGES = 40 };

/* ---- a program with threads, some of which are there before the session ---- */

static pthread_barrier_t barrier;

static KEPT void work_of_a_thread(volatile char *pages)
{
	freshpages_write(pages, N_PAGES);
	__asm__ volatile(""); /* no jump in the place of the call */
}

static void *run_thread(void *number)
{
	char name[16];
	volatile char *pages = freshpages_map(N_PAGES);

	snprintf(name, sizeof(name), "worker-%d", *(int *)number);
	prctl(PR_SET_NAME, name);
	pthread_barrier_wait(&barrier); /* it is there */
	pthread_barrier_wait(&barrier); /* it may begin */
	work_of_a_thread(pages);
	pthread_barrier_wait(&barrier); /* it is done */
	freshpages_unmap(pages, N_PAGES);
	return NULL;
}

struct program {
	pthread_t threads[N_THREADS];
	int numbers[N_THREADS];
	size_t n;
};

static void start(struct program *p, size_t n)
{
	static int next;

	pthread_barrier_init(&barrier, NULL, (unsigned)n + 1);
	p->n = n;
	for (size_t i = 0; i < n; i++) {
		p->numbers[i] = ++next;
		CHECK_EQ(pthread_create(&p->threads[i], NULL, run_thread, &p->numbers[i]), 0);
	}
	pthread_barrier_wait(&barrier);
}

static void work(void)
{
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
}

static void finish(struct program *p)
{
	for (size_t i = 0; i < p->n; i++)
		CHECK_EQ(pthread_join(p->threads[i], NULL), 0);
	pthread_barrier_destroy(&barrier);
}

static struct pace_session *open_session(const char *events, pid_t pid,
	const struct pace_options *options)
{
	struct pace_session *s = pace_session_open(events, pid, options, &err);

	if (!s && (err.code == PACE_ERROR_PERMISSION || err.code == PACE_ERROR_UNSUPPORTED))
		SKIP("%s", err.message);
	if (!s)
		test_failed(__FILE__, __LINE__, "%s", err.message);
	return s;
}

/* ---- counting ---- */

TEST(api_session_counts_threads_that_are_there_and_those_that_come)
{
	struct program before, after;
	struct pace_value v[2];
	struct pace_session *s;
	struct pace_event e;

	start(&before, 2);
	s = open_session("page-faults:u,task-clock:u", 0, NULL);
	CHECK_EQ(pace_session_events(s), 2);
	CHECK_EQ(pace_session_event(s, 1, &e, &err), 0);
	CHECK_STR(e.name, "task-clock:u");
	CHECK_EQ(pace_session_event(s, 2, &e, &err), PACE_ERROR_NOT_FOUND);
	CHECK_EQ(pace_session_fd(s), -1);
	CHECK_EQ(pace_session_enable(s, &err), 0);
	work();
	finish(&before);
	start(&after, 1);
	work();
	finish(&after);
	CHECK_EQ(pace_session_disable(s, &err), 0);
	CHECK_EQ(pace_session_values(s, v, 2, &err), 2);
	CHECK(v[0].value >= 3 * N_PAGES);
	CHECK(v[0].counted == PACE_COUNTED && v[0].scaled == (double)v[0].value);
	CHECK(v[1].value > 0 && v[0].time_running > 0);
	CHECK_EQ(pace_session_values(s, v, 1, &err), PACE_ERROR_LIMIT);
	CHECK_EQ(pace_session_read(s, &(struct pace_slots){0}, &err), PACE_ERROR_ARGUMENT);
	CHECK_HAS(err.message, "takes no samples");
	pace_session_close(s);
}

/* ---- sampling ---- */

struct seen {
	size_t n_workers[8], n_samples, n_named, n_called, n_backwards, n_records, n_of_events[2];
	uint64_t last_time;
};

static int see_sample(void *context, const struct pace_sample *s)
{
	struct seen *seen = context;
	struct pace_frame frames[64];
	struct pace_place place;
	unsigned worker;
	int n;

	seen->n_samples++;
	seen->n_backwards += s->time < seen->last_time;
	seen->last_time = s->time;
	CHECK(s->record->event < 2);
	seen->n_of_events[s->record->event]++;
	CHECK_EQ(s->pid, getpid());
	CHECK_EQ(pace_sample_place(s, NULL, &place, &err), 0);
	if (sscanf(place.thread, "worker-%u", &worker) == 1 && worker < 8)
		seen->n_workers[worker]++;
	if (!place.function || strcmp(place.function, "freshpages_write"))
		return 0;
	seen->n_named++;
	n = pace_sample_callers(s, frames, 64, NULL, &err);
	for (int i = 1; i < n && i < 64; i++) {
		CHECK_EQ(pace_sample_place(s, &frames[i], &place, &err), 0);
		seen->n_called += place.function && !strcmp(place.function, "work_of_a_thread");
	}
	return 0;
}

static void see_loss(void *context, const char *sentence)
{
	(void)context;
	test_failed(__FILE__, __LINE__, "%s", sentence);
}

static int see_record(void *context, const struct pace_record *r)
{
	struct seen *seen = context;

	CHECK(r->type != PERF_RECORD_SAMPLE);
	seen->n_records++;
	return 0;
}

static void measure_work(struct pace_session *s, const struct pace_slots *slots)
{
	CHECK_EQ(pace_session_enable(s, &err), 0);
	work();
	CHECK_EQ(pace_session_disable(s, &err), 0);
	CHECK_EQ(pace_session_read(s, slots, &err), 0);
}

TEST(api_session_samples_all_threads_with_names_and_callers)
{
	struct pace_options options = {.period = 1, .flags = PACE_CALLERS, .stack_bytes = 512};
	struct seen seen = {0};
	struct pace_slots slots = {.context = &seen,
		.sample = see_sample,
		.record = see_record,
		.loss = see_loss};
	struct program before, after;
	struct pace_value v[2];
	struct pace_session *s;

	start(&before, 2);
	s = open_session("page-faults:u,minor-faults:u", 0, &options);
	CHECK(pace_session_fd(s) >= 0);
	measure_work(s, &slots);
	finish(&before);
	/* It begins while nothing is measured, and is known all the same. */
	start(&after, 1);
	measure_work(s, &slots);
	finish(&after);
	/* Each fault of each worker by either event. */
	CHECK_EQ(seen.n_named, 2 * 3 * N_PAGES);
	CHECK_EQ(seen.n_called, seen.n_named);
	for (unsigned i = 1; i <= 3; i++)
		CHECK(seen.n_workers[i] >= 2 * N_PAGES);
	/* They are not switched on at one moment. */
	CHECK(seen.n_of_events[0] >= 3 * N_PAGES && seen.n_of_events[1] >= 3 * N_PAGES);
	CHECK_EQ(seen.n_backwards, 0);
	CHECK(seen.n_records >= 3);
	CHECK_EQ(pace_session_values(s, v, 2, &err), 2);
	CHECK_EQ(v[0].value, seen.n_of_events[0]);
	CHECK_EQ(v[0].counted, PACE_COUNTED);
	pace_session_close(s);
}

static int stop_at_ten(void *context, const struct pace_sample *s)
{
	uint64_t *seen = context;

	CHECK(s->time >= seen[1]);
	seen[1] = s->time;
	return ++seen[0] == 10 ? 42 : 0;
}

TEST(api_session_goes_on_where_a_slot_stopped_it)
{
	struct pace_options options = {.period = 1, .wakeup_samples = 1};
	uint64_t seen[2] = {0};
	struct pace_slots slots = {.context = seen, .sample = stop_at_ten};
	struct pace_session *s;
	struct pollfd fd;
	struct program p;
	struct pace_value v;

	start(&p, 3);
	s = open_session("page-faults:u", 0, &options);
	fd = (struct pollfd){.fd = pace_session_fd(s), .events = POLLIN};
	CHECK_EQ(poll(&fd, 1, 0), 0);
	CHECK_EQ(pace_session_enable(s, &err), 0);
	work();
	CHECK_EQ(pace_session_disable(s, &err), 0);
	CHECK_EQ(poll(&fd, 1, 1000), 1);
	CHECK_EQ(pace_session_read(s, &slots, &err), 42);
	CHECK_EQ(pace_session_read(s, &slots, &err), 0);
	CHECK_EQ(pace_session_values(s, &v, 1, &err), 1);
	CHECK_EQ(seen[0], v.value);
	finish(&p);
	pace_session_close(s);
}

TEST(api_session_of_another_process)
{
	struct pace_options options = {.period = 1};
	struct pace_session *s;
	struct pace_value v;
	int ends[2];
	char byte = 0;
	pid_t pid;

	CHECK_EQ(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		volatile char *pages = freshpages_map(N_PAGES);

		close(ends[1]);
		if (read(ends[0], &byte, 1) == 1)
			freshpages_write(pages, N_PAGES);
		_exit(0);
	}
	close(ends[0]);
	s = open_session("page-faults:u", pid, &options);
	CHECK_EQ(pace_session_enable(s, &err), 0);
	CHECK_EQ(write(ends[1], &byte, 1), 1);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	CHECK_EQ(pace_session_values(s, &v, 1, &err), 1);
	CHECK(v.value >= N_PAGES);
	pace_session_close(s);
	close(ends[1]);
	CHECK(!pace_session_open("page-faults:u", pid, &options, &err));
	CHECK_EQ(err.code, PACE_ERROR_NOT_FOUND);
}

TEST(api_session_says_what_it_gave_up)
{
	struct pace_options options = {.frequency = 1000};
	struct pace_session *s = open_session("cycles:u", 0, &options);
	struct pace_event e;

	CHECK_EQ(pace_session_event(s, 0, &e, &err), 0);
	if (strcmp(e.name, "cpu-clock:u"))
		CHECK_STR(e.name, "cycles:u");
	else
		CHECK_HAS(pace_session_notes(s), "the timer 'cpu-clock' samples instead");
	pace_session_close(s);
}

TEST(api_session_explains_what_makes_no_sense)
{
	static const struct {
		struct pace_options options;
		pid_t pid;
		const char *message;
	} rows[] = {
		{{0}, -2, "there is no pid -2"},
		{{.flags = PACE_USER_READ}, 0, "a session has many counters and rings"},
		{{.flags = PACE_KEEP_LATEST, .period = 1}, 0,
			"a session has many counters and rings"},
		{{.sample = PERF_SAMPLE_IP}, 0, "samples need a period or a frequency"},
		{{.period = 1, .frequency = 1}, 0,
			"a counter has a period or a frequency, not both"},
		{{.cgroup = "a"}, 0, "the tasks of control group 'a' are measured on all CPUs"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK(!pace_session_open("page-faults:u", rows[i].pid, &rows[i].options, &err));
		CHECK_EQ(err.code, PACE_ERROR_ARGUMENT);
		CHECK_HAS(err.message, rows[i].message);
	}
	CHECK(!pace_session_open("no-such-event", 0, NULL, &err));
	CHECK_EQ(err.code, PACE_ERROR_NOT_FOUND);
	pace_session_close(NULL);
}
