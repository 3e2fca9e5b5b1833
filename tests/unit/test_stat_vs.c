#include "test.h"

#include <math.h>

#include "event/abi.h"
#include "view/stat/stat_vs.h"

/* Two commands, and the runs that the test invents. */
struct duel {
	struct event_list events;
	struct counting counting;
	struct pairs pairs;
	struct pairs_run runs[2];
	struct stat_options print;
	struct stat_vs_facts facts;
	struct str text;
	struct err why[2];
	struct count counts[2][2];
};

static void duel_init(struct duel *d)
{
	const struct event_attr faults = {.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS};
	const struct event_attr cycles = {.type = PERF_TYPE_HARDWARE};

	memset(d, 0, sizeof(*d));
	event_add(&d->events, &faults, "page-faults")->scale = 1;
	event_add(&d->events, &cycles, "cycles")->scale = 1;
	d->counting.events = &d->events;
	d->counting.why = d->why;
	for (int i = 0; i < 2; i++) {
		counts_init(&d->runs[i].counts, &d->events, COUNTS_ALL);
		vec_add(&d->runs[i].counts.places, ((struct counts_place){.name = ""}));
		d->runs[i].counts.counting = &d->counting;
		d->runs[i].counts.now = d->counts[i];
		for (int k = 0; k < 2; k++)
			d->counts[i][k] = (struct count){.enabled_ns = 1000,
				.running_ns = 1000,
				.n_counters = 1};
	}
	pairs_init(&d->pairs, &d->events);
	d->facts = (struct stat_vs_facts){.commands = {"./old", "./new"}, .seed = 1};
}

static void duel_fini(struct duel *d)
{
	pairs_fini(&d->pairs);
	for (int i = 0; i < 2; i++) {
		d->runs[i].counts.now = NULL;
		counts_fini(&d->runs[i].counts);
	}
	event_list_fini(&d->events);
	str_fini(&d->text);
}

static void set(struct duel *d, int side, u64 elapsed_us, u64 memory_kb, double faults)
{
	struct pairs_run *run = &d->runs[side];

	run->elapsed_ns = elapsed_us * 1000;
	run->usage.ru_utime = (struct timeval){0, (long)elapsed_us / 2};
	run->usage.ru_maxrss = (long)memory_kb;
	d->counts[side][0].value = faults;
	d->counts[side][1].value = 5e9;
}

static const char *page(struct duel *d, const char *form)
{
	str_clear(&d->text);
	d->print.form = form_chosen(&(struct form_choice){.name = form});
	d->print.separator = ",";
	stat_vs_add(&d->pairs, &d->facts, &d->print, &d->text);
	return str_text(&d->text);
}

/* The row of one name, without the blanks before and behind it. */
static const char *row(struct duel *d, const char *name)
{
	static char line[512];
	const char *at = strstr(page(d, "text"), name);

	if (!at)
		test_failed(__FILE__, __LINE__, "no row '%s' in %s", name, str_text(&d->text));
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
	return line;
}

TEST(stat_vs_says_in_words_what_is_less_and_what_is_more)
{
	struct duel d;

	duel_init(&d);
	for (unsigned i = 0; i < 20; i++) {
		set(&d, 0, 10000 + 10 * (i % 5), 4096, 1000);
		set(&d, 1, 10300 + 10 * (i % 4), 2048, 2000);
		pairs_add(&d.pairs, d.runs, i % 2);
	}
	CHECK_STR(row(&d, "elapsed"),
		"elapsed               10.02 ms +-0.1%       10.31 ms +-0.1%   2.9% slower (2.8% to 3.1%)");
	CHECK_STR(row(&d, "max-rss"),
		"max-rss                4.0 MiB +-0.0%        2.0 MiB +-0.0%   50.0% less, in every run");
	CHECK_STR(row(&d, "page-faults"),
		"page-faults              1,000 +-0.0%          2,000 +-0.0%   2.00 times as many, in every run");
	CHECK_STR(row(&d, "cycles"),
		"cycles           5,000,000,000 +-0.0%  5,000,000,000 +-0.0%   the same in every run");
	CHECK_HAS(page(&d, "text"), " B is 2.9% slower (2.8% to 3.1%), with 95% confidence.\n");
	CHECK_HAS(str_text(&d.text), " 20 pairs in random order (seed 1), as many as -r asked for");
	duel_fini(&d);
}

TEST(stat_vs_calls_noise_what_a_command_does_against_itself)
{
	struct duel d;

	duel_init(&d);
	for (unsigned i = 0; i < 24; i++) {
		set(&d, 0, 10000 + 100 * (i % 5), 4096, i % 2);
		set(&d, 1, 10000 + 100 * (i % 5), 4096, 3 + i % 2);
		pairs_add(&d.pairs, d.runs, i % 2);
	}
	CHECK_HAS(row(&d, "elapsed"), "the same in most runs");
	CHECK_HAS(page(&d, "text"), "There is no visible difference in time");
	/* Half of A's are zero: what is nothing in percent is a number. */
	CHECK_HAS(row(&d, "page-faults"), " 3 more (3 to 3)");
	duel_fini(&d);
}

