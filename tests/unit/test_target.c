#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "event/target.h"

#include "test.h"

static struct target target_of(const struct target_words *words)
{
	struct target t;
	struct err err = {0};

	if (target_init(&t, words, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	return t;
}

static void check_refused(const struct target_words *words, int code, const char *message)
{
	struct target t;
	struct err err = {0};

	CHECK_EQ(target_init(&t, words, &err), code);
	CHECK_STR(err.msg, message);
	target_fini(&t);
}

static const char *online(void)
{
	static char text[256];
	struct cpus cpus = {0};
	struct str s = {0};
	struct err err;

	if (cpus_online(&cpus, &err))
		SKIP("%s", err.msg);
	cpus_add_text(&cpus, &s);
	snprintf(text, sizeof(text), "%s", str_text(&s));
	str_fini(&s);
	cpus_fini(&cpus);
	return text;
}

static const char *number(long n)
{
	static char texts[4][32];
	static unsigned next;
	char *text = texts[next++ % 4];

	snprintf(text, sizeof(texts[0]), "%ld", n);
	return text;
}

/* The number of a process that has just ended and been waited for. */
static pid_t ended_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	return pid;
}

TEST(target_without_words_is_a_command_on_all_online_cpus)
{
	const char *all = online();
	struct target t = target_of(&(struct target_words){0});
	struct str text = {0};

	CHECK(!t.is_system_wide && !t.has_cpu_list);
	CHECK_EQ(t.threads.n, 0);
	cpus_add_text(&t.cpus, &text);
	CHECK_STR(str_text(&text), all);
	str_fini(&text);
	target_fini(&t);
}

TEST(target_of_all_cpus_is_system_wide)
{
	struct target t;

	online();
	t = target_of(&(struct target_words){.all_cpus = true});
	CHECK(t.is_system_wide && !t.has_cpu_list);
	target_fini(&t);
}

TEST(target_with_a_cpu_list_measures_there)
{
	struct target t;
	struct cpus all = {0};
	struct err err;

	online();
	CHECK_EQ(cpus_online(&all, &err), 0);
	t = target_of(&(struct target_words){.cpus = number(all.at[0])});
	CHECK(t.is_system_wide && t.has_cpu_list);
	CHECK_EQ(t.cpus.n, 1);
	CHECK_EQ(t.cpus.at[0], all.at[0]);
	target_fini(&t);
	/* With processes, only these are measured there. */
	t = target_of(&(struct target_words){.cpus = number(all.at[0]), .pids = number(getpid())});
	CHECK(!t.is_system_wide && t.has_cpu_list);
	CHECK_EQ(t.cpus.n, 1);
	CHECK_EQ(t.threads.n, 1);
	target_fini(&t);
	cpus_fini(&all);
}

static void *wait_for_byte(void *arg)
{
	char byte;

	CHECK_EQ(read(*(int *)arg, &byte, 1), 0);
	return NULL;
}

TEST(target_of_a_process_has_all_its_threads)
{
	pthread_t threads[3];
	struct target t;
	int ends[2];
	bool has_main = false;

	online();
	CHECK_EQ(pipe(ends), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, wait_for_byte, &ends[0]), 0);
	t = target_of(&(struct target_words){.pids = number(getpid())});
	CHECK_EQ(t.threads.n, 4);
	for (size_t i = 0; i < t.threads.n; i++) {
		CHECK_EQ(t.threads.at[i].pid, getpid());
		has_main |= t.threads.at[i].tid == getpid();
		for (size_t k = 0; k < i; k++)
			CHECK(t.threads.at[k].tid != t.threads.at[i].tid);
	}
	CHECK(has_main);
	target_fini(&t);
	/* One thread is one thread, and its process is known. */
	t = target_of(&(struct target_words){.tids = number(getpid())});
	CHECK_EQ(t.threads.n, 1);
	CHECK_EQ(t.threads.at[0].pid, getpid());
	CHECK_EQ(t.threads.at[0].tid, getpid());
	target_fini(&t);
	close(ends[1]);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	close(ends[0]);
}

struct other_thread {
	pid_t tid;
	pthread_barrier_t barrier;
};

static void *tell_tid(void *arg)
{
	struct other_thread *other = arg;

	other->tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&other->barrier);
	pthread_barrier_wait(&other->barrier);
	return NULL;
}

