#include "test.h"

#include "profile/code/typeprofile.h"
#include "symbol/types/datatype.h"
#include "symbol/types/typelayout.h"

/*
 * struct outer { long key; struct { int x, y; } pos; union { long n; void *p; } u; struct { char c; int i; } all[4]; }, of
 * which `accesses` are each sampled once, as the period of 10.
 */
static void make(struct profile *p, const u64 *offsets, size_t n)
{
	static const struct profile_member lines[] = {
		{TYPELAYOUT_STRUCT, 0, 0, 56, 0, "struct outer", ""},
		{TYPELAYOUT_MEMBER, 1, 0, 8, 0, "long int", "key"},
		{TYPELAYOUT_STRUCT, 1, 8, 8, 0, "struct pos", "pos"},
		{TYPELAYOUT_MEMBER, 2, 8, 4, 0, "int", "x"},
		{TYPELAYOUT_MEMBER, 2, 12, 4, 0, "int", "y"},
		{TYPELAYOUT_UNION, 1, 16, 8, 0, "union u", "u"},
		{TYPELAYOUT_MEMBER, 2, 16, 8, 0, "long int", "n"},
		{TYPELAYOUT_MEMBER, 2, 16, 8, 0, "void *", "p"},
		{TYPELAYOUT_STRUCT, 1, 24, 32, 8, "struct one", "all[4]"},
		{TYPELAYOUT_MEMBER, 2, 24, 1, 0, "char", "c"},
		{TYPELAYOUT_MEMBER, 2, 28, 4, 0, "int", "i"},
	};

	profile_init(p, LABEL_BIT(LABEL_ACCESS));
	vec_add(&p->events, ((struct profile_event){.name = "cycles"}));
	vec_add(&p->types, ((struct profile_type){"struct outer", 56, 0, ARRAY_SIZE(lines)}));
	vec_add(&p->types, ((struct profile_type){"struct other", 8, 0, 1}));
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		vec_add(&p->members, lines[i]);
	vec_add(&p->accesses,
		((struct profile_access){.outcome = DATATYPE_STACK, .type = "(stack operation)"}));
	for (size_t i = 0; i < n; i++) {
		u64 label = p->accesses.n;

		vec_add(&p->accesses,
			((struct profile_access){.type = "struct outer",
				.offset = offsets[i],
				.size = 56,
				.whole = 1}));
		profile_add_row(p, &(struct profile_row){.n_samples = 1, .period = 10}, &label);
	}
}

static u64 period(const struct typeprofile *a, u32 line)
{
	return typeprofile_counts(a, &a->types.at[0], line)->period;
}

TEST(typeprofile_counts_an_access_for_the_innermost_member_and_what_it_is_in)
{
	struct typeprofile a;
	struct profile p;

	make(&p, (const u64[]){0, 12, 14, 8}, 4);
	typeprofile_init(&a, &p);
	CHECK_EQ(period(&a, 0), 40);
	CHECK_EQ(period(&a, 1), 10);
	CHECK_EQ(period(&a, 2), 30);
	CHECK_EQ(period(&a, 3), 10);
	CHECK_EQ(period(&a, 4), 20);
	CHECK_EQ(a.types.at[0].type, 0);
	CHECK(a.types.at[0].share == 100);
	typeprofile_fini(&a);
	profile_fini(&p);
}

TEST(typeprofile_leaves_what_is_in_a_union_to_the_union)
{
	struct typeprofile a;
	struct profile p;

	make(&p, (const u64[]){16, 20}, 2);
	typeprofile_init(&a, &p);
	CHECK_EQ(period(&a, 5), 20);
	CHECK_EQ(period(&a, 6), 0);
	CHECK_EQ(period(&a, 7), 0);
	typeprofile_fini(&a);
	profile_fini(&p);
}

TEST(typeprofile_counts_all_elements_of_an_array_for_the_first_and_padding_for_the_whole)
{
	struct typeprofile a;
	struct profile p;

	make(&p, (const u64[]){24, 32, 36, 52, 33}, 5);
	typeprofile_init(&a, &p);
	CHECK_EQ(period(&a, 8), 50);
	CHECK_EQ(period(&a, 9), 20);
	CHECK_EQ(period(&a, 10), 20);
	typeprofile_fini(&a);
	profile_fini(&p);
}

TEST(typeprofile_leaves_out_accesses_without_type_and_keeps_types_by_name)
{
	const u64 none = 0;
	struct typeprofile a;
	struct profile p;

	make(&p, (const u64[]){0}, 1);
	profile_add_row(&p, &(struct profile_row){.n_samples = 3, .period = 30}, &none);
	typeprofile_init(&a, &p);
	CHECK_EQ(a.totals[0].period, 40);
	CHECK_EQ(a.typed[0].period, 10);
	CHECK(a.types.at[0].share == 25);
	CHECK(!typeprofile_keep(&a, "nothing"));
	typeprofile_fini(&a);
	typeprofile_init(&a, &p);
	CHECK(typeprofile_keep(&a, "outer") && a.types.n == 1);
	CHECK(typeprofile_keep(&a, "struct outer") && a.types.n == 1);
	typeprofile_fini(&a);
	profile_fini(&p);
}
