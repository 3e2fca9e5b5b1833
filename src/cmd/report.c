#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"
#include "base/out.h"
#include "base/workers.h"
#include "cmd/cmd.h"
#include "cmd/symbols.h"
#include "event/abi.h"
#include "file/hardware.h"
#include "profile/gather.h"
#include "profile/key.h"
#include "profile/ledger.h"
#include "profile/naming.h"
#include "view/dump.h"
#include "view/header.h"
#include "view/stats.h"
#include "view/tasks.h"
#include "view/text.h"

#define DEFAULT_GRAPH_LIMIT 0.5 /* percent */

struct graph_options {
	bool is_given, is_none, is_fractal;
	bool has_order;
	enum graph_order order;
	double limit; /* percent; negative: not said */
	u64 entries;
};

struct report_options {
	const char *input, *sort, *fields;
	struct symbol_options symbols;
	struct graph_options graph;
	bool is_inverted, has_counts, has_header, has_header_only, has_details, is_quiet,
		has_ledger;
	bool is_dump, is_stats, is_tasks, is_mmaps;
	bool is_text; /* --stdio: the only form there is so far */
	int children;
	double percent_limit;
	bool has_full_paths, stitches;
	int inlines;
	u64 n_workers, max_stack;
	double debuginfod_s;
	unsigned verbose;
};

#define AT(member) offsetof(struct report_options, member)

static void graph_none(struct graph_options *g)
{
	g->is_none = true;
}

static void graph_absolute(struct graph_options *g)
{
	g->is_fractal = false;
}

static void graph_fractal(struct graph_options *g)
{
	g->is_fractal = true;
}

static void graph_caller(struct graph_options *g)
{
	g->has_order = true;
	g->order = GRAPH_CALLER;
}

static void graph_callee(struct graph_options *g)
{
	g->has_order = true;
	g->order = GRAPH_CALLEE;
}

static void graph_default(struct graph_options *g)
{
	(void)g;
}

/* The words of -g, in any order. */
static const struct {
	const char *word;
	void (*apply)(struct graph_options *g);
} graph_words[] = {
	{"none", graph_none},
	{"graph", graph_absolute},
	{"fractal", graph_fractal},
	{"caller", graph_caller},
	{"callee", graph_callee},
	{"function", graph_default},
	{"percent", graph_default},
};

static int apply_graph_word(struct graph_options *g, const char *word, size_t n,
	unsigned *n_numbers, struct err *err)
{
	char text[64], *end;
	double number;

	snprintf(text, sizeof(text), "%.*s", (int)n, word);
	for (size_t i = 0; i < ARRAY_SIZE(graph_words); i++) {
		if (strcmp(graph_words[i].word, text))
			continue;
		graph_words[i].apply(g);
		return 0;
	}
	number = strtod(text, &end);
	if (end == text || *end || number < 0 || *n_numbers == 2)
		return err_set(err, ERR_INVAL,
			"'%s' is none of none, graph, fractal, caller, callee, a threshold in percent, a number of entries",
			text);
	if ((*n_numbers)++)
		g->entries = (u64)number;
	else
		g->limit = number;
	return 0;
}

static int set_graph(void *target, const char *value, struct err *err)
{
	struct report_options *o = target;
	unsigned n_numbers = 0;

	o->graph.is_given = true;
	o->graph.is_none = false;
	while (value && *value) {
		size_t n = strcspn(value, ",");

		if (apply_graph_word(&o->graph, value, n, &n_numbers, err))
			return err->code;
		value += n;
		value += *value == ',';
	}
	return 0;
}

