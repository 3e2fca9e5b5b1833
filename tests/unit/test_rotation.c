#include "test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/rotation.h"

TEST(rotation_names_files_by_the_time)
{
	struct timespec when = {.tv_sec = 1700000000, .tv_nsec = 129999999};
	struct str name = {0};

	setenv("TZ", "UTC", 1);
	tzset();
	rotation_add_name("perf.data", &when, &name);
	CHECK_STR(str_text(&name), "perf.data.2023111422132012");
	str_fini(&name);
}

static void make(const char *path)
{
	FILE *f = fopen(path, "w");

	CHECK(f != NULL);
	fprintf(f, "x");
	fclose(f);
}

TEST(rotation_keeps_the_newest_files_and_never_overwrites_one)
{
	char folder[] = "/tmp/pace-rotation-XXXXXX", path[64];
	struct rotation r = {.path = path, .most = 3};
	struct stat st;

	CHECK(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/perf.data", folder);
	/* More than one in each hundredth of a second. */
	for (unsigned i = 0; i < 20; i++) {
		const char *name = NULL;
		struct err err;

		make(path);
		CHECK_EQ(rotation_move(&r, &name, &err), 0);
		CHECK(stat(name, &st) == 0);
		CHECK(stat(path, &st) != 0);
		CHECK_EQ(r.names.n, MIN(i + 1, 3));
		for (size_t k = 1; k < r.names.n; k++)
			CHECK(strcmp(r.names.at[k - 1], r.names.at[k]) < 0);
	}
	vec_each(name, &r.names)
		CHECK_EQ(unlink(*name), 0);
	/* Nothing else was left behind. */
	CHECK_EQ(rmdir(folder), 0);
	rotation_fini(&r);
}

TEST(rotation_of_a_file_that_is_not_there_is_an_error)
{
	struct rotation r = {.path = "/nowhere/perf.data"};
	const char *name = "as before";
	struct err err = {0};

	CHECK(rotation_move(&r, &name, &err) < 0);
	CHECK_STR(name, "as before");
	CHECK(strstr(err.msg, "/nowhere/perf.data"));
	rotation_fini(&r);
}
