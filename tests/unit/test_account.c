#include "profile/check/account.h"

#include "test.h"
#include "unit/profilemaker.h"

static void check(const struct account *a, const char *expected)
{
	struct str text = {0};

	account_add_text(a, &text);
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
}

TEST(account_says_where_every_sample_went)
{
	struct session_tally tally = {.n_samples = 1024,
		.n_unread_samples = 3,
		.n_stopped_samples = 6,
		.n_foreign_id = 4,
		.n_lost_samples = 5};
	struct profilemaker m;
	struct account a;

	profilemaker_init(&m, 0);
	profilemaker_event(&m, "cycles");
	m.profile.n_passed_over = 11;
	profilemaker_add(&m, &(struct profilemaker_sample){.stack = "f", .n_samples = 900});
	profilemaker_add(&m, &(struct profilemaker_sample){.stack = "g", .n_samples = 100});
	account_open(&a, &tally, &m.profile);
	m.profile.rows.n = 1;
	account_filter(&a, &m.profile);
	account_rows(&a, 890, 800);
	account_close(&a);
	CHECK_EQ(account_missing(&a), 0);
	check(&a,
		"# 1,024 samples recorded: 800 shown, 90 in rows below --percent-limit, 121 filtered out, 3 that could not be read, 6 not read because reading was stopped, 4 of events that the file does not describe; 5 more were dropped by the kernel.\n");
	profilemaker_fini(&m);
}

TEST(account_of_branches_tells_of_both)
{
	struct session_tally tally = {.n_samples = 20, .n_unread_samples = 1};
	struct profilemaker m;
	struct account a;

	profilemaker_init(&m, 0);
	profilemaker_event(&m, "cycles");
	m.profile.has_branches = true;
	m.profile.n_walked = 12;
	m.profile.n_passed_over = 7;
	profilemaker_add(&m, &(struct profilemaker_sample){.stack = "f", .n_samples = 300});
	account_open(&a, &tally, &m.profile);
	account_rows(&a, 290, 280);
	account_close(&a);
	CHECK_EQ(account_missing(&a), 0);
	check(&a,
		"# 20 samples recorded, 300 branches in them: 280 shown, 10 in rows below --percent-limit, 10 filtered out, 7 samples of other CPUs or times, 1 that could not be read.\n");
	a.n_walked = 11;
	CHECK_EQ(account_missing(&a), 1);
	profilemaker_fini(&m);
}

TEST(account_of_a_plain_report_is_short)
{
	check(&(struct account){.n_recorded = 12, .n_shown = 12},
		"# 12 samples recorded, all shown.\n");
	check(&(struct account){.n_recorded = 1, .n_shown = 1, .n_dropped = 7},
		"# 1 sample recorded, all shown; 7 more were dropped by the kernel.\n");
	check(&(struct account){0}, "# 0 samples recorded.\n");
}

TEST(account_that_does_not_balance_says_so)
{
	struct account a = {.n_recorded = 12, .n_shown = 10};

	CHECK_EQ(account_missing(&a), 2);
	check(&a,
		"# 12 samples recorded: 10 shown.\n# 2 more samples were recorded than are accounted for: this is a defect of pace, please report it.\n");
}
