#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/workers.h"
#include "cmd/cmd.h"
#include "cmd/colourrow.h"
#include "cmd/formrow.h"
#include "cmd/graphwords.h"
#include "cmd/memory.h"
#include "cmd/symbols.h"
#include "profile/check/recorded.h"
#include "view/memory/c2c.h"
#include "view/memory/c2c_calls.h"

enum { LINES_SHOWN = 10 };

struct c2c_command {
	/* record */
	struct memory_record record;
	/* report */
	const char *input;
	struct symbol_options symbols;
	struct c2c_options view;
	double debuginfod_s;
	int has_source;
	struct form_choice forms;
	bool is_text, is_forced, has_calls, has_pairs, stitches;
	struct graph_options graph;
	enum colour_mode colour;
	unsigned by; /* SHARING_BY_* */
	enum sharing_hot hot;
	bool has_all; /* always on */
	unsigned verbose;
};

#define AT(member) offsetof(struct c2c_command, member)

static int set_display(void *target, const char *value, struct err *err)
{
	static const char *const words[] = {[C2C_TOTAL] = "tot",
		[C2C_LOCAL] = "lcl",
		[C2C_REMOTE] = "rmt",
		[C2C_PEER] = "peer"};
	struct c2c_command *c = target;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(words[i], value)) {
			c->view.display = (enum c2c_display)i;
			c->hot = i == C2C_PEER ? SHARING_HOT_PEER : SHARING_HOT_HITM;
			return 0;
		}
	return err_set(err, ERR_INVAL, "'%.60s' is none of tot, lcl, rmt, peer", value);
}

/* The words are perf's; iaddr is the instruction. */
static int set_coalesce(void *target, const char *value, struct err *err)
{
	static const struct {
		const char *word;
		unsigned by;
	} words[] = {{"pid", SHARING_BY_PID}, {"tid", SHARING_BY_TID}, {"iaddr", SHARING_BY_CODE},
		{"dso", SHARING_BY_DSO}};
	struct c2c_command *c = target;
	size_t n;

	c->by = 0;
	for (const char *at = value; *at; at += n + (at[n] == ',')) {
		unsigned by = 0;

		n = strcspn(at, ",");
		for (size_t i = 0; i < ARRAY_SIZE(words); i++)
			if (strlen(words[i].word) == n && !memcmp(words[i].word, at, n))
				by = words[i].by;
		if (!by)
			return err_set(err, ERR_INVAL, "'%.60s' is none of pid, tid, iaddr, dso",
				value);
		c->by |= by;
	}
	return c->by ? 0 : err_set(err, ERR_INVAL, "give pid, tid, iaddr or dso");
}

static int set_calls(void *target, const char *value, struct err *err)
{
	struct c2c_command *c = target;
	int r = graph_options_parse(&c->graph, value, err);

	c->has_calls = !c->graph.is_none;
	return r;
}

COLOUR_SETTER(c2c_command, colour)

