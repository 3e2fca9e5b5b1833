#include "view/screen/editor.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Ctrl-C is the editor's. */
static int run(char **words, int *ret_status)
{
	const struct sigaction ignores = {.sa_handler = SIG_IGN};
	struct sigaction interrupt, quit;
	posix_spawnattr_t attr;
	sigset_t defaults;
	pid_t pid;
	int sys;

	sigaction(SIGINT, &ignores, &interrupt);
	sigaction(SIGQUIT, &ignores, &quit);
	posix_spawnattr_init(&attr);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGINT);
	sigaddset(&defaults, SIGQUIT);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	sys = posix_spawnp(&pid, words[0], NULL, &attr, words, environ);
	posix_spawnattr_destroy(&attr);
	while (!sys && waitpid(pid, ret_status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	return sys;
}

int editor_run(struct screen *s, const char *path, u32 line, struct err *err)
{
	/* The variable may have options of its own, and is read by a shell, as git does. */
	static char script[] = "exec ${VISUAL:-${EDITOR:-vi}} \"$@\"";
	/* A file whose name looks like an option. */
	const bool is_option = *path == '-' || *path == '+';
	struct str file = {0};
	char at[16];
	char *words[] = {"sh", "-c", script, "sh", at, NULL, NULL};
	struct err again;
	int status = 0, sys;

	str_addf(&file, "%s%s", is_option ? "./" : "", path);
	words[ARRAY_SIZE(words) - 2] = file.at;
	snprintf(at, sizeof(at), "+%u", line ? line : 1);
	s->end->close(s);
	sys = run(words, &status);
	str_fini(&file);
	s->is_stale = true;
	if (s->end->open(s, &again))
		s->is_gone = true;
	if (sys)
		return err_sys(err, sys, "running 'sh'");
	if (status)
		return err_set(err, ERR_INVAL,
			"the editor failed: VISUAL and EDITOR name it, and without them it is vi");
	return 0;
}
