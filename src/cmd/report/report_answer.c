#include "cmd/report/report_answer.h"

#include <stdio.h>

#include "base/num.h"
#include "base/selfname.h"
#include "base/term.h"
#include "cmd/report/report_about.h"
#include "cmd/report/report_chart.h"
#include "cmd/report/report_code.h"
#include "cmd/report/report_events.h"
#include "cmd/report/report_wall.h"
#include "profile/check/shares.h"
#include "view/rows/hierrows.h"
#include "view/rows/outlinerows.h"
#include "view/rows/stackrows.h"

enum { VERSION = 3 }; /* of the JSON output */

static int check(const struct answer_options *o, struct err *err)
{
	const struct form *form = form_chosen(&o->forms);
	const bool wants_tree = form->wants & FORM_WANTS_TREE;

	if (form_check(&o->forms, FORM_OF_SAMPLES, err))
		return err->code;
	if ((o->budget || o->node) && form->wants & FORM_HAS_NO_TREE)
		return err_set(err, ERR_INVAL,
			"--budget and --node show a tree: as text, with --md or with --json");
	if (o->is_hierarchy && (answer_is_data(o) || o->budget || o->node || o->has_intervals))
		return err_set(err, ERR_INVAL,
			"--hierarchy is for the text output only: without it, rows of --json, --csv, --md and -t have all keys");
	if (form->wants & FORM_WANTS_STACKS && o->has_intervals)
		return err_set(err, ERR_INVAL, "--ci gives intervals of rows: stacks have none");
	if (o->groups > 0 && ((o->budget && !wants_tree) || o->node || o->has_intervals))
		return err_set(err, ERR_INVAL,
			"--group: several events in one table have neither a tree nor intervals: it does not work with --budget (unless with --md), --node and --ci");
	return 0;
}

int answer_open(struct answer *a, const struct answer_options *o, struct err *err)
{
	memset(a, 0, sizeof(*a));
	a->options = o;
	for (size_t i = 0; i < o->assertions.n; i++) {
		struct assertion assertion;

		if (assertion_parse(&assertion, o->assertions.at[i], err))
			return err_prefix(err, "--fail-if");
		vec_add(&a->assertions, assertion);
	}
	return check(o, err);
}

static bool has_stacks(const struct answer_options *o)
{
	return form_chosen(&o->forms)->wants & FORM_WANTS_STACKS;
}

static bool has_tree(const struct answer_options *o)
{
	return form_chosen(&o->forms)->wants & FORM_WANTS_TREE || o->budget || o->node;
}

u64 answer_labels(const struct answer *a)
{
	u64 labels = a->options->has_intervals ? LABEL_BIT(LABEL_TIME) : 0;

	labels |= has_stacks(a->options) ? LABEL_BIT(LABEL_COMM) : 0;
	vec_each(c, &a->assertions)
		labels |= c->words & 1u << ASSERTION_COMM ? LABEL_BIT(LABEL_COMM) : 0;
	return labels;
}

bool answer_wants_documents(const struct answer *a)
{
	return form_chosen(&a->options->forms)->wants & FORM_WANTS_DOCUMENTS;
}

u64 answer_timeline(const struct answer *a)
{
	const struct form *form = form_chosen(&a->options->forms);

	if (!has_stacks(a->options) || !(form->wants & FORM_WANTS_TIMES))
		return 0;
	return form->n_times ? form->n_times : TIMELINE_MOST;
}

bool answer_needs_lines(const struct answer *a)
{
	return form_chosen(&a->options->forms)->wants & FORM_WANTS_LINES;
}

bool answer_needs_stacks(const struct answer *a)
{
	vec_each(c, &a->assertions)
		if (c->words & 1u << ASSERTION_CHILDREN)
			return true;
	return has_tree(a->options) || has_stacks(a->options);
}

