#include "collect/run/hook.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect/run/stop.h"

enum { LOOK_NS = 100000000 };

/* Executes the command in a shell, with no signals blocked. */
static void exec_shell(const char *command) __attribute__((noreturn));
static void exec_shell(const char *command)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* The pending signals that ask us to end, except SIGCHLD. */
static void pending_ends(sigset_t *ret)
{
	sigset_t pending, ends;

	stop_signals(&ends);
	sigdelset(&ends, SIGCHLD);
	sigpending(&pending);
	sigandset(ret, &pending, &ends);
}

/* Passes pending signals on to the hook, which is meant too. They stay pending for the caller. */
static void pass_on(pid_t pid, sigset_t *passed)
{
	sigset_t pending;

	pending_ends(&pending);
	for (int sig = 1; sig < NSIG; sig++) {
		if (sigismember(&pending, sig) != 1 || sigismember(passed, sig) == 1)
			continue;
		sigaddset(passed, sig);
		kill(pid, sig);
	}
}

static int wait_for(pid_t pid)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	sigset_t child, passed;
	int status;
	pid_t r;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigemptyset(&passed);
	while (!(r = waitpid(pid, &status, WNOHANG))) {
		pass_on(pid, &passed);
		sigtimedwait(&child, NULL, &look);
	}
	return r < 0 ? -1 : status;
}

/* Whether it was ended by a signal that we got too. */
static bool was_ended_with_us(int status)
{
	sigset_t pending;
	int sig = WIFSIGNALED(status)                            ? WTERMSIG(status)
		: WIFEXITED(status) && WEXITSTATUS(status) > 128 ? WEXITSTATUS(status) - 128
								 : 0;

	pending_ends(&pending);
	return sig && sigismember(&pending, sig) == 1;
}

int hook_run(const char *option, const char *command, struct err *err)
{
	sigset_t signals, before;
	int status;
	pid_t pid;

	if (!command)
		return 0;
	stop_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, &before);
	pid = fork();
	if (!pid)
		exec_shell(command);
	status = pid < 0 ? -1 : wait_for(pid);
	if (status > 0 && was_ended_with_us(status))
		status = 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (status < 0)
		return err_sys(err, errno, "%s '%s'", option, command);
	return status ? err_set(err, ERR_INVAL, "%s '%s' ended with status %d", option, command,
				WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status))
		      : 0;
}
