#include "test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit/profilemaker.h"
#include "view/rows/histrows.h"
#include "view/forms/text.h"

/* A report: samples, what to group by, how to show it. */
struct reporting {
	struct profilemaker maker;
	struct hist_options hist;
	struct text_options text;
	struct histrows_options rows;
};

static void reporting_init(struct reporting *r, const char *event)
{
	memset(r, 0, sizeof(*r));
	profilemaker_init(&r->maker, LABEL_BIT(LABEL_COUNT) - 2);
	profilemaker_event(&r->maker, event);
	r->text.n_workers = 1;
}

static void add(struct reporting *r, const char *comm, const char *stack, u64 period)
{
	profilemaker_add(&r->maker,
		&(struct profilemaker_sample){.comm = comm, .stack = stack, .period = period});
}

/* Groups by keys, with these columns. */
static void choose(struct reporting *r, const char *keys, const char *columns, bool has_children)
{
	struct err err;

	CHECK_EQ(key_parse_list(keys, r->hist.keys, HIST_KEYS_MAX, &r->hist.n_keys, &err), 0);
	CHECK_EQ(key_parse_list(columns, r->rows.columns, HIST_KEYS_MAX, &r->rows.n_columns, &err),
		0);
	r->hist.has_children = has_children;
}

static void write_report(struct reporting *r, struct out *out)
{
	struct histrows rows;
	struct calls calls;
	struct hist hist;

	calls_init(&calls, &r->maker.profile);
	hist_init(&hist, &r->maker.profile, &calls, 0, &r->hist);
	r->rows.graph_limit = r->text.drawing.style == DRAWING_FRACTAL ? 0 : r->text.drawing.limit;
	histrows_init(&rows, &hist, &r->rows);
	text_add_table(out, &rows.rows, &r->text);
	histrows_fini(&rows);
	hist_fini(&hist);
	calls_fini(&calls);
}

static void check(struct reporting *r, const char *expected)
{
	struct out out = {.fd = -1};

	write_report(r, &out);
	CHECK_STR(str_text(&out.text), expected);
	str_fini(&out.text);
}

/* ---- tables ---- */

TEST(text_table_has_perfs_layout)
{
	struct reporting r;

	reporting_init(&r, "cycles");
	add(&r, "sh", "main@bash", 700);
	add(&r, "ls", "readdir@libc.so.6", 250);
	add(&r, "ls", "k:getdents64", 50);
	choose(&r, "comm,dso,symbol", "overhead,comm,dso,symbol", false);
	check(&r,
		"# Samples: 3 of event 'cycles'\n"
		"# Event count (approx.): 1000\n"
		"#\n"
		"# Overhead  Command  Shared Object  Symbol\n"
		"# ........  .......  .............  ..............\n"
		"#\n"
		"    70.00%  sh       bash           [.] main\n"
		"    25.00%  ls       libc.so.6      [.] readdir\n"
		"     5.00%  ls       [kernel]       [k] getdents64\n");
	profilemaker_fini(&r.maker);
}

TEST(text_table_with_children_has_two_shares)
{
	struct reporting r;

	reporting_init(&r, "cycles");
	add(&r, "sh", "main;f", 3);
	add(&r, "sh", "main", 1);
	choose(&r, "symbol", "overhead_children,overhead,symbol", true);
	check(&r,
		"# Samples: 2 of event 'cycles'\n"
		"# Event count (approx.): 4\n"
		"#\n"
		"# Children      Self  Symbol\n"
		"# ........  ........  ........\n"
		"#\n"
		"   100.00%    25.00%  [.] main\n"
		"    75.00%    75.00%  [.] f\n");
	profilemaker_fini(&r.maker);
}

