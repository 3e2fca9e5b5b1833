#include "test.h"

#include "profile/check/ledger.h"
#include "symbol/jit/runtime.h"
#include "profile/gather/naming.h"
#include "unit/said.h"
#include "unwind/stack.h"

static void check(const struct ledger *l, bool in_full, const char *expected)
{
	struct str text = {0};

	ledger_add_text(l, in_full, &text);
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
}

TEST(ledger_of_a_good_recording_is_empty)
{
	const struct session_tally tally = {.n_samples = 1000};
	struct ledger l = {0};

	ledger_add_tally(&l, &tally);
	check(&l, true, "");
	CHECK_EQ(l.entries.n, 0);
	CHECK_EQ(l.n_samples, 1000);
	CHECK(!ledger_has_unread(&l));
	ledger_fini(&l);
}

TEST(ledger_names_every_cause_with_its_amount_and_remedy)
{
	const struct session_tally tally = {.n_samples = 6000,
		.n_lost_samples = 2000,
		.n_lost_records = 2003,
		.n_throttled = 12,
		.n_undecoded = 1,
		.n_foreign_id = 8,
		.n_not_native = 1234567,
		.damage = {0x1f40, 5678, "a record claims to be shorter than its header"}};
	static const char text[] =
		"# 2,000 samples (25.00%) were dropped by the kernel because a ring was full: record with larger rings (-m) or a lower frequency (-F)\n"
		"# 3 records were dropped by the kernel because a ring was full: record with larger rings (-m) or a lower frequency (-F)\n"
		"# 12 times the kernel stopped sampling for a moment (it took too much time): a lower frequency (-F) avoids it\n"
		"# 5,678 bytes of the file are damaged and were not read, from offset 0x1f40 on: a record claims to be shorter than its header\n"
		"# 1 records do not have the fields that their event says they have\n"
		"# 8 samples (0.10%) belong to events that the file does not describe\n"
		"# 1,234,567 records cannot be converted to this byte order\n";
	struct said said;
	struct ledger l = {0};

	ledger_add_tally(&l, &tally);
	check(&l, true, text);
	/* All of these are said in brief too. */
	check(&l, false, text);
	CHECK(ledger_has_unread(&l));
	/* What is in the file and could not be read is a warning. */
	said_init(&said, LOG_WARN);
	ledger_warn(&l, &said.log);
	CHECK_EQ(said_count(&said, "warn: "), 4);
	CHECK_HAS(str_text(&said.text),
		"warn: 5,678 bytes of the file are damaged and were not read, from offset 0x1f40 on: ");
	CHECK_EQ(said_count(&said, "dropped"), 0);
	said_fini(&said);
	ledger_fini(&l);
}

TEST(ledger_that_only_informs_leaves_the_result_whole)
{
	const struct session_tally tally = {.n_samples = 1,
		.n_lost_samples = 9,
		.n_lost_records = 10,
		.n_throttled = 1};
	struct ledger l = {0};

	ledger_add_tally(&l, &tally);
	CHECK_EQ(l.entries.n, 3);
	CHECK(!ledger_has_unread(&l));
	ledger_fini(&l);
}

TEST(ledger_of_a_reading_that_was_stopped_is_not_whole)
{
	const struct session_tally tally = {.n_samples = 1000,
		.n_stopped_samples = 250,
		.n_stopped_bytes = 9000};
	struct ledger l = {0};

	ledger_add_tally(&l, &tally);
	CHECK(ledger_has_unread(&l));
	check(&l, true,
		"# 250 samples (25.00%) were not read because reading was stopped\n"
		"# 9,000 bytes of the file were not read because reading was stopped\n");
	ledger_fini(&l);
}

TEST(ledger_counts_damage_of_no_bytes)
{
	const struct session_tally tally = {.damage = {100, 0, "the file ends inside a record"}};
	struct ledger l = {0};

	ledger_add_tally(&l, &tally);
	CHECK(ledger_has_unread(&l));
	CHECK_EQ(l.entries.at[0].amount, 1);
	CHECK(l.entries.at[0].share < 0);
	ledger_fini(&l);
}