TEST(stat_vs_says_that_few_runs_are_too_few)
{
	struct duel d;

	duel_init(&d);
	for (unsigned i = 0; i < 5; i++) {
		set(&d, 0, 10000 + i, 4096, 1000);
		set(&d, 1, 20000 + 2 * i, 4096, 1000);
		pairs_add(&d.pairs, d.runs, false);
	}
	CHECK_HAS(row(&d, "elapsed"), "2.00 times slower; too few runs to be sure");
	CHECK_HAS(page(&d, "text"),
		"5 pairs of runs: too few to be sure of a difference in time; at least 6");
	CHECK_HAS(page(&d, "json"), "\"ratio_low\":null");
	CHECK_HAS(str_text(&d.text), "\"verdict\":\"too few runs\"");
	duel_fini(&d);
}

TEST(stat_vs_leaves_out_runs_in_which_an_event_was_not_counted)
{
	struct duel d;

	duel_init(&d);
	for (unsigned i = 0; i < 10; i++) {
		set(&d, 0, 10000 + i, i < 2 ? 1100 : 4096, 1000);
		set(&d, 1, 10000 + i, 4096, 1500);
		d.counts[0][0].running_ns = i == 4 ? 0 : 500;
		d.counts[0][0].n_idle = i == 4;
		pairs_add(&d.pairs, d.runs, false);
	}
	CHECK_HAS(row(&d, "page-faults"),
		"50.0% more, in every run; counted in 9 of 10 pairs; scaled, on the PMU 45% and 100% of the time");
	CHECK_HAS(page(&d, "text"), " page-faults: it was never on the PMU");
	/* What pace itself had before the exec is not the command's. */
	pairs_drop_memory(&d.pairs, 1 << 20);
	CHECK_HAS(row(&d, "max-rss"), "counted in 8 of 10 pairs");
	duel_fini(&d);
}

TEST(stat_vs_says_why_an_event_has_no_row_or_leaves_it_out_if_nobody_asked)
{
	struct duel d;

	duel_init(&d);
	d.counts[0][1] = d.counts[1][1] = (struct count){0};
	err_set(&d.why[1], ERR_UNSUPPORTED, "opening 'cycles': there is no such counter");
	for (unsigned i = 0; i < 6; i++) {
		set(&d, 0, 10000 + i, 4096, 1000);
		set(&d, 1, 10000 + i, 4096, 1000);
		pairs_add(&d.pairs, d.runs, false);
	}
	CHECK_STR(row(&d, "cycles"), "cycles           <not supported>         <not supported>");
	CHECK_HAS(page(&d, "text"), " cycles: there is no such counter\n");
	CHECK_HAS(page(&d, "csv"), "cycles,not supported,,0,");
	d.print.has_no_defaults = true;
	CHECK(!strstr(page(&d, "text"), "cycles"));
	duel_fini(&d);
}

TEST(stat_vs_says_who_is_far_off_and_who_failed)
{
	struct duel d;

	duel_init(&d);
	for (unsigned i = 0; i < 24; i++) {
		set(&d, 0, i == 7 ? 90000 : 10000 + 10 * (i % 5), 4096, 1000);
		set(&d, 1, 10000 + 10 * (i % 4), 4096, 1000);
		pairs_add(&d.pairs, d.runs, false);
	}
	d.facts.n_failed[1] = 3;
	d.facts.end = STAT_VS_SIGNAL;
	d.facts.signal = "SIGINT";
	CHECK_HAS(page(&d, "text"), "Outliers in time: 1 run of A (up to 90.00 ms);");
	CHECK_HAS(str_text(&d.text), "B ended with a status other than 0 in 3 of 24 runs");
	CHECK_HAS(str_text(&d.text), "then SIGINT ended it");
	CHECK_HAS(page(&d, "json"), "\"is_complete\":false,\"ended_by\":\"SIGINT\"");
	duel_fini(&d);
}

TEST(stat_vs_gives_each_run_in_json_only_if_asked)
{
	struct duel d;

	duel_init(&d);
	for (unsigned i = 0; i < 2; i++) {
		set(&d, 0, 10000, 4096, 1000);
		set(&d, 1, 10000, 4096, 1000 + i);
		pairs_add(&d.pairs, d.runs, i == 1);
	}
	CHECK(!strstr(page(&d, "json"), "values"));
	d.print.has_table = true;
	CHECK_HAS(page(&d, "json"), "\"values\":[1000,1001]");
	CHECK_HAS(str_text(&d.text), "\"orders\":[\"AB\",\"BA\"]");
	duel_fini(&d);
}

TEST(stat_vs_shows_a_command_line_safely)
{
	struct duel d;

	duel_init(&d);
	d.facts.commands[0] = "a \033[31m";
	set(&d, 0, 10000, 4096, 1000);
	set(&d, 1, 10000, 4096, 1000);
	pairs_add(&d.pairs, d.runs, false);
	CHECK_HAS(page(&d, "text"), "A: a \\x1b[31m");
	CHECK_HAS(str_text(&d.text), "1 pair of runs: too few");
	duel_fini(&d);
}
