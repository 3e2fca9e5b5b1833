#include "machine/thread.h"

#include "test.h"

TEST(thread_without_a_name_has_none_at_any_time)
{
	struct thread t = {0};
	u64 from, until;

	CHECK(!thread_comm_at(&t, 5, &from, &until));
	CHECK_EQ(from, 0);
	CHECK(until == UINT64_MAX);
}

TEST(thread_name_is_the_last_one_given)
{
	struct thread t = {0};
	u64 from, until;

	vec_add(&t.comms, ((struct comm){10, "a", false}));
	vec_add(&t.comms, ((struct comm){20, "b", true}));
	vec_add(&t.comms, ((struct comm){21, "c", false}));
	/* Before the first that is known, that one. */
	CHECK_STR(thread_comm_at(&t, 0, &from, &until), "a");
	CHECK_EQ(from, 0);
	CHECK_EQ(until, 20);
	CHECK_STR(thread_comm_at(&t, 19, &from, &until), "a");
	CHECK_EQ(from, 0);
	CHECK_EQ(until, 20);
	CHECK_STR(thread_comm_at(&t, 20, &from, &until), "b");
	CHECK_EQ(from, 20);
	CHECK_EQ(until, 21);
	CHECK_STR(thread_comm_at(&t, 21, &from, &until), "c");
	CHECK_EQ(from, 21);
	CHECK(until == UINT64_MAX);
	CHECK_STR(thread_comm_at(&t, UINT64_MAX, &from, &until), "c");
	vec_fini(&t.comms);
}

TEST(thread_names_hold_exactly_over_the_interval_they_are_said_to)
{
	struct thread t = {0};
	char names[8][4];

	for (u64 i = 0; i < 8; i++) {
		snprintf(names[i], sizeof(names[i]), "n%u", (unsigned)i);
		vec_add(&t.comms, ((struct comm){3 + i * i, names[i], false}));
	}
	for (u64 time = 0; time < 80; time++) {
		u64 from, until, f, u;
		const char *name = thread_comm_at(&t, time, &from, &until);

		CHECK(from <= time && time < until);
		for (u64 other = from; other < MIN(until, (u64)80); other++)
			CHECK(thread_comm_at(&t, other, &f, &u) == name);
		if (from)
			CHECK(thread_comm_at(&t, from - 1, &f, &u) != name);
		if (until != UINT64_MAX)
			CHECK(thread_comm_at(&t, until, &f, &u) != name);
	}
	vec_fini(&t.comms);
}