static const struct opt options[] = {
	{0, NULL, OPT_TITLE, 0, NULL, "What to read"},
	{'i', "input", OPT_STR, AT(input), "FILE", "read FILE; default perf.data"},
	SYMBOL_FILE_ROWS(report_options),
	{0, "debuginfod", OPT_DOUBLE, AT(debuginfod_s), "SECONDS",
		"fetch missing symbols (DEBUGINFOD_URLS) for so long; default 10, 0: never",
		.max = 86400},
	{0, NULL, OPT_TITLE, 0, NULL, "What to show"},
	{'s', "sort", OPT_STR, AT(sort), "KEY,...", "group by these keys; default comm,dso,symbol"},
	{'F', "fields", OPT_STR, AT(fields), "KEY,...", "show these columns"},
	{'n', "show-nr-samples", OPT_BOOL, AT(has_counts), NULL,
		"a column with the number of samples"},
	{0, "children", OPT_TRI, AT(children), NULL,
		"rows for callers too, with all they called (default with call chains)"},
	{0, "percent-limit", OPT_DOUBLE, AT(percent_limit), "PCT",
		"leave out rows below this share", .max = 100},
	{'g', "call-graph", OPT_CALL, 0, "HOW",
		"none, graph or fractal; caller or callee; threshold in percent",
		.flags = OPT_OPTIONAL, .call = set_graph},
	{0, "max-stack", OPT_U64, AT(max_stack), "N",
		"at most N callers of a call chain; default 127", .min = 1, .max = UINT16_MAX},
	{0, "stitch-lbr", OPT_BOOL, AT(stitches), NULL,
		"of --call-graph lbr, what is too deep for the processor from the sample before"},
	{'G', "inverted", OPT_BOOL, AT(is_inverted), NULL, "the same as -g caller"},
	{0, "inline", OPT_TRI, AT(inlines), NULL,
		"inlined functions in call chains (default, where debug information is)"},
	{0, "full-source-path", OPT_BOOL, AT(has_full_paths), NULL,
		"files of source with their directories"},
	{0, NULL, OPT_TITLE, 0, NULL, "What to show instead of functions"},
	{'D', "dump-raw-trace", OPT_BOOL, AT(is_dump), NULL,
		"every record, byte by byte and field by field"},
	{0, "stats", OPT_BOOL, AT(is_stats), NULL, "how many records of each type there are"},
	{0, "tasks", OPT_BOOL, AT(is_tasks), NULL,
		"all processes and threads, by who started them"},
	{0, "mmaps", OPT_BOOL, AT(is_mmaps), NULL, "the same, with what they mapped"},
	{0, NULL, OPT_TITLE, 0, NULL, "How to show it"},
	{0, "stdio", OPT_BOOL, AT(is_text), NULL, "plain text (always, in this version)"},
	{0, "header", OPT_BOOL, AT(has_header), NULL,
		"what the recording says about itself, first"},
	{0, "header-only", OPT_BOOL, AT(has_header_only), NULL, "only that"},
	{'I', "show-info", OPT_BOOL, AT(has_details), NULL,
		"in it, CPU and memory topology in full"},
	{0, "ledger", OPT_BOOL, AT(has_ledger), NULL,
		"all that was lost or has no name, with causes"},
	SYMBOL_NAME_ROWS(report_options),
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
	struct session session;
	struct machine machine;
	struct embedded embedded;
	struct jitcode jitcode;
	struct resolver resolver;
	struct profile profile;
	struct calls calls;
	struct ledger ledger;
	struct hist_options hist;
	struct text_options text;
	bool has_chains; /* the recording carries call chains */
	bool has_dumps;  /* or what they can be made of: registers and stacks */
	u32 dump_bytes;  /* of the largest */
	struct callers callers;
	unsigned n_workers;
	u64 stage_began_us;
};

/* Under -v: how long the stage took that ends now. */
static void stage_ends(struct reporting *r, const char *stage)
{
	struct timespec t;
	u64 now;

	clock_gettime(CLOCK_MONOTONIC, &t);
	now = (u64)t.tv_sec * 1000000 + t.tv_nsec / 1000;
	if (r->stage_began_us)
		log_debug(&r->log, "%s: %.1f ms", stage, (double)(now - r->stage_began_us) / 1000);
	r->stage_began_us = now;
}

/* ---- options into columns ---- */

static void add_column(struct text_options *t, const struct key *key)
{
	for (size_t i = 0; i < t->n_columns; i++)
		if (t->columns[i] == key)
			return;
	if (t->n_columns < ARRAY_SIZE(t->columns))
		t->columns[t->n_columns++] = key;
}

static void add_named_column(struct text_options *t, const char *name)
{
	add_column(t, key_find(name, strlen(name)));
}

