#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cmd/record/recording.h"

static int open_signal(struct recording *rec, struct err *err)
{
	struct record_pilot *p = &rec->pilot;
	sigset_t signals;

	if (rec->options->files.switch_mode != RECORD_SWITCH_SIGNAL &&
		!rec->options->timing.ring_ns)
		return 0;
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR2);
	p->snapshot_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (p->snapshot_fd < 0)
		return err_sys(err, errno, "creating a signal descriptor");
	return recorder_watch(&rec->recorder, p->snapshot_fd, err);
}

static const char *wants_file(struct recording *rec)
{
	const struct record_pilot *p = &rec->pilot;
	struct signalfd_siginfo info;
	bool is_there = false;

	while (p->snapshot_fd >= 0 && read(p->snapshot_fd, &info, sizeof(info)) == sizeof(info))
		is_there = true;
	return is_there ? "SIGUSR2" : NULL;
}

static void close_signal(struct recording *rec)
{
	if (rec->pilot.snapshot_fd >= 0)
		close(rec->pilot.snapshot_fd);
}

const struct record_watcher record_signal_watcher = {
	.open = open_signal,
	.wants_file = wants_file,
	.close = close_signal,
};
