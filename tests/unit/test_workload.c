#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sysfile.h"
#include "collect/run/workload.h"

static void start(struct workload *w, char **argv)
{
	struct err err;

	if (workload_start(w, argv, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
}

/* Starts a shell with a script, opens its gate and waits for its end. */
static int run_script(const char *script)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};
	struct workload w;
	struct err err;

	start(&w, argv);
	CHECK_EQ(workload_go(&w, "sh", &err), 0);
	CHECK(workload_reap(&w, true));
	CHECK(w.has_ended);
	workload_close(&w);
	return workload_exit_status(&w);
}

static void exe_of(pid_t pid, char *buf, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, buf, size - 1);
	buf[MAX(n, (ssize_t)0)] = '\0';
}

static bool is_there(pid_t pid)
{
	return kill(pid, 0) == 0;
}

TEST(workload_waits_at_its_gate_until_it_may_go)
{
	char *argv[] = {(char *)"sleep", (char *)"60", NULL};
	char mine[4096], before[4096], after[4096];
	struct workload w;
	struct err err;

	start(&w, argv);
	usleep(50000);
	exe_of(getpid(), mine, sizeof(mine));
	exe_of(w.pid, before, sizeof(before));
	CHECK(*mine);
	CHECK_STR(before, mine);
	CHECK(!workload_reap(&w, false));
	/* When go returns, the exec is done. */
	CHECK_EQ(workload_go(&w, "sleep", &err), 0);
	exe_of(w.pid, after, sizeof(after));
	CHECK(strcmp(after, mine));
	CHECK(!workload_reap(&w, false));
	kill(w.pid, SIGKILL);
	CHECK(workload_reap(&w, true));
	workload_close(&w);
}

TEST(workload_gives_its_exit_status)
{
	CHECK_EQ(run_script("exit 0"), 0);
	CHECK_EQ(run_script("exit 3"), 3);
	CHECK_EQ(run_script("exit 255"), 255);
}

TEST(workload_that_a_signal_ends_has_the_status_a_shell_gives)
{
	CHECK_EQ(run_script("kill -TERM $$"), 128 + SIGTERM);
	CHECK_EQ(run_script("kill -KILL $$"), 128 + SIGKILL);
}

TEST(workload_keeps_its_arguments_as_they_are)
{
	const char *path = test_path("out");
	char script[512], text[64];

	snprintf(script, sizeof(script), "printf '%%s|' a 'b c' '' >%s", path);
	CHECK_EQ(run_script(script), 0);
	CHECK(sysfile_line(path, text, sizeof(text)));
	CHECK_STR(text, "a|b c||");
}

TEST(workload_that_does_not_exist_is_an_error_with_its_name)
{
	char *argv[] = {(char *)"/no/such/program", NULL};
	struct workload w;
	struct err err;

	start(&w, argv);
	CHECK_EQ(workload_go(&w, argv[0], &err), ERR_NOENT);
	CHECK_STR(err.msg, "running '/no/such/program': No such file or directory");
	CHECK_EQ(err.sys, ENOENT);
	/* The child is gone and reaped. */
	CHECK(w.has_ended);
	CHECK_EQ(workload_exit_status(&w), 127);
	CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_EQ(errno, ECHILD);
	workload_close(&w);
}

TEST(workload_without_a_path_is_searched_for)
{
	char *argv[] = {(char *)"pace-no-such-program", NULL};
	struct workload w;
	struct err err;

	start(&w, argv);
	CHECK_EQ(workload_go(&w, argv[0], &err), ERR_NOENT);
	CHECK_STR(err.msg, "running 'pace-no-such-program': No such file or directory");
	workload_close(&w);
}

TEST(workload_that_may_not_be_executed_is_an_error)
{
	const char *path = test_path("file");
	char *argv[] = {(char *)path, NULL}, message[512];
	struct workload w;
	struct err err;

	test_write(path, "#!/bin/sh\n", 10);
	start(&w, argv);
	CHECK_EQ(workload_go(&w, path, &err), ERR_PERM);
	CHECK_EQ(err.sys, EACCES);
	snprintf(message, sizeof(message), "running '%s': Permission denied", path);
	CHECK_STR(err.msg, message);
	workload_close(&w);

	argv[0] = (char *)test_dir();
	start(&w, argv);
	CHECK_EQ(workload_go(&w, argv[0], &err), ERR_PERM);
	workload_close(&w);
}

TEST(workload_whose_interpreter_is_missing_is_an_error)
{
	const char *path = test_path("script");
	char *argv[] = {(char *)path, NULL};
	struct workload w;
	struct err err;

	test_write(path, "#!/no/such/interpreter\n", 23);
	chmod(path, 0755);
	start(&w, argv);
	CHECK_EQ(workload_go(&w, path, &err), ERR_NOENT);
	workload_close(&w);
}

