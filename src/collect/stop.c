#include "collect/stop.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

void stop_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGQUIT);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGCHLD);
}

int stop_open(struct stop *s, struct err *err)
{
	sigset_t signals;

	stop_signals(&signals);
	*s = (struct stop){.fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK)};
	return s->fd < 0 ? err_sys(err, errno, "creating a signal descriptor") : 0;
}

void stop_close(struct stop *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

bool stop_take(struct stop *s, struct workload *workload)
{
	struct signalfd_siginfo info;

	while (read(s->fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			if (workload)
				workload_reap(workload, false);
			continue;
		}
		s->signal = info.ssi_signo;
		s->is_group = info.ssi_code == SI_KERNEL;
	}
	return s->signal || (workload && workload->has_ended);
}

bool stop_came_again(struct stop *s)
{
	struct signalfd_siginfo info;
	bool came = false;

	while (read(s->fd, &info, sizeof(info)) == sizeof(info))
		came |= info.ssi_signo != SIGCHLD;
	return came;
}