static const struct opt options[] = {
	{0, NULL, OPT_TITLE, 0, NULL, "record: options of 'pace record' may follow after a --"},
	{'e', "event", OPT_STR, AT(record.event), "EVENT",
		"record EVENT instead of this machine's memory events"},
	{'l', "ldlat", OPT_U64, AT(record.latency), "CYCLES",
		"only loads that take at least CYCLES; default 30", .max = UINT16_MAX},
	{'u', "all-user", OPT_BOOL, AT(record.has_user_only), NULL, "only user space"},
	{0, "all-kernel", OPT_BOOL, AT(record.has_kernel_only), NULL, "only the kernel"},
	{0, "no-phys-data", OPT_BOOL, AT(record.has_no_phys), NULL,
		"without physical addresses, which need privileges"},
	{0, "dry-run", OPT_BOOL, AT(record.shows), NULL,
		"only print the 'pace record' command that would run"},
	{0, "sysfs", OPT_STR, AT(record.sysfs), "DIR", "look for events in a copy of /sys"},
	{0, NULL, OPT_TITLE, 0, NULL, "report"},
	{'i', "input", OPT_STR, AT(input), "FILE", "read FILE; default perf.data"},
	{'d', "display", OPT_CALL, 0, "WHICH",
		"sort lines by all HITM (tot, default), those of this node (lcl) or of others (rmt), or by loads from other cores' caches (peer, default where the CPU reports no HITM)",
		.call = set_display},
	{'c', "coalesce", OPT_CALL, 0, "WHAT,...",
		"split the uses of an offset by pid, tid, iaddr (the instruction; default), dso",
		.call = set_coalesce},
	{'N', "node-info", OPT_COUNT, AT(view.node_info), NULL,
		"what the CPUs of each node did at an offset; twice: also list those CPUs"},
	{'g', "call-graph", OPT_CALL, AT(has_calls), "HOW",
		"show the callers of each use, from the recorded call chains; HOW as in 'pace report -g'",
		.flags = OPT_OPTIONAL | OPT_ATTACHED, .call = set_calls},
	{0, "stitch-lbr", OPT_BOOL, AT(stitches), NULL,
		"with --call-graph lbr, complete chains that are too deep for the CPU from the sample before"},
	{0, "double-cl", OPT_BOOL, AT(has_pairs), NULL,
		"count pairs of lines, 128 bytes, which some CPUs fetch together"},
	{0, "max-lines", OPT_U64, AT(view.max_lines), "N",
		"show N cache lines in full; default 10, 0: all"},
	{0, "show-all", OPT_BOOL, AT(has_all), NULL,
		"keep lines with hardly any HITM in the table (always)"},
	{0, "full-symbols", OPT_BOOL, AT(has_all), NULL, "names as long as they are (always)"},
	{0, "stats", OPT_BOOL, AT(view.has_stats_only), NULL, "only the totals of all accesses"},
	{0, "source", OPT_TRI, AT(has_source), NULL, "show source lines (default)"},
	{0, "stdio", OPT_BOOL, AT(is_text), NULL, "plain text (always, in this version)"},
	{0, "json", OPT_BOOL, AT(forms.is_chosen[FORM_JSON]), NULL,
		"print everything as JSON, see pace-c2c(1)"},
	FORM_ROW(struct c2c_command, forms),
	COLOUR_ROW,
	SYMBOL_FILE_ROWS(c2c_command),
	SYMBOL_NAME_ROWS(c2c_command),
	SYMBOL_FETCH_ROW(c2c_command),
	{'f', "force", OPT_BOOL, AT(is_forced), NULL,
		"read files of any owner (always; perf needs -f)"},
	{0, "objdump", OPT_NOTHING, 0, "PATH", "an option of perf's browser: see pace-annotate(1)"},
	{'M', "disassembler-style", OPT_NOTHING, 0, "STYLE", "likewise"},
	{'q', "quiet", OPT_BOOL, AT(view.is_quiet), NULL, "only the cache lines"},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL,
		"say where files were looked for, show parameters of C++ functions"},
	{.kind = OPT_END},
};

/* What -g says of the graphs; what it does not say stays as it is. */
static void choose_drawing(const struct graph_options *g, struct c2c_calls *calls)
{
	if (g->has_order)
		calls->order = g->order;
	if (g->has_style)
		calls->drawing.style = g->style;
	if (g->limit >= 0)
		calls->drawing.limit = g->limit;
	calls->drawing.value = g->value;
	calls->drawing.entries = g->entries;
}

static void show(struct c2c_command *c, struct recorded *in, struct sharing *s,
	struct sharers *callers, unsigned style, struct out *out)
{
	const struct form *form = form_chosen(&c->forms);
	bool is_of_peers = s->hot == SHARING_HOT_PEER;
	struct c2c_calls calls;

	c->view.display = is_of_peers ? C2C_PEER : c->view.display;
	c->view.has_colour = colour_is_on(c->colour, out->fd);
	if (!c->view.has_stats_only)
		sharing_name(s, &in->trace.resolver, style, c->has_source != 0);
	if (callers) {
		sharers_name(callers, &in->trace.resolver, style);
		c2c_calls_init(&calls, callers, is_of_peers ? SHARERS_PEER : SHARERS_HITM);
		choose_drawing(&c->graph, &calls);
	}
	if (form_is_data(form))
		c2c_rows(form, out, s, callers ? &calls : NULL, &c->view);
	else
		c2c_text(out, s, callers ? &calls : NULL, &c->view);
	if (callers)
		c2c_calls_fini(&calls);
}

static int check_calls(const struct c2c_command *c, const struct recorded *in, struct err *err)
{
	return !c->has_calls || in->has_chains
		? 0
		: err_set(err, ERR_INVAL,
			  "-g: the recording has no call chains: 'pace c2c record -- -g ...' records them");
}

