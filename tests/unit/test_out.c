#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/out.h"
#include "base/sysfile.h"
#include "base/term.h"

#include "test.h"

static off_t size_of(int fd)
{
	return lseek(fd, 0, SEEK_END);
}

static int new_file(void)
{
	int fd = open(test_path("out"), O_RDWR | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0);
	return fd;
}

TEST(out_close_writes_what_is_left)
{
	struct out o = {.fd = new_file()};
	struct str got = {0};
	struct err err = {0};

	str_add(&o.text, "hello ");
	out_flush_some(&o);
	CHECK_EQ(size_of(o.fd), 0);
	str_add(&o.text, "world");
	CHECK_EQ(out_close(&o, &err), 0);
	CHECK_EQ(sysfile_read(test_path("out"), 100, &got, &err), 0);
	CHECK_STR(str_text(&got), "hello world");
	str_fini(&got);
	/* The descriptor is the caller's. */
	CHECK_EQ(close(o.fd), 0);
}

TEST(out_flush_some_writes_from_64_kib_on)
{
	struct out o = {.fd = new_file()};
	struct err err;

	str_fill(&o.text, 'x', (64 << 10) - 1);
	out_flush_some(&o);
	CHECK_EQ(size_of(o.fd), 0);
	str_addc(&o.text, 'y');
	out_flush_some(&o);
	CHECK_EQ(size_of(o.fd), 64 << 10);
	CHECK_EQ(o.text.n, 0);
	str_fill(&o.text, 'z', 1 << 20);
	out_flush_some(&o);
	CHECK_EQ(out_close(&o, &err), 0);
	CHECK_EQ(size_of(o.fd), (64 << 10) + (1 << 20));
	close(o.fd);
}

TEST(out_of_nothing_is_no_error)
{
	struct out o = {.fd = -1};
	struct err err = {0};

	out_flush_some(&o);
	CHECK_EQ(out_close(&o, &err), 0);
	CHECK_EQ(err.code, 0);
}

TEST(out_to_a_full_disk_is_an_error)
{
	struct out o = {.fd = open("/dev/full", O_WRONLY)};
	struct err err = {0};

	if (o.fd < 0)
		SKIP("no /dev/full");
	str_add(&o.text, "x");
	CHECK_EQ(out_close(&o, &err), ERR_SYS);
	CHECK_EQ(err.sys, ENOSPC);
	CHECK_STR(err.msg, "writing the output: No space left on device");
	close(o.fd);
}

TEST(out_remembers_the_first_error_and_writes_no_more)
{
	struct out o = {.fd = open("/dev/full", O_WRONLY)};
	struct err err = {0};
	int full = o.fd;

	if (o.fd < 0)
		SKIP("no /dev/full");
	str_fill(&o.text, 'x', 64 << 10);
	out_flush_some(&o);
	CHECK_EQ(o.sys, ENOSPC);
	o.fd = new_file();
	str_fill(&o.text, 'x', 64 << 10);
	out_flush_some(&o);
	str_add(&o.text, "more");
	CHECK_EQ(out_close(&o, &err), ERR_SYS);
	CHECK_EQ(err.sys, ENOSPC);
	CHECK_EQ(size_of(o.fd), 0);
	close(o.fd);
	close(full);
}

TEST(out_to_a_closed_reader_is_an_error)
{
	struct err err = {0};
	struct out o = {0};
	int ends[2];

	signal(SIGPIPE, SIG_IGN);
	CHECK_EQ(pipe(ends), 0);
	close(ends[0]);
	o.fd = ends[1];
	str_add(&o.text, "x");
	CHECK_EQ(out_close(&o, &err), ERR_SYS);
	CHECK_EQ(err.sys, EPIPE);
	close(ends[1]);
}

static void nothing(int sig)
{
	(void)sig;
}

/* A reader that lets the pipe run full, disturbs the writer, and reads in odd pieces. */
static int read_slowly(int fd, pid_t writer)
{
	size_t total = 0;
	char buf[4093];
	ssize_t n;

	for (int i = 0; i < 20; i++) {
		usleep(1000);
		kill(writer, SIGUSR1);
	}
	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			if (buf[i] != (char)('a' + (total + i) % 26))
				return 1;
		total += n;
		if (total % 7 == 0)
			kill(writer, SIGUSR1);
	}
	return total == 1 << 20 ? 0 : 2;
}

TEST(out_survives_short_writes_and_signals)
{
	struct sigaction sa = {.sa_handler = nothing}; /* without SA_RESTART */
	struct err err = {0};
	struct out o = {0};
	pid_t writer = getpid(), reader;
	int ends[2], status;

	CHECK_EQ(sigaction(SIGUSR1, &sa, NULL), 0);
	CHECK_EQ(pipe(ends), 0);
	reader = fork();
	if (reader == 0) {
		close(ends[1]);
		_exit(read_slowly(ends[0], writer));
	}
	close(ends[0]);
	o.fd = ends[1];
	for (size_t i = 0; i < 1 << 20; i++)
		str_addc(&o.text, (char)('a' + i % 26));
	CHECK_EQ(out_close(&o, &err), 0);
	close(ends[1]);
	while (waitpid(reader, &status, 0) < 0)
		CHECK_EQ(errno, EINTR);
	CHECK_EQ(status, 0);
}

/* ---- term ---- */

TEST(term_tells_files_from_terminals)
{
	int fd = new_file(), ends[2];

	CHECK(!term_is_terminal(fd));
	CHECK_EQ(term_columns(fd), 80);
	close(fd);
	CHECK_EQ(pipe(ends), 0);
	CHECK(!term_is_terminal(ends[1]));
	CHECK_EQ(term_columns(ends[1]), 80);
	CHECK(!term_is_terminal(-1));
	CHECK_EQ(term_columns(-1), 80);
	close(ends[0]);
	close(ends[1]);
}

TEST(term_columns_are_what_the_terminal_says)
{
	struct winsize size = {.ws_row = 24, .ws_col = 213};
	int fd = posix_openpt(O_RDWR | O_NOCTTY);

	if (fd < 0 || grantpt(fd) || unlockpt(fd))
		SKIP("no pseudo terminals here: %s", strerror(errno));
	CHECK(term_is_terminal(fd));
	/* A fresh one has no size. */
	CHECK_EQ(term_columns(fd), 80);
	CHECK_EQ(ioctl(fd, TIOCSWINSZ, &size), 0);
	CHECK_EQ(term_columns(fd), 213);
	close(fd);
}