/* Checks one assertion for one event; if there are several events the message names it. */
static int check_assertion(const struct answer *a, const struct assertion *c, u32 event,
	struct log *log, bool *ret_fails, struct err *err)
{
	struct shares shares = {a->profile, a->calls, &a->account, event, NULL, NULL};
	struct str said = {0}, name = {0};
	bool fails = assertion_holds(c, shares_value, &shares, &said);

	if (shares.unknown)
		log_note(log, "--fail-if '%s': nothing called '%s' was sampled", c->text,
			shares.unknown);
	if (fails && !shares.made_up) {
		str_add(&name, a->profile->events.n > 1 ? " for " : "");
		if (a->profile->events.n > 1)
			str_add_safe(&name, a->profile->events.at[event].name,
				strlen(a->profile->events.at[event].name));
		fprintf(stderr, "%s report: --fail-if '%s' is true%s: %s\n", program_name(),
			c->text, str_text(&name), str_text(&said));
	}
	str_fini(&name);
	str_fini(&said);
	*ret_fails |= fails;
	return shares.made_up
		? err_set(err, ERR_INVAL,
			  "--fail-if '%s': '%s' is a name that pace made from an address in a stripped file, and other builds have other names: use dso(NAME) for the whole file, or provide its debug symbols",
			  c->text, shares.made_up)
		: 0;
}

int answer_assertions(const struct answer *a, struct log *log, bool *ret_fails, struct err *err)
{
	*ret_fails = false;
	vec_each(c, &a->assertions)
		for (u32 event = 0; event < a->profile->events.n; event++)
			if ((a->profile->events.at[event].n_samples || a->profile->events.n == 1) &&
				check_assertion(a, c, event, log, ret_fails, err))
				return err->code;
	return 0;
}

bool answer_is_data(const struct answer_options *o)
{
	return form_is_data(form_chosen(&o->forms));
}

void answer_note_whole(struct answer *a, const struct session_tally *t)
{
	vec_each(e, &a->profile->events)
		a->has_groups |= e->n_group > 1;
	account_open(&a->account, t, a->profile);
	if (a->options->has_intervals)
		confidence_whole_init(&a->whole, a->profile);
}

void answer_note_filtered(struct answer *a)
{
	account_filter(&a->account, a->profile);
}

void answer_fini(struct answer *a)
{
	confidence_whole_fini(&a->whole);
	vec_each(c, &a->assertions)
		assertion_fini(c);
	vec_fini(&a->assertions);
	str_fini(&a->picture.said);
}

/* Counts which samples are in rows, and which rows are printed. */
static void account_for(struct account *a, const struct histrows *r)
{
	const struct hist *h = r->hist;
	u64 n_in_rows = 0, n_shown = 0;

	for (size_t row = 0; row < r->rows.n; row++) {
		u64 n = 0;

		for (u32 k = 0; k < hist_n_parts(h); k++)
			n += h->entries.at[row].of[k].self.n_samples;
		n_in_rows += n;
		n_shown += rowset_shows(&r->rows, row) ? n : 0;
	}
	account_rows(a, n_in_rows, n_shown);
}

/* Whether this event of wall-clock time is a column of the first event's table. */
static bool is_column(const struct answer *a, const struct form *form, u32 event)
{
	return a->text->is_wall && !report_wall_is_whole(event) &&
		!(form->wants & FORM_SPLITS_COLUMNS);
}

/* Whether a program asked for groups: without that, data has each event on its own. */
static bool is_group_data(const struct answer_options *o)
{
	return o->groups > 0 && answer_is_data(o);
}

/* How many events from this one on share a table; 0: it is in an earlier event's table. */
static u32 events_together(const struct answer *a, u32 event)
{
	const struct answer_options *o = a->options;

	if (!o->groups || a->text->is_wall || o->has_intervals ||
		((has_tree(o) || answer_is_data(o)) && !is_group_data(o)))
		return 1;
	if (a->has_groups || o->groups < 0)
		return a->profile->events.at[event].n_group;
	return event ? 0 : (u32)a->profile->events.n;
}

