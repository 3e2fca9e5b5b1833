#include "test.h"

#include <math.h>

#include "profile/batch/usual.h"
#include "unit/chance.h"

enum { FUNCTIONS = 40, SECOND_NS = 1000000000 };

/* What a minute is drawn from. */
struct world {
	struct random random;
	u32 samples; /* about so many a minute */
	double shares[FUNCTIONS];
	double restless; /* shares vary from minute to minute by so much of themselves */
};

static void world_init(struct world *w, u32 samples, double restless)
{
	*w = (struct world){.random = {11}, .samples = samples, .restless = restless};
	for (u32 i = 0; i < FUNCTIONS; i++)
		w->shares[i] = 1. / (2 + i);
}

/* A minute: each sample falls on a function by its share. */
static void draw(struct world *w, struct batch *b)
{
	double weights[FUNCTIONS], sum = 0;
	const u32 n =
		w->samples - w->samples / 10 + (u32)(random_share(&w->random) * w->samples / 5);
	u32 counts[FUNCTIONS] = {0}, stacks[FUNCTIONS], cell;

	batch_init(b);
	b->end_ns = 60ULL * SECOND_NS;
	batch_column(b, "service");
	batch_event(b, "cpu-clock");
	for (u32 i = 0; i < FUNCTIONS; i++) {
		weights[i] = w->shares[i] * (1 + w->restless * (random_share(&w->random) - 0.5));
		sum += weights[i];
	}
	for (u32 k = 0; k < n; k++) {
		double at = random_share(&w->random) * sum;
		u32 i = 0;

		while (i < FUNCTIONS - 1 && at >= weights[i])
			at -= weights[i++];
		counts[i]++;
	}
	cell = batch_add_string(b, "api");
	for (u32 i = 0; i < FUNCTIONS; i++) {
		struct batch_frame frame = {.is_named = true};
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		frame.name = batch_add_string(b, name);
		stacks[i] = batch_stack(b, 0, batch_frame(b, &frame));
		if (counts[i])
			batch_count(b,
				&(struct batch_row){.stack = stacks[i],
					.n_samples = counts[i],
					.period = (u64)counts[i] * 50000000},
				&cell);
	}
}

/* Looks at n minutes; how many are odd, and what the last one was said to be. */
static u32 look(struct usual *u, struct world *w, u32 n, struct str *why)
{
	u32 n_odd = 0;

	for (u32 i = 0; i < n; i++) {
		struct batch b;

		draw(w, &b);
		str_clear(why);
		n_odd += usual_look(u, &b, why);
		batch_fini(&b);
	}
	return n_odd;
}

TEST(usual_minutes_are_hardly_ever_odd)
{
	static const u32 samples[] = {20, 150, 2000, 20000};

	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		for (double restless = 0; restless < 1; restless += 0.4) {
			struct usual u = {0};
			struct str why = {0};
			struct world w;

			world_init(&w, samples[i], restless);
			CHECK(look(&u, &w, samples[i] > 10000 ? 200 : 500, &why) <= 1);
			usual_fini(&u);
			str_fini(&why);
		}
}

TEST(usual_names_the_function_that_is_where_it_was_not)
{
	struct usual u = {0};
	struct str why = {0};
	struct world w;

	world_init(&w, 1000, 0.2);
	CHECK_EQ(look(&u, &w, 60, &why), 0);
	w.shares[30] = 1.5;
	CHECK_EQ(look(&u, &w, 1, &why), 1);
	CHECK_HAS(str_text(&why), "% of the samples are elsewhere than usual, most in api: f30 (");
	/* What stays is soon usual, and so is what it was before. */
	CHECK(look(&u, &w, 15, &why) < 15);
	CHECK_EQ(look(&u, &w, 30, &why), 0);
	w.shares[30] = 1. / 32;
	CHECK_EQ(look(&u, &w, 1, &why), 1);
	usual_fini(&u);
	str_fini(&why);
}

TEST(usual_tells_that_there_is_much_more)
{
	struct usual u = {0};
	struct str why = {0};
	struct world w;

	world_init(&w, 400, 0.2);
	CHECK_EQ(look(&u, &w, 60, &why), 0);
	w.samples = 2000;
	CHECK_EQ(look(&u, &w, 1, &why), 1);
	CHECK_HAS(str_text(&why), " times as much as usual");
	usual_fini(&u);
	str_fini(&why);
}

TEST(usual_needs_some_minutes_and_some_samples_first)
{
	struct usual u = {0};
	struct str why = {0};
	struct world w;

	world_init(&w, 1000, 0);
	CHECK_EQ(look(&u, &w, 3, &why), 0);
	w.shares[30] = 5;
	CHECK_EQ(look(&u, &w, 1, &why), 0);
	usual_fini(&u);
	u = (struct usual){0};
	world_init(&w, 30, 0);
	CHECK_EQ(look(&u, &w, 100, &why), 0);
	w.shares[30] = 50;
	CHECK_EQ(look(&u, &w, 1, &why), 0);
	usual_fini(&u);
	str_fini(&why);
}

TEST(usual_batches_of_nothing_do_no_harm)
{
	struct usual u = {0};
	struct str why = {0};
	struct batch b;

	for (int i = 0; i < 30; i++) {
		batch_init(&b);
		CHECK(!usual_look(&u, &b, &why));
		batch_fini(&b);
	}
	usual_fini(&u);
	str_fini(&why);
}
