#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/num.h"
#include "base/out.h"
#include "base/term.h"
#include "base/workers.h"
#include "cmd/cmd.h"
#include "cmd/difftables.h"
#include "cmd/formrow.h"
#include "cmd/strict.h"
#include "cmd/symbols.h"
#include "cmd/which.h"
#include "file/samefile.h"
#include "profile/diff/delta.h"
#include "profile/gather/filter.h"
#include "profile/diff/significance.h"
#include "profile/check/recorded.h"
#include "view/rows/diffrows.h"
#include "view/rows/stackrows.h"
#include "cmd/diffpage.h"
#include "cmd/pagefile.h"
#include "view/forms/forms.h"
#include "view/text/colour.h"

struct diff_command {
	bool is_strict;
	const char *sort, *per;
	struct diff_options view;
	struct profile_filter filter;
	struct recorded_options reading;
	struct symbol_options symbols;
	double debuginfod_s;
	const char *cpus, *pids, *tids, *time;
	const char *html; /* the file that gets the page; NULL: none */
	struct form_choice forms;
	bool has_children, is_forced;
	u64 order, n_workers;
	unsigned verbose;
};

enum { VERSION = 3 }; /* of the JSON output */

#define DEFAULT_KEYS     "dso,symbol"
#define DEFAULT_BASELINE "perf.data.old"

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
		"'%.60s' is none of delta-abs, delta, ratio, wdiff:WEIGHT,WEIGHT%s", value,
		!strcmp(value, "cycles") ? "; cycles of basic blocks are not compared yet" : "");
}

static int set_percentage(void *target, const char *value, struct err *err)
{
	struct diff_command *o = target;

	return profile_filter_set_percentage(&o->filter, value, err);
}

static const struct opt options[] = {
	{0, NULL, OPT_TITLE, 0, NULL, "What to compare"},
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
		"delta-abs (default), delta, ratio, wdiff:WEIGHT,WEIGHT", .call = set_method},
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
	{'D', "dump-raw-trace", OPT_REFUSED, 0, NULL,
		"'pace report -D -i FILE' prints the records of one"},
	{0, "cycles-hist", OPT_REFUSED, 0, NULL,
		"cycles of basic blocks are not compared; 'pace report --total-cycles' shows those of one recording"},
	{0, "stream", OPT_REFUSED, 0, NULL,
		"streams of branches are not compared; 'pace report --branch-history' shows those of one recording"},
	{.kind = OPT_END},
};

static bool wants_stacks(const struct diff_command *o)
{
	return form_chosen(&o->forms)->wants & FORM_WANTS_STACKS;
}

/* Whether rows are compared: of stacks only pages want to know how much runs differ. */
static bool wants_rows(const struct diff_command *o)
{
	return !wants_stacks(o) || o->html;
}

/* ---- what is compared ---- */

struct compared { /* an event of the first recording */
	char *name;
	struct delta delta;
};

struct comparing {
	struct diff_command *options;
	struct log *log;
	const struct key *keys[HIST_KEYS_MAX];
	size_t n_keys;
	VEC(struct delta_recording) recordings;
	VEC(struct compared) events;
	struct table by_name; /* indexes `events` */
	struct stackrows stacks;
	struct str ledger; /* with --html: of all recordings */
	bool has_warned, has_lost;
	size_t n_imports; /* of the recordings: profiles that other programs made */
};

/* The files before "--" are the baseline; without one it is the first. */
static int choose_files(struct comparing *c, int n_before, int n, char **words, struct err *err)
{
	static const char *const defaults[] = {DEFAULT_BASELINE, "perf.data"};

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
		vec_add(&c->recordings,
			((struct delta_recording){words[i],
				.side = i < (n_before < 0 ? 1 : n_before) ? DELTA_A : DELTA_B}));
	return 0;
}

/* The index of the compared event `name`, or TABLE_NONE. */
static u32 find_compared(const struct comparing *c, const char *name)
{
	struct table_probe probe = table_probe(&c->by_name, hash_bytes(name, strlen(name)));
	u32 i;

	while ((i = table_next(&c->by_name, &probe)) != TABLE_NONE)
		if (!strcmp(c->events.at[i].name, name))
			return i;
	return TABLE_NONE;
}

