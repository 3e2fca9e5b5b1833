#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event/cgroup.h"

static const char UNIFIED[] =
	"30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
static const char PERF[] =
	"41 30 0:36 / /sys/fs/cgroup/perf_event rw shared:19 - cgroup cgroup rw,perf_event\n";
static const char CPU[] = "35 30 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
static const char ROOT[] = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n";

/* Where groups are, of a machine with these mounts; NULL: nowhere. */
static const char *found_in(const char *a, const char *b, const char *c)
{
	static char where[64];
	const char *path = test_path("mountinfo");
	char text[1024];
	struct err err;

	snprintf(text, sizeof(text), "%s%s%s", a, b, c);
	test_write(path, text, strlen(text));
	strcpy(where, "untouched");
	if (!cgroup_find(path, where, sizeof(where), &err))
		return where;
	CHECK_EQ(err.code, ERR_NOENT);
	CHECK_STR(err.msg,
		"no control groups are mounted: 'sudo mount -t cgroup2 none /sys/fs/cgroup'");
	CHECK_STR(where, "untouched");
	return NULL;
}

TEST(cgroup_is_found_where_perf_events_are)
{
	CHECK_STR(found_in(ROOT, UNIFIED, CPU), "/sys/fs/cgroup");
	/* The old controller, if it is mounted: then the unified tree does not have it. */
	CHECK_STR(found_in(ROOT, UNIFIED, PERF), "/sys/fs/cgroup/perf_event");
	CHECK_STR(found_in(PERF, UNIFIED, CPU), "/sys/fs/cgroup/perf_event");
	CHECK(!found_in(ROOT, CPU, ""));
	CHECK(!found_in("", "", ""));
	CHECK(!found_in("a line - cgroup2 of\n", "nothing", "\n\n"));
}

TEST(cgroup_that_is_not_there_is_named)
{
	char mount[4096], path[4200];
	struct err err;
	int fd = -7;

	if (cgroup_find(NULL, mount, sizeof(mount), &err))
		SKIP("%s", err.msg);
	CHECK_EQ(cgroup_open("no/such/group", &fd, &err), ERR_NOENT);
	CHECK_EQ(fd, -7);
	snprintf(path, sizeof(path), "opening the control group '%s/no/such/group': ", mount);
	CHECK_HAS(err.msg, path);
}

TEST(cgroup_is_opened_by_both_of_its_names)
{
	struct stat root, st;
	char mount[4096];
	struct err err;
	int fd;

	if (cgroup_find(NULL, mount, sizeof(mount), &err))
		SKIP("%s", err.msg);
	CHECK_EQ(stat(mount, &root), 0);
	for (unsigned i = 0; i < 3; i++) {
		const char *names[] = {"/", mount, ""};

		CHECK_EQ(cgroup_open(names[i], &fd, &err), 0);
		CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
		CHECK_EQ(fstat(fd, &st), 0);
		CHECK(st.st_ino == root.st_ino && st.st_dev == root.st_dev);
		close(fd);
	}
}
