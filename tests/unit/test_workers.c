#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/workers.h"

#include "test.h"

struct job {
	size_t n_pieces;
	unsigned n_workers;
	atomic_uint *done;        /* for each piece */
	size_t last[WORKERS_MAX]; /* for each worker: its last piece + 1 */
	atomic_int is_wrong;
};

static void piece(void *ctx, size_t i, unsigned worker)
{
	struct job *job = ctx;

	if (i >= job->n_pieces || worker >= job->n_workers) {
		job->is_wrong = 1;
		return;
	}
	/* Only this worker writes here: the thread sanitizer would object otherwise. */
	if (i < job->last[worker])
		job->is_wrong = 1;
	job->last[worker] = i + 1;
	atomic_fetch_add(&job->done[i], 1);
}

static void check_run(unsigned n_workers, size_t n_pieces)
{
	struct job job = {.n_pieces = n_pieces, .n_workers = MAX(n_workers, 1)};

	job.done = mem_zalloc(n_pieces * sizeof(*job.done) + 1);
	workers_run(n_workers, n_pieces, piece, &job);
	CHECK(!job.is_wrong);
	for (size_t i = 0; i < n_pieces; i++)
		CHECK_EQ(job.done[i], 1);
	mem_free(job.done);
}

TEST(workers_do_every_piece_exactly_once)
{
	static const size_t pieces[] = {0, 1, 2, 3, 7, 64, 1000, 100000};
	static const unsigned workers[] = {0, 1, 2, 3, 8, 33};

	for (size_t p = 0; p < ARRAY_SIZE(pieces); p++)
		for (size_t w = 0; w < ARRAY_SIZE(workers); w++)
			check_run(workers[w], pieces[p]);
}

TEST(workers_are_at_most_256)
{
	struct job job = {.n_pieces = 2000, .n_workers = WORKERS_MAX};

	job.done = mem_zalloc(job.n_pieces * sizeof(*job.done));
	workers_run(100000, job.n_pieces, piece, &job);
	CHECK(!job.is_wrong);
	for (size_t i = 0; i < job.n_pieces; i++)
		CHECK_EQ(job.done[i], 1);
	mem_free(job.done);
}

struct meeting {
	pthread_barrier_t barrier;
	atomic_uint seen[WORKERS_MAX];
	atomic_int n_unblocked, n_blocked;
	pid_t caller;
};

/* Nobody leaves before all have come: so there must be as many threads as pieces. */
static void meet(void *ctx, size_t i, unsigned worker)
{
	struct meeting *m = ctx;
	sigset_t mask;

	(void)i;
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	if (syscall(SYS_gettid) != m->caller) {
		bool is_blocked = sigismember(&mask, SIGINT) && sigismember(&mask, SIGTERM) &&
			sigismember(&mask, SIGCHLD) && sigismember(&mask, SIGUSR1) &&
			sigismember(&mask, SIGPIPE);

		atomic_fetch_add(is_blocked ? &m->n_blocked : &m->n_unblocked, 1);
	} else if (sigismember(&mask, SIGINT) || !sigismember(&mask, SIGUSR2)) {
		atomic_fetch_add(&m->n_unblocked, 100);
	}
	atomic_fetch_add(&m->seen[worker], 1);
	pthread_barrier_wait(&m->barrier);
}

TEST(workers_run_at_the_same_time_with_signals_blocked)
{
	enum { N = 8 };
	struct meeting m = {.caller = (pid_t)syscall(SYS_gettid)};
	sigset_t mask, after;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	CHECK_EQ(pthread_barrier_init(&m.barrier, NULL, N), 0);
	workers_run(N, N, meet, &m);
	pthread_barrier_destroy(&m.barrier);
	for (unsigned worker = 0; worker < N; worker++)
		CHECK_EQ(m.seen[worker], 1);
	CHECK_EQ(m.n_blocked, N - 1);
	CHECK_EQ(m.n_unblocked, 0);
	/* The caller has its own mask again. */
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	CHECK(sigismember(&after, SIGUSR2));
	for (int sig = 1; sig < 32; sig++)
		CHECK(sig == SIGUSR2 || !sigismember(&after, sig));
}

static void note_thread(void *ctx, size_t i, unsigned worker)
{
	(void)i;
	if (worker == 0 && syscall(SYS_gettid) == *(pid_t *)ctx)
		return;
	*(pid_t *)ctx = -1;
}

TEST(workers_alone_run_on_the_callers_thread)
{
	pid_t caller = (pid_t)syscall(SYS_gettid);

	workers_run(1, 100, note_thread, &caller);
	CHECK(caller != -1);
	workers_run(0, 100, note_thread, &caller);
	CHECK(caller != -1);
	workers_run(100, 1, note_thread, &caller);
	CHECK(caller != -1);
	workers_run(100, 0, note_thread, &caller);
	CHECK(caller != -1);
}

static void work_inside(void *ctx, size_t i, unsigned worker)
{
	(void)ctx;
	(void)worker;
	check_run(2, i);
}

TEST(workers_may_have_workers_of_their_own)
{
	workers_run(3, 20, work_inside, NULL);
}

TEST(workers_available_are_the_cpus_of_this_process)
{
	unsigned n = workers_available();
	cpu_set_t set, one;
	int cpu = 0;

	CHECK(n >= 1 && n <= WORKERS_MAX);
	if (sched_getaffinity(0, sizeof(set), &set))
		SKIP("more CPUs than a cpu_set_t holds");
	CHECK_EQ(n, MIN(CPU_COUNT(&set), WORKERS_MAX));
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
	CHECK_EQ(workers_available(), 1);
}

static atomic_uint n_taken;

static void find_no_memory(void *ctx, size_t i, unsigned worker)
{
	(void)ctx, (void)worker;
	atomic_fetch_add(&n_taken, 1);
	if (i == 5)
		mem_exhausted(1234);
}

static void run_out(void *ctx)
{
	workers_run(3, 1000000, find_no_memory, ctx);
}

TEST(workers_without_memory_all_end_before_their_caller_is_told)
{
	size_t size = 0;

	CHECK(!mem_try(run_out, NULL, &size));
	CHECK_EQ(size, 1234);
	CHECK(atomic_load(&n_taken) >= 6);
	CHECK(!mem_is_trying());
}
