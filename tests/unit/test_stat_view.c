#include "test.h"

#include "unit/countmaker.h"
#include "view/stat/stat_live.h"

enum { MS = 1000000 /* ns */, NOT_COUNTED = 99 };

/* Counts that are made by hand, and how they are printed. */
struct printing {
	struct countmaker m;
	struct stat_options options;
	struct stat_view view;
	struct stat_facts facts;
	struct str text;
};

static void printing_init(struct printing *p, const char *form)
{
	memset(p, 0, sizeof(*p));
	countmaker_init(&p->m);
	p->options = (struct stat_options){.form = form_chosen(&(struct form_choice){.name = form}),
		.separator = ","};
	p->view = (struct stat_view){.counts = &p->m.counts, .options = &p->options};
	p->facts = (struct stat_facts){.what = "'prog'", .queue_ns = UINT64_MAX};
}

static void printing_fini(struct printing *p)
{
	str_fini(&p->text);
	stat_view_fini(&p->view);
	countmaker_fini(&p->m);
}

/* An event of one task. */
static u32 add(struct printing *p, u32 type, u64 config, const char *name)
{
	u32 i = p->m.events.n;

	countmaker_event(&p->m, type, config, name);
	countmaker_counter(&p->m, i, -1, 101);
	return i;
}

static u32 add_hardware(struct printing *p, u64 config, const char *name)
{
	return add(p, PERF_TYPE_HARDWARE, config, name);
}

static void begin(struct printing *p)
{
	countmaker_begin(&p->m, COUNTS_ALL, "/sys");
}

/* One run of 10 ms is over. */
static void end_run(struct printing *p)
{
	counts_take_run(&p->m.counts);
	variance_add(&p->m.counts.elapsed_ns, 10 * MS);
}

static const char *print(struct printing *p)
{
	struct stat_lines lines = {0};

	stat_lines_make(&lines, &p->m.counts, false, 10 * MS, &p->options);
	stat_add_result(&p->view, &lines, &p->facts, &p->text);
	stat_lines_fini(&lines);
	return str_text(&p->text);
}

static const char *print_interval(struct printing *p, u64 time_ns)
{
	struct stat_lines lines = {0};

	counts_take_interval(&p->m.counts);
	stat_lines_make(&lines, &p->m.counts, true, 10 * MS, &p->options);
	stat_add_interval(&p->view, &lines, time_ns, &p->text);
	stat_lines_fini(&lines);
	return str_text(&p->text);
}

/* ---- in place ---- */

/* What the terminal gets for one more interval of 10 ms; counts are of both events, in ms and as they are. */
static const char *draw(struct printing *p, struct stat_live *live, u64 ms, u64 faults)
{
	static u64 now_ms;
	struct stat_lines lines = {0};

	countmaker_add(&p->m, 0, ms * MS, 10 * MS, 10 * MS);
	countmaker_add(&p->m, 1, faults, 10 * MS, faults == NOT_COUNTED ? 0 : 10 * MS);
	counts_take_interval(&p->m.counts);
	stat_lines_make(&lines, &p->m.counts, true, 10 * MS, &p->options);
	str_clear(&p->text);
	stat_live_add(live, &p->view, &lines, (now_ms += 100) * MS, 10 * MS, &p->text);
	stat_lines_fini(&lines);
	return str_text(&p->text);
}

