#include "profile/chart/lane.h"

#include "test.h"

struct sums {
	u64 ns[LANE_STATES], whole;
	size_t n;
};

static struct sums sum(const struct lane *l)
{
	struct sums s = {.n = l->pieces.n};

	vec_each(p, &l->pieces) {
		s.ns[p->state] += lane_piece_end(l, p) - p->from;
		s.whole += lane_piece_end(l, p) - p->from;
	}
	return s;
}

/* Runs of n turns, short and long ones, always the same. */
static struct lane busy(size_t n)
{
	struct lane l = {0};
	u64 at = 100, seed = 1;

	for (size_t i = 0; i < n; i++) {
		lane_put(&l, at,
			i % 3           ? LANE_WAITING
				: i % 2 ? LANE_SLEEPING
					: LANE_RUNNING,
			i % 5);
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		at += seed >> 33 & (i % 17 ? 0xff : 0xffff);
	}
	lane_extend(&l, at);
	return l;
}

TEST(lane_joins_what_goes_on_and_forgets_what_lasted_no_time)
{
	struct lane l = {0};

	lane_put(&l, 10, LANE_RUNNING, 1);
	lane_put(&l, 20, LANE_RUNNING, 1);
	CHECK_EQ(l.pieces.n, 1);
	lane_put(&l, 20, LANE_SLEEPING, 1);
	lane_put(&l, 20, LANE_WAITING, 1);
	CHECK_EQ(l.pieces.n, 2);
	CHECK_EQ(l.pieces.at[1].state, LANE_WAITING);
	lane_put(&l, 20, LANE_RUNNING, 1);
	CHECK_EQ(l.pieces.n, 1);
	/* Time does not go back. */
	lane_put(&l, 5, LANE_SLEEPING, 1);
	CHECK_EQ(l.pieces.at[l.pieces.n - 1].from, 20);
	lane_fini(&l);
}

TEST(lane_keeps_the_sums_of_states_however_coarse_it_gets)
{
	struct lane l = busy(5000);
	const struct sums before = sum(&l);
	size_t n = l.pieces.n;

	for (u64 shortest = 1; shortest < 1 << 24; shortest *= 2) {
		lane_coarsen(&l, shortest);
		CHECK(!memcmp(sum(&l).ns, before.ns, sizeof(before.ns)));
		CHECK(l.pieces.n <= n);
		n = l.pieces.n;
	}
	CHECK(n <= LANE_STATES + 1);
	lane_fini(&l);
}

TEST(lane_leaves_long_pieces_and_lonely_short_ones_as_they_are)
{
	static const u64 starts[] = {0, 1000, 1001, 2000, 2003, 2005, 2010, 3000};
	struct lane l = {0};

	for (size_t i = 0; i < 8; i++)
		lane_put(&l, starts[i], i % 2 ? LANE_RUNNING : LANE_SLEEPING, 0);
	lane_extend(&l, 4000);
	lane_coarsen(&l, 100);
	/* 0, 1000, 1001 stay; 2000 to 2010 is a group of both states; 2010 and 3000 stay. */
	CHECK_EQ(l.pieces.n, 7);
	for (size_t i = 0; i < 3; i++) {
		CHECK_EQ(l.pieces.at[i].from, starts[i]);
		CHECK_EQ(l.pieces.at[i].n, 1);
	}
	CHECK_EQ(l.pieces.at[3].from, 2000);
	CHECK_EQ(l.pieces.at[3].state, LANE_RUNNING);
	CHECK(l.pieces.at[3].n > 1 && l.pieces.at[3].is_first);
	CHECK_EQ(l.pieces.at[4].from, 2008);
	CHECK_EQ(l.pieces.at[4].state, LANE_SLEEPING);
	CHECK(!l.pieces.at[4].is_first);
	CHECK_EQ(l.pieces.at[5].from, 2010);
	CHECK_EQ(l.pieces.at[5].n, 1);
	lane_fini(&l);
}

TEST(lane_is_appended_with_a_gap_where_there_was_one)
{
	struct lane a = {0}, b = {0};

	lane_put(&a, 10, LANE_RUNNING, 1);
	lane_put(&a, 20, LANE_NOTHING, LANE_SEVERAL);
	lane_put(&b, 50, LANE_RUNNING, 2);
	lane_put(&b, 60, LANE_NOTHING, LANE_SEVERAL);
	lane_append(&a, &b);
	CHECK_EQ(sum(&a).ns[LANE_RUNNING], 20);
	CHECK_EQ(sum(&a).ns[LANE_NOTHING], 30);
	CHECK_EQ(a.end, 60);
	lane_fini(&a);
	lane_fini(&b);
}
