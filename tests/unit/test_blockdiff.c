#include "test.h"

#include <math.h>

#include "profile/diff/blockdiff.h"
#include "profile/diff/branchstreams.h"

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

/* ---- streams ---- */

/* A function of a profile: 0x100 bytes, with a line for each 0x10. */
static u32 symbol_of(struct profile *p, const char *name, u64 start, u32 line, bool has_lines)
{
	char text[16];

	snprintf(text, sizeof(text), "a.c:%u", line);
	vec_add(&p->symbols,
		((struct profile_symbol){.start = start,
			.end = start + 0x100,
			.name = intern_str(&p->strings, name),
			.has_line = has_lines,
			.line = intern_str(&p->strings, text)}));
	return (u32)p->symbols.n - 1;
}

/* Adds n samples behind a branch from one place of f to another of g. */
static void add_samples(struct profile *p, u64 n, u64 from, u64 to, u32 line, bool has_lines)
{
	const u32 f = symbol_of(p, "f.isra.0", 0x1000, line, has_lines),
		  g = symbol_of(p, "g", 0x2000, line + 1, has_lines);
	const u32 from_frame = (u32)p->frames.n, oldest = (u32)p->stacks.n;
	const struct profile_row row = {.callers = oldest + 1,
		.branches = (u32)p->branches.n,
		.n_samples = n};

	vec_add(&p->frames,
		((struct profile_frame){.symbol = f,
			.at = 0x1000 + from,
			.branch = PROFILE_BRANCH_FROM}));
	vec_add(&p->frames,
		((struct profile_frame){.symbol = g,
			.at = 0x2000 + to,
			.branch = PROFILE_BRANCH_TO}));
	vec_add(&p->stacks, ((struct profile_stack){0, from_frame}));
	vec_add(&p->stacks, ((struct profile_stack){oldest, from_frame + 1}));
	vec_add(&p->branches, ((struct profile_branch){.cycles = 10 * n, .loop_cycles = n}));
	p->events.at[0].n_samples += n;
	profile_add_row(p, &row, NULL);
}

static void profile_of(struct profile *p)
{
	profile_init(p, 0);
	vec_add(&p->dsos, ((struct profile_dso){.name = "prog"}));
	vec_add(&p->events, ((struct profile_event){.name = "cycles"}));
}

TEST(streams_are_the_same_by_lines_and_then_by_offsets)
{
	struct branchstreams s = {0};
	struct profile a, b;
	bool *is_hot;

	profile_of(&a);
	profile_of(&b);
	/* Two places of one line are one stream. */
	add_samples(&a, 3, 0x10, 0x20, 7, true);
	add_samples(&a, 4, 0x14, 0x20, 7, true);
	add_samples(&a, 2, 0x50, 0x60, 9, true);
	/* The line is another one, but not the place; and one that is nowhere else. */
	add_samples(&b, 5, 0x50, 0x60, 19, true);
	add_samples(&b, 1, 0x70, 0x80, 30, false);
	branchstreams_add(&s, DELTA_A, &a, 0, 0);
	branchstreams_add(&s, DELTA_B, &b, 0, 1);
	branchstreams_pair(&s);
	CHECK_EQ(s.at.n, 3);
	CHECK(s.at.at[0].of[DELTA_A].n_samples == 7 && !s.at.at[0].of[DELTA_B].n_samples);
	CHECK(s.at.at[1].of[DELTA_A].n_samples == 2 && s.at.at[1].of[DELTA_B].n_samples == 5);
	CHECK_STR(branchstream_step(&s, s.at.at[1].node[DELTA_A])->line, "a.c:10");
	CHECK_STR(branchstream_step(&s, s.at.at[1].node[DELTA_B])->line, "a.c:20");
	CHECK_STR(branchstream_step(&s, branchstream_older(&s, s.at.at[1].node[DELTA_B]))->function,
		"f");
	CHECK(is_near(branchstream_cycles(&s.at.at[0], DELTA_A), 11));
	CHECK(isnan(branchstream_cycles(&s.at.at[0], DELTA_B)));
	CHECK(is_near(branchstream_share(&s, &s.at.at[1], DELTA_B), 5. / 6));
	is_hot = branchstreams_hottest(&s, 1);
	CHECK(is_hot[0] && is_hot[1] && !is_hot[2]);
	mem_free(is_hot);
	branchstreams_fini(&s);
	profile_fini(&a);
	profile_fini(&b);
}
