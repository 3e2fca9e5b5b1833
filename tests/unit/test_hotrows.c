#include "profile/code/hotrows.h"

#include "test.h"

/* A function of which only what was sampled is known: periods of two events by row. */
struct heating {
	struct profile profile;
	struct annotation annotation;
	struct annotation_function function;
	struct assembly assembly;
};

static void heating_init(struct heating *h, size_t n_rows)
{
	memset(h, 0, sizeof(*h));
	profile_init(&h->profile, 0);
	vec_add(&h->profile.events, ((struct profile_event){.name = "cycles"}));
	vec_add(&h->profile.events, ((struct profile_event){.name = "faults"}));
	h->annotation.profile = &h->profile;
	vec_add(&h->annotation.counts, ((struct annotation_count){0, 0}));
	vec_add(&h->annotation.counts, ((struct annotation_count){0, 0}));
	h->assembly.annotation = &h->annotation;
	h->assembly.function = &h->function;
	for (size_t i = 0; i < n_rows; i++) {
		vec_add(&h->assembly.rows, ((struct assembly_row){.counts = 2 * i}));
		vec_add(&h->assembly.counts, ((struct annotation_count){0, 0}));
		vec_add(&h->assembly.counts, ((struct annotation_count){0, 0}));
	}
}

static void heat(struct heating *h, size_t row, size_t event, u64 period)
{
	h->assembly.counts.at[2 * row + event].period += period;
	h->annotation.counts.at[event].period += period;
}

static void check(struct heating *h, size_t around, const char *expected)
{
	struct hotrows hot;
	struct str text = {0};

	hotrows_init(&hot, &h->assembly, around);
	vec_each(s, &hot.spans)
		str_addf(&text, "%zu-%zu ", s->from, s->to);
	CHECK_STR(str_text(&text), expected);
	hotrows_fini(&hot);
	str_fini(&text);
}

static void heating_fini(struct heating *h)
{
	vec_fini(&h->assembly.rows);
	vec_fini(&h->assembly.counts);
	vec_fini(&h->annotation.counts);
	profile_fini(&h->profile);
}

TEST(hotrows_are_the_hottest_with_some_around)
{
	struct heating h;

	heating_init(&h, 100);
	heat(&h, 1, 0, 300);
	heat(&h, 50, 0, 400);
	heat(&h, 54, 0, 200);
	heat(&h, 99, 0, 95);
	heat(&h, 70, 0, 5); /* less than a hundredth */
	check(&h, 0, "1-2 50-51 54-55 99-100 ");
	check(&h, 1, "0-3 49-52 53-56 98-100 ");
	check(&h, 2, "0-4 48-57 97-100 ");
	check(&h, 1000, "0-100 ");
	check(&h, UINT32_MAX, "0-100 ");
	heating_fini(&h);
}

TEST(hotrows_are_no_more_than_eight)
{
	struct heating h;

	heating_init(&h, 40);
	for (size_t i = 0; i < 40; i += 2)
		heat(&h, i, 0, 100 + i);
	check(&h, 0, "24-25 26-27 28-29 30-31 32-33 34-35 36-37 38-39 ");
	heating_fini(&h);
}

TEST(hotrows_are_hot_for_any_event_and_one_is_there_in_any_case)
{
	struct heating h;

	heating_init(&h, 500);
	check(&h, 3, "");
	for (size_t i = 0; i < 500; i++)
		heat(&h, i, 0, 1);
	check(&h, 0, "0-1 ");
	heat(&h, 321, 1, 1);
	check(&h, 0, "321-322 ");
	heating_fini(&h);
}