TEST(workload_closed_before_it_went_never_runs)
{
	const char *path = test_path("trace");
	char *argv[] = {(char *)"touch", (char *)path, NULL};
	struct workload w;

	start(&w, argv);
	workload_close(&w);
	CHECK(w.has_ended);
	CHECK_EQ(workload_exit_status(&w), 127);
	CHECK(!is_there(w.pid));
	CHECK(access(path, F_OK) < 0);
	workload_close(&w);
}

TEST(workload_closed_after_it_went_goes_on)
{
	char *argv[] = {(char *)"sleep", (char *)"60", NULL};
	struct workload w;
	struct err err;

	start(&w, argv);
	CHECK_EQ(workload_go(&w, "sleep", &err), 0);
	workload_close(&w);
	CHECK(is_there(w.pid));
	CHECK(!w.has_ended);
	kill(w.pid, SIGKILL);
	waitpid(w.pid, NULL, 0);
}

TEST(workload_killed_at_its_gate_is_an_error)
{
	char *argv[] = {(char *)"sleep", (char *)"60", NULL};
	struct workload w;
	struct err err;

	signal(SIGPIPE, SIG_IGN); /* as pace itself does */
	start(&w, argv);
	kill(w.pid, SIGKILL);
	waitid(P_PID, w.pid, &(siginfo_t){0}, WEXITED | WNOWAIT);
	CHECK_EQ(workload_go(&w, "sleep", &err), ERR_SYS);
	CHECK_EQ(err.sys, EPIPE);
	CHECK_EQ(workload_exit_status(&w), 128 + SIGKILL);
	workload_close(&w);
}

static void handler(int sig)
{
	(void)sig;
}

static u64 mask_in(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	CHECK(at);
	return strtoull(at + strlen(key), NULL, 16);
}

TEST(workload_starts_with_default_signals)
{
	char *argv[] = {(char *)"cat", (char *)"/proc/self/status", NULL};
	struct str text = {0};
	struct workload w;
	struct err err;
	sigset_t all;
	char buf[4096];
	int out[2];
	ssize_t n;

	signal(SIGUSR1, handler);
	signal(SIGINT, handler);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGQUIT, SIG_DFL); /* a shell has it ignored in the background */
	signal(SIGHUP, SIG_IGN);  /* as nohup does: that is for the command too */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	CHECK_EQ(pipe(out), 0);
	dup2(out[1], STDOUT_FILENO);
	start(&w, argv);
	close(out[1]);
	close(STDOUT_FILENO);
	CHECK_EQ(workload_go(&w, "cat", &err), 0);
	while ((n = read(out[0], buf, sizeof(buf))) > 0)
		str_addn(&text, buf, n);
	CHECK(workload_reap(&w, true));
	CHECK_EQ(workload_exit_status(&w), 0);
	CHECK_EQ(mask_in(str_text(&text), "\nSigBlk:"), 0);
	CHECK_EQ(mask_in(str_text(&text), "\nSigCgt:"), 0);
	/* Whether signals 32 and 33 are ignored is between libc and whoever started us. */
	CHECK_EQ(mask_in(str_text(&text), "\nSigIgn:") & ~(3ULL << 31), 1 << (SIGHUP - 1));
	workload_close(&w);
	str_fini(&text);
}

/* Waits until a process catches no signals. */
static void wait_for_defaults(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	for (int i = 0; i < 30000; i++) {
		struct str text = {0};
		struct err err;
		u64 caught;

		CHECK_EQ(sysfile_read(path, 1 << 16, &text, &err), 0);
		caught = mask_in(str_text(&text), "\nSigCgt:");
		str_fini(&text);
		if (!caught)
			return;
		usleep(2000);
	}
	test_failed(__FILE__, __LINE__, "the child goes on catching our signals");
}

TEST(workload_at_its_gate_does_not_run_our_handlers)
{
	char *argv[] = {(char *)"sleep", (char *)"60", NULL};
	struct workload w;

	/* The sanitizer's own are caught too. */
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	signal(SIGUSR1, handler);
	start(&w, argv);
	wait_for_defaults(w.pid);
	kill(w.pid, SIGUSR1);
	CHECK(workload_reap(&w, true));
	CHECK_EQ(workload_exit_status(&w), 128 + SIGUSR1);
	workload_close(&w);
}

