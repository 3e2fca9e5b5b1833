#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "file/fresh.h"

/* A file beside the one to be written; its path until the next one. */
static const char *put(const char *name, bool is_old)
{
	const char *path = test_path(name);
	const struct timespec old[2] = {{.tv_nsec = UTIME_NOW},
		{.tv_sec = time(NULL) - FRESH_STALE_S - 60}};

	test_write(path, "x", 1);
	if (is_old)
		CHECK(!utimensat(AT_FDCWD, path, old, 0));
	return path;
}

static bool is_there(const char *name)
{
	return !access(test_path(name), F_OK);
}

static int dead_pid(void)
{
	const int pid = fork();

	if (!pid)
		_exit(0);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	return pid;
}

TEST(fresh_removes_what_killed_writers_of_the_same_name_left)
{
	struct {
		const char *name;
		int pid; /* 0: one that is dead */
		bool is_old, stays;
	} rows[] = {{"out.svg.%d-1f3c", 0, true, false}, {"out.svg.%d-0", 0, true, false},
		{"out.svg.%d-1f3d", 0, false, true}, {"out.svg.%d-1f3e", getpid(), true, true},
		{"other.svg.%d-1f", 0, true, true}, {"out.svg.%d", 0, true, true},
		{"out.svg.%d-", 0, true, true}, {"out.svg.%d-1f.txt", 0, true, true},
		{"out.svg.old%d-1f", 0, true, true}, {"out.svgz.%d-1f", 0, true, true}};
	const int dead = dead_pid();
	char names[ARRAY_SIZE(rows)][64], path[4096];
	struct fresh f;
	struct err err;
	int fd;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(names[i], sizeof(names[i]), rows[i].name,
			rows[i].pid ? rows[i].pid : dead);
		put(names[i], rows[i].is_old);
	}
	snprintf(path, sizeof(path), "%s", test_path("out.svg"));
	CHECK(!fresh_init(&f, path, true, &err));
	fd = fresh_open(&f, &err);
	CHECK(fd >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (is_there(names[i]) != rows[i].stays)
			test_failed(__FILE__, __LINE__, "'%s' %s", names[i],
				rows[i].stays ? "is gone" : "is still there");
	CHECK(!fresh_commit(&f, &err));
	CHECK(is_there("out.svg"));
	close(fd);
}

TEST(fresh_writes_into_the_folder_it_is_in)
{
	char name[64];
	struct fresh f;
	struct err err;
	int fd;

	CHECK(!chdir(test_dir()));
	snprintf(name, sizeof(name), "plain.%d-abc", dead_pid());
	put(name, true);
	CHECK(!fresh_init(&f, "plain", true, &err));
	fd = fresh_open(&f, &err);
	CHECK(fd >= 0 && !is_there(name) && !is_there("plain"));
	fresh_abandon(&f);
	CHECK(!is_there(f.temporary));
	close(fd);
}
