#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fence.h"

/* 0, or the errno of opening the file. */
static int opens(const char *path, int flags)
{
	const int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int connects(void)
{
	const struct sockaddr_in here = {.sin_family = AF_INET,
		.sin_port = htons(9),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return connect(fd, (const struct sockaddr *)&here, sizeof(here)) ? errno : 0;
}

/* Two folders and one that stays closed, with a file each. */
static void make_folders(void)
{
	CHECK(!mkdir(test_path("read"), 0700) && !mkdir(test_path("write"), 0700) &&
		!mkdir(test_path("closed"), 0700));
	test_write(test_path("read/file"), "", 0);
	test_write(test_path("closed/file"), "", 0);
	CHECK(!symlink("../closed/file", test_path("read/link")));
	CHECK(!symlink("../read/file", test_path("closed/link")));
}

/* Returns the first of them that is not as it should be, from 1; 0: all are. */
static int try_all(void)
{
	const struct {
		const char *name;
		int flags, wanted;
	} tries[] = {
		{"read/file", O_RDONLY, 0},
		{"read", O_RDONLY | O_DIRECTORY, 0},
		{"closed/link", O_RDONLY, 0}, /* what counts is where it leads */
		{"read/file", O_WRONLY, EACCES},
		{"read/new", O_CREAT | O_WRONLY, EACCES},
		{"read/link", O_RDONLY, EACCES},
		{"read/../closed/file", O_RDONLY, EACCES},
		{"closed/file", O_RDONLY, EACCES},
		{"closed", O_RDONLY | O_DIRECTORY, EACCES},
		{"write/new", O_CREAT | O_WRONLY, 0},
		{"write/new", O_RDONLY, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(tries); i++)
		if (opens(test_path(tries[i].name), tries[i].flags) != tries[i].wanted)
			return (int)i + 1;
	if (opens("/etc/passwd", O_RDONLY) != EACCES ||
		opens("/proc/self/environ", O_RDONLY) != EACCES)
		return 100;
	if (access("/bin/true", X_OK) == 0 && execl("/bin/true", "true", NULL) && errno != EACCES)
		return 101;
	return unlink(test_path("write/new")) ? 102 : 0;
}

/* The fence of a process of its own: what this one made, it can still remove. */
static int fenced(int (*try)(void))
{
	struct fence f;
	struct err err;
	pid_t pid;
	int status;

	pid = fork();
	if (!pid) {
		if (fence_open(&f, &err))
			_exit(200);
		fence_allow_read(&f, test_path("read"));
		fence_allow_write(&f, test_path("write"));
		fence_allow_read(&f, test_path("no-such"));
		_exit(fence_raise(&f, &err) ? 201 : try());
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(fence_lets_only_what_was_allowed_be_opened)
{
	if (!fence_is_there())
		SKIP("this kernel has no Landlock");
	make_folders();
	CHECK_EQ(fenced(try_all), 0);
	CHECK_EQ(opens(test_path("closed/file"), O_RDONLY), 0);
}

static int try_to_connect(void)
{
	return connects() == EACCES ? 0 : 1;
}

TEST(fence_lets_nobody_connect_where_the_kernel_can_refuse_that)
{
	const int before = connects();
	int got;

	if (!fence_is_there())
		SKIP("this kernel has no Landlock");
	got = fenced(try_to_connect);
	if (got)
		SKIP("this kernel's Landlock is older than Linux 6.7");
	CHECK(before != EACCES);
}

static int run_true(void)
{
	execl("/bin/true", "true", NULL);
	return 1;
}

TEST(fence_lets_programs_run_where_that_was_allowed)
{
	struct fence f;
	struct err err;
	pid_t pid;
	int status;

	if (!fence_is_there() || access("/bin/true", X_OK))
		SKIP("this kernel has no Landlock, or there is no /bin/true");
	pid = fork();
	if (!pid) {
		if (fence_open(&f, &err))
			_exit(200);
		fence_allow_run(&f, "/bin");
		fence_allow_run(&f, "/usr");
		fence_allow_run(&f, "/lib");
		fence_allow_run(&f, "/lib64");
		_exit(fence_raise(&f, &err) ? 201 : run_true());
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 0);
}
