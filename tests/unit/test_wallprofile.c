#include "test.h"

#include "profile/rows/key.h"
#include "profile/gather/wallprofile.h"
#include "unit/profilemaker.h"

static const char *name_of(const struct profile *p, u32 frame)
{
	return p->symbols.at[p->frames.at[frame].symbol].name;
}

/* What is left of a stack: "innermost<caller<...". */
static void check_trimmed(const char *stack, const char *expected)
{
	struct profilemaker m;
	struct str text = {0};
	const struct profile_row *row;

	profilemaker_init(&m, LABEL_BIT(LABEL_COMM));
	profilemaker_event(&m, "wall");
	profilemaker_add(&m, &(struct profilemaker_sample){.stack = stack, .period = 1});
	wallprofile_trim(&m.profile);
	row = &m.profile.rows.at[0];
	str_add(&text, name_of(&m.profile, row->frame));
	for (u32 s = row->callers; s; s = m.profile.stacks.at[s].parent)
		str_addf(&text, "<%s", name_of(&m.profile, m.profile.stacks.at[s].frame));
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
	profilemaker_fini(&m);
}

TEST(wallprofile_rows_are_what_waits_without_the_scheduler)
{
	check_trimmed("main;read;k:do_syscall_64;k:anon_pipe_read;k:schedule;k:__schedule",
		"anon_pipe_read<do_syscall_64<read<main");
	check_trimmed("main;poll;k:do_sys_poll;k:poll_schedule_timeout.constprop.0;k:schedule",
		"do_sys_poll<poll<main");
	/* What goes through the same functions further out stays. */
	check_trimmed("k:kthread;k:schedule;k:worker_thread;k:schedule",
		"worker_thread<schedule<kthread");
}

TEST(wallprofile_rows_of_who_was_taken_off_are_what_he_would_have_gone_on_with)
{
	check_trimmed(
		"main;burn;k:asm_sysvec_apic_timer_interrupt;k:irqentry_exit_to_user_mode;k:schedule",
		"burn<main");
	check_trimmed(
		"main;write;k:entry_SYSCALL_64_after_hwframe;k:do_syscall_64;k:exit_to_user_mode_loop;k:schedule",
		"write<main");
}

TEST(wallprofile_leaves_what_is_not_in_the_scheduler_and_what_is_nothing_else)
{
	check_trimmed("main;k:do_syscall_64", "do_syscall_64<main");
	check_trimmed("main;schedule", "schedule<main");
	check_trimmed("k:schedule", "schedule");
}

/* "name own-period/other's self/other's total" of each entry. */
static void check_columns(bool has_children, bool is_first, const char *expected)
{
	const struct hist_events events = {.n = 2, .order = is_first, .are_columns = true};
	struct profilemaker m;
	struct hist_options options = {.has_children = has_children};
	struct calls calls;
	struct hist h;
	struct str text = {0};
	struct err err;

	profilemaker_init(&m, LABEL_BIT(LABEL_COMM));
	profilemaker_event(&m, "wall");
	profilemaker_event(&m, "latency");
	profilemaker_add(&m,
		&(struct profilemaker_sample){0, "a", .stack = "main;f", .period = 70});
	profilemaker_add(&m,
		&(struct profilemaker_sample){0, "a", .stack = "main;g", .period = 20});
	profilemaker_add(&m,
		&(struct profilemaker_sample){0, "b", .stack = "main;f", .period = 10});
	profilemaker_add(&m, &(struct profilemaker_sample){1, "a", .stack = "main;g", .period = 5});
	profilemaker_add(&m, &(struct profilemaker_sample){1, "b", .stack = "main;f", .period = 4});
	CHECK(!key_parse_list("comm,symbol", options.keys, HIST_KEYS_MAX, &options.n_keys, &err));
	calls_init(&calls, &m.profile);
	hist_init_table(&h, &m.profile, &calls, &events, &options);
	CHECK_EQ(h.events[1].all.period, 9);
	CHECK_EQ(hist_n_parts(&h), 1);
	vec_each(e, &h.entries) {
		const struct hist_values *other = &e->of[1];

		for (size_t k = 0; k < options.n_keys; k++) {
			profilemaker_add_cell(options.keys[k], &h, e, &text);
			str_addc(&text, ' ');
		}
		str_addf(&text, "%llu/%llu/%llu\n", (unsigned long long)e->of[0].self.period,
			(unsigned long long)other->self.period,
			(unsigned long long)(has_children ? other->total : other->self).period);
	}
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
	hist_fini(&h);
	calls_fini(&calls);
	profilemaker_fini(&m);
}

