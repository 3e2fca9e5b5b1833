#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "cmd/pagefile.h"
#include "cmd/symbols.h"
#include "cmd/timechart.h"
#include "profile/chart/scheduling.h"
#include "profile/check/ledger.h"
#include "trace/follow.h"
#include "view/chart/charthtml.h"

enum {
	LEAST_ROWS = 15,
	WIDTH_LEAST = 400,
	WIDTH_MOST = 1000000,
	PIECES_MOST = 1 << 20,
	WAKES_MOST = 1 << 18,
	IOS_MOST = 50000,
};

#define NOT_GIVEN UINT64_MAX

struct timechart_options {
	const char *input, *output, *html, *symfs;
	struct chartsvg_options svg;
	struct opt_list processes;
	u64 io_merge_ns;
	bool has_topology;
	unsigned verbose;
};

#define AT(member) offsetof(struct timechart_options, member)

/* ns, or with a unit as in 10us, 5ms. */
static int parse_time(const char *text, u64 *ret_ns, struct err *err)
{
	static const struct {
		const char *unit;
		u64 ns;
	} units[] = {{"", 1}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	const char *at = text;
	u64 n;

	if (num_scan(&at, 10, &n))
		for (size_t i = 0; i < ARRAY_SIZE(units); i++)
			if (!strcmp(at, units[i].unit) && n <= UINT64_MAX / units[i].ns) {
				*ret_ns = n * units[i].ns;
				return 0;
			}
	return err_set(err, ERR_INVAL,
		"'%.60s' is not a time: give nanoseconds, or a number with us or ms", text);
}

static int set_highlight(void *target, const char *value, struct err *err)
{
	struct timechart_options *o = target;
	struct err why;

	(void)err;
	if (parse_time(value, &o->svg.highlight_ns, &why))
		o->svg.highlight_name = value;
	return 0;
}

static int set_io_least(void *target, const char *value, struct err *err)
{
	struct timechart_options *o = target;

	return parse_time(value, &o->svg.io_least_ns, err);
}

static int set_io_merge(void *target, const char *value, struct err *err)
{
	struct timechart_options *o = target;

	return parse_time(value, &o->io_merge_ns, err);
}

static const struct opt options[] = {
	{'i', "input", OPT_STR, AT(input), "FILE",
		"read FILE; default perf.data, or what is piped in"},
	{'o', "output", OPT_STR, AT(output), "FILE", "write FILE; default output.svg"},
	{0, "html", OPT_STR, AT(html), "FILE",
		"write a page for browsers instead: zoom, search, who woke whom, sums of any range"},
	{0, NULL, OPT_TITLE, 0, NULL, "What to draw"},
	{'P', "power-only", OPT_BOOL, AT(svg.has_power_only), NULL, "only CPUs"},
	{'T', "tasks-only", OPT_BOOL, AT(svg.has_tasks_only), NULL, "only tasks"},
	{'p', "process", OPT_LIST, AT(processes), "NAME",
		"only tasks with this name or id; can be given several times"},
	{'n', "proc-num", OPT_U64, AT(svg.choice.least), "N",
		"draw at least N rows of tasks, even if they ran for less than 10 ms; default 15"},
	{0, "highlight", OPT_CALL, 0, "TIME|NAME",
		"another colour for tasks of that name, or where one runs longer than TIME ns",
		.call = set_highlight},
	{0, "io-skip-eagain", OPT_BOOL, AT(svg.skips_eagain), NULL,
		"no system calls that ended with EAGAIN"},
	{0, "io-min-time", OPT_CALL, 0, "TIME",
		"draw shorter I/O as if it took TIME; ns, or with us or ms; default 1ms",
		.call = set_io_least},
	{0, "io-merge-dist", OPT_CALL, 0, "TIME",
		"draw I/O of a task and file that is so close together as one; default 1us",
		.call = set_io_merge},
	{0, NULL, OPT_TITLE, 0, NULL, "How"},
	{'w', "width", OPT_U64, AT(svg.width), "PIXELS", "width of the picture; default 1000",
		.min = WIDTH_LEAST, .max = WIDTH_MOST},
	{'t', "topology", OPT_BOOL, AT(has_topology), NULL,
		"CPUs that share a core or a socket beside each other"},
	{0, "symfs", OPT_STR, AT(symfs), "DIR",
		"with --html: look for files below DIR; the picture has no symbols"},
	{'f', "force", OPT_NOTHING, 0, NULL, "files of other users are read anyway"},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL,
		"say how much was drawn, and what was merged"},
	{.kind = OPT_END},
};

