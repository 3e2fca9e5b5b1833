#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "base/out.h"
#include "base/term.h"
#include "base/workers.h"
#include "cmd/cmd.h"
#include "cmd/diff/comparing.h"
#include "cmd/diff/diffbranches.h"
#include "cmd/diff/diffpage.h"
#include "cmd/diff/diffwindows.h"
#include "cmd/fetched.h"
#include "cmd/formrow.h"
#include "cmd/strict.h"
#include "profile/diff/significance.h"
#include "cmd/pagefile.h"
#include "view/records/dump.h"
#include "view/text/colour.h"

enum { VERSION = 3 }; /* of the JSON output */

#define AT(member) offsetof(struct diff_command, member)

static int parse_weights(struct diff_command *o, const char *text, struct err *err)
{
	char first[32];
	size_t n = strcspn(text, ",");

	snprintf(first, sizeof(first), "%.*s", (int)MIN(n, sizeof(first) - 1), text);
	if (text[n] != ',' || num_parse(first, &o->view.weights[DELTA_A], err) ||
		num_parse(text + n + 1, &o->view.weights[DELTA_B], err))
		return err_set(err, ERR_INVAL,
			"wdiff needs two weights, the baseline's first: wdiff:1,2, not 'wdiff:%.60s'",
			text);
	return 0;
}

static int set_method(void *target, const char *value, struct err *err)
{
	static const struct {
		const char *word;
		enum diff_method method;
	} methods[] = {{"delta-abs", DIFF_DELTA_ABS}, {"delta", DIFF_DELTA}, {"ratio", DIFF_RATIO}};
	struct diff_command *o = target;

	/* In perf a '+' in front sorts by the method; pace always sorts. */
	value += *value == '+';
	o->view.has_cycles = !strcmp(value, "cycles");
	if (o->view.has_cycles)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		if (strcmp(methods[i].word, value))
			continue;
		o->view.method = methods[i].method;
		return 0;
	}
	if (!strncmp(value, "wdiff:", 6)) {
		o->view.method = DIFF_WDIFF;
		return parse_weights(o, value + 6, err);
	}
	return err_set(err, ERR_INVAL,
		"'%.60s' is none of delta-abs, delta, ratio, wdiff:WEIGHT,WEIGHT, cycles", value);
}

static int set_percentage(void *target, const char *value, struct err *err)
{
	struct diff_command *o = target;

	return profile_filter_set_percentage(&o->filter, value, err);
}

static const struct opt options[] = {
	{0, NULL, OPT_TITLE, 0, NULL, "What to compare"},
	{0, "at", OPT_LIST, AT(at), "TIME",
		"a window of what 'pace watch' kept, like 14:30..14:35; twice: the baseline's first",
		.flags = OPT_COMMON},
	{0, "usual", OPT_BOOL, AT(is_usual), NULL,
		"compare the window of --at with the same time of other days", .flags = OPT_COMMON},
	{'i', "input", OPT_STR, AT(store), "STORE",
		"the store of these windows; default the user's"},
	{'s', "sort", OPT_STR, AT(sort), "KEY,...",
		"group rows by these keys; default dso,symbol, or symbol for folded stacks"},
	{0, "children", OPT_BOOL, AT(has_children), NULL,
		"count functions with everything they called"},
	{0, "normalise", OPT_STR, AT(per), "WHAT",
		"scale recordings to be comparable: level (by what most functions changed; default), run (not at all), total, or an EVENT's count"},
	{'d', "dsos", OPT_STR, AT(filter.dsos), "DSO,...", "only code of these files"},
	{'C', "comms", OPT_STR, AT(filter.comms), "COMM,...", "only threads of these names"},
	{'S', "symbols", OPT_STR, AT(filter.symbols), "NAME,...", "only these functions"},
	{0, "cpu", OPT_STR, AT(cpus), "LIST", "only samples on these CPUs, like 0-3,8"},
	{0, "pid", OPT_STR, AT(pids), "PID,...", "only samples of these processes"},
	{0, "tid", OPT_STR, AT(tids), "TID,...", "only samples of these threads"},
	{0, "time", OPT_STR, AT(time), "SPAN,...[:SPAN,...]",
		"only samples of this time: FROM,TO in seconds, 10%-20%, or 10%/2; spans after a ':' are for the next recording"},
	{0, "percentage", OPT_CALL, 0, "OF",
		"shares of the filtered samples (relative) or of all samples (absolute; default)",
		.call = set_percentage},
	{0, NULL, OPT_TITLE, 0, NULL, "What to show"},
	{'c', "compute", OPT_CALL, 0, "METHOD",
		"delta-abs (default), delta, ratio, wdiff:WEIGHT,WEIGHT; cycles: how long the code between two branches takes",
		.call = set_method},
	{0, "cycles-hist", OPT_BOOL, AT(view.has_histogram), NULL,
		"with -c cycles: how much the cycles vary, and a histogram of them"},
	{0, "stream", OPT_BOOL, AT(has_streams), NULL,
		"the hottest sequences of branches before samples, in both recordings or in one of them"},
	{'o', "order", OPT_U64, AT(order), "N",
		"sort by the N-th recording after the baseline; 0: by the baseline", .max = 1000},
	{'p', "period", OPT_BOOL, AT(view.has_periods), NULL, "columns with the periods"},
	{'F', "formula", OPT_BOOL, AT(view.has_formula), NULL, "show how the values were computed"},
	{'b', "baseline-only", OPT_BOOL, AT(view.is_in_baseline_only), NULL,
		"only what the baseline has"},
	{0, "percent-limit", OPT_DOUBLE, AT(view.limit), "PCT",
		"leave out rows with less than this in all recordings", .max = 100},
	{0, "all", OPT_BOOL, AT(view.has_all_words), NULL,
		"describe every difference in words; default the first 10"},
	{0, "json", OPT_BOOL, AT(forms.is_chosen[FORM_JSON]), NULL, "print JSON"},
	FORM_ROW(struct diff_command, forms),
	{0, "folded", OPT_BOOL, AT(forms.is_chosen[FORM_FOLDED]), NULL,
		"one line per stack with the samples of both sides, for a differential flame graph"},
	{0, "html", OPT_STR, AT(html), "FILE",
		"write a page for browsers: a differential flame graph, functions with both shares"},
	{'t', "field-separator", OPT_STR, AT(forms.separator), "SEP",
		"columns separated by SEP instead of blanks"},
	{'q', "quiet", OPT_BOOL, AT(view.is_quiet), NULL, "only the table"},
	{'D', "dump-raw-trace", OPT_BOOL, AT(is_dump), NULL,
		"before the comparison, dump every record of the recordings with its bytes and fields"},
	{0, NULL, OPT_TITLE, 0, NULL, "How to read"},
	SYMBOL_FILE_ROWS(diff_command),
	SYMBOL_FETCH_ROW(diff_command),
	STRICT_ROW(struct diff_command),
	SYMBOL_NAME_ROWS(diff_command),
	{'f', "force", OPT_BOOL, AT(is_forced), NULL,
		"read files of any owner (always; perf needs -f)"},
	{'j', "threads", OPT_U64, AT(n_workers), "N", "use N threads; default all cores", .min = 1,
		.max = WORKERS_MAX},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL,
		"say where files were looked for, show parameters of C++ functions"},
	{'m', "modules", OPT_NOTHING, 0, NULL, "names of modules are always looked for"},
	{.kind = OPT_END},
};

