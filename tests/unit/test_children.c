#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "event/children.h"

#include "test.h"

TEST(children_are_those_that_a_thread_has_started)
{
	struct children c = {0};
	pid_t pids[2];
	size_t n;

	children_add(&c, getpid(), getpid());
	n = c.n;
	for (int i = 0; i < 2; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			pause();
			_exit(0);
		}
	}
	children_add(&c, getpid(), getpid());
	if (c.n == n && !n) {
		kill(pids[0], SIGKILL);
		kill(pids[1], SIGKILL);
		SKIP("this kernel has no lists of children");
	}
	CHECK_EQ(c.n, 2 * n + 2);
	CHECK_EQ(c.at[c.n - 2], pids[0]);
	CHECK_EQ(c.at[c.n - 1], pids[1]);
	for (int i = 0; i < 2; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	n = c.n;
	children_add(&c, pids[0], pids[0]);
	CHECK_EQ(c.n, n);
	vec_fini(&c);
}
