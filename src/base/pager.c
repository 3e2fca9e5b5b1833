#include "base/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/out.h"
#include "base/str.h"
#include "base/term.h"
#include "base/vec.h"

extern char **environ;

enum state {
	PAGER_OFF,
	PAGER_WANTED,
	PAGER_RUNNING,
	PAGER_LEFT, /* it ended while there was text for it */
	PAGER_NEVER,
};

static struct pager {
	enum state state;
	const char *command,
		*variable; /* variable: where the command comes from; NULL: the default */
	pid_t pid;
	int fd;           /* the pipe to it */
	int error_fd;     /* standard error as it was, or -1 */
	size_t n_written; /* bytes that went into the pipe */
	size_t capacity;  /* of the pipe: with more than that in it, something has been read */
	struct str kept;  /* all text, as long as it may be that nothing was read */
	struct sigaction was[4], was_pipe;
} pager;

static bool is_asked_for;

static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/* Words that the shell must read: anything but plain words with blanks between them. */
static bool needs_shell(const char *command)
{
	return strpbrk(command, "|&;<>()$`\\\"'*?[#~=%\n") != NULL;
}

/* SIGPIPE is caught and not ignored: programs that are started later have it as always. */
static void do_nothing(int signal)
{
	(void)signal;
}

/* The user looks at the end of the text before the shell has the terminal again. */
static void end_after_pager(int signal)
{
	struct sigaction dies = {.sa_handler = SIG_DFL};

	close(pager.fd);
	if (pager.error_fd >= 0)
		dup2(pager.error_fd, STDERR_FILENO);
	while (waitpid(pager.pid, NULL, 0) < 0 && errno == EINTR)
		;
	sigaction(signal, &dies, NULL);
	raise(signal);
}

/* Signals that somebody handles or ignores already stay as they are. */
static void catch_signals(void)
{
	struct sigaction waits = {.sa_handler = end_after_pager, .sa_flags = SA_NODEFER},
			 nothing = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++) {
		sigaction(deadly[i], NULL, &pager.was[i]);
		if (pager.was[i].sa_handler == SIG_DFL)
			sigaction(deadly[i], &waits, NULL);
	}
	sigaction(SIGPIPE, &nothing, &pager.was_pipe);
}

static void release_signals(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++)
		if (pager.was[i].sa_handler == SIG_DFL)
			sigaction(deadly[i], &pager.was[i], NULL);
	sigaction(SIGPIPE, &pager.was_pipe, NULL);
}

/* The words of a command, in `text`, which is cut into them; NULL-terminated. */
static void split(char *text, size_t most, char **words)
{
	size_t n = 0;
	char *rest;

	for (char *word = strtok_r(text, " \t", &rest); word && n + 1 < most;
		word = strtok_r(NULL, " \t", &rest))
		words[n++] = word;
	words[n] = NULL;
}

