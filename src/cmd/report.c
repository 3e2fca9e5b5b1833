#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/num.h"
#include "base/out.h"
#include "base/workers.h"
#include "cmd/cmd.h"
#include "cmd/report_answer.h"
#include "cmd/report_graph.h"
#include "cmd/report_keys.h"
#include "cmd/strict.h"
#include "cmd/report_wall.h"
#include "cmd/symbols.h"
#include "event/abi.h"
#include "profile/filter.h"
#include "profile/forget.h"
#include "profile/key.h"
#include "profile/label.h"
#include "profile/recorded.h"
#include "view/dump.h"
#include "view/header.h"
#include "view/stats.h"
#include "view/tasks.h"
#include "view/wall_text.h"
#include "view/text.h"
#include "view/threadcounts_text.h"

#define DEFAULT_GRAPH_LIMIT 0.5 /* percent */

struct report_options {
	const char *input;
	struct keys_options keys;
	struct symbol_options symbols;
	struct graph_options graph;
	const char *cpus, *pids, *tids, *time, *part;
	struct profile_filter filter;
	struct switching_options switching;
	const char *forgotten; /* functions whose callees count for them; NULL: none */
	bool is_inverted, has_header, has_header_only, has_details, is_quiet, has_ledger, is_strict;
	bool is_dump, is_stats, is_tasks, is_mmaps;
	bool has_thread_counts;
	bool is_forced; /* files of others are read anyway */
	u64 socket;     /* UINT64_MAX: all */
	u64 n_kept;     /* of perf's browser, which this is not */
	struct answer_options answer;
	bool is_text; /* --stdio: the only form there is so far */
	int children;
	double percent_limit;
	bool has_full_paths, stitches;
	int inlines, wall; /* -1: as the recording is made */
	u64 n_workers, max_stack;
	double debuginfod_s;
	u64 time_quantum;
	unsigned verbose;
};

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
		"'%.60s' is no time like 10ms: a number, then ns, us, ms or s", value);
}

static int set_percentage(void *target, const char *value, struct err *err)
{
	struct report_options *o = target;

	return profile_filter_set_percentage(&o->filter, value, err);
}