static void drawing_init(struct printing *p)
{
	printing_init(p, "text");
	add(p, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "task-clock");
	add(p, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
	begin(p);
}

TEST(stat_live_draws_a_strip_for_each_event_in_place)
{
	struct stat_live live = {.columns = 80, .rows = 24};
	struct printing p;

	drawing_init(&p);
	CHECK_STR(draw(&p, &live, 10, 8),
		"# 0.1 s, 0.01 s each; --no-sparklines prints a line for each\n"
		"             10.00 msec task-clock                   █ #    1.000 CPUs utilized\n"
		"                 8      page-faults                  █ #  800.000 /sec\n");
	draw(&p, &live, 5, 4);
	draw(&p, &live, 0, 1);
	/* It takes the place of three lines; the highest rate is the full block. */
	CHECK_STR(draw(&p, &live, 10, 16),
		"\033[3A\r\033[J# 0.4 s, 0.01 s each; --no-sparklines prints a line for each\n"
		"             10.00 msec task-clock                █▅▁█ #    1.000 CPUs utilized\n"
		"                16      page-faults               ▅▃▁█ #    1.600 K/sec\n");
	stat_live_fini(&live);
	printing_fini(&p);
}

TEST(stat_live_leaves_gaps_and_does_without_utf8)
{
	struct stat_live live = {.columns = 80, .rows = 24, .is_ascii = true};
	struct printing p;

	drawing_init(&p);
	draw(&p, &live, 10, 8);
	draw(&p, &live, 10, NOT_COUNTED);
	CHECK_HAS(draw(&p, &live, 1, 2),
		" task-clock                 ##_ #    0.100 CPUs utilized\n");
	CHECK_HAS(str_text(&p.text), " page-faults                # : #");
	stat_live_fini(&live);
	printing_fini(&p);
}

TEST(stat_live_fits_into_narrow_and_low_terminals)
{
	struct stat_live live = {.columns = 44, .rows = 4};
	struct printing p;

	drawing_init(&p);
	/* There is no room for the metric. */
	draw(&p, &live, 10, 8);
	CHECK_STR(draw(&p, &live, 10, 8),
		"\033[3A\r\033[J# 0.2 s, 0.01 s each; --no-sparklines print\n"
		"             10.00 msec task-clock       ██\n"
		"                 8      page-faults      ██\n");
	live.rows = 3;
	CHECK_STR(draw(&p, &live, 10, 8),
		"\033[3A\r\033[J# 0.3 s, 0.01 s each; --no-sparklines print\n# and 2 more\n");
	CHECK_EQ(live.n_drawn, 2);
	live.rows = 24;
	live.columns = 10;
	draw(&p, &live, 10, 8);
	for (const char *at = str_text(&p.text); *at;) {
		const size_t n = strcspn(at, "\n");

		CHECK(n < 10 + strlen("\033[3A\r\033[J"));
		at += n + (at[n] != 0);
	}
	stat_live_fini(&live);
	printing_fini(&p);
}

TEST(stat_metrics_have_perfs_colours_on_a_terminal)
{
	static const struct {
		u64 misses;
		const char *text;
	} cases[] = {
		{5, "#    5.00% of all branches\n"},
		{6, "# \033[33m   6.00%\033[m of all branches\n"},
		{11, "# \033[35m  11.00%\033[m of all branches\n"},
		{21, "# \033[31m  21.00%\033[m of all branches\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct printing p;

		printing_init(&p, "text");
		add_hardware(&p, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branches");
		add_hardware(&p, PERF_COUNT_HW_BRANCH_MISSES, "branch-misses");
		begin(&p);
		countmaker_add(&p.m, 0, 100, MS, MS);
		countmaker_add(&p.m, 1, cases[i].misses, MS, MS);
		end_run(&p);
		p.options.has_colours = true;
		CHECK_HAS(print(&p), cases[i].text);
		str_clear(&p.text);
		p.options.has_colours = false;
		CHECK(!strchr(print(&p), '\033'));
		printing_fini(&p);
	}
}

/* ---- text ---- */

TEST(stat_text_has_perfs_layout)
{
	struct printing p;

	printing_init(&p, "text");
	add(&p, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "task-clock");
	add(&p, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
	begin(&p);
	countmaker_add(&p.m, 0, 5 * MS, 5 * MS, 5 * MS);
	countmaker_add(&p.m, 1, 12345, 5 * MS, 5 * MS);
	end_run(&p);
	/* Taken from perf 6.1 but for the separator of thousands and blanks at the ends of lines. */
	CHECK_STR(print(&p),
		"\n Performance counter stats for 'prog':\n\n"
		"              5.00 msec task-clock                       #    0.500 CPUs utilized\n"
		"            12,345      page-faults                      #    2.469 M/sec\n"
		"\n       0.010000000 seconds time elapsed\n\n");
	printing_fini(&p);
}

TEST(stat_text_tells_zero_never_counted_and_not_supported_apart_and_says_why)
{
	struct printing p;

	printing_init(&p, "text");
	add_hardware(&p, PERF_COUNT_HW_CPU_CYCLES, "cycles");
	add_hardware(&p, PERF_COUNT_HW_INSTRUCTIONS, "instructions");
	countmaker_event(&p.m, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, "branch-misses");
	err_set(&p.m.why[2], ERR_UNSUPPORTED, "opening 'branch-misses': this PMU cannot do it");
	begin(&p);
	countmaker_add(&p.m, 0, 0, 5 * MS, 5 * MS);
	countmaker_add(&p.m, 1, 0, 5 * MS, 0);
	end_run(&p);
	CHECK_HAS(print(&p),
		"\n                 0      cycles\n"
		"     <not counted>      instructions\n"
		"   <not supported>      branch-misses\n"
		"\n instructions: it was never on the PMU, which other events occupied\n"
		" branch-misses: this PMU cannot do it\n");
	printing_fini(&p);
}

TEST(stat_text_says_a_reason_once_for_all_events_that_have_it)
{
	struct printing p;
	const char *text;

	printing_init(&p, "text");
	add_hardware(&p, PERF_COUNT_HW_CPU_CYCLES, "cycles");
	add_hardware(&p, PERF_COUNT_HW_INSTRUCTIONS, "instructions");
	p.m.counting.why_lost = "'su' is setuid root";
	begin(&p);
	p.m.readings[0].has_failed = p.m.readings[1].has_failed = true;
	end_run(&p);
	text = print(&p);
	CHECK_HAS(text, "     <not counted>      cycles\n     <not counted>      instructions\n");
	CHECK_HAS(text, "\n cycles, instructions: 'su' is setuid root\n");
	printing_fini(&p);
}

TEST(stat_text_says_how_sure_a_multiplexed_count_is)
{
	struct printing p;

	printing_init(&p, "text");
	add_hardware(&p, PERF_COUNT_HW_CPU_CYCLES, "cycles");
	begin(&p);
	for (u64 i = 0; i < 8; i++) {
		countmaker_add(&p.m, 0, 1000 + 100 * (i & 1), 4 * MS, MS);
		counts_take_slice(&p.m.counts);
	}
	end_run(&p);
	/*
	 * 8 slices of 1050 +- 53.5 in a ms; a quarter of 32 ms was seen: 53.5 / sqrt(8) * 2.365 *
	 * sqrt(24 * 32) is 1239 of 33600.
	 */
	CHECK_HAS(print(&p), "            33,600      cycles");
	CHECK_HAS(str_text(&p.text), "  (25.00%, +-3.69%)\n");
	printing_fini(&p);
}

TEST(stat_text_says_how_sure_the_mean_of_runs_is)
{
	struct printing p;

	printing_init(&p, "text");
	add_hardware(&p, PERF_COUNT_HW_CPU_CYCLES, "cycles");
	begin(&p);
	for (u64 i = 0; i < 3; i++) {
		if (i)
			countmaker_again(&p.m, "/sys");
		countmaker_add(&p.m, 0, 100 + 4 * i, MS, MS);
		end_run(&p);
	}
	/* 4 / sqrt(3) of 104, and three times of 10 ms. */
	CHECK_HAS(print(&p), "stats for 'prog' (3 runs):\n");
	CHECK_HAS(str_text(&p.text),
		"               104      cycles                           "
		"                                    ( +-  2.22% )\n");
	CHECK_HAS(str_text(&p.text),
		"0.010000000 +- 0.000000000 seconds time elapsed  ( +-  0.00% )\n");
	printing_fini(&p);
}

TEST(stat_text_refuses_a_ratio_of_what_took_turns_and_says_how_to_get_it)
{
	struct printing p;

	printing_init(&p, "text");
	add_hardware(&p, PERF_COUNT_HW_INSTRUCTIONS, "instructions");
	add_hardware(&p, PERF_COUNT_HW_CPU_CYCLES, "cycles");
	begin(&p);
	countmaker_add(&p.m, 0, 300, 4 * MS, 2 * MS);
	countmaker_add(&p.m, 1, 200, 4 * MS, 2 * MS);
	end_run(&p);
	CHECK_HAS(print(&p), "#      n/a insn per cycle: not counted at the same time");
	CHECK_HAS(str_text(&p.text), "A group counts them together: -e '{instructions,cycles}'\n");
	printing_fini(&p);
}

TEST(stat_text_says_that_it_is_incomplete)
{
	struct printing p;

	printing_init(&p, "text");
	add_hardware(&p, PERF_COUNT_HW_CPU_CYCLES, "cycles");
	p.facts.ended = "SIGTERM";
	begin(&p);
	countmaker_add(&p.m, 0, 300, 4 * MS, 4 * MS);
	end_run(&p);
	CHECK_HAS(print(&p), "stats for 'prog' (incomplete: ended by SIGTERM):\n");
	printing_fini(&p);
}

TEST(stat_text_shows_no_control_characters_of_names)
{
	struct printing p;
	const char *text;

	printing_init(&p, "text");
	add_hardware(&p, PERF_COUNT_HW_CPU_CYCLES, "cyc\033[31mles");
	p.facts.what = "'\033[2J'";
	begin(&p);
	end_run(&p);
	text = print(&p);
	CHECK(!strchr(text, '\033'));
	printing_fini(&p);
}

TEST(stat_text_rounds_up_to_the_next_thousand_as_a_whole)
{
	struct printing p;

	printing_init(&p, "text");
	add(&p, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "task-clock");
	begin(&p);
	countmaker_add(&p.m, 0, 999999999, 5 * MS, 5 * MS);
	end_run(&p);
	CHECK_HAS(print(&p), "\n          1,000.00 msec task-clock");
	printing_fini(&p);
}

TEST(stat_text_shows_counts_that_no_counter_holds)
{
	struct printing p;

	printing_init(&p, "text");
	add(&p, PERF_TYPE_RAW, 1, "joules");
	p.m.events.at[0].scale = 1e10;
	begin(&p);
	countmaker_add(&p.m, 0, UINT64_MAX, 5 * MS, 5 * MS);
	end_run(&p);
	CHECK_HAS(print(&p), "184467440737095516160000000000.00");
	printing_fini(&p);
}

TEST(stat_text_repeats_the_names_of_columns_now_and_then)
{
	struct printing p;
	size_t n = 0;

	printing_init(&p, "text");
	add_hardware(&p, PERF_COUNT_HW_CPU_CYCLES, "cycles");
	begin(&p);
	for (u64 i = 1; i <= 60; i++) {
		countmaker_add(&p.m, 0, i, MS, MS);
		print_interval(&p, i * 1000 * MS);
	}
	for (const char *at = p.text.at; (at = strstr(at, "#           time")) != NULL; at++)
		n++;
	CHECK_EQ(n, 3);
	CHECK_HAS(p.text.at,
		"#           time             counts unit events\n"
		"     1.000000000                  1      cycles\n");
	printing_fini(&p);
}

/* ---- CSV and JSON ---- */

TEST(stat_csv_leaves_out_what_is_not_known_and_says_why)
{
	struct printing p;

	printing_init(&p, "csv");
	add_hardware(&p, PERF_COUNT_HW_CPU_CYCLES, "cpu/cycles,umask=1/");
	countmaker_event(&p.m, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, "branch-misses");
	err_set(&p.m.why[1], ERR_UNSUPPORTED, "opening 'branch-misses': this PMU says \"no\"");
	begin(&p);
	countmaker_add(&p.m, 0, 50, 4 * MS, MS);
	end_run(&p);
	CHECK_STR(print(&p),
		"time_s,place,counters,event,cgroup,state,value,unit,raw,enabled_ns,running_ns,running_pct,"
		"scaling_error_pct,deviation_pct,metric,metric_unit,reason\n"
		",,1,\"cpu/cycles,umask=1/\",,counted,200,,50,4000000,1000000,25.00,,,,,\n"
		",,1,branch-misses,,not supported,,,,0,0,,,,,,\"this PMU says \"\"no\"\"\"\n"
		",,,elapsed,,counted,0.010000000,seconds,,,,,,,,,\n");
	printing_fini(&p);
}

TEST(stat_csv_has_a_row_for_each_metric_of_an_event)
{
	struct printing p;

	printing_init(&p, "csv");
	add_hardware(&p, PERF_COUNT_HW_CPU_CYCLES, "cycles");
	add_hardware(&p, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, "stalled-cycles-frontend");
	add_hardware(&p, PERF_COUNT_HW_INSTRUCTIONS, "instructions");
	begin(&p);
	countmaker_add(&p.m, 0, 100, MS, MS);
	countmaker_add(&p.m, 1, 50, MS, MS);
	countmaker_add(&p.m, 2, 200, MS, MS);
	end_run(&p);
	CHECK_HAS(print(&p),
		",stalled-cycles-frontend,,counted,50,,50,1000000,1000000,100.00,,,"
		"50.000000,% frontend cycles idle,\n");
	CHECK_HAS(p.text.at,
		",instructions,,counted,200,,200,1000000,1000000,100.00,,,2.000000,"
		"insn per cycle,\n");
	CHECK_HAS(p.text.at,
		",instructions,,counted,200,,200,1000000,1000000,100.00,,,0.250000,"
		"stalled cycles per insn,\n");
	printing_fini(&p);
}

TEST(stat_csv_writes_its_names_once_over_all_intervals)
{
	struct printing p;

	printing_init(&p, "csv");
	p.options.separator = "||";
	add_hardware(&p, PERF_COUNT_HW_CPU_CYCLES, "cycles");
	begin(&p);
	countmaker_add(&p.m, 0, 7, MS, MS);
	print_interval(&p, 1500000000u);
	countmaker_add(&p.m, 0, 8, MS, MS);
	print_interval(&p, 2500000000u);
	CHECK_HAS(p.text.at,
		"||metric_unit||reason\n"
		"1.500000000||||1||cycles||||counted||7||||7||1000000||1000000||100.00"
		"||||||||||\n"
		"2.500000000||||1||cycles||||counted||8||||8||1000000||1000000||100.00"
		"||||||||||\n");
	printing_fini(&p);
}

TEST(stat_json_has_null_for_what_is_not_known)
{
	struct printing p;

	printing_init(&p, "json");
	add_hardware(&p, PERF_COUNT_HW_INSTRUCTIONS, "instructions");
	add_hardware(&p, PERF_COUNT_HW_CPU_CYCLES, "cycles");
	countmaker_event(&p.m, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, "branch-misses");
	err_set(&p.m.why[2], ERR_UNSUPPORTED, "opening 'branch-misses': no");
	p.facts.ended = "SIGHUP";
	begin(&p);
	countmaker_add(&p.m, 0, 50, 4 * MS, 2 * MS);
	countmaker_add(&p.m, 1, 50, 4 * MS, 2 * MS);
	end_run(&p);
	CHECK_STR(print(&p),
		"{\"kind\":\"count\",\"counters\":1,\"event\":\"instructions\",\"state\":\"counted\","
		"\"value\":100,\"unit\":\"\",\"raw\":50,\"enabled_ns\":4000000,\"running_ns\":2000000,"
		"\"running_pct\":50.00,\"scaling_error_pct\":null,\"deviation_pct\":null,"
		"\"metrics\":[{\"value\":null,\"unit\":\"insn per cycle\",\"is_percent\":false,"
		"\"reason\":\"not counted at the same time\"}]}\n"
		"{\"kind\":\"count\",\"counters\":1,\"event\":\"cycles\",\"state\":\"counted\","
		"\"value\":100,\"unit\":\"\",\"raw\":50,\"enabled_ns\":4000000,\"running_ns\":2000000,"
		"\"running_pct\":50.00,\"scaling_error_pct\":null,\"deviation_pct\":null,"
		"\"metrics\":[]}\n"
		"{\"kind\":\"count\",\"counters\":1,\"event\":\"branch-misses\","
		"\"state\":\"not supported\",\"value\":null,\"unit\":\"\",\"raw\":null,"
		"\"enabled_ns\":0,\"running_ns\":0,\"running_pct\":null,\"scaling_error_pct\":null,"
		"\"deviation_pct\":null,\"metrics\":[],\"reason\":\"no\"}\n"
		"{\"kind\":\"run\",\"what\":\"'prog'\",\"runs\":1,\"is_complete\":false,"
		"\"ended_by\":\"SIGHUP\",\"elapsed_s\":0.010000000}\n");
	printing_fini(&p);
}

/* ---- only metrics ---- */

TEST(stat_metrics_keep_the_unit_of_a_column)
{
	struct printing p;

	printing_init(&p, "text");
	p.options.is_metric_only = true;
	add(&p, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "task-clock");
	add(&p, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
	begin(&p);
	countmaker_add(&p.m, 0, 10 * MS, 10 * MS, 10 * MS);
	countmaker_add(&p.m, 1, 5000, 10 * MS, 10 * MS);
	print_interval(&p, 10 * MS);
	countmaker_add(&p.m, 0, 10 * MS, 10 * MS, 10 * MS);
	countmaker_add(&p.m, 1, 20000, 10 * MS, 10 * MS);
	print_interval(&p, 20 * MS);
	CHECK_STR(p.text.at,
		"#           time  task-clock CPUs utilized  page-faults K/sec\n"
		"     0.010000000                     1.000            500.000\n"
		"     0.020000000                     1.000           2000.000\n");
	printing_fini(&p);
}

TEST(stat_metrics_say_when_there_are_none)
{
	struct printing p;

	printing_init(&p, "text");
	p.options.is_metric_only = true;
	add_hardware(&p, PERF_COUNT_HW_CPU_CYCLES, "cycles");
	begin(&p);
	countmaker_add(&p.m, 0, 7, MS, MS);
	end_run(&p);
	CHECK_HAS(print(&p), "no metric can be derived from these counts");
	printing_fini(&p);
}
