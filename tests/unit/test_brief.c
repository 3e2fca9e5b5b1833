#include "profile/check/brief.h"

#include "test.h"
#include "unit/profilemaker.h"
#include "unwind/ending.h"

static void add(struct profilemaker *m, u32 event, const char *stack, u64 period)
{
	profilemaker_add(m,
		&(struct profilemaker_sample){.event = event, .stack = stack, .period = period});
}

TEST(brief_has_the_five_hottest_functions_of_the_busiest_event)
{
	struct profilemaker m;
	struct ledger l = {0};
	struct brief b;
	static const char *const expected[] = {"h", "f", "g", "e", "d"};

	profilemaker_init(&m, 0);
	profilemaker_event(&m, "faults");
	profilemaker_event(&m, "cycles");
	add(&m, 0, "main;rare", 1000000);
	add(&m, 1, "main;a", 1);
	add(&m, 1, "main;f;g", 200);
	add(&m, 1, "main;0x1234", 250);
	add(&m, 1, "main;f", 100);
	add(&m, 1, "main;g;f", 150);
	add(&m, 1, "main;d", 10);
	add(&m, 1, "main;e", 20);
	add(&m, 1, "main;h", 269);
	brief_init(&b, &m.profile, &l);
	CHECK_EQ(b.event, 1);
	CHECK_EQ(b.n, 5);
	for (size_t i = 0; i < 5; i++)
		CHECK_STR(m.profile.symbols.at[b.functions[i].symbol].name, expected[i]);
	CHECK(b.functions[1].share == 0.25 && b.functions[2].share == 0.2);
	CHECK_EQ(b.n_stacks, 0);
	CHECK(!b.worst && !b.nameless);
	profilemaker_fini(&m);
}

TEST(brief_says_how_many_stacks_are_whole_and_where_most_others_end)
{
	struct profilemaker m;
	struct machine machine;
	struct ledger l = {0};
	struct brief b;

	machine_init(&machine);
	profilemaker_init(&m, 0);
	profilemaker_event(&m, "cycles");
	add(&m, 0, "main;f", 10);
	profile_add_ending(&m.profile, STACK_COMPLETE, 0, 900);
	profile_add_ending(&m.profile, STACK_CORRUPT, 0, 10);
	profile_add_ending(&m.profile, STACK_DUMP_TOO_SMALL, 0, 90);
	ledger_add_endings(&l, &m.profile, &machine, 8192);
	brief_init(&b, &m.profile, &l);
	CHECK_EQ(b.n_stacks, 1000);
	CHECK_EQ(b.n_whole, 900);
	CHECK(b.worst && b.worst->amount == 90);
	CHECK_HAS(b.worst->where, "too small");
	ledger_fini(&l);
	profilemaker_fini(&m);
	machine_fini(&machine);
}

TEST(brief_of_nothing_is_empty)
{
	struct ledger l = {0};
	struct profile p;
	struct brief b;

	profile_init(&p, 0);
	brief_init(&b, &p, &l);
	CHECK_EQ(b.n, 0);
	CHECK_EQ(b.n_stacks, 0);
	profile_fini(&p);
}