/* For each compared event, the index of the first event of that name in `p`, or -1. The caller frees it. */
static s64 *find_events(const struct comparing *c, const struct profile *p)
{
	s64 *found = mem_alloc((c->events.n + 1) * sizeof(*found));

	memset(found, 0xff, c->events.n * sizeof(*found));
	for (size_t i = p->events.n; i--;) {
		u32 at = find_compared(c, p->events.at[i].name);

		if (at != TABLE_NONE)
			found[at] = (s64)i;
	}
	/* With one event on each side, these two are compared even if their names differ. */
	if (p->events.n == 1 && c->events.n == 1)
		found[0] = 0;
	return found;
}

/* The first recording decides which events are compared. */
static void take_events(struct comparing *c, const struct recorded *r)
{
	vec_each(e, &r->profile.events) {
		size_t i = e - r->profile.events.at;
		struct compared *compared;

		if (find_compared(c, e->name) != TABLE_NONE)
			continue;
		table_add(&c->by_name, hash_bytes(e->name, strlen(e->name)), (u32)c->events.n);
		compared = vec_push(&c->events);
		compared->name = strcpy(mem_alloc(strlen(e->name) + 1), e->name);
		delta_init(&compared->delta, c->keys, c->n_keys, c->recordings.at, c->recordings.n);
		compared->delta.ignores_modes = c->n_imports || !recorded_has_trace(r);
		compared->delta.is_time = recorded_is_time(r, (u32)i);
	}
}

static int find_per(const struct comparing *c, const struct profile *p, u32 event, const char *path,
	double *ret_per, struct err *err)
{
	const char *per = c->options->per;
	s64 by = -1;

	*ret_per = 1;
	if (c->options->view.per == DIFF_PER_TOTAL)
		*ret_per = (double)MAX(p->events.at[event].period, 1ull);
	if (c->options->view.per != DIFF_PER_EVENT)
		return 0;
	for (size_t i = 0; i < p->events.n; i++)
		if (!strcmp(p->events.at[i].name, per))
			by = (s64)i;
	if (by < 0 || !p->events.at[by].period)
		return err_set(err, ERR_INVAL,
			"--normalise: '%s' has no samples of an event '%.60s'", path, per);
	*ret_per = (double)p->events.at[by].period;
	return 0;
}

/* Folded stacks have the sum of all events, a page has each, the baseline second. */
static u32 part_of(const struct comparing *c, const struct compared *compared, u32 side)
{
	return c->options->html ? (u32)(compared - c->events.at) * DELTA_SIDES + (side == DELTA_A)
				: side;
}

/* A part for each side of each event. */
static void take_parts(struct comparing *c)
{
	c->stacks.detail = STACKROWS_FUNCTIONS;
	c->stacks.n_parts = (u32)c->events.n * DELTA_SIDES;
	vec_each(compared, &c->events)
		for (u32 side = 0; side < DELTA_SIDES; side++)
			stackrows_add_part(&c->stacks, compared->name, compared->delta.is_time);
}

static int add_profile(struct comparing *c, size_t recording, const struct recorded *in,
	struct err *err)
{
	const struct profile *p = &in->profile;
	const struct hist_options h = {.n_keys = c->n_keys,
		.has_children = c->options->has_children};
	const struct delta_recording *r = &c->recordings.at[recording];
	struct hist_options hist_options = h;
	struct calls calls;
	int result = 0;
	s64 *events;

	memcpy(hist_options.keys, c->keys, sizeof(c->keys));
	calls_init(&calls, p);
	if (!c->events.n) {
		take_events(c, in);
		if (c->options->html)
			take_parts(c);
	}
	events = find_events(c, p);
	vec_each(compared, &c->events) {
		s64 event = events[compared - c->events.at];
		struct hist hist;

		if (event < 0) {
			log_warn(c->log, "'%s' has no event '%s'", r->name, compared->name);
			continue;
		}
		result = find_per(c, p, (u32)event, r->name,
			&compared->delta.recordings.at[recording].per, err);
		if (result)
			break;
		if (wants_stacks(c->options))
			stackrows_add(&c->stacks, p, &calls, (u32)event,
				part_of(c, compared, r->side));
		if (!wants_rows(c->options))
			continue;
		hist_init(&hist, p, &calls, (u32)event, &hist_options);
		delta_add(&compared->delta, recording, &hist);
		hist_fini(&hist);
	}
	mem_free(events);
	calls_fini(&calls);
	return result;
}