static const struct opt options[] = {
	{0, NULL, OPT_TITLE, 0, NULL, "What to read"},
	{'i', "input", OPT_STR, AT(input), "FILE", "read FILE; default perf.data"},
	{'f', "force", OPT_BOOL, AT(is_forced), NULL,
		"read it whoever it belongs to (always; perf asks)"},
	SYMBOL_FILE_ROWS(report_options),
	{0, "debuginfod", OPT_DOUBLE, AT(debuginfod_s), "SECONDS",
		"fetch missing symbols (DEBUGINFOD_URLS) for so long; default 10, 0: never",
		.max = 86400},
	{0, NULL, OPT_TITLE, 0, NULL, "Which samples"},
	{'C', "cpu", OPT_STR, AT(cpus), "LIST",
		"only those of these CPUs, like 0-3,8; names of threads are taken for --comms"},
	{0, "socket-filter", OPT_U64, AT(socket), "N", "only those on processor socket N",
		.max = UINT16_MAX},
	{0, "time", OPT_STR, AT(time), "SPAN,...",
		"only those of this time: FROM,TO in seconds, 10%-20%, or 10%/2 for the second tenth"},
	{0, "switch-on", OPT_STR, AT(switching.on), "EVENT", "only those after one of this event"},
	{0, "switch-off", OPT_STR, AT(switching.off), "EVENT",
		"only those before one of this event, and after --switch-on again"},
	{0, "show-on-off-events", OPT_BOOL, AT(switching.shows_switches), NULL,
		"those that switch on or off, too"},
	{0, "pid", OPT_STR, AT(pids), "PID,...", "only those of these processes"},
	{0, "tid", OPT_STR, AT(tids), "TID,...", "only those of these threads"},
	{'c', "comms", OPT_STR, AT(filter.comms), "COMM,...",
		"only those of threads of these names"},
	{'d', "dsos", OPT_STR, AT(filter.dsos), "DSO,...", "only those in these files"},
	{'S', "symbols", OPT_STR, AT(filter.symbols), "NAME,...", "only those in these functions"},
	{0, "symbol-filter", OPT_STR, AT(part), "PART",
		"only rows of functions with PART in their name"},
	{0, "percentage", OPT_CALL, 0, "OF",
		"shares of what is left: relative; of all: absolute (default)",
		.call = set_percentage},
	{0, NULL, OPT_TITLE, 0, NULL, "What to show"},
	{'s', "sort", OPT_STR, AT(keys.sort), "KEY,...",
		"group by these keys, and by tracepoints' fields; default comm,dso,symbol"},
	{'F', "fields", OPT_STR, AT(keys.fields), "KEY,...",
		"show these columns; without -s, rows are in their order"},
	{'n', "show-nr-samples", OPT_BOOL, AT(keys.has_counts), NULL,
		"a column with the number of samples"},
	{0, "show-total-period", OPT_BOOL, AT(keys.has_periods), NULL,
		"a column with the sum of the periods"},
	{'b', "branch-stack", OPT_TRI, AT(keys.branches), NULL,
		"count the branches that samples carry (default, where they do) instead of the samples"},
	{0, "mem-mode", OPT_BOOL, AT(keys.is_mem_mode), NULL,
		"accesses to memory, by what they cost: weights instead of periods"},
	{'T', "thread-counts", OPT_BOOL, AT(has_thread_counts), NULL,
		"at the end what each thread counted, if recorded with -s (perf: -T, --threads)"},
	{'p', "parent", OPT_STR, AT(keys.parent), "REGEX",
		"group by the nearest caller whose name matches, too"},
	{'x', "exclude-other", OPT_BOOL, AT(keys.drops_others), NULL,
		"only samples that have such a caller"},
	{0, "raw-trace", OPT_BOOL, AT(keys.is_raw_trace), NULL,
		"what tracepoints say as numbers, field by field"},
	{0, "time-quantum", OPT_CALL, 0, "TIME", "of the key time, like 10ms; default 100ms",
		.call = set_quantum},
	{0, "children", OPT_TRI, AT(children), NULL,
		"rows for callers too, with all they called (default with call chains)"},
	{0, "wall", OPT_TRI, AT(wall), NULL,
		"time on and off the CPU, thread by thread and function by function (default of 'record --wall')"},
	{0, "ci", OPT_BOOL, AT(answer.has_intervals), NULL,
		"a column with the interval that holds the true share with 95%, and ~ where the order of two rows is not decided"},
	{0, "percent-limit", OPT_DOUBLE, AT(percent_limit), "PCT",
		"leave out rows below this share", .max = 100},
	{'g', "call-graph", OPT_CALL, 0, "HOW",
		"none, graph, fractal, flat or folded; caller or callee; percent, period or count; threshold in percent, then entries",
		.flags = OPT_OPTIONAL, .call = set_graph},
	{0, "max-stack", OPT_U64, AT(max_stack), "N",
		"at most N callers of a call chain; default 127", .min = 1, .max = UINT16_MAX},
	{0, "stitch-lbr", OPT_BOOL, AT(stitches), NULL,
		"of --call-graph lbr, what is too deep for the processor from the sample before"},
	{0, "ignore-callees", OPT_STR, AT(forgotten), "REGEX",
		"what functions of these names call counts for them"},
	{'G', "inverted", OPT_BOOL, AT(is_inverted), NULL, "the same as -g caller"},
	{0, "inline", OPT_TRI, AT(inlines), NULL,
		"inlined functions in call chains (default, where debug information is)"},
	{0, "full-source-path", OPT_BOOL, AT(has_full_paths), NULL,
		"files of source with their directories"},
	{0, NULL, OPT_TITLE, 0, NULL, "What to show instead of functions"},
	{'D', "dump-raw-trace", OPT_BOOL, AT(is_dump), NULL,
		"every record, byte by byte and field by field"},
	{0, "stats", OPT_BOOL, AT(is_stats), NULL, "how many records of each type there are"},
	{0, "skip-empty", OPT_TRI, AT(answer.skips_empty), NULL,
		"not the events, and in --stats the types of records, that nothing is of (default)"},
	{0, "tasks", OPT_BOOL, AT(is_tasks), NULL,
		"all processes and threads, by who started them"},
	{0, "mmaps", OPT_BOOL, AT(is_mmaps), NULL, "the same, with what they mapped"},
	{0, NULL, OPT_TITLE, 0, NULL, "How to show it"},
	{0, "stdio", OPT_BOOL, AT(is_text), NULL, "plain text (always, in this version)"},
	{0, "samples", OPT_U64, AT(n_kept), "N",
		"nothing: for perf's browser; 'pace script' shows single samples"},
	{0, "json", OPT_BOOL, AT(answer.is_json), NULL, "all rows as JSON, see pace-report(1)"},
	{0, "hierarchy", OPT_BOOL, AT(answer.is_hierarchy), NULL,
		"rows below rows: a level for each key of -s, with sums"},
	{0, "csv", OPT_BOOL, AT(answer.is_csv), NULL, "all rows as comma separated values"},
	{0, "md", OPT_BOOL, AT(answer.is_markdown), NULL,
		"Markdown: a table of rows and the call tree, folded away"},
	{0, "budget", OPT_U64, AT(answer.budget), "N",
		"a call tree of at most N lines, which sum to 100%: what has no line is in lines of its own",
		.min = 1, .max = 1000000},
	{0, "node", OPT_STR, AT(answer.node), "ID",
		"of the tree what is below a node, who calls its function and what that calls"},
	{'t', "field-separator", OPT_STR, AT(answer.separator), "SEP",
		"the columns with SEP between them instead of blanks, without call graphs"},
	{0, "header", OPT_BOOL, AT(has_header), NULL,
		"what the recording says about itself, first"},
	{0, "header-only", OPT_BOOL, AT(has_header_only), NULL, "only that"},
	{'I', "show-info", OPT_BOOL, AT(has_details), NULL,
		"in it, CPU and memory topology in full"},
	{0, "ledger", OPT_BOOL, AT(has_ledger), NULL,
		"all that was lost or has no name, with causes"},
	STRICT_ROW(struct report_options),
	{0, "fail-if", OPT_LIST, AT(answer.claims), "CONDITION",
		"exit with 4 if it is so, like 'share(malloc) > 5%'; see pace-report(1)"},
	SYMBOL_NAME_ROWS(report_options),
	SYMBOL_MADE_ROW(report_options),
	{'q', "quiet", OPT_BOOL, AT(is_quiet), NULL, "only the table"},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL,
		"say where files were looked for, show parameters of C++ functions"},
	{'j', "threads", OPT_U64, AT(n_workers), "N", "use N threads; default all cores", .min = 1,
		.max = WORKERS_MAX},
	{.kind = OPT_END},
};