TEST(ledger_lists_files_without_names_worst_first)
{
	static const struct {
		const char *path;
		u64 n_samples;
	} rows[] = {{"/no/such/b\x1b.so", 5}, {"/no/such/a.so", 5}, {"//anon", 80},
		{"/no/such/0are.so", 1}, {"[unknown]", 9}};
	struct machine machine;
	struct dso_files files;
	struct resolver resolver;
	struct profile p;
	struct ledger l = {0};

	machine_init(&machine);
	profile_init(&p, 0);
	vec_add(&p.events, ((struct profile_event){"e", 100, 100, 0}));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct dso *dso = rows[i].path[0] == '['
			? machine.dsos.at.at[0]
			: dso_get(&machine.dsos, rows[i].path, strlen(rows[i].path), 42, false);
		struct profile_row row = {.n_samples = rows[i].n_samples, .period = 1};

		vec_add(&p.dsos, ((struct profile_dso){dso->path, dso->name, dso->kind, dso->id}));
		row.frame = profile_frame(&p, &(struct profile_frame){.dso = i, .address = 0x10});
		vec_add(&p.rows, row);
	}
	dso_files_init(&files, &machine, &(struct find_places){.symfs = ""});
	resolver_init(&resolver, &files);
	naming_resolve(&p, &resolver, &(struct naming_options){.n_workers = 1});
	/* What is there already stays in front. */
	ledger_add_tally(&l, &(struct session_tally){.n_throttled = 1, .n_undecoded = 3});
	ledger_add_nameless(&l, &p, &resolver);
	check(&l, true,
		"# 1 times the kernel stopped sampling for a moment (it took too much time): a lower frequency (-F) avoids it\n"
		"# 3 records do not have the fields that their event says they have\n"
		"# 80 samples (80.00%) in [JIT] tid 42 have no function name: the program left no '/tmp/perf-42.map': programs that generate code have an option for it, like node --perf-basic-prof\n"
		"# 9 samples (9.00%) in [unknown] have no function name: no recorded map has their addresses; the kernel has no map: its addresses were hidden when this was recorded (sysctl kernel.kptr_restrict=0 shows them), or none of its code was recorded\n"
		"# 5 samples (5.00%) in a.so have no function name: opening '/no/such/a.so': No such file or directory\n"
		"# 5 samples (5.00%) in b\\x1b.so have no function name: opening '/no/such/b\\x1b.so': No such file or directory\n"
		"# 1 samples (1.00%) in 0are.so have no function name: opening '/no/such/0are.so': No such file or directory\n");
	/* In brief only the one that costs most. */
	check(&l, false,
		"# 1 times the kernel stopped sampling for a moment (it took too much time): a lower frequency (-F) avoids it\n"
		"# 3 records do not have the fields that their event says they have\n"
		"# 80 samples (80.00%) in [JIT] tid 42 have no function name: the program left no '/tmp/perf-42.map': programs that generate code have an option for it, like node --perf-basic-prof\n");
	ledger_fini(&l);
	profile_fini(&p);
	resolver_fini(&resolver);
	dso_files_fini(&files);
	machine_fini(&machine);
}

TEST(ledger_does_not_mention_a_few_nameless_samples_in_brief)
{
	struct ledger l = {0};

	vec_add(&l.entries,
		((struct ledger_entry){LEDGER_NAMELESS, 9, 0.009, "samples", "x.so", ""}));
	check(&l, false, "");
	check(&l, true, "# 9 samples (0.90%) in x.so have no function name\n");
	l.entries.at[0].share = 0.01;
	check(&l, false, "# 9 samples (1.00%) in x.so have no function name\n");
	ledger_fini(&l);
}

