#include "view/screen/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/types.h"

enum { TEXT_MOST = 512 };

/* Signal handlers need them: there is one terminal. */
static struct {
	volatile sig_atomic_t is_entered;
	struct termios before, raw;
	int in;
	int wake[2]; /* bytes in it are kinds of events that signals and other threads bring */
	char enter[TEXT_MOST], leave[TEXT_MOST];
	size_t n_enter, n_leave;
} terminal = {.wake = {-1, -1}};

/* Signals that end the process. */
static const int endings[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGSEGV, SIGBUS, SIGILL, SIGFPE,
	SIGABRT, SIGSYS, SIGTRAP, SIGALRM, SIGUSR1, SIGUSR2, SIGPIPE, SIGXCPU};
static struct sigaction actions_before[ARRAY_SIZE(endings)], winch_before, stop_before,
	go_on_before;

/* ---- what signal handlers may call ---- */

/* A terminal that takes nothing must not keep the process from ending. */
static void write_if_possible(const char *text, size_t n)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
	ssize_t ignored;

	if (poll(&out, 1, 0) != 1 || !(out.revents & POLLOUT))
		return;
	ignored = write(STDOUT_FILENO, text, n);
	(void)ignored;
}

static void leave(void)
{
	if (!terminal.is_entered)
		return;
	terminal.is_entered = 0;
	write_if_possible(terminal.leave, terminal.n_leave);
	tcsetattr(terminal.in, TCSANOW, &terminal.before);
}

static void enter(void)
{
	if (tcsetattr(terminal.in, TCSANOW, &terminal.raw))
		return;
	terminal.is_entered = 1;
	write_if_possible(terminal.enter, terminal.n_enter);
}

void guard_wake(enum event_kind kind)
{
	const u8 byte = (u8)kind;
	const ssize_t ignored = write(terminal.wake[1], &byte, 1);

	(void)ignored;
}

/* The action before takes over: it is in place once the handler has begun, and the signal comes once more. */
static void end_by(int sig)
{
	const int saved = errno;

	leave();
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (endings[i] == sig)
			sigaction(sig, &actions_before[i], NULL);
	raise(sig);
	errno = saved;
}

static void stop_by(int sig)
{
	const int saved = errno;
	struct sigaction ours;
	sigset_t set;

	leave();
	sigaction(sig, &(struct sigaction){.sa_handler = SIG_DFL}, &ours);
	sigemptyset(&set);
	sigaddset(&set, sig);
	raise(sig);
	/* The process stops here. */
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigaction(sig, &ours, NULL);
	enter();
	guard_wake(EVENT_RESIZE);
	errno = saved;
}

/* After SIGSTOP, nobody has left: the shell has drawn over the screen and may have set other modes. */
static void resized(int sig)
{
	const int saved = errno;

	if (sig == SIGCONT && terminal.is_entered)
		enter();
	guard_wake(EVENT_RESIZE);
	errno = saved;
}

/* ---- from the beginning to the end ---- */

static void install(void)
{
	const struct sigaction ending = {.sa_handler = end_by, .sa_flags = SA_NODEFER};

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		sigaction(endings[i], NULL, &actions_before[i]);
		/* What is ignored stays ignored. */
		if (actions_before[i].sa_handler != SIG_IGN)
			sigaction(endings[i], &ending, NULL);
	}
	sigaction(SIGTSTP, &(struct sigaction){.sa_handler = stop_by}, &stop_before);
	sigaction(SIGWINCH, &(struct sigaction){.sa_handler = resized}, &winch_before);
	sigaction(SIGCONT, &(struct sigaction){.sa_handler = resized}, &go_on_before);
}

static void uninstall(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		sigaction(endings[i], &actions_before[i], NULL);
	sigaction(SIGTSTP, &stop_before, NULL);
	sigaction(SIGWINCH, &winch_before, NULL);
	sigaction(SIGCONT, &go_on_before, NULL);
}

int guard_open_in(struct guard_in *in, struct err *err)
{
	*in = (struct guard_in){.fd = STDIN_FILENO};
	if (isatty(in->fd) == 1)
		return 0;
	in->fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (in->fd < 0)
		return err_sys(err, errno, "keys: stdin is not a terminal, and opening '/dev/tty'");
	in->owns_fd = true;
	return 0;
}

void guard_close_in(struct guard_in *in)
{
	if (in->owns_fd)
		close(in->fd);
}

int guard_open(int in, struct err *err)
{
	static bool has_exit;

	if (tcgetattr(in, &terminal.before))
		return err_sys(err, errno, "reading the modes of the terminal");
	if (pipe2(terminal.wake, O_CLOEXEC | O_NONBLOCK))
		return err_sys(err, errno, "a pipe for signals");
	terminal.in = in;
	terminal.raw = terminal.before;
	terminal.raw.c_iflag &= ~(tcflag_t)(IXON | ICRNL | INLCR | ISTRIP);
	terminal.raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
	terminal.raw.c_cc[VMIN] = 1;
	terminal.raw.c_cc[VTIME] = 0;
	if (!has_exit)
		atexit(leave);
	has_exit = true;
	install();
	return 0;
}

int guard_enter(const char *enter_text, const char *leave_text, struct err *err)
{
	terminal.n_enter = strlen(enter_text);
	terminal.n_leave = strlen(leave_text);
	if (MAX(terminal.n_enter, terminal.n_leave) >= TEXT_MOST)
		return err_set(err, ERR_LIMIT, "the terminal's control sequences are too long");
	memcpy(terminal.enter, enter_text, terminal.n_enter + 1);
	memcpy(terminal.leave, leave_text, terminal.n_leave + 1);
	enter();
	return 0;
}

void guard_close(void)
{
	leave();
	uninstall();
	close(terminal.wake[0]);
	close(terminal.wake[1]);
}

void guard_suspend(void)
{
	raise(SIGTSTP);
}

int guard_wakes(void)
{
	return terminal.wake[0];
}

enum event_kind guard_take_wakes(void)
{
	enum event_kind kind = EVENT_NONE;
	u8 bytes[64];
	ssize_t n;

	while ((n = read(terminal.wake[0], bytes, sizeof(bytes))) > 0)
		for (ssize_t i = 0; i < n; i++)
			if (kind == EVENT_NONE || kind == EVENT_TICK || bytes[i] == EVENT_END)
				kind = (enum event_kind)bytes[i];
	return kind;
}