/* Runs the command with `input` as its standard input. Returns 0 or an errno. */
static int run(int input)
{
	enum { WORDS = 64 };
	char *words[WORDS] = {"sh", "-c", (char *)pager.command, NULL}, *text = NULL;
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t defaults;
	int sys;

	if (!needs_shell(pager.command)) {
		text = mem_strdup(pager.command);
		split(text, WORDS, words);
	}
	/* What git and perf set for a less of the user's, too: colours, and no screen for a short text. */
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
	posix_spawnattr_init(&attr);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	sys = posix_spawnp(&pager.pid, words[0], &files, &attr, words, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	mem_free(text);
	return sys;
}

static void note_failure(const char *why)
{
	struct str safe = {0};

	str_add_safe(&safe, pager.command, strlen(pager.command));
	fprintf(stderr, "note: without a pager, because '%s', which %s names, %s\n",
		str_text(&safe), pager.variable, why);
	str_fini(&safe);
}

/* Returns whether the pager runs. */
static bool start(void)
{
	int ends[2], sys;

	pager.state = PAGER_NEVER;
	if (pipe2(ends, O_CLOEXEC))
		return false;
	sys = run(ends[0]);
	close(ends[0]);
	if (sys) {
		close(ends[1]);
		/* Machines without less are no reason for a note with each command. */
		if (pager.variable)
			note_failure(sys == ENOENT ? "is not there" : "cannot be run");
		return false;
	}
	pager.state = PAGER_RUNNING;
	pager.fd = ends[1];
	pager.capacity = MAX(fcntl(pager.fd, F_GETPIPE_SZ), 0);
	pager.error_fd = -1;
	catch_signals();
	if (term_is_terminal(STDERR_FILENO)) {
		pager.error_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
		dup2(pager.fd, STDERR_FILENO);
	}
	return true;
}

/* Waits for the pager, which has ended or will when it has read all. */
static void wait_for_it(void)
{
	if (pager.error_fd >= 0) {
		fflush(stderr);
		dup2(pager.error_fd, STDERR_FILENO);
		close(pager.error_fd);
	}
	close(pager.fd);
	while (waitpid(pager.pid, NULL, 0) < 0 && errno == EINTR)
		;
	release_signals();
}

/* Whether all that was ever written is still in the pipe that `fd` is an end of. */
static bool is_unread(int fd)
{
	int n;

	return !pager.n_written || (ioctl(fd, FIONREAD, &n) == 0 && (size_t)n >= pager.n_written);
}

/* The pager has not read anything and never will: shows the text without it. */
static int do_without(void)
{
	int sys;

	pager.state = PAGER_NEVER;
	note_failure("ended without reading the text");
	sys = fd_write(STDOUT_FILENO, pager.kept.at, pager.kept.n);
	str_fini(&pager.kept);
	return sys;
}

/* Writes to the pager as long as it reads. */
static int write_some(const char *text, size_t n)
{
	while (n) {
		ssize_t did = write(pager.fd, text, n);

		if (did < 0 && errno != EINTR)
			return errno;
		if (did <= 0)
			continue;
		text += did;
		n -= did;
		pager.n_written += did;
	}
	return 0;
}

static int write_text(const char *text, size_t n)
{
	int sys;
	bool is_lost;

	if (!n || pager.state == PAGER_LEFT)
		return n ? EPIPE : 0;
	if (pager.state == PAGER_WANTED && !start())
		out_route(NULL);
	if (pager.state != PAGER_RUNNING)
		return fd_write(STDOUT_FILENO, text, n);
	if (pager.n_written <= pager.capacity)
		str_addn(&pager.kept, text, n);
	sys = write_some(text, n);
	if (!sys)
		return 0;
	is_lost = is_unread(pager.fd);
	wait_for_it();
	pager.state = PAGER_LEFT;
	if (!is_lost)
		return sys;
	out_route(NULL);
	return do_without();
}

/* NULL: no pager. */
static const char *find_command(const char **ret_variable)
{
	static const char *const variables[] = {"PACE_PAGER", "PAGER"};

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *command = getenv(variables[i]);

		*ret_variable = variables[i];
		if (command)
			return command[strspn(command, " \t")] && strcmp(command, "cat") ? command
											 : NULL;
	}
	*ret_variable = NULL;
	return "less -FRX";
}

void pager_begin(void)
{
	const char *term = getenv("TERM");

	if (pager.state != PAGER_OFF || !term_is_terminal(STDOUT_FILENO) || !term ||
		!strcmp(term, "dumb"))
		return;
	pager.command = find_command(&pager.variable);
	if (!pager.command)
		return;
	pager.state = PAGER_WANTED;
	out_route(write_text);
}

void pager_ask(void)
{
	is_asked_for = true;
	pager_begin();
}

bool pager_is_asked_for(void)
{
	return is_asked_for;
}

void pager_never(void)
{
	if (pager.state == PAGER_OFF)
		pager.state = PAGER_NEVER;
}

void pager_end(void)
{
	char path[32];
	int end;
	bool is_lost;

	if (pager.state == PAGER_RUNNING) {
		/* What nobody read can be asked for as long as the pipe has an end. */
		snprintf(path, sizeof(path), "/proc/self/fd/%d", pager.fd);
		end = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		wait_for_it();
		is_lost = end >= 0 && is_unread(end);
		if (end >= 0)
			close(end);
		if (is_lost)
			do_without();
	}
	str_fini(&pager.kept);
	out_route(NULL);
	pager.state = PAGER_NEVER;
}
