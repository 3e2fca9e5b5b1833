#include "machine/process.h"

#include "test.h"

enum { STATES_MAX = 40 };

static struct space states[STATES_MAX];

/* A process whose states begin at the given times; their ids are 1, 2, ... */
static void add_states(struct process *p, const u64 *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		states[i] = (struct space){.id = (u32)i + 1, .from = from[i]};
		vec_add(&p->spaces, &states[i]);
	}
}

TEST(process_state_is_the_last_that_began)
{
	static const u64 from[] = {0, 10, 11, 500, UINT64_MAX};
	struct process p = {0};
	u64 until;

	add_states(&p, from, ARRAY_SIZE(from));
	CHECK_EQ(process_space_at(&p, 0, &until)->id, 1);
	CHECK_EQ(until, 10);
	CHECK_EQ(process_space_at(&p, 9, &until)->id, 1);
	CHECK_EQ(process_space_at(&p, 10, &until)->id, 2);
	CHECK_EQ(until, 11);
	CHECK_EQ(process_space_at(&p, 11, &until)->id, 3);
	CHECK_EQ(until, 500);
	CHECK_EQ(process_space_at(&p, 499, &until)->id, 3);
	CHECK_EQ(process_space_at(&p, 500, &until)->id, 4);
	CHECK(until == UINT64_MAX);
	CHECK_EQ(process_space_at(&p, UINT64_MAX - 1, &until)->id, 4);
	CHECK_EQ(process_space_at(&p, UINT64_MAX, &until)->id, 5);
	vec_fini(&p.spaces);
}

TEST(process_state_before_the_first_is_the_first)
{
	static const u64 from[] = {100, 200};
	struct process p = {0};
	u64 until;

	add_states(&p, from, ARRAY_SIZE(from));
	CHECK_EQ(process_space_at(&p, 0, &until)->id, 1);
	CHECK_EQ(until, 200);
	CHECK_EQ(process_space_at(&p, 99, &until)->id, 1);
	CHECK_EQ(until, 200);
	vec_fini(&p.spaces);
}

TEST(process_with_one_state_always_has_it)
{
	static const u64 from[] = {7};
	struct process p = {0};
	u64 until;

	add_states(&p, from, 1);
	for (u64 time = 0; time < 20; time++) {
		CHECK_EQ(process_space_at(&p, time, &until)->id, 1);
		CHECK(until == UINT64_MAX);
	}
	vec_fini(&p.spaces);
}

TEST(process_states_are_found_in_lists_of_every_length)
{
	u64 from[STATES_MAX];

	for (size_t i = 0; i < STATES_MAX; i++)
		from[i] = i * 10;
	for (size_t n = 1; n < STATES_MAX; n++) {
		struct process p = {0};

		add_states(&p, from, n);
		for (u64 time = 0; time < n * 10 + 20; time++) {
			u64 until, expected = MIN(time / 10, n - 1);

			CHECK_EQ(process_space_at(&p, time, &until)->id, expected + 1);
			CHECK(until == (expected + 1 < n ? (expected + 1) * 10 : UINT64_MAX));
		}
		vec_fini(&p.spaces);
	}
}