/* Everything between the file and the page. */
struct reporting {
	const struct report_options *options;
	struct log log;
	struct recorded recorded;
	struct calls calls;
	struct hist_options hist;
	struct text_options text;
	bool has_wall;
	struct answer answer;
	struct threadcounts thread_counts;
	struct keys keys;
	u64 time_quantum; /* ns */
	unsigned n_workers;
	struct cpus cpus;
	struct spans spans;
	struct profile_filter filter;
	bool forgets; /* callees of what `forgotten` matches */
	regex_t forgotten;
};

/* ---- options into what is shown ---- */

static void choose_graph(struct reporting *r)
{
	const struct graph_options *g = &r->options->graph;

	r->text.has_graph = r->recorded.has_chains && !g->is_none && !r->keys.has_branches;
	r->text.n_workers = r->n_workers;
	/* Asked for rows above a share, one wants branches above it too. */
	r->text.drawing = (struct drawing_options){
		.style = r->has_wall && !g->is_given ? DRAWING_FRACTAL : g->style,
		.value = g->value,
		.order = r->options->is_inverted ? GRAPH_CALLER
			: g->has_order           ? g->order
			: r->hist.has_children   ? GRAPH_CALLER
						 : GRAPH_CALLEE,
		.limit = g->limit >= 0 ? g->limit
				       : MAX(r->options->percent_limit, DEFAULT_GRAPH_LIMIT),
		.entries = g->entries,
		.skips_first_node = r->options->keys.sort && !r->options->keys.fields &&
			r->hist.keys[0]->frame == KEY_SYMBOL};
	r->text.row_limit = r->options->percent_limit;
	r->hist.prefers_callers = r->text.has_graph;
}