/* What to group by: the keys of -s, or those of -F that are no figures. */
static int choose_keys(struct reporting *r, struct err *err)
{
	const struct report_options *o = r->options;
	const struct key *keys[HIST_KEYS_MAX];
	size_t n;

	if (key_parse_list(o->sort      ? o->sort
			    : o->fields ? o->fields
					: "comm,dso,symbol",
		    keys, ARRAY_SIZE(keys), &n, err))
		return err_prefix(err, o->sort ? "--sort" : "--fields");
	for (size_t i = 0; i < n; i++)
		if (!keys[i]->is_value)
			r->hist.keys[r->hist.n_keys++] = keys[i];
	if (!r->hist.n_keys)
		return err_set(err, ERR_INVAL, "%s: a key to group by is needed, like symbol",
			o->sort ? "--sort" : "--fields");
	return 0;
}

static int choose_columns(struct reporting *r, struct err *err)
{
	const struct report_options *o = r->options;
	const struct key *fields[HIST_KEYS_MAX];
	size_t n = 0;

	if (o->fields && key_parse_list(o->fields, fields, ARRAY_SIZE(fields), &n, err))
		return err_prefix(err, "--fields");
	for (size_t i = 0; i < n; i++)
		add_column(&r->text, fields[i]);
	if (!o->fields) {
		if (r->hist.has_children)
			add_named_column(&r->text, "overhead_children");
		add_named_column(&r->text, "overhead");
	}
	if (o->has_counts)
		add_named_column(&r->text, "sample");
	for (size_t i = 0; i < r->hist.n_keys; i++)
		add_column(&r->text, r->hist.keys[i]);
	return 0;
}

static void choose_graph(struct reporting *r)
{
	const struct graph_options *g = &r->options->graph;

	r->text.has_graph = r->has_chains && !g->is_none;
	r->text.n_workers = r->n_workers;
	r->text.is_fractal = g->is_fractal;
	r->text.order = r->options->is_inverted ? GRAPH_CALLER
		: g->has_order                  ? g->order
		: r->hist.has_children          ? GRAPH_CALLER
						: GRAPH_CALLEE;
	/* Asked for rows above a share, one wants branches above it too. */
	r->text.graph_limit =
		g->limit >= 0 ? g->limit : MAX(r->options->percent_limit, DEFAULT_GRAPH_LIMIT);
	r->text.graph_entries = g->entries;
	r->text.row_limit = r->options->percent_limit;
	r->text.skips_first_node =
		r->options->sort && !r->options->fields && r->hist.keys[0]->frame == KEY_SYMBOL;
	r->hist.prefers_callers = r->text.has_graph;
}

/* What of the sources the keys need. */
static enum naming_source source_needed(const struct hist_options *h)
{
	enum naming_source source = NAMING_NO_SOURCE;

	for (size_t i = 0; i < h->n_keys; i++) {
		if (h->keys[i]->frame == KEY_LINE)
			return NAMING_LINES;
		if (h->keys[i]->frame == KEY_FILE)
			source = NAMING_FILES;
	}
	return source;
}

/* ---- stages ---- */

static void *load_kernel(void *resolver)
{
	resolver_load_kernel(resolver);
	return NULL;
}

/* By DSO of the machine: which part of all samples is in it. */
static double *share_of_dsos(const struct profile *p, size_t n_dsos)
{
	double *shares = mem_zalloc((n_dsos + 1) * sizeof(*shares));
	u64 all = 0;

	vec_each(row, &p->rows)
		all += row->n_samples;
	vec_each(row, &p->rows) {
		u32 source = p->dsos.at[p->frames.at[row->frame].dso].source;

		if (all && source < n_dsos)
			shares[source] += (double)row->n_samples / (double)all;
	}
	return shares;
}

/*
 * Samples into a profile with names. The kernel's symbols are read meanwhile, if they will be
 * needed.
 */