TEST(text_columns_are_as_wide_as_their_widest_cell)
{
	struct reporting r;

	reporting_init(&r, "cycles");
	profilemaker_add(&r.maker,
		&(struct profilemaker_sample){.comm = "a-very-long-comm",
			.pid = 1,
			.tid = 1234567890,
			.cpu = 1,
			.stack = "f@x",
			.n_samples = 12,
			.period = 123456789012345});
	add(&r, "b", "g@y", 1);
	choose(&r, "comm,pid,cpu,dso", "overhead,sample,period,comm,pid,cpu,dso", false);
	check(&r,
		"# Samples: 13 of event 'cycles'\n"
		"# Event count (approx.): 123456789012346\n"
		"#\n"
		"# Overhead       Samples           Period  Command               Pid:Command    "
		"     CPU  Shared Object\n"
		"# ........  ............  ...............  ................  "
		"......................  ...  .............\n"
		"#\n"
		"   100.00%            12  123456789012345  a-very-long-comm  "
		"1234567890::1234567890  001  x\n"
		"     0.00%             1                1  b                       0:swapper    "
		"     000  y\n");
	profilemaker_fini(&r.maker);
}

TEST(text_columns_are_those_of_a_terminal)
{
	struct reporting r;

	reporting_init(&r, "cycles");
	add(&r,
		"gr\xc3\xb6\xc3\x9f"
		"e",
		"f", 3);
	add(&r, "\xe6\x97\xa5\xe6\x9c\xac", "f", 2);
	add(&r, "plainname", "f", 1);
	choose(&r, "comm,symbol", "comm,symbol,overhead", false);
	check(&r,
		"# Samples: 3 of event 'cycles'\n"
		"# Event count (approx.): 6\n"
		"#\n"
		"# Command    Symbol  Overhead\n"
		"# .........  ......  ........\n"
		"#\n"
		"  gr\xc3\xb6\xc3\x9f"
		"e      [.] f     50.00%\n"
		"  \xe6\x97\xa5\xe6\x9c\xac       [.] f     33.33%\n"
		"  plainname  [.] f     16.67%\n");
	profilemaker_fini(&r.maker);
}

TEST(text_makes_foreign_names_harmless)
{
	struct reporting r;

	reporting_init(&r, "cy\x1b]0;x\acles");
	add(&r, "a\x1b[31m", "f\n@lib\xff.so", 1);
	choose(&r, "comm,dso,symbol", "overhead,comm,dso,symbol", false);
	check(&r,
		"# Samples: 1 of event 'cy\\x1b]0;x\\x07cles'\n"
		"# Event count (approx.): 1\n"
		"#\n"
		"# Overhead  Command    Shared Object  Symbol\n"
		"# ........  .........  .............  .........\n"
		"#\n"
		"   100.00%  a\\x1b[31m  lib\\xff.so     [.] f\\x0a\n");
	profilemaker_fini(&r.maker);
}

TEST(text_of_an_event_without_samples_is_a_table_without_rows)
{
	struct reporting r;

	reporting_init(&r, "cycles");
	choose(&r, "symbol", "overhead,symbol", false);
	check(&r,
		"# Samples: 0 of event 'cycles'\n"
		"# Event count (approx.): 0\n"
		"#\n"
		"# Overhead  Symbol\n"
		"# ........  ......\n"
		"#\n");
	profilemaker_fini(&r.maker);
}

TEST(text_shortens_the_number_of_samples)
{
	static const struct {
		u64 n;
		const char *line;
	} rows[] = {{1000, "# Samples: 1000 of event 'e'\n"},
		{1001, "# Samples: 1K of event 'e'\n"}, {1999999, "# Samples: 1M of event 'e'\n"}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct out out = {.fd = -1};
		struct reporting r;

		reporting_init(&r, "e");
		profilemaker_add(&r.maker,
			&(struct profilemaker_sample){.stack = "f",
				.n_samples = rows[i].n,
				.period = 1});
		choose(&r, "symbol", "overhead,symbol", false);
		write_report(&r, &out);
		CHECK(!strncmp(str_text(&out.text), rows[i].line, strlen(rows[i].line)));
		str_fini(&out.text);
		profilemaker_fini(&r.maker);
	}
}