static bool has_samples(const struct answer *a, u32 event, u32 n)
{
	for (u32 i = event; i < event + n; i++)
		if (a->profile->events.at[i].n_samples)
			return true;
	return false;
}

/* Events without samples are listed only if there is nothing else to list. */
static bool is_left_out(const struct answer *a, u32 event, u32 n)
{
	return a->options->skips_empty && !has_samples(a, event, n) && a->profile->events.n > n &&
		a->profile->rows.n;
}

static void show_entries(struct answer *a, struct page *p, const struct hist *h)
{
	struct histrows rows;

	histrows_init(&rows, h, a->rows);
	if (!a->text->is_wall)
		account_for(&a->account, &rows);
	p->form->table(p, &rows.rows);
	histrows_fini(&rows);
}

static void show_levels(struct answer *a, struct page *p, const struct hist *h)
{
	struct hierrows rows;

	hierrows_init(&rows, h, a->rows);
	account_for(&a->account, &rows.flat);
	p->form->table(p, &rows.rows);
	hierrows_fini(&rows);
}

/* The entries of n events, with intervals if wanted. The two stay where they are until close_entries(). */
static void open_entries(struct answer *a, u32 event, u32 n, struct hist *hist,
	struct confidence *confidence)
{
	const u64 order = a->options->group_order;
	const struct hist_events events = a->text->is_wall && report_wall_is_whole(event)
		? hist_events_of_wall(AGGREGATE_LATENCY)
		: (struct hist_events){event, n, order < n ? (u32)order : 0};

	*confidence = (struct confidence){0};
	a->hist->has_row_groups = a->options->has_intervals || a->hist->has_history;
	hist_init_table(hist, a->profile, a->calls, &events, a->hist);
	if (a->options->has_intervals) {
		confidence_init(confidence, hist, &a->whole);
		hist->confidence = confidence;
	}
}

static void close_entries(struct hist *hist, struct confidence *confidence)
{
	confidence_fini(confidence);
	hist_fini(hist);
}

/* Hands the rows of n events to the page. */
static void show_rows(struct answer *a, struct page *p, u32 event, u32 n)
{
	struct confidence confidence;
	struct hist hist;

	open_entries(a, event, n, &hist, &confidence);
	if (a->options->is_hierarchy)
		show_levels(a, p, &hist);
	else
		show_entries(a, p, &hist);
	close_entries(&hist, &confidence);
}

/* 0: no groups were asked for. */
static u32 largest_group(const struct answer *a)
{
	u32 n = 0;

	for (u32 event = 0; is_group_data(a->options) && event < a->profile->events.n; event++)
		n = MAX(n, events_together(a, event));
	return n;
}

/* Whether a table of the form begins with this event; *ret_n: how many events share it. */
static bool begins_table(const struct answer *a, const struct form *form, u32 event, u32 *ret_n)
{
	*ret_n = events_together(a, event);
	return !is_column(a, form, event) && *ret_n &&
		!(form->wants & FORM_SKIPS_EMPTY && is_left_out(a, event, *ret_n));
}

static void show_tables(struct answer *a, struct page *p)
{
	u32 n;

	for (u32 event = 0; event < a->profile->events.n; event++)
		if (begins_table(a, p->form, event, &n))
			show_rows(a, p, event, n);
}

size_t answer_n_tables(const struct answer *a)
{
	size_t n_tables = 0;
	u32 n;

	for (u32 event = 0; event < a->profile->events.n; event++)
		n_tables += begins_table(a, &form_text, event, &n);
	return n_tables;
}

/* The first event of a table; *ret_n: how many it has. */
static u32 event_of_table(const struct answer *a, size_t table, u32 *ret_n)
{
	u32 event = 0;

	while (!begins_table(a, &form_text, event, ret_n) || table--)
		event++;
	return event;
}