/* Fails if the recording lacks what a key needs. */
static int check_keys(const struct comparing *c, const struct recorded *r, const char *path,
	struct err *err)
{
	for (size_t i = 0; i < c->n_keys; i++)
		if (c->keys[i]->label && recorded_check_label(r, c->keys[i]->label, err))
			return err_prefix(err, "key '%s': '%s'", c->keys[i]->name, path);
	return 0;
}

/* The time spans of the n-th recording: "a:b" has those of two, and the last ones hold for all others. */
static char *spans_of(const char *text, size_t n)
{
	char *spans;

	for (const char *colon; n && (colon = strchr(text, ':')) != NULL; n--)
		text = colon + 1;
	spans = mem_strdup(text);
	spans[strcspn(spans, ":")] = '\0';
	return spans;
}

static int choose_samples(const struct comparing *c, size_t recording, const struct session *s,
	struct which *which, struct err *err)
{
	char *time = c->options->time ? spans_of(c->options->time, recording) : NULL;
	int r = which_choose(which, c->options->cpus, time && *time ? time : NULL, s, err);

	mem_free(time);
	c->options->reading.cpus = &which->cpus;
	c->options->reading.spans = &which->spans;
	return r ? err_prefix(err, "'%s'", s->reader.path) : 0;
}

/* Fails if an option needs a recording's samples, and `r` is another program's profile. */
static int check_import(const struct diff_command *o, const struct recorded *r, struct err *err)
{
	const char *option = o->cpus ? "--cpu"
		: o->time            ? "--time"
		: o->is_strict       ? "--strict"
				     : NULL;

	if (recorded_has_trace(r) || !option)
		return 0;
	return err_set(err, ERR_INVAL,
		"%s: '%s' is %s, which has no single samples and does not tell what was lost",
		option, r->import.path, r->import.importer->what);
}

static int read_one(struct comparing *c, size_t recording, struct err *err)
{
	const char *path = c->recordings.at[recording].name;
	struct which which = {0};
	struct recorded r;
	int result = recorded_open_any(&r, path, c->log, err);

	if (result && err->code == ERR_NOENT && !strcmp(path, DEFAULT_BASELINE))
		return err_set(err, ERR_NOENT,
			"there is no '%s' to compare with: a second 'pace record' in the same directory keeps the first recording under that name",
			path);
	if (result)
		return result;
	c->stacks.are_imports &= !recorded_has_trace(&r);
	result = check_import(c->options, &r, err);
	if (!result)
		result = check_keys(c, &r, path, err);
	if (!result)
		result = choose_samples(c, recording, &r.trace.session, &which, err);
	if (!result)
		result = recorded_read(&r, &c->options->reading, err);
	if (!result) {
		profile_filter_apply(&r.profile, &c->options->filter);
		result = add_profile(c, recording, &r, err);
	}
	if (c->options->html) {
		const size_t start = c->ledger.n;

		ledger_add_text(&r.ledger, true, &c->ledger);
		if (c->ledger.n > start)
			str_addf(&c->ledger, "# (of %s)\n", path);
	}
	ledger_warn(&r.ledger, c->log);
	c->has_lost |= strict_fails(&cmd_diff, c->options->is_strict, path, &r.ledger);
	c->has_warned |= ledger_has_unread(&r.ledger);
	recorded_close(&r);
	which_fini(&which);
	return result;
}

/* The keys that all inputs have: folded stacks have functions only. */
static const char *default_keys(struct comparing *c)
{
	const char *keys = DEFAULT_KEYS;

	vec_each(r, &c->recordings) {
		const struct importer *importer = import_of_file(r->name);

		c->n_imports += importer != NULL;
		if (importer && strcmp(importer->keys, DEFAULT_KEYS))
			keys = importer->keys;
	}
	return keys;
}