struct charting {
	const struct timechart_options *o;
	struct log log;
	struct trace trace;
	struct chart chart;
	struct scheduling scheduling;
	struct chartstacks stacks;
	bool has_stacks;
	struct ledger ledger;
	struct str title, remarks, losses; /* losses: of events, in words; empty: none */
	u32 *cpu_order;
};

/* ---- reading ---- */

static u64 held(const void *charting)
{
	const struct charting *c = charting;

	return chart_bytes(&c->chart) + chartstacks_bytes(&c->stacks);
}

static int walk(struct charting *c, struct err *err)
{
	struct progress line = {.what = "reading",
		.subject = c->o->input,
		.offer = "draws what was read"};
	struct follow follow;
	struct visit *v;
	int r;

	follow_init(&follow, &c->trace, FOLLOW_IN_TIME,
		scheduling_needs() | (c->has_stacks ? PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN : 0));
	follow.stream.held = held;
	follow.stream.holder = c;
	c->trace.session.progress = &line;
	progress_begin(&line);
	while ((r = follow_next(&follow, &v, err)) > 0) {
		c->chart.stack = c->has_stacks ? chartstacks_of(&c->stacks, v) : 0;
		scheduling_take(&c->scheduling, v);
	}
	c->trace.session.progress = NULL;
	progress_end(&line);
	follow_fini(&follow);
	return MIN(r, 0);
}

static int refuse(const struct charting *c, struct err *err)
{
	if (c->scheduling.n_unreadable)
		return err_set(err, ERR_FORMAT,
			"'%s': the formats of its %llu scheduler events are missing: record again with 'pace timechart record COMMAND'",
			c->o->input, (unsigned long long)c->scheduling.n_unreadable);
	return err_set(err, ERR_UNSUPPORTED,
		"'%s' has no records of the scheduler: 'pace timechart record COMMAND' makes a recording with them",
		c->o->input);
}

/* A chart with holes looks like one of tasks that wait. */
static void tell_losses(struct charting *c)
{
	const struct session_tally *tally = &c->trace.session.tally;
	const u64 n = MAX(tally->n_lost_samples, tally->n_lost_records);

	if (!n)
		return;
	num_add_grouped(&c->losses, n);
	str_add(&c->losses, n == 1 ? " event was" : " events were");
	str_add(&c->losses, " dropped by the kernel because a ring was full");
	log_note(&c->log, "%s: 'pace timechart record -- -m 16M COMMAND' makes larger ones",
		str_text(&c->losses));
}

static int read_chart(struct charting *c, struct err *err)
{
	const struct trace_options how = {.symfs = c->o->symfs,
		.ignores_embedded = !c->has_stacks,
		.ignores_jit = !c->has_stacks};

	if (trace_begin(&c->trace, &how, err))
		return err->code;
	if (c->has_stacks)
		chartstacks_init(&c->stacks, &c->trace);
	scheduling_init(&c->scheduling, &c->chart, &c->trace.session);
	if (walk(c, err))
		return err->code;
	if (!c->scheduling.n_seen)
		return refuse(c, err);
	chart_finish(&c->chart);
	ledger_add_tally(&c->ledger, &c->trace.session.tally);
	tell_losses(c);
	ledger_warn(&c->ledger, &c->log);
	return 0;
}

/* ---- what is said ---- */

/* The recorder's command line, without the lists of events that nobody reads. */
static void find_title(struct charting *c)
{
	enum { WORD = 40, ALL = 120 };
	const struct file_info *info = &c->trace.session.reader.info;
	bool is_first = true;

	vec_each(word, &info->cmdline) {
		const char *slash = is_first ? strrchr(*word, '/') : NULL,
			   *text = slash ? slash + 1 : *word;
		const size_t n = strlen(text), room = c->title.n < ALL ? ALL - c->title.n : 0;

		str_add(&c->title, is_first ? "" : " ");
		str_addn(&c->title, text, MIN(MIN(n, (size_t)WORD), room));
		str_add(&c->title, n > WORD || n > room ? "..." : "");
		is_first = false;
		if (n > room)
			break;
	}
	if (is_first)
		str_add(&c->title, c->o->input);
}

