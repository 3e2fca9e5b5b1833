#include "test.h"

#include "profile/gather/filter.h"
#include "profile/tree/zoom.h"
#include "unit/profilemaker.h"

static void make(struct profilemaker *m)
{
	static const struct {
		const char *comm, *stack;
		u64 period;
	} samples[] = {{"sh", "main;parse;read", 600}, {"sh", "main;parse@libx.so", 200},
		{"cc", "main;read@libx.so", 150}, {"cc", "start;parse;read;parse", 40},
		{"cc", "start", 10}};

	profilemaker_init(m, LABEL_BIT(LABEL_COMM));
	profilemaker_event(m, "cycles");
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		profilemaker_add(m,
			&(struct profilemaker_sample){.comm = samples[i].comm,
				.stack = samples[i].stack,
				.period = samples[i].period});
}

static struct zoom zoom_of(enum zoom_kind kind, const char *text, const char *dso)
{
	struct zoom z = {.kind = (u8)kind};

	str_add(&z.text, text);
	str_add(&z.dso, dso);
	return z;
}

static u64 sum(const struct profile *p)
{
	u64 n = 0;

	vec_each(row, &p->rows)
		n += row->period;
	return n;
}

/* The periods that zooms leave; each row of the part is at its node of the whole's call tree. */
static u64 left(const struct profilemaker *m, const struct zoom *zooms, size_t n, bool is_relative)
{
	struct calls calls;
	struct part part;
	u64 result;

	calls_init(&calls, &m->profile);
	zoom_part(&part, &m->profile, &calls, is_relative, zooms, n);
	result = sum(&part.profile);
	CHECK_EQ(part.profile.events.at[0].period, is_relative ? result : 1000);
	CHECK_EQ(part.calls.first_row[1], part.profile.rows.n);
	for (size_t i = 0; i < part.profile.rows.n; i++)
		CHECK_EQ(part.calls.nodes.at[part.calls.of_row[i]].symbol,
			part.profile.frames.at[part.profile.rows.at[i].frame].symbol);
	part_fini(&part);
	calls_fini(&calls);
	return result;
}

TEST(zoom_leaves_the_rows_that_filters_leave)
{
	static const struct {
		enum zoom_kind kind;
		const char *text;
	} cases[] = {{ZOOM_DSO, "libx.so"}, {ZOOM_DSO, "prog"}, {ZOOM_DSO, "nothing"},
		{ZOOM_COMM, "sh"}, {ZOOM_COMM, "cc"}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct profile_filter filter = {.dsos = cases[i].kind == ZOOM_DSO ? cases[i].text
										  : NULL,
			.comms = cases[i].kind == ZOOM_COMM ? cases[i].text : NULL};
		struct zoom zoom = zoom_of(cases[i].kind, cases[i].text, "");
		struct profilemaker m;

		make(&m);
		const u64 n = left(&m, &zoom, 1, false);

		CHECK_EQ(left(&m, &zoom, 1, true), n);
		profile_filter_apply(&m.profile, &filter);
		CHECK_EQ(n, sum(&m.profile));
		zoom_fini(&zoom);
		profilemaker_fini(&m);
	}
}

TEST(zoom_into_a_function_has_all_samples_that_went_through_it)
{
	struct zoom zooms[] = {zoom_of(ZOOM_FUNCTION, "parse", "prog"),
		zoom_of(ZOOM_COMM, "cc", "")};
	struct str text = {0};
	struct profilemaker m;
	struct calls calls;

	make(&m);
	/* The one of libx.so is another function. */
	CHECK_EQ(left(&m, zooms, 1, false), 640);
	CHECK_EQ(left(&m, zooms, 2, false), 40);
	zoom_add_text(&zooms[0], &text);
	str_add(&text, ", ");
	zoom_add_text(&zooms[1], &text);
	CHECK_STR(str_text(&text), "through parse, thread cc");
	calls_init(&calls, &m.profile);
	zoom_keep(&m.profile, &calls, zooms, 2);
	CHECK_EQ(sum(&m.profile), 40);
	calls_fini(&calls);
	str_fini(&text);
	zoom_fini(&zooms[0]);
	zoom_fini(&zooms[1]);
	profilemaker_fini(&m);
}