/* Adds a recording; of a fleet's store one for each host, or group of hosts, which tell change from chance. */
static int add_recordings(struct comparing *c, const char *word, unsigned side, struct err *err)
{
	struct diff_command *o = c->options;
	struct fetched_names names = {0};
	int result = fetched_parts(word, o->sort, o->filter.comms != NULL, c->log, &names, err);

	vec_each(name, &names)
		vec_add(&c->recordings, ((struct delta_recording){*name, .side = side}));
	o->view.has_sides |= names.n > 1;
	vec_fini(&names);
	return result;
}

/* The files before "--" are the baseline; without one it is the first. */
static int choose_files(struct comparing *c, int n_before, int n, char **words, struct err *err)
{
	static const char *const defaults[] = {DIFF_BASELINE, "perf.data"};

	if (n_before < 0 && n < 2) {
		vec_add(&c->recordings, ((struct delta_recording){defaults[0], .side = DELTA_A}));
		vec_add(&c->recordings,
			((struct delta_recording){n ? words[0] : defaults[1], .side = DELTA_B}));
		return 0;
	}
	if (!n_before || n_before == n)
		return err_set(err, ERR_INVAL,
			"'--' needs recordings on both sides: the baseline's before it, those to compare after it");
	for (int i = 0; i < n; i++)
		if (add_recordings(c, words[i],
			    i < (n_before < 0 ? 1 : n_before) ? DELTA_A : DELTA_B, err))
			return err->code;
	return 0;
}

static int choose_recordings(struct comparing *c, int n_before, int n, char **words,
	struct err *err)
{
	const struct diff_command *o = c->options;

	if (!o->at.n && (o->is_usual || o->store))
		return err_set(err, ERR_INVAL, "%s is about windows of a store: name one with --at",
			o->is_usual ? "--usual" : "-i");
	if (!o->at.n)
		return choose_files(c, n_before, n, words, err);
	if (n)
		return err_set(err, ERR_INVAL,
			"--at compares windows of a store, and '%s' is a file: choose one",
			words[0]);
	return diffwindows_choose(c, err);
}

static void show_event(const struct comparing *c, struct compared *compared, bool is_first,
	struct page *p)
{
	const struct diff_command *o = c->options;
	struct diffrows rows;
	struct significance significance;

	if (o->view.per == DIFF_PER_LEVEL)
		delta_level(&compared->delta);
	significance_init(&significance, &compared->delta);
	diffrows_init(&rows, &compared->delta, &significance, compared->name, &o->view,
		!(p->form->wants & FORM_IS_READ));
	if (!form_is_data(p->form) || o->forms.separator) {
		str_add(&p->out->text, is_first ? "" : "\n");
		diff_add_words(&compared->delta, &significance, compared->name, &o->view,
			&p->out->text);
	}
	p->form->table(p, &rows.table.rows);
	diffrows_fini(&rows);
	significance_fini(&significance);
}