static int choose(struct comparing *c, struct err *err)
{
	struct diff_command *o = c->options;
	const char *keys = default_keys(c);
	size_t kept = 0;

	if (key_parse_list(o->sort ? o->sort : keys, c->keys, ARRAY_SIZE(c->keys), &c->n_keys, err))
		return err_prefix(err, "--sort");
	if (num_list_parse(&o->filter.pids, "--pid", o->pids, err) ||
		num_list_parse(&o->filter.tids, "--tid", o->tids, err))
		return err->code;
	for (size_t i = 0; i < c->n_keys; i++)
		if (!c->keys[i]->is_value)
			c->keys[kept++] = c->keys[i];
	c->n_keys = kept;
	if (!kept)
		return err_set(err, ERR_INVAL, "--sort: a key to group by is needed, like symbol");
	for (size_t i = 0; i < kept; i++)
		if (key_is_of_branches(c->keys[i]) || c->keys[i]->label == LABEL_PARENT)
			return err_set(err, ERR_INVAL,
				"--sort: '%s' works in 'pace report' only: diff does not look at %s",
				c->keys[i]->name,
				key_is_of_branches(c->keys[i]) ? "branches" : "callers by name");
	o->forms.is_chosen[FORM_HTML] = o->html;
	if (form_check(&o->forms, FORM_OF_SIDES, err))
		return err->code;
	o->view.order = (u32)o->order;
	/* If one side counts samples and the other time, only shares can be compared. */
	if (!o->per && c->n_imports && c->n_imports < c->recordings.n)
		o->per = "total";
	o->view.per = !o->per || !strcmp(o->per, "level") ? DIFF_PER_LEVEL
		: !strcmp(o->per, "run")                  ? DIFF_PER_RUN
		: !strcmp(o->per, "total")                ? DIFF_PER_TOTAL
							  : DIFF_PER_EVENT;
	symbol_options_tell(&o->symbols, o->debuginfod_s, &o->reading);
	o->reading.naming.style = symbol_options_style(&o->symbols, o->verbose);
	o->reading.n_workers = o->n_workers ? (unsigned)o->n_workers : workers_available();
	o->reading.has_stacks = o->has_children || wants_stacks(o);
	o->reading.labels = profile_filter_labels(&o->filter) | key_labels(c->keys, c->n_keys) |
		(o->html ? LABEL_BIT(LABEL_COMM) : 0);
	o->reading.naming.source = key_naming_source(c->keys, c->n_keys);
	o->reading.naming.has_inlined = o->reading.has_stacks && !o->reading.naming.source;
	return 0;
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
	p->form->table(p, &rows.rows);
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
		.n_parts = (u32)c->recordings.n,
		.width = term_is_terminal(out->fd) ? term_columns(out->fd) : 0,
		.version = VERSION,
		.about = o->html ? &about : NULL};
	bool is_first = true;

	if (o->html)
		tell_page(c, &about);
	page_begin(&p);
	if (wants_stacks(o)) {
		stackrows_finish(&c->stacks);
		p.form->table(&p, &c->stacks.rows);
		page_end(&p, NULL);
		page_about_fini(&about);
		return;
	}
	vec_each(compared, &c->events) {
		delta_pair(&compared->delta);
		if (!compared->delta.rows.n && c->events.n > 1)
			continue;
		show_event(c, compared, is_first, &p);
		is_first = false;
	}
	page_end(&p, NULL);
}

/* A recording that is compared with itself has no changes, not even where code has no names. */
static void find_copies(struct comparing *c)
{
	u32 n = 1;

	for (u32 i = 1; i < c->recordings.n; i++)
		for (u32 k = 0; k < i && !c->recordings.at[i].same_as; k++) {
			const struct delta_recording *a = &c->recordings.at[k];

			if (a->same_as || !samefile_is(a->name, c->recordings.at[i].name, c->log))
				continue;
			c->recordings.at[i].same_as = k + 1;
			n += k == 0;
			if (!c->options->view.is_quiet)
				log_note(c->log, "'%s' and '%s' are the same recording", a->name,
					c->recordings.at[i].name);
		}
	c->stacks.is_one_recording = n == c->recordings.n;
}