void answer_add_table_name(const struct answer *a, size_t table, struct str *text)
{
	u64 n_samples = 0;
	u32 n;
	const u32 first = event_of_table(a, table, &n);

	for (u32 event = first; event < first + n; event++) {
		const struct profile_event *e = &a->profile->events.at[event];

		str_add(text, event > first ? ", " : "");
		str_add_safe(text, e->name, strlen(e->name));
		n_samples += e->n_samples;
	}
	str_add(text, "  ");
	num_add_grouped(text, n_samples);
	str_add(text, n_samples == 1 ? " sample" : " samples");
}

bool answer_is_side_by_side(const struct answer *a)
{
	u32 n;

	for (u32 event = 0; event < a->profile->events.n; event++)
		if (begins_table(a, &form_text, event, &n) && n > 1)
			return true;
	return false;
}

void answer_table_open(struct answer *a, size_t table, struct answer_table *t)
{
	u32 n;
	const u32 event = event_of_table(a, table, &n);

	open_entries(a, event, n, &t->hist, &t->confidence);
	histrows_init(&t->rows, &t->hist, a->rows);
}

void answer_table_close(struct answer_table *t)
{
	histrows_fini(&t->rows);
	close_entries(&t->hist, &t->confidence);
}

/* ---- trees ---- */

/* A tree shows all samples of its event. */
static void account_for_tree(struct answer *a, u32 event)
{
	u64 n = 0;

	vec_each(row, &a->profile->rows)
		n += row->event == event ? row->n_samples : 0;
	if (!a->text->is_wall)
		account_rows(&a->account, n, n);
}

static u64 lines_of(const struct answer_options *o)
{
	return o->budget ? o->budget : OUTLINE_LINES;
}

static void show_outline(struct page *p, const struct outline *o, u32 event, u32 node,
	bool has_others)
{
	struct outlinerows rows;

	outlinerows_init(&rows, o, event, node, has_others);
	p->form->table(p, &rows.rows);
	outlinerows_fini(&rows);
}

/*
 * Shows the rows and the tree of an event, or the tree alone. The rows are of n_together events; 0: an earlier event
 * has them.
 */
static void show_tree(struct answer *a, struct page *p, const struct outline *o, u32 event,
	u32 node, u32 n_together)
{
	const bool has_rows = p->form->wants & FORM_WANTS_TREE;

	if (!has_rows)
		account_for_tree(a, event);
	else if (n_together)
		show_rows(a, p, event, n_together);
	if (!has_rows ||
		(a->rows->has_graph && a->profile->has_stacks &&
			a->profile->events.at[event].n_samples))
		show_outline(p, o, event, node, n_together != 1);
}

static int show_trees(struct answer *a, struct page *p, struct err *err)
{
	const struct answer_options *opt = a->options;
	bool has_found = !opt->node;

	for (u32 event = 0; event < a->profile->events.n; event++) {
		const u32 n = events_together(a, event);
		struct outline o;
		u32 node = 0;

		if (is_column(a, p->form, event) ||
			(!has_samples(a, event, MAX(n, 1u)) && a->profile->events.n > 1))
			continue;
		outline_init(&o, a->profile, a->calls, event);
		if (!opt->node || !outline_find(&o, opt->node, &node, err)) {
			has_found = true;
			outline_cut(&o, node, lines_of(opt));
			show_tree(a, p, &o, event, node, n);
		}
		outline_fini(&o);
	}
	return has_found ? 0 : err->code;
}

/* Whether an event's stacks are shown: all are, unless one is asked for. */
static bool has_stacks_of(const struct answer *a, u32 event)
{
	const char *wanted = a->options->picture.event;

	return wanted ? !strcmp(a->profile->events.at[event].name, wanted)
		      : !is_left_out(a, event, 1);
}