/* Whether every sample carries the field; else the option makes no sense. */
static int check_field(const struct reporting *r, const char *option, u64 field, const char *what,
	struct err *err)
{
	vec_each(e, &r->recorded.session.reader.events)
		if (!(e->attr.sample_type & field))
			return err_set(err, ERR_INVAL,
				"%s: the recording does not say %s its samples were taken", option,
				what);
	return 0;
}

/* Stretches of time that intervals are judged by: certainty makes larger ones of them. */
static int choose_blocks(struct reporting *r, struct err *err)
{
	enum { QUANTA = 256 };
	const struct file_info *info = &r->recorded.session.reader.info;

	for (size_t i = 0; i < r->hist.n_keys; i++)
		if (r->hist.keys[i]->label == LABEL_TIME)
			return err_set(err, ERR_INVAL,
				"--ci: rows that are stretches of time themselves have no interval");
	if (check_field(r, "--ci", PERF_SAMPLE_TIME, "when", err))
		return err->code;
	r->time_quantum = info->has_times && info->last_time > info->first_time
		? (info->last_time - info->first_time) / QUANTA + 1
		: 10000000;
	return 0;
}

static int choose_socket(struct reporting *r, struct err *err)
{
	const struct session *s = &r->recorded.session;

	r->filter.has_socket = r->options->socket != UINT64_MAX;
	r->filter.socket = (u32)r->options->socket;
	if (!r->filter.has_socket)
		return 0;
	if (label_check(s, LABEL_SOCKET, err))
		return err_prefix(err, "--socket-filter");
	return s->reader.info.host.cpus.n
		? 0
		: err_set(err, ERR_INVAL,
			  "--socket-filter: the recording does not say which processors its sockets have");
}

/* Sums are of samples that each are in one row only. */
static int check_hierarchy(const struct reporting *r, struct err *err)
{
	const struct report_options *o = r->options;

	if (!o->answer.is_hierarchy)
		return 0;
	if (o->keys.fields)
		return err_set(err, ERR_INVAL,
			"--hierarchy: its levels are the keys of -s, not of -F");
	if (o->children > 0)
		return err_set(err, ERR_INVAL,
			"--hierarchy: samples of callees cannot be summed up: without --children");
	if (r->has_wall)
		return err_set(err, ERR_INVAL,
			"--hierarchy is of samples, not of time on and off CPUs: with --no-wall");
	return 0;
}

static int choose_forgotten(struct reporting *r, struct err *err)
{
	if (!r->options->forgotten)
		return 0;
	if (!r->recorded.has_chains || r->keys.has_branches)
		return err_set(err, ERR_INVAL, "--ignore-callees: %s",
			r->keys.has_branches ? "branches have no callers: with --no-branch-stack"
					     : "the recording has no call chains: record with -g");
	if (parent_compile(&r->forgotten, r->options->forgotten, err))
		return err_prefix(err, "--ignore-callees");
	r->forgets = true;
	return 0;
}