TEST(workload_inherits_no_pipe_of_its_gate)
{
	/* What whoever runs the tests left open is not meant. */
	for (int fd = 3; fd < 256; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	CHECK_EQ(run_script("for fd in /proc/self/fd/*; do case $fd in */[0-2]) ;; *) readlink $fd "
			    "| grep -q pipe: && "
			    "exit 1 ;; esac; done; exit 0"),
		0);
}

TEST(workload_reaps_without_waiting)
{
	char *argv[] = {(char *)"sleep", (char *)"60", NULL};
	struct workload w;
	struct err err;

	start(&w, argv);
	CHECK_EQ(workload_go(&w, "sleep", &err), 0);
	CHECK(!workload_reap(&w, false));
	kill(w.pid, SIGTERM);
	for (int i = 0; i < 12000 && !workload_reap(&w, false); i++)
		usleep(5000);
	CHECK(w.has_ended);
	CHECK_EQ(workload_exit_status(&w), 128 + SIGTERM);
	/* A second time is no harm. */
	CHECK(workload_reap(&w, true));
	workload_close(&w);
}

TEST(workload_that_somebody_else_reaped_has_ended)
{
	char *argv[] = {(char *)"true", NULL};
	struct workload w;
	struct err err;

	start(&w, argv);
	CHECK_EQ(workload_go(&w, "true", &err), 0);
	CHECK_EQ(waitpid(w.pid, NULL, 0), w.pid);
	CHECK(workload_reap(&w, true));
	workload_close(&w);
}

/* ---- when there is not enough of something ---- */

static int count_open(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

TEST(workload_without_room_for_its_pipes_is_an_error)
{
	char *argv[] = {(char *)"true", NULL};

	/* Room for one descriptor is too little for the first pipe, for three too little for the
	 * second. */
	for (rlim_t room = 1; room <= 3; room += 2) {
		struct rlimit before, limit;
		struct workload w;
		struct err err;
		int n = count_open(), next = dup(0);

		close(next);
		getrlimit(RLIMIT_NOFILE, &before);
		limit = (struct rlimit){.rlim_cur = next + room, .rlim_max = before.rlim_max};
		for (int fd = next; fd < 256; fd++)
			close(fd);
		n = count_open();
		CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
		CHECK_EQ(workload_start(&w, argv, &err), ERR_SYS);
		CHECK_STR(err.msg, "making a pipe: Too many open files");
		CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
		CHECK_EQ(count_open(), n);
		workload_close(&w);
	}
}

TEST(workload_without_room_for_a_process_is_an_error)
{
	char *argv[] = {(char *)"true", NULL};
	struct rlimit before, limit = {0};
	struct workload w;
	struct err err;
	int n;

	/* The limit does not hold for root. */
	if (geteuid() == 0 && (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)))
		SKIP("cannot become somebody else: %s", strerror(errno));
	prctl(PR_SET_DUMPABLE, 1);
	getrlimit(RLIMIT_NPROC, &before);
	limit.rlim_max = before.rlim_max;
	CHECK_EQ(setrlimit(RLIMIT_NPROC, &limit), 0);
	n = count_open();
	CHECK_EQ(workload_start(&w, argv, &err), ERR_SYS);
	CHECK_STR(err.msg, "starting a process: Resource temporarily unavailable");
	CHECK_EQ(w.pid, 0);
	CHECK_EQ(count_open(), n);
	CHECK(workload_reap(&w, true));
	workload_close(&w);
	/* The leak checker needs a task of its own. */
	CHECK_EQ(setrlimit(RLIMIT_NPROC, &before), 0);
}

TEST(workload_takes_the_files_it_is_given)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)"cat; echo oops >&2", NULL};
	int files[3] = {-1, -1, -1};
	char text[32] = "";
	struct workload w;
	struct err err;

	test_write(test_path("in"), "hello", 5);
	files[0] = open(test_path("in"), O_RDONLY | O_CLOEXEC);
	files[1] = files[2] = open(test_path("out"), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	CHECK_EQ(workload_start_with(&w, argv, files, &err), 0);
	CHECK_EQ(workload_go(&w, "sh", &err), 0);
	CHECK(workload_reap(&w, true));
	CHECK_EQ(workload_exit_status(&w), 0);
	CHECK_EQ(pread(files[1], text, sizeof(text) - 1, 0), 10);
	CHECK_STR(text, "hellooops\n");
	CHECK(w.went_ns && w.went_ns < w.ended_ns);
	workload_close(&w);
	close(files[0]);
	close(files[1]);
}

TEST(workload_is_ended_by_a_signal_or_goes_on_running)
{
	char *patient[] = {(char *)"sleep", (char *)"60", NULL};
	struct workload w;
	struct err err;

	start(&w, patient);
	CHECK_EQ(workload_go(&w, "sleep", &err), 0);
	CHECK(!workload_end(&w, 0));
	CHECK(workload_end(&w, SIGTERM));
	CHECK_EQ(workload_exit_status(&w), 128 + SIGTERM);
	workload_close(&w);
}

/* Every command has at least as much, whatever it needs itself. */
TEST(workload_knows_what_its_children_have_in_memory_before_they_are_a_command)
{
	u64 bytes = 0;
	struct err err;

	CHECK_EQ(workload_gate_memory(&bytes, &err), 0);
	CHECK(bytes > 100 << 10 && bytes < 1u << 30);
}