static void find_remarks(struct charting *c)
{
	const struct scheduling *s = &c->scheduling;
	const struct chart *t = &c->chart;
	struct str *r = &c->remarks;

	if (!s->has[SCHEDULING_SWITCH] && !s->has[SCHEDULING_ENTER] && t->rows.n)
		str_addf(r,
			"Made from context switches only: tasks that waited for I/O count as sleeping%s.\n",
			t->has_wakes ? "" : ", and when they were woken is not known");
	else if (s->has[SCHEDULING_SWITCH] && !t->has_wakes)
		str_add(r, "No wake-ups were recorded: tasks count as sleeping until they run.\n");
	if (!t->has_idle && t->cpus.n && s->has[SCHEDULING_SWITCH])
		str_add(r,
			"No idle states were recorded (power:cpu_idle): how deeply CPUs slept is not known.\n");
	if (c->losses.n) {
		str_add(r, str_text(&c->losses));
		str_add(r,
			": what tasks that ran or waited did then is left open, until they are seen again.\n");
	}
	if (t->n_contradictions) {
		num_add_grouped(r, t->n_contradictions);
		str_add(r,
			" switches contradict each other, because records are missing: what tasks did there is left open.\n");
	}
}

static int by_topology(const void *a, const void *b, void *ctx)
{
	const struct host_cpu *cpus = ctx;
	const u32 i = *(const u32 *)a, j = *(const u32 *)b;

	if (cpus[i].socket != cpus[j].socket)
		return cpus[i].socket < cpus[j].socket ? -1 : 1;
	if (cpus[i].die != cpus[j].die)
		return cpus[i].die < cpus[j].die ? -1 : 1;
	if (cpus[i].core != cpus[j].core)
		return cpus[i].core < cpus[j].core ? -1 : 1;
	return (i > j) - (i < j);
}

static void find_cpu_order(struct charting *c)
{
	struct host *host = &c->trace.session.reader.info.host;
	const size_t n = MAX(c->chart.cpus.n, host->cpus.n);

	if (!c->o->has_topology)
		return;
	if (host->cpus.n < c->chart.cpus.n) {
		log_warn(&c->log, "-t: '%s' does not say which CPUs share a core", c->o->input);
		return;
	}
	c->cpu_order = mem_alloc((n + 1) * sizeof(*c->cpu_order));
	for (u32 i = 0; i < n; i++)
		c->cpu_order[i] = i;
	qsort_r(c->cpu_order, n, sizeof(*c->cpu_order), by_topology, host->cpus.at);
}

/* ---- writing ---- */

static int write_chart(struct charting *c, struct err *err)
{
	const struct chartsvg_about about = {.title = str_text(&c->title),
		.remarks = str_text(&c->remarks),
		.cpu_order = c->cpu_order,
		.n_cpus = MAX(c->chart.cpus.n, c->trace.session.reader.info.host.cpus.n)};
	struct fresh file;
	struct out out = {.fd = STDOUT_FILENO};
	int result;

	if (pagefile_open(&file, c->o->output, &out, err))
		return err->code;
	if (c->o->html)
		charthtml_add(&out, &c->chart, &c->o->svg, &about,
			c->has_stacks ? &c->stacks : NULL);
	else
		chartsvg_add(&out, &c->chart, &c->o->svg, &about);
	result = pagefile_close(&file, &out, 0, err);
	str_fini(&out.text);
	return result;
}

static int say_written(const struct charting *c, struct err *err)
{
	struct out out = {.fd = STDOUT_FILENO};

	/* The picture is there. */
	if (!strcmp(c->o->output, "-"))
		return 0;
	str_addf(&out.text, "Written %.1f seconds of trace to ",
		(double)(c->chart.end - c->chart.begin) / 1e9);
	str_add_safe(&out.text, c->o->output, strlen(c->o->output));
	str_add(&out.text, ".\n");
	return out_close(&out, err);
}

static void tell_size(struct charting *c)
{
	const struct chart *t = &c->chart;

	log_debug(&c->log, "%zu tasks in %zu rows, %llu pieces, %llu wake-ups, %llu times I/O",
		t->lives.n, t->rows.n, (unsigned long long)t->n_pieces,
		(unsigned long long)t->n_wakes, (unsigned long long)t->n_ios);
	if (t->shortest)
		log_debug(&c->log, "neighbours shorter than %llu ns are merged",
			(unsigned long long)t->shortest);
}

static void charting_fini(struct charting *c)
{
	scheduling_fini(&c->scheduling);
	chart_fini(&c->chart);
	chartstacks_fini(&c->stacks);
	trace_close(&c->trace);
	ledger_fini(&c->ledger);
	str_fini(&c->title);
	str_fini(&c->remarks);
	str_fini(&c->losses);
	mem_free(c->cpu_order);
	log_fini(&c->log);
}

