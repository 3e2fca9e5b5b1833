#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/run/control.h"
#include "unit/said.h"

/* A control whose commands come out of a pipe of ours. */
struct wired {
	struct control c;
	struct said said;
	int commands, acks; /* our ends */
};

static void open_pipe(int *ret_read, int *ret_write)
{
	int fds[2];

	CHECK_EQ(pipe(fds), 0);
	*ret_read = fds[0];
	*ret_write = fds[1];
}

static void wired_init(struct wired *w)
{
	char text[64];
	struct err err;
	int ctl, ack;

	open_pipe(&ctl, &w->commands);
	open_pipe(&w->acks, &ack);
	said_init(&w->said, LOG_DEBUG);
	snprintf(text, sizeof(text), "fd:%d,%d", ctl, ack);
	if (control_open(&w->c, text, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
}

static void wired_fini(struct wired *w)
{
	said_fini(&w->said);
	control_close(&w->c);
}

static void tell(struct wired *w, const char *text)
{
	CHECK_EQ(write(w->commands, text, strlen(text)), strlen(text));
}

static enum control_command next(struct wired *w)
{
	return control_next(&w->c, &w->said.log);
}

TEST(control_takes_commands_a_line_each)
{
	struct wired w;

	wired_init(&w);
	CHECK_EQ(next(&w), CONTROL_NONE);
	tell(&w, "enable\ndisable\nping\nstop\n");
	CHECK_EQ(next(&w), CONTROL_ENABLE);
	CHECK_EQ(next(&w), CONTROL_DISABLE);
	CHECK_EQ(next(&w), CONTROL_PING);
	CHECK_EQ(next(&w), CONTROL_STOP);
	CHECK_EQ(next(&w), CONTROL_NONE);
	CHECK_STR(str_text(&w.said.text), "");
	wired_fini(&w);
}

TEST(control_waits_for_the_rest_of_a_line)
{
	struct wired w;

	wired_init(&w);
	tell(&w, "en");
	CHECK_EQ(next(&w), CONTROL_NONE);
	tell(&w, "able");
	CHECK_EQ(next(&w), CONTROL_NONE);
	tell(&w, "\nsto");
	CHECK_EQ(next(&w), CONTROL_ENABLE);
	tell(&w, "p\n");
	CHECK_EQ(next(&w), CONTROL_STOP);
	wired_fini(&w);
}

TEST(control_says_what_it_does_not_know_and_goes_on)
{
	struct wired w;

	wired_init(&w);
	tell(&w, "enabel\n\nenable\n");
	CHECK_EQ(next(&w), CONTROL_ENABLE);
	CHECK_STR(str_text(&w.said.text),
		"warn: --control: 'enabel' is not a command; the known ones are enable, disable, ping, stop\n");
	wired_fini(&w);
}

TEST(control_survives_a_line_without_end)
{
	char line[1000];
	struct wired w;

	wired_init(&w);
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	tell(&w, line);
	CHECK_EQ(next(&w), CONTROL_NONE);
	tell(&w, "\nstop\n");
	CHECK_EQ(next(&w), CONTROL_STOP);
	CHECK_HAS(str_text(&w.said.text), "is not a command");
	wired_fini(&w);
}

TEST(control_notices_that_nobody_sends_any_more)
{
	struct wired w;

	wired_init(&w);
	tell(&w, "ping\n");
	close(w.commands);
	CHECK_EQ(next(&w), CONTROL_PING);
	CHECK_EQ(next(&w), CONTROL_CLOSED);
	wired_fini(&w);
}

TEST(control_acknowledges_with_a_line)
{
	char text[16] = "";
	struct wired w;

	wired_init(&w);
	control_ack(&w.c);
	control_ack(&w.c);
	CHECK_EQ(read(w.acks, text, sizeof(text)), 8);
	CHECK_STR(text, "ack\nack\n");
	wired_fini(&w);
}

TEST(control_without_a_second_descriptor_acknowledges_to_nobody)
{
	struct control c;
	struct err err;
	char text[16];
	int in, out;

	open_pipe(&in, &out);
	snprintf(text, sizeof(text), "fd:%d", in);
	CHECK_EQ(control_open(&c, text, &err), 0);
	CHECK_EQ(c.ack_fd, -1);
	control_ack(&c);
	/* It was given to us, not made by us. */
	control_close(&c);
	CHECK(fcntl(in, F_GETFD) >= 0);
}

TEST(control_reads_fifos_though_nobody_writes_yet)
{
	char text[8192], ack[8] = "";
	struct said said;
	struct control c;
	struct err err;
	int in, out;

	said_init(&said, LOG_DEBUG);
	CHECK_EQ(mkfifo(test_path("ctl"), 0600), 0);
	CHECK_EQ(mkfifo(test_path("ack"), 0600), 0);
	snprintf(text, sizeof(text), "fifo:%s,%s", test_path("ctl"), test_path("ack"));
	CHECK_EQ(control_open(&c, text, &err), 0);
	CHECK_EQ(control_next(&c, &said.log), CONTROL_NONE);
	in = open(test_path("ack"), O_RDONLY | O_NONBLOCK);
	/* One that writes and goes is no end: another may come. */
	for (int i = 0; i < 2; i++) {
		out = open(test_path("ctl"), O_WRONLY);
		CHECK_EQ(write(out, "enable\n", 7), 7);
		close(out);
		CHECK_EQ(control_next(&c, &said.log), CONTROL_ENABLE);
		CHECK_EQ(control_next(&c, &said.log), CONTROL_NONE);
	}
	control_ack(&c);
	CHECK_EQ(read(in, ack, 4), 4);
	CHECK_STR(ack, "ack\n");
	control_close(&c);
	CHECK_EQ(c.fd, -1);
	said_fini(&said);
}

TEST(control_says_what_is_wrong_with_what_it_was_given)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{"", "--control '': expected fd:NUMBER[,NUMBER] or fifo:PATH[,PATH]"},
		{"7", "--control '7': expected fd:"},
		{"fd:", "--control '': expected fd:"},
		{"fd:x", "--control 'x': expected fd:"},
		{"fd:0,", "--control '0,': expected fd:"},
		{"fd:0,1x", "--control '0,1x': expected fd:"},
		{"fd:0;1", "--control '0;1': expected fd:"},
		{"fd:99999999999", "--control '99999999999': expected fd:"},
		{"fd:999", "--control 'fd:999': Bad file descriptor"},
		{"fd:0,999", "--control 'fd:0,999': Bad file descriptor"},
		{"fifo:/nonexistent/fifo",
			"--control: opening '/nonexistent/fifo': No such file or directory"},
		{"fifo:/dev/null", "--control: '/dev/null' is not a fifo ('mkfifo' makes one)"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct control c;
		struct err err;

		CHECK(control_open(&c, rows[i].text, &err) < 0);
		CHECK_HAS(err.msg, rows[i].message);
		CHECK_EQ(c.fd, -1);
		CHECK_EQ(c.ack_fd, -1);
	}
}

TEST(control_of_a_recording_takes_names_of_events_and_more_commands)
{
	struct wired w;

	wired_init(&w);
	w.c.is_recording = true;
	tell(&w, "enable\ndisable cpu-clock\nenable sched:sched_switch\nevlist -v\nsnapshot\n");
	CHECK_EQ(next(&w), CONTROL_ENABLE);
	CHECK_STR(w.c.argument, "");
	CHECK_EQ(next(&w), CONTROL_DISABLE);
	CHECK_STR(w.c.argument, "cpu-clock");
	CHECK_EQ(next(&w), CONTROL_ENABLE);
	CHECK_STR(w.c.argument, "sched:sched_switch");
	CHECK_EQ(next(&w), CONTROL_EVLIST);
	CHECK_STR(w.c.argument, "-v");
	CHECK_EQ(next(&w), CONTROL_SNAPSHOT);
	tell(&w, "stop now\n");
	CHECK_EQ(next(&w), CONTROL_NONE);
	CHECK_STR(str_text(&w.said.text),
		"warn: --control: 'stop now' is not a command; the known ones are enable, disable, ping, stop, "
		"snapshot, evlist, and enable or disable with an event's name\n");
	wired_fini(&w);
}

TEST(control_of_counts_takes_neither)
{
	struct wired w;

	wired_init(&w);
	tell(&w, "enable cpu-clock\nsnapshot\nping\n");
	CHECK_EQ(next(&w), CONTROL_PING);
	CHECK_EQ(said_count(&w.said, "is not a command"), 2);
	wired_fini(&w);
}