TEST(target_of_a_thread_knows_its_process)
{
	struct other_thread other = {0};
	pthread_t thread;
	struct target t;

	online();
	CHECK_EQ(pthread_barrier_init(&other.barrier, NULL, 2), 0);
	CHECK_EQ(pthread_create(&thread, NULL, tell_tid, &other), 0);
	pthread_barrier_wait(&other.barrier);
	t = target_of(&(struct target_words){.tids = number(other.tid)});
	CHECK_EQ(t.threads.n, 1);
	CHECK_EQ(t.threads.at[0].pid, getpid());
	CHECK_EQ(t.threads.at[0].tid, other.tid);
	target_fini(&t);
	pthread_barrier_wait(&other.barrier);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&other.barrier);
}

TEST(target_takes_several_processes)
{
	char list[64];
	struct target t;
	pid_t child = fork();

	if (child == 0) {
		pause();
		_exit(0);
	}
	online();
	snprintf(list, sizeof(list), "%d,%d", getpid(), child);
	t = target_of(&(struct target_words){.pids = list});
	CHECK_EQ(t.threads.n, 2);
	CHECK_EQ(t.threads.at[0].pid + t.threads.at[1].pid, getpid() + child);
	target_fini(&t);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* Two counters for one thread would count everything twice. */
TEST(target_measures_a_thread_once_however_often_it_is_listed)
{
	char list[64];
	struct target t;
	pid_t child = fork();

	if (child == 0) {
		pause();
		_exit(0);
	}
	online();
	snprintf(list, sizeof(list), "%d,%d,%d", child, getpid(), child);
	t = target_of(&(struct target_words){.pids = list});
	CHECK_EQ(t.threads.n, 2);
	CHECK(t.threads.at[0].tid < t.threads.at[1].tid);
	target_fini(&t);
	t = target_of(&(struct target_words){.tids = list});
	CHECK_EQ(t.threads.n, 2);
	target_fini(&t);
	t = target_of(&(struct target_words){.pids = number(getpid()), .tids = list});
	CHECK_EQ(t.threads.n, 2);
	target_fini(&t);
	snprintf(list, sizeof(list), "%d,%d", getpid(), getpid());
	t = target_of(&(struct target_words){.pids = list});
	CHECK_EQ(t.threads.n, 1);
	CHECK_EQ(t.threads.at[0].pid, getpid());
	CHECK_EQ(t.threads.at[0].tid, getpid());
	target_fini(&t);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

TEST(target_lists_must_be_numbers)
{
	static const char *const lists[] = {"", ",", "0", "-1", "x", "12x", "12 ", "12,", ",12",
		"2147483648", "4294967297", "99999999999999999999", "0x10"};

	online();
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		/* The list of a number that exists and one that makes no sense. */
		char expected[256], list[64];

		snprintf(expected, sizeof(expected), "-p '%s': expected process numbers like 12,34",
			lists[i]);
		check_refused(&(struct target_words){.pids = lists[i]}, ERR_INVAL, expected);
		snprintf(expected, sizeof(expected), "-t '%s': expected process numbers like 12,34",
			lists[i]);
		check_refused(&(struct target_words){.tids = lists[i]}, ERR_INVAL, expected);
		snprintf(list, sizeof(list), "%d,%s", getpid(), lists[i]);
		snprintf(expected, sizeof(expected), "-p '%s': expected process numbers like 12,34",
			list);
		check_refused(&(struct target_words){.pids = list}, ERR_INVAL, expected);
	}
}

TEST(target_that_does_not_exist_is_named)
{
	pid_t pid = ended_process();
	char expected[128];

	online();
	snprintf(expected, sizeof(expected), "-p %d: there is no process %d", pid, pid);
	check_refused(&(struct target_words){.pids = number(pid)}, ERR_NOENT, expected);
	snprintf(expected, sizeof(expected), "-t %d: there is no thread %d", pid, pid);
	check_refused(&(struct target_words){.tids = number(pid)}, ERR_NOENT, expected);
}

TEST(target_of_everything_and_of_processes_is_a_contradiction)
{
	check_refused(&(struct target_words){.all_cpus = true, .pids = "1"}, ERR_INVAL,
		"-a measures everything, -p only 1: choose one");
	check_refused(&(struct target_words){.all_cpus = true, .tids = "2,3"}, ERR_INVAL,
		"-a measures everything, -t only 2,3: choose one");
}

TEST(target_cpus_must_be_online_and_well_written)
{
	char expected[512];

	snprintf(expected, sizeof(expected), "-C 65535: CPU 65535 is not online (online are %s)",
		online());
	check_refused(&(struct target_words){.cpus = "65535"}, ERR_NOENT, expected);
	check_refused(&(struct target_words){.cpus = "0-"}, ERR_INVAL,
		"-C: CPU list '0-': expected numbers and ranges like 0-3,8 at ''");
	check_refused(&(struct target_words){.cpus = ""}, ERR_INVAL,
		"-C: CPU list '': expected numbers and ranges like 0-3,8 at ''");
}
