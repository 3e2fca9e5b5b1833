#include "collect/run/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/sysfile.h"

enum { END_WAITS = 50, END_WAIT_US = 10000 };

static void run_child(char **argv, const int files[3], int gate, int failed)
{
	sigset_t none;
	char byte;
	ssize_t n;
	int sys;

	/* The child does not inherit pace's own handlers, ignored signals and blocked signals. */
	for (int sig = 1; sig < NSIG; sig++) {
		struct sigaction now;

		if (sigaction(sig, NULL, &now) == 0 && now.sa_handler != SIG_IGN &&
			now.sa_handler != SIG_DFL)
			signal(sig, SIG_DFL);
	}
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	do {
		n = read(gate, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);
	/* If pace was started without standard files, the pipe may have one of their numbers. */
	if (failed < 3)
		failed = fcntl(failed, F_DUPFD_CLOEXEC, 3);
	for (int i = 0; i < 3; i++)
		if (files[i] >= 0)
			dup2(files[i], i);
	execvp(argv[0], argv);
	sys = errno;
	n = write(failed, &sys, sizeof(sys));
	_exit(127 + (n < 0));
}

/*
 * The child has another name than pace until it calls exec: the one that readers of recordings know, and do not take for the
 * program that was recorded. It has it from its first moment on.
 */
static pid_t fork_named(void)
{
	char name[16];
	pid_t pid;
	int sys;

	if (prctl(PR_GET_NAME, name) || prctl(PR_SET_NAME, "perf-exec"))
		return fork();
	pid = fork();
	sys = errno;
	if (pid)
		prctl(PR_SET_NAME, name);
	errno = sys;
	return pid;
}

int workload_start(struct workload *w, char **argv, struct err *err)
{
	static const int own[3] = {-1, -1, -1};

	return workload_start_with(w, argv, own, err);
}

int workload_start_with(struct workload *w, char **argv, const int files[3], struct err *err)
{
	int gate[2], failed[2];

	memset(w, 0, sizeof(*w));
	w->go_fd = w->failed_fd = -1;
	if (pipe2(gate, O_CLOEXEC))
		return err_sys(err, errno, "making a pipe");
	if (pipe2(failed, O_CLOEXEC)) {
		close(gate[0]);
		close(gate[1]);
		return err_sys(err, errno, "making a pipe");
	}
	w->pid = fork_named();
	if (w->pid == 0) {
		close(gate[1]);
		close(failed[0]);
		run_child(argv, files, gate[0], failed[1]);
	}
	close(gate[0]);
	close(failed[1]);
	w->go_fd = gate[1];
	w->failed_fd = failed[0];
	if (w->pid > 0)
		return 0;
	err_sys(err, errno, "starting a process");
	w->pid = 0;
	workload_close(w);
	return err->code;
}

/* How long the first thread of a process that is not yet reaped waited for a CPU. */
static u64 queue_time(pid_t pid)
{
	char path[64], line[128];
	const char *p = line;
	u64 ran, waited;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	if (!sysfile_line(path, line, sizeof(line)) || !num_scan(&p, 10, &ran) || *p++ != ' ' ||
		!num_scan(&p, 10, &waited))
		return UINT64_MAX;
	return waited;
}

int workload_go(struct workload *w, const char *command, struct err *err)
{
	int sys = 0;
	ssize_t n;

	w->gate_ns = queue_time(w->pid);
	w->went_ns = clock_now_ns();
	n = write(w->go_fd, "g", 1);

	close(w->go_fd);
	w->go_fd = -1;
	/* The pipe closes by itself when exec succeeds. */
	while (n >= 0 && (n = read(w->failed_fd, &sys, sizeof(sys))) < 0 && errno == EINTR)
		n = 0;
	close(w->failed_fd);
	w->failed_fd = -1;
	if (n == 0)
		return 0;
	workload_reap(w, true);
	return err_sys(err, n == sizeof(sys) ? sys : errno, "running '%s'", command);
}

bool workload_reap(struct workload *w, bool block)
{
	siginfo_t info = {0};
	pid_t pid;
	int r;

	if (w->has_ended || !w->pid)
		return true;
	do {
		r = waitid(P_PID, (id_t)w->pid, &info, WEXITED | WNOWAIT | (block ? 0 : WNOHANG));
	} while (r < 0 && errno == EINTR);
	if (!r && !info.si_pid)
		return false;
	/* First of all, as the rest takes time. */
	w->ended_ns = clock_now_ns();
	w->queue_ns = queue_time(w->pid);
	if (w->queue_ns != UINT64_MAX && w->gate_ns != UINT64_MAX)
		w->queue_ns -= MIN(w->gate_ns, w->queue_ns);
	do {
		pid = wait4(w->pid, &w->status, block ? 0 : WNOHANG, &w->usage);
	} while (pid < 0 && errno == EINTR);
	w->has_ended = pid == w->pid || (pid < 0 && errno == ECHILD);
	return w->has_ended;
}

bool workload_end(struct workload *w, int sig)
{
	if (sig && !w->has_ended)
		kill(w->pid, sig);
	/* Most commands end at once. */
	for (unsigned i = 0; i < END_WAITS && !workload_reap(w, false); i++)
		usleep(END_WAIT_US);
	return w->has_ended;
}

int workload_exit_status(const struct workload *w)
{
	return WIFSIGNALED(w->status) ? 128 + WTERMSIG(w->status) : WEXITSTATUS(w->status);
}

void workload_close(struct workload *w)
{
	bool is_at_gate = w->go_fd >= 0;

	if (w->go_fd >= 0)
		close(w->go_fd);
	if (w->failed_fd >= 0)
		close(w->failed_fd);
	w->go_fd = w->failed_fd = -1;
	if (is_at_gate)
		workload_reap(w, true);
}

int workload_gate_memory(u64 *ret_bytes, struct err *err)
{
	char nothing[] = "", *argv[] = {nothing, NULL};
	struct workload w;
	struct err expected;

	if (workload_start(&w, argv, err))
		return err->code;
	/* The command goes through the gate to an exec that fails. */
	workload_go(&w, nothing, &expected);
	*ret_bytes = (u64)w.usage.ru_maxrss * 1024;
	return 0;
}
