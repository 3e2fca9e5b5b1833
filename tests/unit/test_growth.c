#include "collect/record/growth.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "test.h"

static void append(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "a");
	CHECK(f != NULL);
	fputs(text, f);
	fclose(f);
}

TEST(growth_marks_maps_that_were_there_that_come_and_that_grow)
{
	struct event_attr like = {0};
	struct perfclock clock;
	const char *dir = test_dir();
	struct growth g;
	struct err err;
	u64 before;

	if (perfclock_open(&clock, &like, &err))
		SKIP("%s", err.msg);
	append(dir, "perf-7.map", "10 10 old\n");
	append(dir, "perf-x.map", "no number");
	CHECK(!growth_open(&g, dir, &err));
	CHECK(g.marks.n == 1 && g.marks.at[0].pid == 7 && g.marks.at[0].size == 10);
	CHECK_EQ(g.marks.at[0].time, 0);
	CHECK(!growth_look(&g, &clock));
	before = perfclock_now(&clock);
	append(dir, "perf-7.map", "10 10 new\n");
	append(dir, "perf-8.map", "20 10 other\n");
	append(dir, "something", "else");
	CHECK(growth_look(&g, &clock));
	CHECK_EQ(g.marks.n, 3);
	CHECK(g.marks.at[1].pid == 7 && g.marks.at[1].size == 20);
	CHECK(g.marks.at[2].pid == 8 && g.marks.at[2].size == 12);
	CHECK(g.marks.at[1].time >= before && g.marks.at[2].time >= before);
	append(dir, "perf-8.map", "20 10 again\n");
	CHECK(growth_look(&g, &clock) && g.marks.n == 4 && g.marks.at[3].size == 24);
	CHECK(!growth_look(&g, &clock));
	growth_close(&g);
	perfclock_close(&clock);
}

TEST(growth_of_a_folder_that_is_not_there_is_refused)
{
	struct growth g;
	struct err err;

	CHECK(growth_open(&g, "/nonexistent", &err) && g.fd < 0);
	growth_close(&g);
}