static int make_profile(struct reporting *r, struct err *err)
{
	struct gather_options g = {.has_stacks = r->has_chains &&
			(r->hist.has_children || r->text.has_graph),
		.max_stack = (u32)r->options->max_stack,
		.n_workers = r->n_workers};
	enum naming_source source = source_needed(&r->hist);
	pthread_t kernel_thread;
	bool has_thread = false;
	double *shares;
	int result;

	for (size_t i = 0; i < r->hist.n_keys; i++)
		g.labels |= r->hist.keys[i]->labels;
	guest_introduce(&r->machine, &r->options->symbols.guest, &r->log);
	symbol_options_init(&r->options->symbols, &r->resolver, &r->machine, &r->session.reader,
		&r->log);
	callers_init(&r->callers, &r->machine, &r->resolver.places, r->resolver.recorded_machine);
	r->callers.embedded = &r->embedded;
	r->callers.jitcode = &r->jitcode;
	r->callers.stitches = r->options->stitches;
	r->callers.n_branches = hardware_branches(&r->session.reader.info);
	/* The samples of a thread in the order of time. */
	if (r->options->stitches)
		g.n_workers = 1;
	if (r->has_dumps)
		g.callers = &r->callers;
	r->resolver.jitcode = &r->jitcode;
	r->resolver.embedded = &r->embedded;
	if (r->session.has_kernel_samples) {
		has_thread = r->n_workers > 1 &&
			!pthread_create(&kernel_thread, NULL, load_kernel, &r->resolver);
		if (!has_thread)
			resolver_load_kernel(&r->resolver);
	}
	stage_ends(r, "pass 1, state");
	result = gather(&r->session, &r->machine, &g, &r->profile, err);
	stage_ends(r, "pass 2, samples");
	log_debug(&r->log, "%llu samples: %zu distinct rows, %zu stack nodes, %zu frames",
		(unsigned long long)r->session.tally.n_samples, r->profile.rows.n,
		r->profile.stacks.n, r->profile.frames.n);
	if (has_thread)
		pthread_join(kernel_thread, NULL);
	stage_ends(r, "waiting for kernel symbols");
	if (result)
		return result;
	if (r->profile.n_cut)
		log_note(&r->log,
			"%llu call chains have more than %llu callers and are cut there: --max-stack shows more",
			(unsigned long long)r->profile.n_cut,
			(unsigned long long)r->options->max_stack);
	shares = share_of_dsos(&r->profile, r->machine.dsos.at.n);
	symbol_servers_begin(&r->resolver, r->options->debuginfod_s, shares);
	naming_resolve(&r->profile, &r->resolver,
		&(struct naming_options){.n_workers = r->n_workers,
			.style = symbol_options_style(&r->options->symbols, r->options->verbose),
			.has_inlined = g.has_stacks && !source && r->options->inlines,
			.has_full_paths = r->options->has_full_paths,
			.source = source});
	symbol_servers_end(&r->resolver);
	mem_free(shares);
	stage_ends(r, "names");
	calls_init(&r->calls, &r->profile);
	ledger_add_tally(&r->ledger, &r->session.tally);
	ledger_add_nameless(&r->ledger, &r->profile, &r->resolver);
	if (source)
		ledger_add_lineless(&r->ledger, &r->profile, &r->resolver);
	else if (g.has_stacks && r->options->inlines)
		ledger_add_inlineless(&r->ledger, &r->profile, &r->resolver);
	ledger_add_endings(&r->ledger, &r->profile, r->dump_bytes);
	stage_ends(r, "call tree");
	return 0;
}

static void add_preamble(struct reporting *r, struct str *text)
{
	if (r->options->is_quiet)
		return;
	if (r->options->has_header)
		header_add_text(&r->session.reader, r->options->has_details, text);
	else
		str_add(text,
			"# To display the perf.data header info, please use --header/--header-only options.\n#\n");
	str_addf(text, "#\n# Total Lost Samples: %llu\n#\n",
		(unsigned long long)r->session.tally.n_lost_samples);
}

static void add_events(struct reporting *r, struct out *out)
{
	for (u32 event = 0; event < r->profile.events.n; event++) {
		struct hist hist;

		/* Events without samples say so only where they are all there is to say. */
		if (!r->profile.events.at[event].n_samples && r->profile.events.n > 1 &&
			r->profile.rows.n)
			continue;
		hist_init(&hist, &r->profile, &r->calls, event, &r->hist);
		text_report(out, &hist, &r->text);
		str_add(&out->text, "\n\n");
		hist_fini(&hist);
	}
}

/* ---- what is shown instead of functions ---- */

static void count_event(void *ctx, const struct session_sample *s)
{
	((u64 *)ctx)[s->event]++;
}