TEST(hist_has_columns_of_other_events_in_the_same_entries)
{
	check_columns(false, false, "a [.] f 70/0/0\na [.] g 20/5/5\nb [.] f 10/4/4\n");
}

/* One table of three events: "group, symbol: figures". */
static void check_gathered(bool has_children, u32 first, const char *expected)
{
	const struct hist_events events = {.n = 3, .order = first};
	struct profilemaker m;
	struct hist_options options = {.has_children = has_children};
	const struct key *sample = key_find("sample", 6);
	struct calls calls;
	struct hist h;
	struct str text = {0};
	struct err err;

	profilemaker_init(&m, LABEL_BIT(LABEL_COMM));
	for (int i = 0; i < 3; i++)
		profilemaker_event(&m, "event");
	profilemaker_add(&m, &(struct profilemaker_sample){0, "a", .stack = "main;f", .period = 9});
	profilemaker_add(&m, &(struct profilemaker_sample){0, "b", .stack = "main;f", .period = 9});
	profilemaker_add(&m, &(struct profilemaker_sample){1, "b", .stack = "main;f", .period = 4});
	profilemaker_add(&m, &(struct profilemaker_sample){1, "c", .stack = "main;g", .period = 5});
	profilemaker_add(&m, &(struct profilemaker_sample){2, "a", .stack = "main;g", .period = 7});
	CHECK(!key_parse_list("comm,symbol", options.keys, HIST_KEYS_MAX, &options.n_keys, &err));
	calls_init(&calls, &m.profile);
	hist_init_table(&h, &m.profile, &calls, &events, &options);
	CHECK_EQ(hist_n_parts(&h), 3);
	CHECK(sample->figure && !options.keys[0]->figure);
	vec_each(e, &h.entries) {
		for (size_t k = 0; k < options.n_keys; k++) {
			profilemaker_add_cell(options.keys[k], &h, e, &text);
			str_addc(&text, ' ');
		}
		profilemaker_add_cell(has_children ? key_total : key_self, &h, e, &text);
		str_addc(&text, '\n');
	}
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
	hist_fini(&h);
	calls_fini(&calls);
	profilemaker_fini(&m);
}

TEST(hist_gathers_rows_of_several_events_in_the_order_of_one_after_the_other)
{
	check_gathered(false, 0,
		"b [.] f   50.00%  44.44%   0.00%\n"
		"a [.] f   50.00%   0.00%   0.00%\n"
		"c [.] g    0.00%  55.56%   0.00%\n"
		"a [.] g    0.00%   0.00% 100.00%\n");
	check_gathered(false, 1,
		"c [.] g    0.00%  55.56%   0.00%\n"
		"b [.] f   50.00%  44.44%   0.00%\n"
		"a [.] f   50.00%   0.00%   0.00%\n"
		"a [.] g    0.00%   0.00% 100.00%\n");
	check_gathered(true, 0,
		"b [.] f   50.00%  44.44%   0.00%\n"
		"b [.] main   50.00%  44.44%   0.00%\n"
		"a [.] main   50.00%   0.00% 100.00%\n"
		"a [.] f   50.00%   0.00%   0.00%\n"
		"c [.] g    0.00%  55.56%   0.00%\n"
		"c [.] main    0.00%  55.56%   0.00%\n"
		"a [.] g    0.00%   0.00% 100.00%\n");
}

TEST(hist_columns_can_give_the_order_and_totals_too)
{
	check_columns(false, true, "a [.] g 20/5/5\nb [.] f 10/4/4\na [.] f 70/0/0\n");
	check_columns(true, true,
		"a [.] main 0/0/5\na [.] g 20/5/5\nb [.] f 10/4/4\nb [.] main 0/0/4\na [.] f 70/0/0\n");
}
