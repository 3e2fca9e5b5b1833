#include "test.h"

#include "unit/profilemaker.h"
#include "profile/rows/codekind.h"
#include "view/forms/filelayout.h"
#include "view/forms/stackpath.h"
#include "view/rows/stackrows.h"

struct made {
	struct profilemaker maker;
	struct calls calls;
	struct stackrows stacks;
};

static void made_init(struct made *m, enum stackrows_detail detail, const char *const *stacks,
	size_t n)
{
	memset(m, 0, sizeof(*m));
	profilemaker_init(&m->maker, LABEL_BIT(LABEL_COMM));
	profilemaker_event(&m->maker, "cycles");
	for (size_t i = 0; i < n; i++)
		profilemaker_add(&m->maker,
			&(struct profilemaker_sample){.comm = "main",
				.stack = stacks[i],
				.period = 10});
	calls_init(&m->calls, &m->maker.profile);
	m->stacks.detail = detail;
	m->stacks.is_one_recording = true;
	m->stacks.n_parts = 1;
	stackrows_add_part(&m->stacks, "cycles", false);
	stackrows_add(&m->stacks, &m->maker.profile, &m->calls, 0, 0);
	stackrows_finish(&m->stacks);
}

static void made_fini(struct made *m)
{
	stackrows_fini(&m->stacks);
	calls_fini(&m->calls);
	profilemaker_fini(&m->maker);
}

/* How many places have the name and are, or are not, threads; and how many functions these are. */
static u32 places_of(const struct rowset *r, const char *name, bool is_thread, u32 *ret_functions)
{
	u64 functions = 0;
	u32 n = 0;

	for (size_t i = 0; i < r->n_places; i++)
		if (!strcmp(r->places[i].name, name) && r->places[i].is_thread == is_thread) {
			CHECK(r->places[i].function < r->n_functions && r->n_functions < 64);
			functions |= 1ull << r->places[i].function;
			n++;
		}
	*ret_functions = (u32)__builtin_popcountll(functions);
	return n;
}

TEST(stackrows_functions_have_one_place_each)
{
	static const char *const stacks[] = {"main;f", "main;f;f", "main;f@/lib/libf.so", "f"};
	const struct rowset *r;
	u32 n_functions;
	struct made m;

	made_init(&m, STACKROWS_FUNCTIONS, stacks, ARRAY_SIZE(stacks));
	r = &m.stacks.rows;
	CHECK_EQ(places_of(r, "f", false, &n_functions), 2);
	CHECK_EQ(n_functions, 2);
	/* The thread and the function have the same name. */
	CHECK_EQ(places_of(r, "main", false, &n_functions), 1);
	CHECK_EQ(places_of(r, "main", true, &n_functions), 1);
	CHECK_EQ(r->n_functions, 4);
	CHECK_EQ(r->nodes[0].total, 40);
	made_fini(&m);
}

TEST(stackrows_addresses_of_a_function_are_places_of_one_function)
{
	static const char *const stacks[] = {"/f@/bin/a", "g@/bin/a;/f@/bin/a", "/f@/bin/b",
		"/f@/bin/a", "g@/bin/b;/f@/bin/a"};
	const struct rowset *r;
	u32 n_functions, n_places;
	struct made m;

	made_init(&m, STACKROWS_ADDRESSES, stacks, ARRAY_SIZE(stacks));
	r = &m.stacks.rows;
	n_places = places_of(r, "/f", false, &n_functions);
	CHECK_EQ(n_functions, 2);
	CHECK(n_places > 2);
	CHECK_EQ(r->nodes[0].total, 50);
	for (size_t row = 1; row < r->n; row++)
		CHECK(r->nodes[row].parent || stackpath_place(r, row)->is_thread);
	made_fini(&m);
}

/* Samples keep their row of the profile; the tree says which node that is. */
TEST(stackrows_say_in_which_node_each_sample_of_the_timeline_is)
{
	static const char *const stacks[] = {"a;b", "a", "a;b"};
	struct stackrows s = {.detail = STACKROWS_FUNCTIONS,
		.is_one_recording = true,
		.n_parts = 2};
	struct profilemaker m;
	struct calls calls;

	profilemaker_init(&m, LABEL_BIT(LABEL_COMM));
	profilemaker_event(&m, "cycles");
	profilemaker_event(&m, "faults");
	m.profile.timeline = timeline_new(1);
	for (u32 i = 0; i < ARRAY_SIZE(stacks); i++) {
		profilemaker_add(&m,
			&(struct profilemaker_sample){.event = i == 2,
				.stack = stacks[i],
				.period = 1});
		timeline_add(m.profile.timeline, &(struct timeline_thread){1, 1, "sh"},
			&(struct timeline_sample){.time = 10 - i, .period = 1, .row = i});
	}
	calls_init(&calls, &m.profile);
	s.timeline = m.profile.timeline;
	for (u32 part = 0; part < 2; part++) {
		stackrows_add_part(&s, part ? "faults" : "cycles", false);
		stackrows_add(&s, &m.profile, &calls, part, part);
	}
	stackrows_finish(&s);
	CHECK(s.rows.times && s.rows.times->timeline == m.profile.timeline);
	for (u32 i = 0; i < ARRAY_SIZE(stacks); i++) {
		const u32 node = s.rows.times->spots[i].node;

		CHECK_EQ(s.rows.times->spots[i].part, i == 2);
		CHECK_STR(stackpath_place(&s.rows, node)->name, i == 1 ? "a" : "b");
		CHECK_EQ(stackpath_value(&s.rows, node, i == 2, STACKPATH_PERIOD), 1);
	}
	stackrows_fini(&s);
	calls_fini(&calls);
	profilemaker_fini(&m);
}