static int show_stats(struct reporting *r, struct out *out, struct err *err)
{
	u64 *n_by_event = mem_zalloc((r->session.reader.events.n + 1) * sizeof(*n_by_event));
	void *worker = n_by_event;
	struct session_sink sink = {0, count_event, &worker};
	int result = session_samples(&r->session, 1, &sink, err);

	if (!result)
		stats_add_text(&r->session, n_by_event, &out->text);
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
		result = dump_all(&r->session, out, err);
	} else {
		result = machine_scan(&r->machine, &r->session, err);
		if (!result && o->is_stats)
			result = show_stats(r, out, err);
		if (!result && (o->is_tasks || o->is_mmaps))
			tasks_add_text(&r->machine, o->is_mmaps, &out->text);
	}
	ledger_add_tally(&r->ledger, &r->session.tally);
	ledger_warn(&r->ledger, &r->log);
	return result;
}

static int report(struct reporting *r, struct out *out, struct err *err)
{
	if (shows_records(r->options))
		return report_records(r, out, err);
	r->has_chains = false;
	for (size_t i = 0; i < r->session.reader.events.n; i++)
		r->has_dumps |= callers_has_source(&r->session.reader.formats.at[i]);
	vec_each(e, &r->session.reader.events)
		r->dump_bytes = MAX(r->dump_bytes, e->attr.sample_stack_user);
	vec_each(e, &r->session.reader.events)
		r->has_chains |= r->has_dumps || (e->attr.sample_type & PERF_SAMPLE_CALLCHAIN) != 0;
	r->hist.has_children = r->options->children < 0 ? r->has_chains : r->options->children;
	if (choose_keys(r, err) || choose_columns(r, err))
		return err->code;
	choose_graph(r);
	if (r->options->has_header_only) {
		header_add_text(&r->session.reader, r->options->has_details, &out->text);
		return 0;
	}
	stage_ends(r, "start");
	embedded_attach(&r->embedded, &r->session.reader, &r->log);
	jitcode_init(&r->jitcode, &r->session.reader.events, r->options->symbols.symfs, &r->log);
	r->jitcode.embedded = &r->embedded;
	if (machine_scan_coded(&r->machine, &r->session, &r->jitcode.coder, err) ||
		make_profile(r, err))
		return err->code;
	add_preamble(r, &out->text);
	add_events(r, out);
	stage_ends(r, "rows and text");
	ledger_warn(&r->ledger, &r->log);
	if (!r->options->is_quiet)
		ledger_add_text(&r->ledger, r->options->has_ledger, &out->text);
	return 0;
}

static int run_report(int argc, char **argv)
{
	struct report_options o = {.max_stack = 127,
		.children = -1,
		.symbols.demangles = true,
		.inlines = -1,
		.debuginfod_s = 10,
		.graph.limit = -1};
	struct out out = {.fd = STDOUT_FILENO};
	struct reporting r = {.options = &o};
	int status = cmd_parse_alone(&cmd_report, &o, argc, argv);
	struct err err;

	if (status >= 0)
		return status;
	cmd_log_init(&r.log, o.verbose ? LOG_DEBUG : LOG_NOTE);
	r.n_workers = o.n_workers ? o.n_workers : workers_available();
	status = EXIT_OK;
	o.input = cmd_input(o.input);
	if (session_open(&r.session, o.input, &r.log, &err)) {
		cmd_explain_missing(o.input, &err);
		log_fini(&r.log);
		return cmd_fail(&cmd_report, &err, EXIT_USAGE);
	}
	if (report(&r, &out, &err))
		status = cmd_fail(&cmd_report, &err,
			err.code == ERR_INVAL ? EXIT_USAGE : EXIT_FAILED);
	if (out_close(&out, &err))
		status = cmd_fail(&cmd_report, &err, EXIT_FAILED);
	if (status == EXIT_OK && (r.log.has_warned || ledger_has_unread(&r.ledger)))
		status = EXIT_FAILED;
	ledger_fini(&r.ledger);
	calls_fini(&r.calls);
	profile_fini(&r.profile);
	callers_fini(&r.callers);
	resolver_fini(&r.resolver);
	jitcode_fini(&r.jitcode);
	embedded_close(&r.embedded);
	machine_fini(&r.machine);
	session_close(&r.session);
	log_fini(&r.log);
	return status;
}

const struct cmd cmd_report = {
	.name = "report",
	.summary = "show where the time of a recording went",
	.usage = {"[OPTIONS]", NULL},
	.notes = "Keys: overhead overhead_children sample period comm pid tgid cpu dso symbol.\n",
	.options = options,
	.run = run_report,
};