TEST(text_leaves_out_rows_below_the_limit)
{
	struct reporting r;

	reporting_init(&r, "e");
	add(&r, "", "aaaa", 90);
	add(&r, "", "b", 10);
	add(&r, "", "cccccccccccc", 9);
	choose(&r, "symbol", "overhead,symbol", false);
	/* 10 of 109 are 9.17 percent. The widths are those of what is shown. */
	r.text.row_limit = r.rows.limit = 9;
	check(&r,
		"# Samples: 3 of event 'e'\n"
		"# Event count (approx.): 109\n"
		"#\n"
		"# Overhead  Symbol\n"
		"# ........  ........\n"
		"#\n"
		"    82.57%  [.] aaaa\n"
		"     9.17%  [.] b\n");
	profilemaker_fini(&r.maker);
}

/* ---- call graphs ---- */

/* The graph of the first row of a report by symbol, with its margin. */
static void check_graph(struct reporting *r, const char *row, const char *expected)
{
	struct out out = {.fd = -1};
	char *at, *end;

	r->rows.has_graph = true;
	r->hist.prefers_callers = true;
	choose(r, "symbol",
		r->hist.has_children ? "overhead_children,overhead,symbol" : "overhead,symbol",
		r->hist.has_children);
	write_report(r, &out);
	at = strstr(out.text.at, row);
	CHECK(at);
	at += strlen(row);
	/* Up to the next row. */
	for (end = at; *end &&
		!(end[0] == '\n' && end[1] == ' ' && strchr(" 0123456789", end[2]) &&
			strstr(end, "%  ") && strstr(end, "%  ") < end + 12);
		end++)
		;
	if (*end)
		end[1] = '\0';
	CHECK_STR(at, expected);
	str_fini(&out.text);
}

static void add_calls(struct reporting *r)
{
	add(r, "", "main;parse;read", 30);
	add(r, "", "main;parse", 10);
	add(r, "", "main;run;loop;step;read", 20);
	add(r, "", "main;run;loop;step", 35);
	add(r, "", "main;run;loop", 2);
	add(r, "", "main;done", 3);
}

TEST(text_draws_what_a_function_called)
{
	struct reporting r;

	reporting_init(&r, "e");
	add_calls(&r);
	r.hist.has_children = true;
	check_graph(&r, "   100.00%     0.00%  [.] main\n",
		"            |\n"
		"            ---main\n"
		"               |          \n"
		"               |--57.00%--run\n"
		"               |          loop\n"
		"               |          |          \n"
		"               |           --55.00%--step\n"
		"               |                     |          \n"
		"               |                      --20.00%--read\n"
		"               |          \n"
		"               |--40.00%--parse\n"
		"               |          |          \n"
		"               |           --30.00%--read\n"
		"               |          \n"
		"                --3.00%--done\n"
		"\n");
	/* Its own samples by their whole paths. */
	check_graph(&r, "    50.00%    50.00%  [.] read\n",
		"            |\n"
		"            ---main\n"
		"               |          \n"
		"               |--30.00%--parse\n"
		"               |          read\n"
		"               |          \n"
		"                --20.00%--run\n"
		"                          loop\n"
		"                          step\n"
		"                          read\n"
		"\n");
	profilemaker_fini(&r.maker);
}

TEST(text_draws_who_called_a_function)
{
	struct reporting r;

	reporting_init(&r, "e");
	add_calls(&r);
	r.rows.order = GRAPH_CALLEE;
	check_graph(&r, "    50.00%  [.] read\n",
		"            |\n"
		"            ---read\n"
		"               |          \n"
		"               |--30.00%--parse\n"
		"               |          main\n"
		"               |          \n"
		"                --20.00%--step\n"
		"                          loop\n"
		"                          run\n"
		"                          main\n"
		"\n");
	/* Where the row names the function already, the graph need not. */
	r.text.drawing.skips_first_node = true;
	check_graph(&r, "    50.00%  [.] read\n",
		"            |          \n"
		"            |--30.00%--parse\n"
		"            |          main\n"
		"            |          \n"
		"             --20.00%--step\n"
		"                       loop\n"
		"                       run\n"
		"                       main\n"
		"\n");
	check_graph(&r, "    35.00%  [.] step\n",
		"            |\n"
		"            ---loop\n"
		"               run\n"
		"               main\n"
		"\n");
	profilemaker_fini(&r.maker);
}