/* Which samples, and which rows. */
static int choose_samples(struct reporting *r, struct err *err)
{
	const struct report_options *o = r->options;
	const struct file_info *info = &r->recorded.session.reader.info;
	const char *cpus = o->cpus;

	r->filter = o->filter;
	/* Names behind -C are what it means to diff. */
	if (cpus && !(*cpus >= '0' && *cpus <= '9')) {
		if (o->filter.comms)
			return err_set(err, ERR_INVAL,
				"-C '%.60s' is no list of CPUs, and --comms names threads already",
				cpus);
		r->filter.comms = cpus;
		cpus = NULL;
	}
	if (cpus &&
		(check_field(r, "-C", PERF_SAMPLE_CPU, "on which CPU", err) ||
			cpus_parse(&r->cpus, cpus, err)))
		return err_prefix(err, "--cpu");
	if (o->time &&
		(check_field(r, "--time", PERF_SAMPLE_TIME, "when", err) ||
			spans_parse(&r->spans, o->time, info->first_time,
				info->has_times ? info->last_time : 0, err)))
		return err->code;
	if (choose_socket(r, err) || choose_forgotten(r, err))
		return err->code;
	if (num_list_parse(&r->filter.pids, "--pid", o->pids, err) ||
		num_list_parse(&r->filter.tids, "--tid", o->tids, err))
		return err->code;
	if (o->answer.has_intervals && choose_blocks(r, err))
		return err->code;
	r->hist.part = o->part;
	r->hist.is_relative = o->filter.is_relative;
	for (size_t i = 0; i < r->hist.n_keys; i++)
		if (r->hist.keys[i]->frame == KEY_SYMBOL)
			return 0;
	return o->part ? err_set(err, ERR_INVAL, "--symbol-filter: rows are not by symbol") : 0;
}

/* ---- stages ---- */

/* Samples into a profile with names, and their call tree. */
static int make_profile(struct reporting *r, struct err *err)
{
	const struct report_options *o = r->options;
	struct recorded *in = &r->recorded;
	struct recorded_options reading = {.has_stacks = in->has_chains &&
			/* What was waited for is found on the way out of the scheduler. */
			(r->hist.has_children || r->text.has_graph || r->has_wall || r->forgets ||
				answer_needs_stacks(&r->answer)),
		.max_stack = (u32)o->max_stack,
		.n_workers = r->n_workers,
		.has_wall = r->has_wall,
		.stitches = o->stitches,
		.labels = profile_filter_labels(&r->filter) | answer_labels(&r->answer),
		.cpus = &r->cpus,
		.spans = &r->spans,
		.switching = &o->switching,
		.time_quantum = r->time_quantum,
		.naming = {.style = symbol_options_style(&o->symbols, o->verbose),
			.makes_names = o->symbols.makes_names,
			.has_full_paths = o->has_full_paths}};

	keys_tell(&r->keys, &r->hist, &reading);
	reading.naming.has_inlined = reading.has_stacks && !reading.naming.source && o->inlines;
	symbol_options_tell(&o->symbols, o->debuginfod_s, &reading);
	if (recorded_read(in, &reading, err))
		return err->code;
	r->answer.profile = &in->profile;
	r->answer.calls = &r->calls;
	r->answer.hist = &r->hist;
	r->answer.text = &r->text;
	if (r->forgets)
		forget_callees(&in->profile, &r->forgotten);
	answer_note_whole(&r->answer, &in->session.tally);
	keys_finish(&r->keys, &in->profile, o->filter.is_relative);
	profile_filter_apply(&in->profile, &r->filter);
	answer_note_filtered(&r->answer);
	calls_init(&r->calls, &in->profile);
	recorded_stage_ends(in, "call tree");
	return 0;
}

static void add_preamble(struct reporting *r, struct str *text)
{
	if (r->options->is_quiet)
		return;
	if (r->options->has_header)
		header_add_text(&r->recorded.session.reader, r->options->has_details, text);
	else
		str_add(text,
			"# To display the perf.data header info, please use --header/--header-only options.\n#\n");
	str_addf(text, "#\n# Total Lost Samples: %llu\n#\n",
		(unsigned long long)r->recorded.session.tally.n_lost_samples);
}

/* ---- what is shown instead of functions ---- */

static void count_event(void *ctx, const struct session_sample *s)
{
	((u64 *)ctx)[s->event]++;
}

