#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/num.h"
#include "cmd/test/testwork.h"

/* Built with frame pointers and debug information in every build: meson.build. Names are what tests and users look for. */
#define KEPT __attribute__((noinline, noclone))

enum { THREADS_MAX = 1024 };

volatile bool testwork_is_over;

static void end(int signal)
{
	(void)signal;
	testwork_is_over = true;
}

static void arm(double seconds)
{
	struct itimerval timer = {.it_value.tv_sec = (time_t)seconds};

	timer.it_value.tv_usec = (suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 1e6);
	if (!timer.it_value.tv_sec && !timer.it_value.tv_usec)
		timer.it_value.tv_usec = 1;
	signal(SIGALRM, end);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* ---- loops ---- */

static KEPT void noploop(void)
{
	while (!testwork_is_over)
		;
}

static int run_noploop(const struct testwork_numbers *numbers, struct err *err)
{
	(void)numbers;
	(void)err;
	noploop();
	return 0;
}

static volatile u64 total;

static KEPT void leaf(u64 value)
{
	total += value;
	while (!testwork_is_over)
		total++;
}

static KEPT void parent(u64 value)
{
	leaf(value + 1);
	total--; /* no tail call */
}

static KEPT void leafloop(void)
{
	parent(1);
	total--;
}

static int run_leafloop(const struct testwork_numbers *numbers, struct err *err)
{
	(void)numbers;
	(void)err;
	leafloop();
	return 0;
}

static volatile double root;

static KEPT void sqrtloop(void)
{
	for (u64 i = 0; !testwork_is_over; i++)
		root = sqrt((double)i);
}

/* In a child process, which has the time. */
static int run_sqrtloop(const struct testwork_numbers *numbers, struct err *err)
{
	const pid_t pid = fork();

	if (pid < 0)
		return err_sys(err, errno, "starting a process");
	if (!pid) {
		arm(numbers->seconds);
		sqrtloop();
		_exit(0);
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

/* ---- threads ---- */

static KEPT void test_loop(void)
{
	while (!testwork_is_over)
		total++;
}

static KEPT void *thfunc(void *name)
{
	if (name)
		pthread_setname_np(pthread_self(), name);
	test_loop();
	return NULL;
}

/* Also the thread that starts the others has its share. */
static int run_threads(u64 n, bool are_named, struct err *err)
{
	pthread_t threads[THREADS_MAX];
	char names[THREADS_MAX][16];
	u64 n_running = 0;
	int sys = 0;

	while (n_running + 1 < n && !sys) {
		snprintf(names[n_running], sizeof(names[0]), "thread%u", (unsigned)(n_running + 1));
		sys = pthread_create(&threads[n_running], NULL, thfunc,
			are_named ? names[n_running] : NULL);
		n_running += !sys;
	}
	if (sys)
		testwork_is_over = true;
	test_loop();
	while (n_running)
		pthread_join(threads[--n_running], NULL);
	return sys ? err_sys(err, sys, "starting a thread") : 0;
}

static int run_thloop(const struct testwork_numbers *numbers, struct err *err)
{
	return run_threads(numbers->n, false, err);
}

static int run_named_threads(const struct testwork_numbers *numbers, struct err *err)
{
	return run_threads(numbers->n, true, err);
}

/* ---- branches, data, switches ---- */

static volatile u64 count;

static KEPT void brstack_bar(void)
{
	count++;
}

static KEPT void brstack_foo(void)
{
	brstack_bar();
	count++;
}

/* Calls, returns, a jump that depends on data, and a call through a pointer. */
static KEPT void brstack_bench(void)
{
	static void (*volatile const indirect)(void) = brstack_foo;

	if (count & 1)
		brstack_bar();
	brstack_foo();
	indirect();
}

static KEPT void brstack(u64 rounds)
{
	for (u64 i = 0; i < rounds; i++)
		brstack_bench();
}

static int run_brstack(const struct testwork_numbers *numbers, struct err *err)
{
	(void)err;
	brstack(numbers->n);
	return 0;
}

/* Two members that are written, at 0 and at 56, in one cache line. */
static struct {
	char data1;
	char reserved[55];
	char data2;
} __attribute__((aligned(64))) volatile workload_datasym_buf1;

static KEPT void datasym(void)
{
	while (!testwork_is_over) {
		workload_datasym_buf1.data1++;
		if (workload_datasym_buf1.data1 == 123)
			workload_datasym_buf1.data1++;
		workload_datasym_buf1.data2 += workload_datasym_buf1.data1;
	}
}

static int run_datasym(const struct testwork_numbers *numbers, struct err *err)
{
	(void)numbers;
	(void)err;
	datasym();
	return 0;
}

static KEPT void context_switch_loop(int from, int to)
{
	char byte = 0;

	while (!testwork_is_over && write(to, &byte, 1) == 1 && read(from, &byte, 1) == 1)
		;
}

/* Two processes wait for each other. */
static int run_context_switch_loop(const struct testwork_numbers *numbers, struct err *err)
{
	int there[2] = {-1, -1}, back[2] = {-1, -1};
	pid_t pid = -1;

	(void)numbers;
	if (pipe(there) || pipe(back) || (pid = fork()) < 0)
		return err_sys(err, errno, "starting a process with two pipes");
	if (!pid) {
		close(there[1]);
		close(back[0]);
		context_switch_loop(there[0], back[1]);
		_exit(0);
	}
	close(there[0]);
	close(back[1]);
	signal(SIGPIPE, SIG_IGN);
	context_switch_loop(back[0], there[1]);
	close(there[1]);
	close(back[0]);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

/* ---- the table ---- */

/* clang-format off: a row a workload */
const struct testwork testworks[] = {
	{"noploop", "[SECONDS]", "an empty loop in noploop()", {.seconds = 1}, run_noploop},
	{"thloop", "[SECONDS [THREADS]]", "a loop in test_loop() of 2 threads", {1, 2}, run_thloop},
	{"named_threads", "[SECONDS [THREADS]]",
		"the same in 4 threads, which are called thread1, thread2, ...", {1, 4},
		run_named_threads},
	{"leafloop", "[SECONDS]", "a loop in leaf(), which parent() calls", {.seconds = 1},
		run_leafloop},
	{"inlineloop", "[SECONDS]",
		"a loop in parent(), into which middle() and leaf() are inlined", {.seconds = 1},
		inlineloop_run},
	{"sqrtloop", "[SECONDS]", "square roots in sqrtloop() of a child process", {.seconds = 1},
		run_sqrtloop},
	{"brstack", "[ROUNDS]", "calls, returns and jumps in brstack_bench(), ten million rounds",
		{.n = 10000000}, run_brstack},
	{"datasym", "[SECONDS]",
		"datasym() writes two members of workload_datasym_buf1, at 0 and at 56",
		{.seconds = 1}, run_datasym},
	{"context_switch_loop", "[SECONDS]", "two processes wait for each other's byte in a pipe",
		{.seconds = 1}, run_context_switch_loop},
};
/* clang-format on */

const size_t testwork_n = ARRAY_SIZE(testworks);

const struct testwork *testwork_find(const char *name)
{
	for (size_t i = 0; i < testwork_n; i++)
		if (!strcmp(testworks[i].name, name))
			return &testworks[i];
	return NULL;
}

static int take_numbers(const struct testwork *w, int argc, char **argv,
	struct testwork_numbers *ret, struct err *err)
{
	const int most = (w->usual.seconds > 0) + (w->usual.n > 0);
	int at = 0;

	*ret = w->usual;
	if (argc > most)
		return err_set(err, ERR_INVAL, "unexpected argument '%s': %s takes %s", argv[most],
			w->name, w->usage);
	if (at < argc && ret->seconds > 0) {
		char *rest;

		ret->seconds = strtod(argv[at], &rest);
		if (rest == argv[at] || *rest || !(ret->seconds > 0 && ret->seconds <= 1e6))
			return err_set(err, ERR_INVAL, "'%s' is no time: %s takes %s", argv[at],
				w->name, w->usage);
		at++;
	}
	if (at < argc && (num_parse(argv[at], &ret->n, err) || !ret->n))
		return err_set(err, ERR_INVAL, "'%s' is no number: %s takes %s", argv[at], w->name,
			w->usage);
	if (w->usual.seconds > 0 && ret->n > THREADS_MAX)
		return err_set(err, ERR_LIMIT, "%llu threads are too many: %d are possible",
			(unsigned long long)ret->n, THREADS_MAX);
	return 0;
}

int testwork_run(const struct testwork *w, int argc, char **argv, struct err *err)
{
	struct testwork_numbers numbers;
	int r = take_numbers(w, argc, argv, &numbers, err);

	if (r)
		return r;
	if (numbers.seconds > 0)
		arm(numbers.seconds);
	return w->run(&numbers, err);
}