static int draw(struct timechart_options *o)
{
	const struct chart_limits limits = {o->html ? CHARTHTML_PIECES : PIECES_MOST, WAKES_MOST,
		IOS_MOST, o->io_merge_ns, o->html ? CHARTHTML_WAITS : 0};
	struct charting c = {.o = o};
	int status = EXIT_OK;
	struct err err;

	cmd_log_init(&c.log, o->verbose ? LOG_DEBUG : LOG_NOTE);
	o->input = cmd_input(o->input);
	if (trace_open(&c.trace, o->input, &c.log, &err)) {
		cmd_explain_missing(o->input, &err);
		log_fini(&c.log);
		return cmd_fail(&cmd_timechart, &err, EXIT_USAGE);
	}
	chart_init(&c.chart, &limits);
	c.has_stacks = o->html && trace_has_chains(&c.trace);
	if (read_chart(&c, &err)) {
		status = cmd_fail(&cmd_timechart, &err, EXIT_FAILED);
	} else {
		find_title(&c);
		find_remarks(&c);
		find_cpu_order(&c);
		tell_size(&c);
		if (write_chart(&c, &err) || say_written(&c, &err))
			status = cmd_fail(&cmd_timechart, &err, EXIT_FAILED);
		else if (c.log.has_warned || ledger_has_unread(&c.ledger))
			status = EXIT_FAILED;
	}
	charting_fini(&c);
	return status;
}

/* An option that was given and that pages have no use for; NULL: none. */
static const char *find_picture_option(const struct timechart_options *o)
{
	return o->svg.width != NOT_GIVEN                       ? "-w"
		: o->svg.choice.least != NOT_GIVEN             ? "-n"
		: o->svg.highlight_ns || o->svg.highlight_name ? "--highlight"
		: o->svg.io_least_ns != NOT_GIVEN              ? "--io-min-time"
							       : NULL;
}

static int check(const struct timechart_options *o, struct err *err)
{
	const char *option = find_picture_option(o);

	if (o->svg.has_power_only && o->svg.has_tasks_only)
		return err_set(err, ERR_INVAL,
			"give only one of -P and -T: a chart without tasks and CPUs is empty");
	if (!o->html)
		return 0;
	if (o->output && strcmp(o->output, o->html))
		return err_set(err, ERR_INVAL,
			"-o '%.60s' and --html '%.60s': one is written, a picture or a page",
			o->output, o->html);
	if (option)
		return err_set(err, ERR_INVAL,
			"%s is for the picture: the page of --html has all tasks, is as wide as its window, and searches",
			option);
	return 0;
}

/* Fills in what was not given. */
static void settle(struct timechart_options *o)
{
	o->svg.choice.processes = &o->processes;
	o->svg.width = o->svg.width == NOT_GIVEN ? CHARTSVG_WIDTH : o->svg.width;
	o->svg.io_least_ns = o->svg.io_least_ns == NOT_GIVEN ? 1000000 : o->svg.io_least_ns;
	if (o->svg.choice.least == NOT_GIVEN)
		o->svg.choice.least = LEAST_ROWS;
	/* A page has room for all. */
	if (o->html)
		o->svg.choice.least = o->svg.choice.most = CHARTHTML_ROWS;
	o->output = o->html ? o->html : o->output ? o->output : "output.svg";
}

static int run_timechart(int argc, char **argv)
{
	struct timechart_options o = {
		.svg = {.width = NOT_GIVEN, .choice.least = NOT_GIVEN, .io_least_ns = NOT_GIVEN},
		.io_merge_ns = 1000};
	struct err err;
	int status;

	if (argc > 1 && !strcmp(argv[1], "record"))
		return timechart_record(argc - 1, argv + 1);
	status = cmd_parse_reader(&cmd_timechart, &o, &o.input, argc, argv);
	if (status < 0 && check(&o, &err))
		status = cmd_fail(&cmd_timechart, &err, EXIT_USAGE);
	if (status < 0) {
		settle(&o);
		status = draw(&o);
	}
	vec_fini(&o.processes);
	return status;
}

const struct cmd cmd_timechart = {
	.name = "timechart",
	.summary = "draw what every CPU and task did, moment by moment",
	.subcommands = {"record", NULL},
	.usage = {"record [-P] [-T] [-I] [-g] [-- RECORD-OPTIONS] [COMMAND...]", "[OPTIONS] [FILE]",
		NULL},
	.notes =
		"record: -P, -T, -I (--io-only: system calls for I/O), -g (--callchain), -o; the man page explains them.\n"
		"The picture is one SVG, which browsers and Inkscape zoom. Record for a few seconds what you want to look at closely.\n",
	.options = options,
	.run = run_timechart,
};
