#include "cmd/report/report_options.h"

#include <string.h>

#include "base/num.h"
#include "base/workers.h"
#include "cmd/colourrow.h"
#include "cmd/formrow.h"
#include "cmd/headerrow.h"
#include "cmd/strict.h"

#define AT(member) offsetof(struct report_options, member)

static int set_graph(void *target, const char *value, struct err *err)
{
	struct report_options *o = target;

	return graph_options_parse(&o->graph, value, err);
}

static int set_quantum(void *target, const char *value, struct err *err)
{
	static const struct {
		const char *name;
		u64 ns;
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	struct report_options *o = target;
	const char *p = value;
	u64 n;

	if (num_scan(&p, 10, &n) && n)
		for (size_t i = 0; i < ARRAY_SIZE(units); i++)
			if (!strcmp(units[i].name, p) &&
				!__builtin_mul_overflow(n, units[i].ns, &o->time_quantum))
				return 0;
	return err_set(err, ERR_INVAL,
		"'%.60s' is not a time like 10ms: a number, then ns, us, ms or s", value);
}

static int set_percentage(void *target, const char *value, struct err *err)
{
	struct report_options *o = target;

	return profile_filter_set_percentage(&o->filter, value, err);
}

COLOUR_SETTER(report_options, colour)

const struct opt report_option_table[] = {
	{0, NULL, OPT_TITLE, 0, NULL, "What to read"},
	{'i', "input", OPT_STR, AT(input), "FILE",
		"read FILE, a recording, folded stacks, a profile of pprof or OpenTelemetry; default perf.data"},
	{'f', "force", OPT_BOOL, AT(is_forced), NULL,
		"read files of any owner (always; perf needs -f)"},
	SYMBOL_FILE_ROWS(report_options),
	SYMBOL_FETCH_ROW(report_options),
	{0, NULL, OPT_TITLE, 0, NULL, "Which samples"},
	REPORT_SAMPLE_ROWS,
	{0, "symbol-filter", OPT_STR, AT(part), "PART",
		"only rows of functions with PART in their name"},
	{0, "percentage", OPT_CALL, 0, "OF",
		"shares of the filtered samples (relative) or of all samples (absolute; default)",
		.call = set_percentage},
	{0, NULL, OPT_TITLE, 0, NULL, "What to show"},
	{'s', "sort", OPT_STR, AT(keys.sort), "KEY,...",
		"group by these keys, and by tracepoints' fields; default comm,dso,symbol; +KEY: also by KEY"},
	{'F', "fields", OPT_STR, AT(keys.fields), "KEY,...",
		"show these columns; without -s also sort by them; +KEY: one more column"},
	{'n', "show-nr-samples", OPT_BOOL, AT(keys.has_counts), NULL,
		"add a column with the number of samples"},
	{0, "show-total-period", OPT_BOOL, AT(keys.has_periods), NULL,
		"add a column with the sum of the periods"},
	{0, "show-cpu-utilization", OPT_BOOL, AT(keys.has_modes), NULL,
		"add columns with the shares in the kernel and in user space"},
	{0, "showcpuutilization", OPT_BOOL, AT(keys.has_modes), NULL,
		"the same: perf's other spelling", .flags = OPT_HIDDEN},
	{'b', "branch-stack", OPT_TRI, AT(keys.branches), NULL,
		"count the branches that samples carry instead of the samples (default if they were recorded for that)"},
	{0, "branch-history", OPT_BOOL, AT(keys.has_history), NULL,
		"show the branches before each sample as the end of its call chain, line by line, with predictions and cycles"},
	{0, "total-cycles", OPT_BOOL, AT(keys.has_total_cycles), NULL,
		"rank straight runs of code between branches, by the cycles they took (Intel's LBR, Arm's BRBE)"},
	{0, "mem-mode", OPT_BOOL, AT(keys.is_mem_mode), NULL,
		"show memory accesses by their cost: weights instead of periods"},
	{'T', "thread-counts", OPT_BOOL, AT(has_thread_counts), NULL,
		"print each thread's counts at the end, if recorded with -s (perf: -T, --threads)"},
	{'p', "parent", OPT_STR, AT(keys.parent), "REGEX",
		"also group by the nearest caller whose name matches"},
	{'x', "exclude-other", OPT_BOOL, AT(keys.drops_others), NULL,
		"only samples that have such a caller"},
	{0, "skid", OPT_U64, AT(keys.skid), "N",
		"for data types, take the sampled instruction (0) or the one that ran before it (1); default 1 if the time went there",
		.max = 1},
	{0, "raw-trace", OPT_BOOL, AT(keys.is_raw_trace), NULL,
		"print the fields of tracepoints as numbers"},
	{0, "ns", OPT_BOOL, AT(has_ns), NULL, "times in nanoseconds"},
	{0, "time-quantum", OPT_CALL, 0, "TIME", "step of the key time, like 10ms; default 100ms",
		.call = set_quantum},
	{0, "children", OPT_TRI, AT(children), NULL,
		"also add rows for callers, with everything they called (default with call chains)"},
	{0, "wall", OPT_TRI, AT(wall), NULL,
		"show time on and off the CPU, by thread and by function (default for 'record --wall')"},
	{0, "latency", OPT_TRI, AT(keys.is_by_latency), NULL,
		"also show, and sort by, the share of the elapsed time that rows are responsible for"},
	{0, "ci", OPT_BOOL, AT(answer.has_intervals), NULL,
		"add a column with the 95% confidence interval of each share, and ~ where the order of two rows is not certain"},
	{0, "percent-limit", OPT_DOUBLE, AT(percent_limit), "PCT",
		"leave out rows below this share", .max = 100},
	{'g', "call-graph", OPT_CALL, 0, "HOW",
		"none, graph, fractal, flat or folded; caller or callee; percent, period or count; threshold in percent, then entries",
		.flags = OPT_OPTIONAL, .call = set_graph},
	REPORT_MAX_STACK_ROW,
	{0, "show-ref-call-graph", OPT_BOOL, AT(lends_callers), NULL,
		"events that were recorded without call chains get those that another event has in the same functions"},
	{0, "stitch-lbr", OPT_BOOL, AT(stitches), NULL,
		"with --call-graph lbr, complete chains that are too deep for the CPU from the sample before"},
	{0, "ignore-callees", OPT_STR, AT(forgotten), "REGEX",
		"count what functions with these names call as their own"},
	{'G', "inverted", OPT_BOOL, AT(is_inverted), NULL, "the same as -g caller"},
	REPORT_INLINE_ROW,
	{0, "full-source-path", OPT_BOOL, AT(has_full_paths), NULL,
		"show source files with their directories"},
	{0, NULL, OPT_TITLE, 0, NULL, "What to show instead of functions"},
	{'D', "dump-raw-trace", OPT_BOOL, AT(is_dump), NULL,
		"print every record, byte by byte and field by field"},
	{0, "stats", OPT_BOOL, AT(is_stats), NULL, "print how many records of each type there are"},
	{0, "skip-empty", OPT_TRI, AT(answer.skips_empty), NULL,
		"leave out events, and in --stats record types, without any samples or records (default)"},
	{0, "tasks", OPT_BOOL, AT(is_tasks), NULL,
		"print all processes and threads, as a tree of who started whom"},
	{0, "mmaps", OPT_BOOL, AT(is_mmaps), NULL, "the same, with their mapped files"},
	{0, NULL, OPT_TITLE, 0, NULL, "How to show it"},
	{0, "stdio", OPT_BOOL, AT(is_text), NULL,
		"plain text, also on a terminal (PACE_TUI=0: always)"},
	{0, "tui", OPT_TRI, AT(browser), NULL,
		"walk through the rows on the terminal (default there); the key h shows all keys"},
	{0, "samples", OPT_U64, AT(n_kept), "N",
		"accepted for perf's browser, without effect; 'pace script' shows single samples"},
	FORM_ROW(struct report_options, answer.forms),
	COLOUR_ROW,
	{0, "json", OPT_BOOL, AT(answer.forms.is_chosen[FORM_JSON]), NULL,
		"print all rows as JSON, see pace-report(1)"},
	{0, "group", OPT_TRI, AT(answer.groups), NULL,
		"show the events of a group in one table (default); without groups, all events"},
	{0, "group-sort-idx", OPT_U64, AT(answer.group_order), "N",
		"sort the rows of such a table by its event N; 0 (the default) is the first"},
	{'H', "hierarchy", OPT_BOOL, AT(answer.is_hierarchy), NULL,
		"nest rows: a level with sums for each key of -s"},
	{0, "csv", OPT_BOOL, AT(answer.forms.is_chosen[FORM_CSV]), NULL,
		"print all rows as comma separated values"},
	{0, "md", OPT_BOOL, AT(answer.forms.is_chosen[FORM_MARKDOWN]), NULL,
		"print Markdown: a table of rows and the call tree, folded away"},
	{0, "html", OPT_STR, AT(answer.html), "FILE",
		"write one page for browsers to FILE: flame graph, functions, what is missing; it needs nothing else"},
	{0, "flame", OPT_STR, AT(answer.flame), "FILE",
		"write a flame graph to FILE, an SVG that browsers search and zoom; 'pace flame' has options for it"},
	{0, "budget", OPT_U64, AT(answer.budget), "N",
		"print a call tree of at most N lines that sum to 100%: extra lines stand for what is left out",
		.min = 1, .max = 1000000},
	{0, "node", OPT_STR, AT(answer.node), "ID",
		"print only the tree below a node, the callers of its function and what it calls"},
	{'w', "column-widths", OPT_STR, AT(widths), "N,...",
		"make columns this wide and cut off longer names; 0: as wide as needed, even if that is more than the terminal has"},
	{'t', "field-separator", OPT_STR, AT(answer.forms.separator), "SEP",
		"separate columns by SEP instead of blanks, without call graphs"},
	HEADER_ROWS(struct report_options),
	{0, "ledger", OPT_BOOL, AT(has_ledger), NULL,
		"list everything that was lost or has no name, with causes"},
	STRICT_ROW(struct report_options),
	{0, "fail-if", OPT_LIST, AT(answer.assertions), "CONDITION",
		"exit with status 4 if CONDITION holds, like 'share(malloc) > 5%'; see pace-report(1)"},
	SYMBOL_NAME_ROWS(report_options),
	SYMBOL_MADE_ROW(report_options),
	{'q', "quiet", OPT_BOOL, AT(is_quiet), NULL, "print only rows"},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL,
		"say where files were looked for, show parameters of C++ functions"},
	{'j', "threads", OPT_U64, AT(n_workers), "N", "use N threads; default all cores", .min = 1,
		.max = WORKERS_MAX},
	{0, NULL, OPT_TITLE, 0, NULL, "Code of functions, on the terminal (the key a)"},
	CODE_ROWS(report_options),
	{0, "addr2line", OPT_NOTHING, 0, "PATH", "lines are read without another program"},
	{0, "addr2line-style", OPT_NOTHING, 0, "STYLE", "likewise"},
	{0, "unwind-style", OPT_NOTHING, 0, "STYLE", "there is one way to unwind stacks"},
	{0, "pretty", OPT_NOTHING, 0, "STYLE", "-T prints a table"},
	{'m', "modules", OPT_NOTHING, 0, NULL, "names of modules are always looked for"},
	{0, "demangle-kernel", OPT_NOTHING, 0, NULL,
		"the kernel's names are demangled like all others"},
	{0, "disable-order", OPT_NOTHING, 0, NULL, "-D always prints in the order of the file"},
	{0, "branch--call-graph", OPT_REFUSED, 0, NULL, "the option is called --branch-history"},
	{0, "gtk", OPT_REFUSED, 0, NULL,
		"there are no windows: leave --gtk out to print the same as text"},
	{0, "itrace", OPT_REFUSED, 0, "HOW",
		"AUX traces (Intel PT, CoreSight) are not decoded; 'perf inject --itrace' turns them into samples",
		.flags = OPT_OPTIONAL | OPT_ATTACHED},
	{.kind = OPT_END},
};

void report_options_init(struct report_options *o)
{
	*o = (struct report_options){.browser = -1,
		.children = -1,
		.wall = -1,
		.socket = UINT64_MAX,
		.answer.skips_empty = true,
		.answer.groups = -1,
		.symbols.demangles = true,
		.symbols.makes_names = true,
		.inlines = -1,
		.code = CODE_OPTIONS_DEFAULT,
		.keys.branches = -1,
		.keys.skid = TYPING_NOT_SAID,
		.debuginfod_s = 10,
		.graph.limit = -1};
}

void report_options_settle(struct report_options *o)
{
	o->keys.children = o->children;
	o->answer.is_whole = o->widths != NULL;
	o->answer.forms.is_chosen[FORM_HTML] = o->answer.html;
	o->answer.forms.is_chosen[FORM_SVG] |= o->answer.flame != NULL;
	o->keys.has_intervals = o->answer.has_intervals;
	if (!o->n_workers)
		o->n_workers = workers_available();
}

void report_options_fini(struct report_options *o)
{
	vec_fini(&o->answer.assertions);
}