static int show_stats(struct reporting *r, struct out *out, struct err *err)
{
	u64 *n_by_event =
		mem_zalloc((r->recorded.session.reader.events.n + 1) * sizeof(*n_by_event));
	void *worker = n_by_event;
	struct session_sink sink = {0, count_event, &worker};
	int result = session_samples(&r->recorded.session, 1, &sink, err);

	if (!result)
		stats_add_text(&r->recorded.session, n_by_event, r->options->answer.skips_empty,
			&out->text);
	mem_free(n_by_event);
	return result;
}

/* True if something else than functions was asked for. */
static bool shows_records(const struct report_options *o)
{
	return o->is_dump || o->is_stats || o->is_tasks || o->is_mmaps;
}

static int report_records(struct reporting *r, struct out *out, struct err *err)
{
	const struct report_options *o = r->options;
	int result = 0;

	if (o->is_dump) {
		result = dump_all(&r->recorded.session, out, err);
	} else {
		result = machine_scan(&r->recorded.machine, &r->recorded.session, err);
		if (!result && o->is_stats)
			result = show_stats(r, out, err);
		if (!result && (o->is_tasks || o->is_mmaps))
			tasks_add_text(&r->recorded.machine, o->is_mmaps, &out->text);
	}
	ledger_add_tally(&r->recorded.ledger, &r->recorded.session.tally);
	ledger_warn(&r->recorded.ledger, &r->log);
	return result;
}

/* What is to be shown, and of which samples; what does not go together is refused. */
static int choose(struct reporting *r, bool is_data, struct err *err)
{
	if (report_wall_choose(&r->recorded.session, r->options->wall, &r->has_wall, err))
		return err->code;
	r->text.is_wall = r->has_wall;
	if (r->has_wall && r->options->answer.has_intervals)
		return err_set(err, ERR_INVAL,
			"--ci is of samples, not of time on and off CPUs: with --no-wall");
	if (check_hierarchy(r, err))
		return err->code;
	if (r->has_wall && (r->options->switching.on || r->options->switching.off))
		return err_set(err, ERR_INVAL,
			"--switch-on and --switch-off are of samples, not of time on and off CPUs: with --no-wall");
	if (keys_init(&r->keys, &r->options->keys, &r->recorded, r->has_wall, err))
		return err->code;
	/* In Markdown the tree below the rows has the callers. */
	r->hist.has_children = r->keys.has_branches || r->options->answer.is_hierarchy ? false
		: r->options->children < 0
		? r->recorded.has_chains && !r->has_wall && !r->options->answer.is_markdown
		: r->options->children;
	r->time_quantum = r->options->time_quantum;
	if (keys_choose(&r->keys, &r->hist, &r->text, err) || choose_samples(r, err) ||
		report_wall_check_columns(&r->text, r->has_wall, err))
		return err->code;
	choose_graph(r);
	if (r->options->has_thread_counts && is_data)
		return err_set(err, ERR_INVAL, "-T is text: not with --json, --csv, --md and -t");
	return 0;
}

static int report(struct reporting *r, struct out *out, struct err *err)
{
	bool is_data = answer_is_data(&r->options->answer);

	if (answer_open(&r->answer, &r->options->answer, err))
		return err->code;
	if (shows_records(r->options))
		return report_records(r, out, err);
	if (choose(r, is_data, err))
		return err->code;
	if (r->options->has_header_only) {
		header_add_text(&r->recorded.session.reader, r->options->has_details, &out->text);
		return 0;
	}
	if (make_profile(r, err))
		return err->code;
	if (r->options->has_thread_counts &&
		threadcounts_read(&r->thread_counts, &r->recorded.session, err))
		return err_prefix(err, "-T");
	if (!is_data)
		add_preamble(r, &out->text);
	if (r->has_wall && !is_data && !r->options->is_quiet)
		wall_add_text(&r->recorded.wall, &r->recorded.machine, &out->text);
	if (answer_show(&r->answer, out, err))
		return err->code;
	if (r->options->has_thread_counts)
		threadcounts_add_text(&r->thread_counts, &r->recorded.session, &r->recorded.machine,
			&out->text);
	recorded_stage_ends(&r->recorded, "rows and text");
	ledger_warn(&r->recorded.ledger, &r->log);
	if (r->options->is_quiet || is_data)
		return 0;
	if (!r->text.is_wall)
		account_add_text(&r->answer.account, &out->text);
	ledger_add_text(&r->recorded.ledger, r->options->has_ledger, &out->text);
	return 0;
}