/* What the page says of the recordings and, if there are several on each side, of how much runs differ. */
static void tell_page(struct comparing *c, struct page_about *about)
{
	struct diffpage page;

	diffpage_open(&page, c->recordings.at, c->recordings.n);
	vec_each(compared, &c->events) {
		struct significance significance;

		delta_pair(&compared->delta);
		significance_init(&significance, &compared->delta);
		diffpage_add_event(&page, &significance);
		significance_fini(&significance);
	}
	diffpage_close(&page, about);
	str_addn(&about->ledger, str_text(&c->ledger), c->ledger.n);
}

static void show(struct comparing *c, struct out *out)
{
	const struct text_options text = {.n_workers = 1,
		.has_colour = colour_is_on(COLOUR_AUTO, out->fd)};
	const struct diff_command *o = c->options;
	struct page_about about = {0};
	struct page p = {.form = form_chosen(&o->forms),
		.out = out,
		.text = &text,
		.separator = o->forms.separator,
		.list = "events",
		.n_parts = o->has_streams ? DELTA_SIDES : (u32)c->recordings.n,
		.width = term_is_terminal(out->fd) ? term_columns(out->fd) : 0,
		.version = VERSION,
		.about = o->html ? &about : NULL};
	bool is_first = true;

	if (o->html)
		tell_page(c, &about);
	page_begin(&p);
	if (diff_wants_stacks(o)) {
		stackrows_finish(&c->stacks);
		p.form->table(&p, &c->stacks.rows);
		page_end(&p, NULL);
		page_about_fini(&about);
		return;
	}
	vec_each(compared, &c->events) {
		delta_pair(&compared->delta);
		if (!compared->delta.rows.n && !compared->streams.at.n && c->events.n > 1)
			continue;
		if (diffbranches_option(o))
			diffbranches_show(c, compared, is_first, &p);
		else
			show_event(c, compared, is_first, &p);
		is_first = false;
	}
	page_end(&p, NULL);
}

/* What an importer reads has no records; what cannot be opened is reported when it is compared. */
static int dump_recordings(struct comparing *c, struct out *out, struct err *err)
{
	int result = 0;

	for (size_t i = 0; !result && i < c->recordings.n; i++) {
		const struct delta_recording *r = &c->recordings.at[i];
		struct recorded in;
		struct err ignored;

		if (recorded_open_any(&in, r->path ? r->path : r->name, c->log, &ignored))
			break;
		if (recorded_has_trace(&in))
			result = dump_all(&in.trace.session, out, err);
		recorded_close(&in);
	}
	return result;
}

static int compare(struct comparing *c, struct out *out, struct err *err)
{
	struct fresh page;

	if (c->options->is_dump && dump_recordings(c, out, err))
		return err->code;
	if (comparing_read(c, err))
		return err->code;
	if (!c->options->html) {
		show(c, out);
		return 0;
	}
	if (pagefile_open(&page, c->options->html, out, err))
		return err->code;
	show(c, out);
	return pagefile_close(&page, out, 0, err);
}

static int run_diff(int argc, char **argv)
{
	struct diff_command o = {.order = 1,
		.debuginfod_s = 10,
		.symbols.demangles = true,
		.symbols.makes_names = true};
	int status, n_before;
	struct out out = {.fd = STDOUT_FILENO};
	struct log log;
	struct comparing c = {.options = &o,
		.log = &log,
		.stacks = {.n_parts = DELTA_SIDES, .has_builds = true, .are_imports = true}};
	struct err err;

	status = cmd_parse_sides(&cmd_diff, &o, &argc, argv, &n_before);
	if (status >= 0)
		return status;
	o.view.has_sides = n_before >= 0;
	cmd_log_init(&log, o.verbose ? LOG_DEBUG : LOG_NOTE);
	status = EXIT_OK;
	if (choose_recordings(&c, n_before, argc, argv, &err) || compare(&c, &out, &err))
		status = cmd_fail(&cmd_diff, &err,
			err.code == ERR_INVAL || err.code == ERR_NOENT ? EXIT_USAGE : EXIT_FAILED);
	if (out_close(&out, &err))
		status = cmd_fail(&cmd_diff, &err, EXIT_FAILED);
	if (status == EXIT_OK && c.has_lost)
		status = EXIT_INCOMPLETE;
	if (status == EXIT_OK && (log.has_warned || c.has_warned))
		status = EXIT_FAILED;
	comparing_fini(&c);
	log_fini(&log);
	return status;
}

const struct cmd cmd_diff = {
	.name = "diff",
	.summary = "compare recordings: what became slower or faster",
	.usage = {"[OPTIONS] [BASELINE] [FILE...]", "[OPTIONS] BASELINE... -- FILE...",
		"[OPTIONS] --at TIME --at TIME", "[OPTIONS] --usual --at TIME", NULL},
	.notes =
		"Without files perf.data.old is compared with perf.data. Several recordings on each side tell change from chance.\n",
	.options = options,
	.is_paged = true,
	.run = run_diff,
};
