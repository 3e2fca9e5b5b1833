#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "symbol/jit/foreign.h"
#include "unit/nobody.h"
#include "unit/tree.h"

/* "ok CONTENTS", or what was wrong. */
static const char *open_text(const struct foreign *f, const char *path, const char *own_path)
{
	static char text[2048];
	struct err err;
	ssize_t n;
	int fd;

	if (foreign_open(f, path, own_path, &fd, &err)) {
		snprintf(text, sizeof(text), "%d %s", err.code, err.msg);
		return text;
	}
	n = read(fd, text + 3, sizeof(text) - 4);
	CHECK(n >= 0);
	text[3 + n] = '\0';
	memcpy(text, "ok ", 3);
	close(fd);
	return text;
}

TEST(foreign_open_reads_a_plain_file_below_symfs)
{
	struct foreign f = {"/proc", test_dir(), 1};

	tree_file(test_dir(), "mine", "tmp/perf-1.map");
	CHECK_STR(open_text(&f, "/tmp/perf-1.map", "/tmp/perf-1.map"), "ok mine");
	CHECK_HAS(open_text(&f, "/tmp/perf-2.map", "/tmp/perf-2.map"), "No such file");
}

TEST(foreign_open_refuses_links_pipes_and_folders)
{
	struct foreign f = {"/proc", test_dir(), 1};

	tree_file(test_dir(), "secret", "etc/shadow");
	tree_dir(test_dir(), "tmp/folder");
	CHECK_EQ(symlink(test_path("etc/shadow"), test_path("tmp/link")), 0);
	CHECK_EQ(mkfifo(test_path("tmp/pipe"), 0644), 0);
	CHECK_HAS(open_text(&f, "/tmp/link", ""), "is not read: it is a symbolic link");
	CHECK_HAS(open_text(&f, "/tmp/pipe", ""), "is not read: it is not a regular file");
	CHECK_HAS(open_text(&f, "/tmp/folder", ""), "is not read: it is not a regular file");
}

TEST(foreign_open_refuses_files_of_other_users)
{
	struct foreign f = {"/proc", test_dir(), 1};
	const char *text;

	if (geteuid())
		SKIP("only root can give files away");
	tree_file(test_dir(), "planted", "tmp/perf-1.map");
	CHECK_EQ(chown(test_path("tmp/perf-1.map"), NOBODY, NOBODY), 0);
	text = open_text(&f, "/tmp/perf-1.map", "/tmp/perf-1.map");
	CHECK_HAS(text, "it belongs to user 65534, not to user 0 or root");
	CHECK_HAS(text, "make it readable by 'chown 0'");
	/* Root's are everybody's, and one's own are. */
	tree_file(test_dir(), "roots", "tmp/perf-2.map");
	CHECK_EQ(chmod(test_path("tmp"), 0755), 0);
	nobody_begin();
	CHECK_STR(open_text(&f, "/tmp/perf-2.map", "/tmp/perf-2.map"), "ok roots");
	CHECK_STR(open_text(&f, "/tmp/perf-1.map", "/tmp/perf-1.map"), "ok planted");
	nobody_end();
}

/* A copy of /proc: the process 12 is 3 in its container, whose root is another one. */
static void make_container(void)
{
	tree_file(test_dir(), "Name:\tjava\nNSpid:\t12\t3\nThreads:\t1\n", "proc/12/status");
	tree_file(test_dir(), "inside", "proc/12/root/tmp/perf-3.map");
}

TEST(foreign_own_pid_is_the_innermost_one)
{
	const char *proc = test_path("proc");
	struct foreign f = {proc, "", 12}, gone = {proc, "", 13}, elsewhere = {proc, "/copy", 12};

	make_container();
	CHECK_EQ(foreign_own_pid(&f), 3);
	CHECK_EQ(foreign_own_pid(&gone), 13);
	CHECK_EQ(foreign_own_pid(&elsewhere), 12);
}

TEST(foreign_open_asks_the_container_of_a_living_process)
{
	const char *proc = test_path("proc");
	struct foreign f = {proc, "", 12};

	make_container();
	CHECK_STR(open_text(&f, "/nowhere/perf-12.map", "/tmp/perf-3.map"), "ok inside");
	/* The user of the process may leave files for it. */
	if (!geteuid()) {
		CHECK_EQ(chown(test_path("proc/12/root/tmp/perf-3.map"), NOBODY, NOBODY), 0);
		CHECK_HAS(open_text(&f, "/nowhere/perf-12.map", "/tmp/perf-3.map"),
			"it belongs to user");
		CHECK_EQ(chown(test_path("proc/12"), NOBODY, NOBODY), 0);
		CHECK_STR(open_text(&f, "/nowhere/perf-12.map", "/tmp/perf-3.map"), "ok inside");
	}
}

TEST(foreign_open_is_not_led_out_of_a_container)
{
	const char *proc = test_path("proc");
	struct foreign f = {proc, "", 12};

	make_container();
	tree_file(test_dir(), "ours", "outside/perf-3.map");
	CHECK_EQ(symlink(test_path("outside"), test_path("proc/12/root/link")), 0);
	CHECK_HAS(open_text(&f, "/nowhere/x", "/link/perf-3.map"), "No such file");
	CHECK_HAS(open_text(&f, "/nowhere/x", "/../../../outside/perf-3.map"), "No such file");
}

TEST(foreign_open_asks_the_process_that_has_other_mounts)
{
	const char *proc = test_path("proc"), *inside = test_path("inside/perf-3.map");
	struct foreign f = {proc, "", 12};

	tree_file(test_dir(), "inside", "inside/perf-3.map");
	tree_file(test_dir(), "outside", "outside/perf-12.map");
	tree_file(test_dir(), "", "proc/12/ns/mnt");
	tree_file(test_dir(), "", "proc/self/ns/mnt");
	CHECK_EQ(symlink("/", test_path("proc/12/root")), 0);
	CHECK_STR(open_text(&f, test_path("outside/perf-12.map"), inside), "ok inside");
	/* The same mounts: what the recorded pid says. */
	CHECK_EQ(unlink(test_path("proc/12/ns/mnt")), 0);
	CHECK_EQ(link(test_path("proc/self/ns/mnt"), test_path("proc/12/ns/mnt")), 0);
	CHECK_STR(open_text(&f, test_path("outside/perf-12.map"), inside), "ok outside");
	CHECK_STR(open_text(&f, test_path("outside/none.map"), inside), "ok inside");
}
