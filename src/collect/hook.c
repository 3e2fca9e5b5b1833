#include "collect/hook.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

int hook_run(const char *option, const char *command, struct err *err)
{
	sigset_t none, before;
	int status;

	if (!command)
		return 0;
	/* The command is the user's own, and a shell's. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, &before);
	status = system(command);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (status < 0)
		return err_sys(err, errno, "%s '%s'", option, command);
	return status ? err_set(err, ERR_INVAL, "%s '%s' ended with status %d", option, command,
				WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status))
		      : 0;
}
