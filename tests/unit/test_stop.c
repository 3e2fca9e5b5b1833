#include "test.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "collect/run/stop.h"

static void stop_init(struct stop *s)
{
	sigset_t signals;
	struct err err;

	stop_signals(&signals);
	CHECK_EQ(sigprocmask(SIG_BLOCK, &signals, NULL), 0);
	CHECK_EQ(stop_open(s, &err), 0);
}

static bool has_come(const struct stop *s)
{
	struct pollfd fd = {.fd = s->fd, .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

TEST(stop_takes_each_signal_that_ends_a_measurement)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		struct stop s;

		stop_init(&s);
		CHECK(!has_come(&s));
		CHECK(!stop_take(&s, NULL));
		CHECK_EQ(kill(getpid(), signals[i]), 0);
		CHECK(has_come(&s));
		CHECK(stop_take(&s, NULL));
		CHECK_EQ(s.signal, signals[i]);
		/* kill(2) tells one process: the command does not know yet. */
		CHECK(!s.is_group);
		CHECK(!has_come(&s));
		stop_close(&s);
		CHECK_EQ(s.fd, -1);
	}
}

TEST(stop_waits_for_the_end_of_the_command_and_of_no_other)
{
	char *argv[] = {(char *)"sleep", (char *)"0.05", NULL};
	struct workload w;
	struct stop s;
	struct err err;
	pid_t other;

	stop_init(&s);
	CHECK_EQ(workload_start(&w, argv, &err), 0);
	other = fork();
	if (!other)
		_exit(0);
	CHECK_EQ(workload_go(&w, "sleep", &err), 0);
	for (int i = 0; i < 6000 && !stop_take(&s, &w); i++)
		usleep(10000);
	CHECK(w.has_ended);
	CHECK_EQ(workload_exit_status(&w), 0);
	CHECK_EQ(s.signal, 0);
	workload_close(&w);
	stop_close(&s);
}

TEST(stop_remembers_the_signal_when_the_command_ends_with_it)
{
	char *argv[] = {(char *)"true", NULL};
	struct workload w;
	struct stop s;
	struct err err;

	stop_init(&s);
	CHECK_EQ(workload_start(&w, argv, &err), 0);
	CHECK_EQ(workload_go(&w, "true", &err), 0);
	workload_reap(&w, true);
	kill(getpid(), SIGTERM);
	CHECK(stop_take(&s, &w));
	CHECK_EQ(s.signal, SIGTERM);
	workload_close(&w);
	stop_close(&s);
}