/* What ended in the trunk is the rest of its branches; what ended in a branch is none of those that go on. */
TEST(text_draws_fractal_shares_of_what_is_above)
{
	struct reporting r;

	reporting_init(&r, "e");
	add_calls(&r);
	r.text.drawing.style = DRAWING_FRACTAL;
	r.hist.has_children = true;
	check_graph(&r, "    57.00%     0.00%  [.] run\n",
		"            |\n"
		"            ---run\n"
		"               loop\n"
		"               |          \n"
		"               |--96.49%--step\n"
		"               |          |          \n"
		"               |           --100.00%--read\n"
		"                --3.51%--[...]\n"
		"\n");
	profilemaker_fini(&r.maker);
}

TEST(text_sums_small_branches_up_where_shares_are_fractal)
{
	struct reporting r;

	reporting_init(&r, "e");
	add(&r, "", "main;a;x", 60);
	add(&r, "", "main;b", 25);
	add(&r, "", "main;c", 9);
	add(&r, "", "main;d", 6);
	r.hist.has_children = true;
	r.text.drawing.style = DRAWING_FRACTAL;
	r.text.drawing.limit = 10;
	check_graph(&r, "   100.00%     0.00%  [.] main\n",
		"            |\n"
		"            ---main\n"
		"               |          \n"
		"               |--60.00%--a\n"
		"               |          x\n"
		"               |          \n"
		"               |--25.00%--b\n"
		"                --15.00%--[...]\n"
		"\n");
	/* Otherwise they are left out: 100 percent is the whole report. */
	r.text.drawing.style = DRAWING_GRAPH;
	check_graph(&r, "   100.00%     0.00%  [.] main\n",
		"            |\n"
		"            ---main\n"
		"               |          \n"
		"               |--60.00%--a\n"
		"               |          x\n"
		"               |          \n"
		"                --25.00%--b\n"
		"\n");
	profilemaker_fini(&r.maker);
}

TEST(text_draws_several_roots_from_the_margin)
{
	struct reporting r;

	reporting_init(&r, "e");
	add(&r, "", "main;f", 60);
	add(&r, "", "thread;f", 40);
	check_graph(&r, "   100.00%  [.] f\n",
		"            |          \n"
		"            |--60.00%--main\n"
		"            |          f\n"
		"            |          \n"
		"             --40.00%--thread\n"
		"                       f\n"
		"\n");
	profilemaker_fini(&r.maker);
}

TEST(text_draws_no_graph_below_the_limit)
{
	struct reporting r;

	reporting_init(&r, "e");
	add(&r, "", "main;f", 996);
	add(&r, "", "main;g", 4);
	r.text.drawing.limit = 0.5;
	check_graph(&r, "     0.40%  [.] g\n", "");
	check_graph(&r, "    99.60%  [.] f\n",
		"            |\n"
		"            ---main\n"
		"               f\n"
		"\n");
	/* A share of its own row has no such limit. */
	r.text.drawing.style = DRAWING_FRACTAL;
	check_graph(&r, "     0.40%  [.] g\n",
		"            |\n"
		"            ---main\n"
		"               g\n"
		"\n");
	profilemaker_fini(&r.maker);
}

TEST(text_draws_addresses_and_foreign_names)
{
	struct reporting r;

	reporting_init(&r, "e");
	add(&r, "", "0xffff800012345678;a\tb;f", 1);
	r.rows.order = GRAPH_CALLEE;
	check_graph(&r, "   100.00%  [.] f\n",
		"            |\n"
		"            ---f\n"
		"               a\\x09b\n"
		"               0xffff800012345678\n"
		"\n");
	profilemaker_fini(&r.maker);
}

TEST(text_draws_recursion_as_deep_as_it_went)
{
	struct reporting r;

	reporting_init(&r, "e");
	add(&r, "", "main;f;f;f", 8);
	add(&r, "", "main;f;f", 2);
	r.hist.has_children = true;
	check_graph(&r, "   100.00%   100.00%  [.] f\n",
		"            |\n"
		"            ---main\n"
		"               f\n"
		"               f\n"
		"               |          \n"
		"                --80.00%--f\n"
		"\n");
	profilemaker_fini(&r.maker);
}