/* There is no such file as a perf map that was not written, and dumps of stacks do not help. */
TEST(ledger_says_what_a_runtime_has_to_be_told_for_whole_stacks)
{
	static const char jvm[] = "/opt/libjvm.so";
	union record_body body = {.mmap = {.pid = 42,
					  .tid = 42,
					  .addr = 0x1000,
					  .len = 0x1000,
					  .path = {(const u8 *)jvm, strlen(jvm)}}};
	struct record rec = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER, .size = 8};
	struct ledger l = {0};
	struct machine machine;
	struct dso *code;
	struct profile p;

	machine_init(&machine);
	machine_apply(&machine, &rec, &body, 1);
	code = dso_get(&machine.dsos, "//anon", 6, 42, false);
	CHECK_EQ(code->kind, DSO_JIT);
	profile_init(&p, 0);
	vec_add(&p.dsos, ((struct profile_dso){code->path, code->name, code->kind, code->id}));
	vec_add(&p.events, ((struct profile_event){.name = "cycles", .n_samples = 200}));
	profile_add_ending(&p, STACK_NO_CODE_FILE, 0, 50);
	ledger_add_endings(&l, &p, &machine, 8192);
	check(&l, true,
		"# 50 samples (25.00%) have stacks that end before their roots, code without a file: [JIT] tid 42: start java with -XX:+PreserveFramePointer and record with -g\n");
	ledger_fini(&l);
	profile_fini(&p);
	machine_fini(&machine);
}

TEST(ledger_says_why_stacks_end_early_and_what_would_complete_most)
{
	static const char most[] =
		"# 1,500 samples (75.00%) have stacks that end before their roots, stack dump too small: record with --call-graph dwarf,16384\n";
	static const char all[] =
		"# 90 samples (4.50%) have stacks that end before their roots, no unwind information: /opt/libx.so: compile it with -fasynchronous-unwind-tables or -fno-omit-frame-pointer\n"
		"# 10 samples (0.50%) have stacks that end before their roots, corrupt\n";
	struct ledger l = {0}, at_most = {0};
	struct machine machine;
	struct profile p;
	struct str text = {0};

	machine_init(&machine);
	profile_init(&p, 0);
	vec_add(&p.dsos, ((struct profile_dso){"[unknown]", "[unknown]", DSO_UNKNOWN, 0}));
	vec_add(&p.dsos, ((struct profile_dso){"/opt/libx.so", "libx.so", DSO_FILE, 4}));
	vec_add(&p.events, ((struct profile_event){.name = "cycles", .n_samples = 2000}));
	profile_add_ending(&p, STACK_COMPLETE, 0, 400);
	profile_add_ending(&p, STACK_CORRUPT, 0, 10);
	profile_add_ending(&p, STACK_NO_CFI, 1, 90);
	profile_add_ending(&p, STACK_DUMP_TOO_SMALL, 0, 1000);
	profile_add_ending(&p, STACK_DUMP_TOO_SMALL, 0, 500);
	CHECK_EQ(p.endings.n, 4);
	ledger_add_endings(&l, &p, &machine, 8192);
	check(&l, false, most);
	str_add(&text, most);
	str_add(&text, all);
	check(&l, true, str_text(&text));
	CHECK(!ledger_has_unread(&l));
	/* More than the kernel copies nobody can ask for. */
	ledger_add_endings(&at_most, &p, &machine, 65528);
	check(&at_most, false,
		"# 1,500 samples (75.00%) have stacks that end before their roots, stack dump too small: frame pointers, if the program keeps them, lead to the root: record with --call-graph fp\n");
	str_fini(&text);
	ledger_fini(&l);
	ledger_fini(&at_most);
	profile_fini(&p);
	machine_fini(&machine);
}

static const char *hint_of(const char *name, struct str *text)
{
	str_clear(text);
	return runtime_is_interpreter(name, text) ? str_text(text) : "no interpreter";
}

TEST(runtime_says_which_python_can_name_its_functions)
{
	static const char names[] = "python3 -X perf gives names to the functions it runs";
	struct str text = {0};

	CHECK_STR(hint_of("libpython3.11.so.1.0", &text) + strlen(names),
		", from Python 3.12 on: this is 3.11");
	CHECK_STR(hint_of("python3", &text) + strlen(names), ", from Python 3.12 on");
	CHECK_STR(hint_of("python3.12", &text), names);
	CHECK_STR(hint_of("libpython3.13.so.1.0", &text), names);
	CHECK_STR(hint_of("python3-config", &text), "no interpreter");
	CHECK_STR(hint_of("python2.7", &text), "no interpreter");
	str_fini(&text);
}