static int read_all(struct comparing *c, struct err *err)
{
	if (choose(c, err))
		return err->code;
	find_copies(c);
	for (size_t i = 0; i < c->recordings.n; i++)
		if (read_one(c, i, err))
			return err->code;
	return 0;
}

static void comparing_fini(struct comparing *c)
{
	vec_each(compared, &c->events) {
		delta_fini(&compared->delta);
		mem_free(compared->name);
	}
	vec_fini(&c->events);
	table_fini(&c->by_name);
	vec_fini(&c->recordings);
	stackrows_fini(&c->stacks);
	str_fini(&c->ledger);
	profile_filter_fini(&c->options->filter);
}

static int compare(struct comparing *c, struct out *out, struct err *err)
{
	struct fresh page;

	if (read_all(c, err))
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
	if (choose_files(&c, n_before, argc, argv, &err) || compare(&c, &out, &err))
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

/* ---- as tables ---- */

struct diff_table {
	const struct compared *compared;
	struct significance significance;
	struct diffrows rows;
	struct str words;
};

struct diff_tables {
	struct diff_command options;
	struct comparing comparing;
	struct diff_table *tables;
	size_t n;
};

static void open_table(struct diff_tables *t, struct compared *compared)
{
	struct diff_table *table = &t->tables[t->n];

	delta_pair(&compared->delta);
	if (!compared->delta.rows.n && t->comparing.events.n > 1)
		return;
	t->n++;
	table->compared = compared;
	if (t->options.view.per == DIFF_PER_LEVEL)
		delta_level(&compared->delta);
	significance_init(&table->significance, &compared->delta);
	diffrows_init(&table->rows, &compared->delta, &table->significance, compared->name,
		&t->options.view, false);
	diff_add_words(&compared->delta, &table->significance, compared->name, &t->options.view,
		&table->words);
}

struct diff_tables *diff_tables_new(const char *old, const char *new,
	const struct symbol_options *symbols, struct log *log, struct err *err)
{
	struct diff_tables *t = mem_zalloc(sizeof(*t));
	struct comparing *c = &t->comparing;

	t->options = (struct diff_command){.order = 1,
		.symbols = *symbols,
		.view = {.has_sides = true, .has_both = true}};
	*c = (struct comparing){.options = &t->options, .log = log};
	vec_add(&c->recordings, ((struct delta_recording){old, .side = DELTA_A}));
	vec_add(&c->recordings, ((struct delta_recording){new, .side = DELTA_B}));
	if (read_all(c, err)) {
		diff_tables_free(t);
		return NULL;
	}
	t->tables = mem_zalloc((c->events.n + 1) * sizeof(*t->tables));
	vec_each(compared, &c->events)
		open_table(t, compared);
	return t;
}

void diff_tables_free(struct diff_tables *t)
{
	for (size_t i = 0; i < t->n; i++) {
		diffrows_fini(&t->tables[i].rows);
		significance_fini(&t->tables[i].significance);
		str_fini(&t->tables[i].words);
	}
	mem_free(t->tables);
	comparing_fini(&t->comparing);
	mem_free(t);
}

size_t diff_tables_n(const struct diff_tables *t)
{
	return t->n;
}

const struct rowset *diff_tables_rows(const struct diff_tables *t, size_t table)
{
	return &t->tables[table].rows.rows;
}

const char *diff_tables_event(const struct diff_tables *t, size_t table)
{
	return t->tables[table].compared->name;
}

const char *diff_tables_words(const struct diff_tables *t, size_t table)
{
	return str_text(&t->tables[table].words);
}

const struct cmd cmd_diff = {
	.name = "diff",
	.summary = "compare recordings: what became slower or faster",
	.usage = {"[OPTIONS] [BASELINE] [FILE...]", "[OPTIONS] BASELINE... -- FILE...", NULL},
	.notes =
		"Without files perf.data.old is compared with perf.data. Several recordings on each side tell change from chance.\n",
	.options = options,
	.is_paged = true,
	.run = run_diff,
};
