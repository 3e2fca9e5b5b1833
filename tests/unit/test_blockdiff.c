#include "test.h"

#include <math.h>

#include "profile/diff/blockdiff.h"

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

/* ---- runs of code ---- */

/* One row in four recordings, two on each side. */
struct scene {
	struct delta delta;
	struct delta_row row;
	struct delta_value values[4];
	struct delta_amount amounts[16];
	size_t n_amounts;
};

static void scene_init(struct scene *s)
{
	*s = (struct scene){0};
	for (u8 i = 0; i < 4; i++)
		vec_add(&s->delta.recordings, ((struct delta_recording){.side = i / 2}));
	s->row.values = s->values;
}

static void add(struct scene *s, size_t recording, u64 cycles, u64 n)
{
	struct delta_value *v = &s->values[recording];
	struct delta_amount *a = &s->amounts[s->n_amounts++];

	*a = (struct delta_amount){v->amounts, cycles, n};
	v->amounts = a;
	v->n_samples += n;
	v->period += cycles * n;
}

TEST(runs_that_take_as_long_are_added_at_once_and_come_to_the_same)
{
	struct variance one_by_one = {0}, all;
	struct scene s;

	scene_init(&s);
	add(&s, 0, 7, 3);
	add(&s, 0, 100, 1);
	add(&s, 0, 9, 5);
	for (int i = 0; i < 9; i++)
		variance_add(&one_by_one, i < 3 ? 7 : i < 4 ? 100 : 9);
	all = blockdiff_of(&s.row, 0);
	CHECK_EQ(all.n, 9);
	CHECK(is_near(all.mean, one_by_one.mean));
	CHECK(is_near(all.squares, one_by_one.squares));
	CHECK_EQ(blockdiff_of(&s.row, 1).n, 0);
	vec_fini(&s.delta.recordings);
}

TEST(a_difference_is_as_sure_as_welchs_test_says)
{
	struct blockdiff d;
	struct scene s;

	scene_init(&s);
	/* Means 10 and 14, whose variances are 4/3 and 1/3: 4.41 degrees of freedom, t is 2.677. */
	for (u64 i = 0; i < 4; i++) {
		add(&s, 0, i < 2 ? 10 - 2 : 10 + 2, 1);
		add(&s, 1, i < 2 ? 14 - 1 : 14 + 1, 1);
	}
	d = blockdiff_compare(&s.row, 1);
	CHECK(is_near(d.diff, 4));
	CHECK(fabs(d.half / sqrt(4. / 3 + 1. / 3) - 2.677) < 0.1);
	/* Of one run nobody knows how sure it is, and of none not even that. */
	add(&s, 2, 30, 1);
	d = blockdiff_compare(&s.row, 2);
	CHECK(is_near(d.diff, 20));
	CHECK(isnan(d.half));
	CHECK(isnan(blockdiff_compare(&s.row, 3).diff));
	vec_fini(&s.delta.recordings);
}

TEST(several_recordings_are_what_a_difference_of_sides_is_judged_by)
{
	struct blockdiff d;
	struct scene s;

	scene_init(&s);
	/* Means of recordings: 10 and 12, 20 and 22, however many runs they have. */
	add(&s, 0, 10, 1000);
	add(&s, 1, 12, 1);
	add(&s, 2, 20, 1);
	CHECK(is_near(blockdiff_compare_sides(&s.delta, &s.row).diff, 20 - 10012. / 1001));
	add(&s, 3, 22, 1000);
	d = blockdiff_compare_sides(&s.delta, &s.row);
	CHECK(is_near(d.diff, 10));
	/* Two degrees of freedom: 4.303 standard errors, each sqrt(1 + 1). */
	CHECK(fabs(d.half - 4.303 * M_SQRT2) < 1e-3);
	CHECK_EQ(blockdiff_of_side(&s.delta, &s.row, DELTA_B).n, 1001);
	vec_fini(&s.delta.recordings);
}

TEST(bins_are_the_same_for_all_recordings)
{
	u64 first[BLOCKDIFF_BINS] = {0}, last[BLOCKDIFF_BINS] = {0}, none[BLOCKDIFF_BINS] = {0};
	struct blockdiff_range range;
	struct scene s;

	scene_init(&s);
	range = blockdiff_range(&s.delta, &s.row);
	CHECK(!range.low && !range.high);
	add(&s, 0, 3, 2);
	add(&s, 0, 5, 1);
	add(&s, 3, 18, 4);
	range = blockdiff_range(&s.delta, &s.row);
	CHECK_EQ(range.low, 3);
	CHECK_EQ(range.high, 18);
	blockdiff_bins(&s.row, 0, range, first);
	blockdiff_bins(&s.row, 3, range, last);
	blockdiff_bins(&s.row, 1, range, none);
	CHECK(first[0] == 2 && first[1] == 1 && last[7] == 4 && !none[0]);
	/* Cycles are 16 bits, but a file may say anything. */
	add(&s, 1, UINT64_MAX, 1);
	range = blockdiff_range(&s.delta, &s.row);
	blockdiff_bins(&s.row, 1, range, none);
	CHECK_EQ(none[7], 1);
	vec_fini(&s.delta.recordings);
}