static int make_report(struct c2c_command *c, struct recorded *in, struct out *out, struct err *err)
{
	struct recorded_options reading = {.n_workers = workers_available(),
		.naming.style = symbol_options_style(&c->symbols, c->verbose)};
	struct sharing sharing = {0};
	struct sharers callers = {0};
	struct visitor visitor;
	int r;

	symbol_options_tell(&c->symbols, c->debuginfod_s, &reading);
	reading.trace.stitches = c->stitches;
	if (check_calls(c, in, err) || sharing_init(&sharing, &in->trace, c->by, c->hot, err)) {
		sharing_fini(&sharing);
		return err->code;
	}
	if (c->has_pairs)
		sharing.line_bytes *= 2;
	if (c->has_calls)
		sharers_init(&callers, &in->trace.machine);
	visitor = sharing_visitor(&sharing, c->has_calls ? &callers : NULL);
	reading.visitors[reading.n_visitors++] = &visitor;
	r = recorded_read(in, &reading, err);
	if (!r)
		show(c, in, &sharing, c->has_calls ? &callers : NULL, reading.naming.style, out);
	if (c->has_calls)
		sharers_fini(&callers);
	sharing_fini(&sharing);
	return r;
}

static int run_report(struct c2c_command *c)
{
	struct out out = {.fd = STDOUT_FILENO};
	const char *input = cmd_input(c->input);
	struct recorded in;
	int status = EXIT_OK;
	struct log log;
	struct err err;

	cmd_log_init(&log, c->verbose ? LOG_DEBUG : LOG_NOTE);
	if (recorded_open(&in, input, &log, &err)) {
		cmd_explain_missing(input, &err);
		log_fini(&log);
		return cmd_fail(&cmd_c2c, &err, EXIT_USAGE);
	}
	err.code = 0;
	if (make_report(c, &in, &out, &err))
		status = cmd_fail(&cmd_c2c, &err, EXIT_FAILED);
	else
		ledger_warn(&in.ledger, &log);
	if (out_close(&out, &err))
		status = cmd_fail(&cmd_c2c, &err, EXIT_FAILED);
	if (status == EXIT_OK && (log.has_warned || ledger_has_unread(&in.ledger)))
		status = EXIT_FAILED;
	recorded_close(&in);
	log_fini(&log);
	return status;
}

static int run_c2c(int argc, char **argv)
{
	struct c2c_command c = {.record = {.sysfs = "/sys",
					.what = MEMEVENTS_LOADS | MEMEVENTS_STORES,
					.latency = 30},
		.view.max_lines = LINES_SHOWN,
		.by = SHARING_BY_CODE,
		.debuginfod_s = 10,
		.graph.limit = -1,
		.has_source = true,
		.symbols.demangles = true,
		.symbols.makes_names = true};
	bool is_record = argc > 1 && !strcmp(argv[1], "record"),
	     is_report = argc > 1 && !strcmp(argv[1], "report");
	int status;
	struct err err;

	if (is_record || is_report) {
		argc--;
		argv++;
	}
	/*
	 * Parsing stops at the first argument that is not an option: a command to run, or options of record after "--".
	 */
	status = cmd_parse(&cmd_c2c, &c, is_record ? OPTS_STOP : 0, &argc, argv);
	if (status >= 0)
		return status;
	if (is_record)
		return memory_run_record(&cmd_c2c, &c.record, argc, argv);
	if (is_report) {
		if (cmd_take_input(&c.input, argc, argv, &err) ||
			form_check(&c.forms, FORM_OF_NESTED, &err))
			return cmd_fail(&cmd_c2c, &err, EXIT_USAGE);
		if (c.has_calls && c.view.has_stats_only) {
			err_set(&err, ERR_INVAL,
				"-g shows who uses the cache lines, which --stats leaves out: give only one of them");
			return cmd_fail(&cmd_c2c, &err, EXIT_USAGE);
		}
		return run_report(&c);
	}
	if (argc)
		err_set(&err, ERR_INVAL, "'%.60s' is neither record nor report", argv[0]);
	else
		err_set(&err, ERR_INVAL, "give 'record' or 'report'");
	return cmd_fail(&cmd_c2c, &err, EXIT_USAGE);
}

const struct cmd cmd_c2c = {
	.name = "c2c",
	.summary = "find the cache lines that CPUs take from each other",
	.subcommands = {"record", "report", NULL},
	.needs_subcommand = true,
	.usage = {"record [OPTIONS] [-- RECORD-OPTIONS] COMMAND...", "report [OPTIONS] [FILE]",
		NULL},
	.options = options,
	.is_paged = true,
	.run = run_c2c,
};
