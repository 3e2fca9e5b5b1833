#include "test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profile/check/recorded.h"
#include "profile/gather/aggregate.h"

/* A recording of the golden tests. */
static const char *golden(const char *name)
{
	static char path[4096];
	const char *file = __FILE__, *folder = strstr(file, "unit/");

	snprintf(path, sizeof(path), "%.*sgolden/data/%s", (int)(folder - file), file, name);
	if (access(path, R_OK))
		SKIP("'%s' is not here: run this in the folder it was built in", path);
	return path;
}

static void read_golden(struct recorded *r, struct log *log, const char *name, bool has_wall)
{
	const struct recorded_options options = {.n_workers = 1, .has_wall = has_wall};
	struct err err;

	CHECK_EQ(recorded_open(r, golden(name), log, &err), 0);
	CHECK_EQ(recorded_read(r, &options, &err), 0);
}

/* The profile of wall-clock time has events of its own, more than the recording. */
TEST(recorded_events_of_wall_clock_time_are_times_whatever_was_recorded)
{
	struct log log = {0};
	struct recorded r;

	read_golden(&r, &log, "group.data", true);
	CHECK_EQ(r.profile.events.n, AGGREGATE_WALL_EVENTS);
	CHECK(r.trace.session.reader.events.n > 1);
	for (u32 e = 0; e < AGGREGATE_WALL_EVENTS; e++)
		CHECK(recorded_is_time(&r, e));
	recorded_close(&r);
}

TEST(recorded_events_are_times_if_they_are_clocks)
{
	struct log log = {0};
	struct recorded r;

	read_golden(&r, &log, "group.data", false);
	vec_each(e, &r.profile.events)
		CHECK_EQ(recorded_is_time(&r, (u32)(e - r.profile.events.at)),
			strstr(e->name, "clock") != NULL);
	recorded_close(&r);
}