TEST(text_draws_as_many_branches_of_a_level_as_are_wanted)
{
	struct out out = {.fd = -1};
	struct reporting r;
	size_t n = 0;

	reporting_init(&r, "e");
	add(&r, "", "main;a", 40);
	add(&r, "", "main;b", 30);
	add(&r, "", "main;c", 20);
	add(&r, "", "main;d", 10);
	choose(&r, "dso", "overhead,dso", false);
	r.rows.has_graph = true;
	r.text.drawing.entries = 2;
	write_report(&r, &out);
	CHECK_HAS(out.text.at, "40.00%--a\n");
	CHECK_HAS(out.text.at, "30.00%--b\n");
	for (const char *at = out.text.at; (at = strstr(at, "%--")) != NULL; at++)
		n++;
	CHECK_EQ(n, 2);
	str_fini(&out.text);
	profilemaker_fini(&r.maker);
}

/* ---- large reports ---- */

/* What arrives at the descriptor. */
static void write_to_file(struct reporting *r, struct str *ret_text)
{
	struct out out = {.fd = memfd_create("report", MFD_CLOEXEC)};
	struct err err;
	off_t size;

	write_report(r, &out);
	CHECK_EQ(out_close(&out, &err), 0);
	size = lseek(out.fd, 0, SEEK_END);
	str_reserve(ret_text, size);
	CHECK_EQ(pread(out.fd, ret_text->at, size, 0), size);
	ret_text->n = size;
	ret_text->at[size] = '\0';
	close(out.fd);
}

