#include "profile/diff/drill.h"

#include <math.h>

#include "test.h"

static void add(struct drill_step *s, const char *name, bool is_notable, const double *shares)
{
	for (; *shares; shares++)
		drill_add(s, name, 0, *shares, is_notable);
}

static const char *name_at(const struct drill_step *s, u32 i)
{
	return i == DRILL_NONE ? "none" : s->branches.at[i].name;
}

TEST(drill_follows_the_largest_branch_above_its_limit)
{
	struct drill_step s = {0};

	add(&s, "retiring", false, (const double[]){0.60, 0.61, 0.59, 0});
	add(&s, "backend", true, (const double[]){0.25, 0.26, 0.24, 0});
	add(&s, "frontend", true, (const double[]){0.18, 0.17, 0.16, 0});
	drill_decide(&s);
	CHECK_STR(name_at(&s, s.best), "backend");
	CHECK_STR(name_at(&s, s.second), "frontend");
	/* 0.25 +- 4.303 * 0.01 / sqrt(3) = 0.0248: 0.17 is outside. */
	CHECK(fabs(drill_half(&s.branches.at[1]) - 0.02484) < 1e-5);
	CHECK(s.is_sure);
	drill_step_fini(&s);
}

TEST(drill_follows_the_largest_branch_where_none_is_above_its_limit)
{
	struct drill_step s = {0};

	add(&s, "retiring", false, (const double[]){0.60, 0.61, 0});
	add(&s, "backend", false, (const double[]){0.15, 0.15, 0});
	drill_decide(&s);
	CHECK_STR(name_at(&s, s.best), "retiring");
	CHECK_STR(name_at(&s, s.second), "backend");
	CHECK(s.is_sure);
	drill_step_fini(&s);
}

TEST(drill_is_not_sure_if_another_branch_is_within_the_interval)
{
	struct drill_step s = {.parent = "backend"};

	/* 0.20 +- 4.303 * 0.04 / sqrt(3) = 0.0994. */
	add(&s, "memory", true, (const double[]){0.16, 0.20, 0.24, 0});
	add(&s, "core", true, (const double[]){0.12, 0.12, 0.12, 0});
	drill_decide(&s);
	CHECK_STR(name_at(&s, s.best), "memory");
	CHECK(!s.is_sure);
	drill_step_fini(&s);
}

TEST(drill_below_the_first_step_does_not_ask_for_limits)
{
	struct drill_step s = {.parent = "backend"};

	add(&s, "memory", false, (const double[]){0.12, 0.12, 0});
	add(&s, "core", true, (const double[]){0.11, 0.11, 0});
	drill_decide(&s);
	CHECK_STR(name_at(&s, s.best), "memory");
	drill_step_fini(&s);
}

TEST(drill_cannot_be_sure_after_one_measurement)
{
	struct drill_step s = {0};

	add(&s, "memory", true, (const double[]){0.9, 0});
	drill_add(&s, "core", 0, NAN, false);
	drill_decide(&s);
	CHECK_EQ(s.branches.n, 1);
	CHECK(isnan(drill_half(&s.branches.at[0])));
	CHECK(!s.is_sure);
	drill_step_fini(&s);
	s = (struct drill_step){0};
	drill_decide(&s);
	CHECK_EQ(s.best, DRILL_NONE);
}

TEST(drill_follows_no_part_that_is_nothing)
{
	struct drill_step s = {.parent = "all"};

	drill_add(&s, "nothing", 0, 0, false);
	drill_decide(&s);
	CHECK(s.best == DRILL_NONE);
	drill_add(&s, "some", 0, 0.1, false);
	drill_decide(&s);
	CHECK_STR(name_at(&s, s.best), "some");
	drill_step_fini(&s);
}
