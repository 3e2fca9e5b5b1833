#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "view/screen/screen.h"

/*
 * The alternate screen, no cursor, no wrapping behind the last column, clicks and the wheel as SGR sequences, and no
 * reordering of text by the terminal (BDSM: explicit).
 */
#define ENTER "\033[?1049h\033[?25l\033[?7l\033[?1000h\033[?1006h\033[8l"
#define LEAVE "\033[0m\033[8h\033[?1006l\033[?1000l\033[?7h\033[?25h\033[?1049l"

enum {
	ESC_MS = 50, /* an ESC that nothing follows for so long is the key */
	NS_PER_MS = 1000000,
};

struct ansi {
	int in;
	bool owns_in;
	struct keyboard keyboard;
};

/* Signal handlers need them: there is one terminal. */
static struct {
	volatile sig_atomic_t is_entered;
	struct termios before, raw;
	int in;
	int wake[2]; /* bytes in it are kinds of events that signals and other threads bring */
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
	write_if_possible(LEAVE, sizeof(LEAVE) - 1);
	tcsetattr(terminal.in, TCSANOW, &terminal.before);
}

static void enter(void)
{
	if (tcsetattr(terminal.in, TCSANOW, &terminal.raw))
		return;
	terminal.is_entered = 1;
	write_if_possible(ENTER, sizeof(ENTER) - 1);
}

static void wake(enum event_kind kind)
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
	wake(EVENT_RESIZE);
	errno = saved;
}

/* After SIGSTOP, nobody has left: the shell has drawn over the screen and may have set other modes. */
static void resized(int sig)
{
	const int saved = errno;

	if (sig == SIGCONT && terminal.is_entered)
		enter();
	wake(EVENT_RESIZE);
	errno = saved;
}

/* ---- the six functions ---- */

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

/* Keys come from stdin, or, if that is a recording, from the process' terminal. */
static int open_in(struct ansi *a, struct err *err)
{
	a->in = STDIN_FILENO;
	if (isatty(a->in) == 1)
		return 0;
	a->in = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (a->in < 0)
		return err_sys(err, errno, "keys: stdin is not a terminal, and opening '/dev/tty'");
	a->owns_in = true;
	return 0;
}

static int ansi_open(struct screen *s, struct err *err)
{
	static bool has_exit;
	struct ansi *a = mem_zalloc(sizeof(*a));

	s->of = a;
	if (open_in(a, err) || tcgetattr(a->in, &terminal.before)) {
		if (a->in >= 0)
			err_sys(err, errno, "reading the modes of the terminal");
		mem_free(a);
		return err->code;
	}
	if (pipe2(terminal.wake, O_CLOEXEC | O_NONBLOCK)) {
		err_sys(err, errno, "a pipe for signals");
		mem_free(a);
		return err->code;
	}
	terminal.in = a->in;
	terminal.raw = terminal.before;
	terminal.raw.c_iflag &= ~(tcflag_t)(IXON | ICRNL | INLCR | ISTRIP);
	terminal.raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
	terminal.raw.c_cc[VMIN] = 1;
	terminal.raw.c_cc[VTIME] = 0;
	if (!has_exit)
		atexit(leave);
	has_exit = true;
	install();
	enter();
	return 0;
}

static void ansi_close(struct screen *s)
{
	struct ansi *a = s->of;

	leave();
	uninstall();
	close(terminal.wake[0]);
	close(terminal.wake[1]);
	if (a->owns_in)
		close(a->in);
	mem_free(a);
}

static void ansi_size(struct screen *s, unsigned *ret_columns, unsigned *ret_rows)
{
	struct winsize size;
	const bool is_known =
		!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col && size.ws_row;

	(void)s;
	/* A terminal of more cells than this is a mistake. */
	*ret_columns = is_known ? MIN(size.ws_col, 2000u) : 80;
	*ret_rows = is_known ? MIN(size.ws_row, 1000u) : 24;
}

/* Rounded up, so that nobody waits for nothing again and again. */
static int left_ms(u64 end)
{
	const u64 now = clock_now_ns();

	return end > now ? (int)((end - now + NS_PER_MS - 1) / NS_PER_MS) : 0;
}

/* The most urgent of the events that came: the end, then another size. */
static enum event_kind take_wakes(void)
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

static void ansi_read(struct screen *s, int wait_ms, struct screen_event *ret)
{
	struct ansi *a = s->of;
	const u64 end = clock_now_ns() + (u64)MAX(wait_ms, 0) * NS_PER_MS;

	*ret = (struct screen_event){0};
	while (!keyboard_next(&a->keyboard, false, ret)) {
		struct pollfd fds[] = {{.fd = a->in, .events = POLLIN},
			{.fd = terminal.wake[0], .events = POLLIN}};
		const int n = poll(fds, ARRAY_SIZE(fds),
			a->keyboard.n          ? ESC_MS
				: wait_ms >= 0 ? left_ms(end)
					       : -1);

		ret->kind = (u8)take_wakes();
		if (ret->kind)
			return;
		if (!n && keyboard_next(&a->keyboard, true, ret))
			return;
		if (wait_ms >= 0 && !left_ms(end)) {
			ret->kind = EVENT_TICK;
			return;
		}
		if (n <= 0)
			continue;
		const ssize_t got =
			read(a->in, a->keyboard.bytes + a->keyboard.n, keyboard_room(&a->keyboard));

		if (got > 0) {
			a->keyboard.n += (size_t)got;
		} else if (!got || errno != EINTR) {
			ret->kind = EVENT_END;
			return;
		}
	}
}

static bool ansi_write(struct screen *s, const char *text, size_t n)
{
	(void)s;
	while (n) {
		const ssize_t done = write(STDOUT_FILENO, text, n);

		if (done < 0 && errno == EAGAIN)
			poll(&(struct pollfd){.fd = STDOUT_FILENO, .events = POLLOUT}, 1, -1);
		else if (done < 0 && errno != EINTR)
			return false;
		text += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
	return true;
}

static void ansi_suspend(struct screen *s)
{
	(void)s;
	raise(SIGTSTP);
}

static void ansi_wake(struct screen *s, enum event_kind kind)
{
	(void)s;
	wake(kind);
}

const struct screen_end screen_ansi = {"ansi", ansi_open, ansi_close, ansi_size, ansi_read,
	ansi_write, ansi_suspend, ansi_wake};