TEST(text_of_a_large_report_is_the_same_on_any_number_of_cores)
{
	struct str first = {0};
	struct reporting r;
	size_t n_lines = 0;

	reporting_init(&r, "e");
	for (int i = 0; i < 5000; i++) {
		char stack[96];

		snprintf(stack, sizeof(stack), "main;caller%d;function_%d_%.*s", i % 10, i, i % 30,
			"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
		add(&r, i % 2 ? "even" : "odd", stack, 1 + i % 100);
	}
	choose(&r, "comm,dso,symbol", "overhead_children,overhead,comm,dso,symbol", true);
	for (unsigned graph = 0; graph < 2; graph++) {
		r.rows.has_graph = graph;
		r.text.drawing.limit = 0.01;
		for (unsigned n = 1; n <= 8; n++) {
			struct str text = {0};

			r.text.n_workers = n;
			write_to_file(&r, n == 1 ? &first : &text);
			if (n > 1)
				CHECK(text.n == first.n && !memcmp(text.at, first.at, text.n));
			str_fini(&text);
		}
		if (!graph)
			for (const char *p = first.at; (p = strchr(p, '\n')) != NULL; p++)
				n_lines++;
		str_clear(&first);
	}
	/* Six lines of header; 5000 functions, 10 callers whose numbers have one comm each, main in
	 * two. */
	CHECK_EQ(n_lines, 6 + 5000 + 10 + 2);
	str_fini(&first);
	profilemaker_fini(&r.maker);
}

/* Graphs are drawn some hundreds at a time, by thread, and rows are in the order of their shares. */
TEST(text_has_each_graph_below_its_row_however_many_there_are)
{
	enum { N = 3000 };
	struct str text = {0};
	struct reporting r;
	const char *at;
	int n = 0;

	reporting_init(&r, "e");
	for (int i = 0; i < N; i++) {
		char stack[64];

		/* Every third has no caller. */
		if (i % 3)
			snprintf(stack, sizeof(stack), "above_%d;function_%d", i, i);
		else
			snprintf(stack, sizeof(stack), "function_%d", i);
		add(&r, i % 2 ? "even" : i % 7 ? "odd" : "rare", stack, N - (u64)i);
	}
	r.rows.has_graph = true;
	r.hist.prefers_callers = true;
	r.text.drawing.limit = 0;
	choose(&r, "comm,symbol", "overhead,comm,symbol", false);
	write_to_file(&r, &text);
	at = text.at;
	for (int i = 0; i < N; i++) {
		char row[32], above[32], *next;

		snprintf(row, sizeof(row), "  [.] function_%d\n", i);
		snprintf(above, sizeof(above), "--above_%d\n", i);
		at = strstr(at, row);
		CHECK(at);
		at += strlen(row);
		next = strstr(at, "  [.] function_");
		if (next)
			*next = '\0';
		n += strstr(at, above) != NULL;
		CHECK_EQ(strstr(at, "--above_") != NULL, i % 3 != 0);
		if (next)
			*next = ' ';
	}
	CHECK_EQ(n, N - N / 3);
	str_fini(&text);
	profilemaker_fini(&r.maker);
}

TEST(text_that_cannot_be_written_is_an_error)
{
	struct out out = {.fd = open("/dev/full", O_WRONLY)};
	struct reporting r;
	struct err err;

	if (out.fd < 0)
		SKIP("there is no /dev/full");
	reporting_init(&r, "e");
	add(&r, "", "f", 1);
	choose(&r, "symbol", "overhead,symbol", false);
	write_report(&r, &out);
	CHECK_EQ(out_close(&out, &err), ERR_SYS);
	CHECK_STR(err.msg, "writing the output: No space left on device");
	close(out.fd);
	profilemaker_fini(&r.maker);
}

/* Puts "twice", and into that "mix", into every frame of a function. */
static void inline_into(struct profile *p, const char *function)
{
	u32 first = p->symbols.n, at = p->inlined.n;

	vec_add(&p->symbols, ((struct profile_symbol){.name = "twice", .is_inlined = true}));
	vec_add(&p->symbols, ((struct profile_symbol){.name = "mix", .is_inlined = true}));
	p->symbols.at[first].mode = p->symbols.at[first + 1].mode = p->symbols.at[1].mode;
	vec_add(&p->inlined, first);
	vec_add(&p->inlined, first + 1);
	vec_each(f, &p->frames) {
		const char *name = p->symbols.at[f->symbol].name;

		if (name && !strcmp(name, function)) {
			f->first_inlined = at;
			f->n_inlined = 2;
		}
	}
}

TEST(text_counts_inlined_code_for_its_function_and_draws_it_below)
{
	struct reporting r;

	reporting_init(&r, "cycles");
	add(&r, "sh", "main;work", 3);
	add(&r, "sh", "main", 1);
	inline_into(&r.maker.profile, "work");
	choose(&r, "symbol", "overhead,symbol", false);
	r.rows.has_graph = true;
	r.rows.order = GRAPH_CALLEE;
	check(&r,
		"# Samples: 2 of event 'cycles'\n"
		"# Event count (approx.): 4\n"
		"#\n"
		"# Overhead  Symbol\n"
		"# ........  ........\n"
		"#\n"
		"    75.00%  [.] work\n"
		"            |\n"
		"            ---mix (inlined)\n"
		"               twice (inlined)\n"
		"               work\n"
		"               main\n"
		"\n"
		"    25.00%  [.] main\n"
		"            |\n"
		"            ---main\n"
		"\n");
	profilemaker_fini(&r.maker);
}

TEST(text_has_rows_for_inlined_functions_among_callers)
{
	struct reporting r;

	reporting_init(&r, "cycles");
	add(&r, "sh", "main;work", 3);
	add(&r, "sh", "main;work;leaf", 1);
	inline_into(&r.maker.profile, "work");
	choose(&r, "symbol", "overhead_children,overhead,symbol", true);
	check(&r,
		"# Samples: 2 of event 'cycles'\n"
		"# Event count (approx.): 4\n"
		"#\n"
		"# Children      Self  Symbol\n"
		"# ........  ........  ...................\n"
		"#\n"
		"   100.00%    75.00%  [.] work\n"
		"   100.00%     0.00%  [.] main\n"
		"   100.00%     0.00%  [.] mix (inlined)\n"
		"   100.00%     0.00%  [.] twice (inlined)\n"
		"    25.00%    25.00%  [.] leaf\n");
	profilemaker_fini(&r.maker);
}
