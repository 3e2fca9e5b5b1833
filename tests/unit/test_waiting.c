#include "test.h"

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/record/waiting.h"

static const u64 MARK = 0x5a5a1234a5a54321;

struct seen {
	pid_t tids[8];
	unsigned n, n_marks;
	u64 time;
};

static void note(void *ctx, const struct waiting_place *place)
{
	struct seen *seen = ctx;
	u64 word;

	CHECK(seen->n < ARRAY_SIZE(seen->tids));
	CHECK(place->sp && place->ip && place->n);
	seen->tids[seen->n++] = place->tid;
	seen->time = place->time;
	for (size_t i = 0; i + 8 <= place->n; i += 8) {
		memcpy(&word, place->stack + i, 8);
		seen->n_marks += word == MARK;
	}
}

/* Waits for a byte that never comes, with something on its stack that can be found again. */
static void wait_for_ever(int fd)
{
	volatile u64 marks[4] = {MARK, MARK, MARK, MARK};
	char byte;

	while (read(fd, &byte, 1) == 1)
		marks[0]++;
	_exit(marks[1] != MARK);
}

static pid_t fork_waiting(const int fds[2])
{
	pid_t pid = fork();

	if (pid)
		return pid;
	close(fds[1]);
	wait_for_ever(fds[0]);
	return 0;
}

/* Looks until so many have been seen, or for long in vain. */
static void look_for(struct waiting *w, struct seen *seen, unsigned n)
{
	for (int i = 0; i < 2000 && seen->n < n; i++) {
		waiting_look(w, note, seen);
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	}
	if (!seen->n && w->n_refused)
		SKIP("/proc does not tell of own children here");
}

TEST(waiting_tells_each_wait_once_and_where_it_is)
{
	struct waiting w;
	struct seen seen = {0};
	int fds[2];
	pid_t pid;

	CHECK(!pipe(fds));
	pid = fork_waiting(fds);
	waiting_init(&w, CLOCK_MONOTONIC, 4096);
	waiting_add(&w, pid);
	waiting_add(&w, pid);
	look_for(&w, &seen, 1);
	CHECK_EQ(seen.n, 1);
	CHECK_EQ(seen.tids[0], pid);
	CHECK(seen.n_marks >= 4);
	CHECK(seen.time <= clock_now_ns() && clock_now_ns() - seen.time < 60000000000);
	waiting_look(&w, note, &seen);
	waiting_look(&w, note, &seen);
	CHECK_EQ(seen.n, 1);
	CHECK_EQ(w.n_told, 1);
	/* It wakes, and waits anew. */
	CHECK(write(fds[1], "x", 1) == 1);
	look_for(&w, &seen, 2);
	CHECK_EQ(seen.n, 2);
	close(fds[1]);
	waitpid(pid, NULL, 0);
	waiting_look(&w, note, &seen);
	CHECK_EQ(w.pids.n, 0);
	waiting_fini(&w);
}

TEST(waiting_finds_what_a_process_has_started)
{
	struct waiting w;
	struct seen seen = {0};
	int fds[2];
	pid_t pid;

	if (access("/proc/self/task/self/children", F_OK) &&
		access("/proc/thread-self/children", F_OK))
		SKIP("this kernel does not tell of children");
	CHECK(!pipe(fds));
	pid = fork();
	if (!pid) {
		close(fds[1]);
		(void)fork_waiting((const int[]){fds[0], dup(fds[0])});
		wait_for_ever(fds[0]);
	}
	waiting_init(&w, CLOCK_MONOTONIC, 4096);
	waiting_add(&w, pid);
	look_for(&w, &seen, 2);
	CHECK_EQ(seen.n, 2);
	CHECK(seen.tids[0] != seen.tids[1]);
	/* Looks take a hundredth of the time at most. */
	CHECK(w.due_ns > clock_now_ns() - 60000000000);
	close(fds[1]);
	waitpid(pid, NULL, 0);
	waiting_fini(&w);
}