TEST(filelayout_puts_files_where_no_other_file_is)
{
	static const char *const stacks[] = {"main@/bin/a;f@/lib/libf.so;k:vfs_read",
		"main@/bin/a;f@/lib/libf.so", "main@/bin/a;anon@[heap]"};
	const struct rowset *r;
	struct filelayout l;
	struct made m;

	made_init(&m, STACKROWS_ADDRESSES, stacks, ARRAY_SIZE(stacks));
	r = &m.stacks.rows;
	filelayout_init(&l, r);
	CHECK_EQ(l.files.n, 4);
	for (u32 i = 0; i < r->n_places; i++) {
		const struct filelayout_file *file = filelayout_file(&l, i);
		const u64 address = filelayout_address(&l, i);

		if (r->places[i].is_thread)
			continue;
		CHECK_STR(file->dso, r->places[i].dso);
		CHECK(address >= file->start && address < filelayout_limit(file));
		/* What is absolute stays so. */
		CHECK(filelayout_has_offsets(file) == (address != r->places[i].address));
		for (u32 k = 0; k < l.files.n; k++)
			if (&l.files.at[k] != file && filelayout_has_offsets(file))
				CHECK(address < l.files.at[k].start ||
					address >= filelayout_limit(&l.files.at[k]));
	}
	filelayout_fini(&l);
	made_fini(&m);
}

/* "[truncated: ...]" has no address of its own: the number there may be any. */
TEST(filelayout_gives_callers_that_were_not_found_no_room)
{
	static const char libc[] = "/lib/libc.so", other[] = "/lib/other.so";
	const struct rowset_place places[] = {
		{.name = "f", .dso = libc, .address = 0x21234, .kind = CODEKIND_LIBRARY},
		{.name = "[truncated: x]",
			.dso = libc,
			.address = UINT64_MAX,
			.kind = CODEKIND_CUT},
		{.name = "[truncated: y]", .dso = other, .address = 7, .kind = CODEKIND_CUT},
		{.name = "g", .dso = libc, .address = 0x20010, .kind = CODEKIND_LIBRARY}};
	const struct rowset r = {.places = places, .n_places = ARRAY_SIZE(places)};
	struct filelayout l;

	filelayout_init(&l, &r);
	CHECK_EQ(l.files.n, 2);
	CHECK_EQ(l.files.at[0].low, 0x20000);
	CHECK_EQ(l.files.at[0].high, 0x21fff);
	for (u32 i = 0; i < ARRAY_SIZE(places); i++) {
		const struct filelayout_file *file = filelayout_file(&l, i);
		const u64 address = filelayout_address(&l, i);

		CHECK(file->start < filelayout_limit(file));
		CHECK(address >= file->start && address < filelayout_limit(file));
	}
	CHECK(l.files.at[1].start >= filelayout_limit(&l.files.at[0]));
	filelayout_fini(&l);
}

TEST(stackpath_names_the_values_of_parts)
{
	const struct rowset_part ours[] = {{"cpu-clock", true}, {"a/b", false}},
				 imported[] = {{"space/bytes", false}, {"plain", false}};
	struct rowset r = {.parts = ours, .n_parts = 2};
	struct str text = {0};

	CHECK_STR(stackpath_add_type(&r, 0, &text), "nanoseconds");
	CHECK_STR(str_text(&text), "cpu-clock");
	str_clear(&text);
	/* A slash in an event of ours is part of its name. */
	CHECK_STR(stackpath_add_type(&r, 1, &text), "count");
	CHECK_STR(str_text(&text), "a/b");
	str_clear(&text);
	stackpath_add_count_type(&r, 0, &text);
	CHECK_STR(str_text(&text), "cpu-clock_samples");
	str_clear(&text);
	r = (struct rowset){.parts = imported, .n_parts = 1, .has_foreign_names = true};
	CHECK_STR(stackpath_add_type(&r, 0, &text), "bytes");
	CHECK_STR(str_text(&text), "space");
	str_clear(&text);
	CHECK_STR(stackpath_add_type(&r, 1, &text), "count");
	CHECK_STR(str_text(&text), "plain");
	str_clear(&text);
	stackpath_add_count_type(&r, 0, &text);
	CHECK_STR(str_text(&text), "samples");
	str_fini(&text);
}