static int unknown_event(const struct answer *a, struct err *err)
{
	struct str known = {0};

	vec_each(e, &a->profile->events)
		str_addf(&known, "%s'%s'", known.n ? ", " : "", e->name);
	err_set(err, ERR_INVAL, "-e '%.60s': there is no such event, but %.150s",
		a->options->picture.event, known.n ? str_text(&known) : "there are none");
	str_fini(&known);
	return err->code;
}

/* Shows all stacks, with a number for each event. */
static int show_stacks(struct answer *a, struct page *p, struct err *err)
{
	const struct profile *profile = a->profile;
	const unsigned wants = p->form->wants;
	struct stackrows stacks = {.is_one_recording = true,
		.are_imports = profile->is_imported,
		.timeline = wants & FORM_WANTS_TIMES ? profile->timeline : NULL,
		.detail = wants & FORM_WANTS_ADDRESSES ? STACKROWS_ADDRESSES
			: wants & FORM_WANTS_FUNCTIONS ? STACKROWS_FUNCTIONS
						       : STACKROWS_NAMES};
	u32 part = 0;

	for (u32 event = 0; event < profile->events.n; event++)
		if (has_stacks_of(a, event)) {
			stackrows_add_part(&stacks, profile->events.at[event].name,
				recorded_is_time(a->recorded, event));
			stacks.n_parts++;
		}
	for (u32 event = 0; event < profile->events.n; event++)
		if (has_stacks_of(a, event)) {
			account_for_tree(a, event);
			stackrows_add(&stacks, profile, a->calls, event, part++);
		}
	stackrows_finish(&stacks);
	if (part || !a->options->picture.event)
		p->form->table(p, &stacks.rows);
	stackrows_fini(&stacks);
	return part || !a->options->picture.event ? 0 : unknown_event(a, err);
}

/* What pages have besides stacks. */
static void add_documents(const struct answer *a, struct page_about *about)
{
	VEC(u32) events = {0};

	for (u32 event = 0; event < a->profile->events.n; event++)
		if (!is_left_out(a, event, 1))
			vec_add(&events, event);
	if (recorded_has_trace(a->recorded)) {
		report_events(a->recorded, about);
		report_code(a->recorded, a->symbols, events.at, events.n, about);
		report_types(a->recorded, events.at, events.n, about);
	}
	vec_fini(&events);
}

int answer_show(struct answer *a, struct out *out, struct err *err)
{
	struct page_about about = {0};
	struct chart chart;
	bool has_chart = false;
	const struct answer_options *o = a->options;
	const u32 n_parts = has_tree(o) && !(form_chosen(&o->forms)->wants & FORM_WANTS_TREE)
		? 0
		: largest_group(a);
	struct page p = {.form = form_chosen(&o->forms),
		.out = out,
		.text = a->text,
		.separator = o->forms.separator,
		.list = n_parts ? "groups" : "events",
		.n_lines = lines_of(o),
		.n_parts = n_parts,
		.width = term_is_terminal(out->fd) && !o->is_whole ? term_columns(out->fd) : 0,
		.version = VERSION,
		.about = &about,
		.picture = &a->picture,
		.has_others = a->profile->events.n > 1};
	int result = 0;

	a->picture.options = &o->picture;
	if (has_stacks(o))
		report_about(a->recorded, a->path, &about);
	if (p.form->wants & FORM_WANTS_CHART &&
		report_chart(a->recorded, a->path, &chart, &has_chart, err)) {
		page_about_fini(&about);
		return err->code;
	}
	p.chart = has_chart ? &chart : NULL;
	if (p.form->wants & FORM_WANTS_DOCUMENTS)
		add_documents(a, &about);
	page_begin(&p);
	if (has_stacks(o))
		result = show_stacks(a, &p, err);
	else if (has_tree(o))
		result = show_trees(a, &p, err);
	else
		show_tables(a, &p);
	account_close(&a->account);
	page_end(&p, a->text->is_wall ? NULL : &a->account);
	page_about_fini(&about);
	if (has_chart)
		chart_fini(&chart);
	return result;
}
