#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

TEST(fd_reads_what_was_written_at_an_offset)
{
	int fd = open(test_path("file"), O_RDWR | O_CREAT, 0600);
	char text[16] = "";

	CHECK(fd >= 0);
	CHECK_EQ(fd_write_at(fd, "world", 5, 6), 0);
	CHECK_EQ(fd_write_at(fd, "hello ", 6, 0), 0);
	CHECK_EQ(fd_read_at(fd, text, 11, 0), 0);
	CHECK_STR(text, "hello world");
	CHECK_EQ(fd_read_some_at(fd, text, sizeof(text), 6), 5);
	CHECK_EQ(fd_read_some_at(fd, text, sizeof(text), 11), 0);
	close(fd);
}

TEST(fd_says_why_not_all_was_read_or_written)
{
	int fd = open(test_path("file"), O_RDWR | O_CREAT, 0600);
	const struct rlimit limit = {4, 4};
	char text[16];

	CHECK_EQ(fd_write(fd, "abc", 3), 0);
	CHECK_EQ(fd_read_at(fd, text, 3, 0), 0);
	CHECK_EQ(fd_read_at(fd, text, 4, 0), EIO);
	CHECK_EQ(fd_read_at(-1, text, 4, 0), EBADF);
	CHECK_EQ(fd_read(-1, text, 4), -1);
	CHECK_EQ(errno, EBADF);
	CHECK_EQ(fd_write(-1, text, 4), EBADF);
	CHECK_EQ(fd_write_at(-1, text, 4, 0), EBADF);
	/* Room for one more byte: it is taken, the others are not. */
	signal(SIGXFSZ, SIG_IGN);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
	CHECK_EQ(fd_write(fd, "defg", 4), EFBIG);
	CHECK_EQ(fd_read_some_at(fd, text, sizeof(text), 0), 4);
	close(fd);
}

static void let_pass(int signal)
{
	(void)signal;
}

TEST(fd_goes_on_behind_signals_and_in_pieces)
{
	enum { BYTES = 300000 };
	const struct itimerval often = {{0, 2000}, {0, 2000}};
	const struct sigaction action = {.sa_handler = let_pass}; /* without SA_RESTART */
	static char bytes[BYTES];
	int ends[2], status;
	size_t done = 0;
	pid_t pid;

	CHECK_EQ(pipe(ends), 0);
	CHECK_EQ(sigaction(SIGALRM, &action, NULL), 0);
	pid = fork();
	if (!pid) {
		CHECK_EQ(setitimer(ITIMER_REAL, &often, NULL), 0);
		close(ends[0]);
		_exit(fd_write(ends[1], bytes, BYTES));
	}
	close(ends[1]);
	CHECK_EQ(setitimer(ITIMER_REAL, &often, NULL), 0);
	for (;;) {
		ssize_t n = fd_read(ends[0], bytes, 20000);

		CHECK(n >= 0);
		if (!n)
			break;
		done += (size_t)n;
		usleep(1000);
	}
	CHECK_EQ(done, BYTES);
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	close(ends[0]);
}

static bool leads_to_stream(const char *target)
{
	unlink(test_path("link"));
	CHECK_EQ(symlink(target, test_path("link")), 0);
	return fd_link_leads_to_stream(test_path("link"));
}

TEST(fd_tells_links_to_streams_from_links_to_files)
{
	const int fd = open(test_path("redirected"), O_RDWR | O_CREAT, 0600);

	test_write(test_path("file"), "x", 1);
	CHECK(!leads_to_stream(test_path("file")));
	CHECK(!leads_to_stream(test_path("redirected")));
	CHECK(!leads_to_stream("nowhere"));
	CHECK(leads_to_stream("/dev/null"));
	CHECK(leads_to_stream(test_dir()));
	/* /dev/stdin is such a link, and what it leads to may be a file. */
	CHECK_EQ(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	CHECK(leads_to_stream("/proc/self/fd/0"));
	close(fd);
}
