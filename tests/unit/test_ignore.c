#include "profile/tree/ignore.h"

#include "test.h"
#include "unit/profilemaker.h"

static void fill(struct profilemaker *m)
{
	static const char *const stacks[] = {"main;lib_in;work", "main;lib_in;more;lib_in;work",
		"main;other;work", "main;lib_in"};

	profilemaker_init(m, 0);
	profilemaker_event(m, "cycles");
	for (size_t i = 0; i < ARRAY_SIZE(stacks); i++)
		profilemaker_add(m, &(struct profilemaker_sample){.stack = stacks[i], .period = 1});
}

static const char *name_of(const struct profile *p, u32 frame)
{
	return p->symbols.at[p->frames.at[frame].symbol].name;
}

static void forget(struct profilemaker *m, const char *expression)
{
	regex_t regex;

	CHECK_EQ(regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB), 0);
	ignore_callees(&m->profile, &regex);
	regfree(&regex);
}

TEST(forget_counts_callees_for_the_outermost_match)
{
	static const char *const expected[] = {"lib_in", "lib_in", "work", "lib_in"};
	struct profilemaker m;
	u64 n = 0;

	fill(&m);
	forget(&m, "^lib_");
	for (size_t i = 0; i < m.profile.rows.n; i++) {
		const struct profile_row *row = &m.profile.rows.at[i];
		const struct profile_stack *caller = &m.profile.stacks.at[row->callers];

		CHECK_STR(name_of(&m.profile, row->frame), expected[i]);
		CHECK_STR(name_of(&m.profile, caller->frame), i == 2 ? "other" : "main");
		n += row->n_samples;
	}
	CHECK_EQ(n, 4);
	profilemaker_fini(&m);
}

TEST(forget_leaves_what_matches_nothing_or_only_itself)
{
	struct profilemaker m;

	fill(&m);
	forget(&m, "^(nowhere|work)$");
	for (size_t i = 0; i < m.profile.rows.n; i++)
		CHECK_STR(name_of(&m.profile, m.profile.rows.at[i].frame),
			i == 3 ? "lib_in" : "work");
	forget(&m, "main");
	for (size_t i = 0; i < m.profile.rows.n; i++) {
		CHECK_STR(name_of(&m.profile, m.profile.rows.at[i].frame), "main");
		CHECK_EQ(m.profile.rows.at[i].callers, 0);
	}
	profilemaker_fini(&m);
}