static int run_report(int argc, char **argv)
{
	struct report_options o = {.max_stack = 127,
		.children = -1,
		.wall = -1,
		.socket = UINT64_MAX,
		.answer.skips_empty = true,
		.symbols.demangles = true,
		.symbols.makes_names = true,
		.inlines = -1,
		.keys.branches = -1,
		.debuginfod_s = 10,
		.graph.limit = -1};
	struct out out = {.fd = STDOUT_FILENO};
	struct reporting r = {.options = &o};
	int status = cmd_parse_alone(&cmd_report, &o, argc, argv);
	struct err err;

	if (status >= 0)
		return status;
	cmd_log_init(&r.log, o.verbose ? LOG_DEBUG : LOG_NOTE);
	o.keys.children = o.children;
	o.keys.has_intervals = o.answer.has_intervals;
	r.n_workers = o.n_workers ? o.n_workers : workers_available();
	status = EXIT_OK;
	o.input = cmd_input(o.input);
	if (recorded_open(&r.recorded, o.input, &r.log, &err)) {
		cmd_explain_missing(o.input, &err);
		vec_fini(&o.answer.claims);
		log_fini(&r.log);
		return cmd_fail(&cmd_report, &err, EXIT_USAGE);
	}
	if (report(&r, &out, &err))
		status = cmd_fail(&cmd_report, &err,
			err.code == ERR_INVAL ? EXIT_USAGE : EXIT_FAILED);
	if (out_close(&out, &err))
		status = cmd_fail(&cmd_report, &err, EXIT_FAILED);
	if (status == EXIT_OK &&
		strict_fails(&cmd_report, o.is_strict, o.input, &r.recorded.ledger))
		status = EXIT_INCOMPLETE;
	if (status == EXIT_OK && r.answer.profile && answer_fails(&r.answer, &r.log))
		status = EXIT_CONDITION;
	if (status == EXIT_OK && (r.log.has_warned || ledger_has_unread(&r.recorded.ledger)))
		status = EXIT_FAILED;
	threadcounts_fini(&r.thread_counts);
	if (r.forgets)
		regfree(&r.forgotten);
	profile_filter_fini(&r.filter);
	cpus_fini(&r.cpus);
	spans_fini(&r.spans);
	answer_fini(&r.answer);
	keys_fini(&r.keys);
	vec_fini(&o.answer.claims);
	calls_fini(&r.calls);
	recorded_close(&r.recorded);
	log_fini(&r.log);
	return status;
}

const struct cmd cmd_report = {
	.name = "report",
	.summary = "show where the time of a recording went",
	.usage = {"[OPTIONS]", NULL},
	.notes =
		"Keys: overhead overhead_children overhead_sys overhead_us overhead_guest_sys overhead_guest_us sample period cost average_weight latency latency_time wall wall_time wall_cpu wall_cpu_time wall_runnable wall_runnable_time wall_blocked wall_blocked_time comm pid tgid cpu socket cgroup trace transaction time local_weight weight local_ins_lat ins_lat local_p_stage_cyc p_stage_cyc local_retire_lat retire_lat code_page_size data_page_size dso symbol symbol_size dso_size addr symoff parent srcline srcfile; of branches: dso_from dso_to symbol_from symbol_to srcline_from srcline_to addr_from addr_to mispredict predicted in_tx abort cycles; of memory: symbol_daddr dso_daddr dcacheline phys_daddr mem snoop tlb locked blocked symbol_iaddr; fields of tracepoints, like prev_comm.\n",
	.options = options,
	.run = run_report,
};
