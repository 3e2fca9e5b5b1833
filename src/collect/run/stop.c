#include "collect/run/stop.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* All signals that by default end a program, except SIGPIPE and SIGUSR2. */
static const struct {
	int signal;
	bool is_for_command; /* its sender means the command too */
} endings[] = {
	{SIGINT, true},
	{SIGTERM, true},
	{SIGQUIT, true},
	/* A terminal that closes; a timer or a time limit that somebody set for us. */
	{SIGHUP, false},
	{SIGALRM, false},
	{SIGVTALRM, false},
	{SIGXCPU, false},
	{SIGUSR1, false},
};

void stop_signals(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		sigaddset(set, endings[i].signal);
	sigaddset(set, SIGCHLD);
}

int stop_signal_of_command(const struct stop *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(endings) && !s->is_group; i++)
		if (endings[i].signal == s->signal && endings[i].is_for_command)
			return s->signal;
	return 0;
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
