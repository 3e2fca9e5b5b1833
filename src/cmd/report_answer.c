#include "cmd/report_answer.h"

#include <stdio.h>

#include "base/json.h"
#include "cmd/report_wall.h"
#include "profile/beside.h"
#include "profile/shares.h"
#include "view/hierarchy.h"
#include "view/cuttree.h"
#include "view/markdown.h"

static int check(const struct answer_options *o, struct err *err)
{
	if (o->is_json + o->is_csv + o->is_markdown + (o->separator != NULL) > 1)
		return err_set(err, ERR_INVAL, "--json, --csv, --md and -t are forms: choose one");
	if ((o->budget || o->node) && (o->is_csv || o->separator))
		return err_set(err, ERR_INVAL,
			"--budget and --node show a tree: as text, with --md or with --json");
	if (o->is_hierarchy && (answer_is_data(o) || o->budget || o->node || o->has_intervals))
		return err_set(err, ERR_INVAL,
			"--hierarchy: rows below rows are for the text with its plain columns; without it, rows of --json, --csv, --md and -t have all keys");
	if (o->groups > 0 && ((o->budget && !o->is_markdown) || o->node || o->has_intervals))
		return err_set(err, ERR_INVAL,
			"--group: several events in one table have neither a tree nor intervals: not with --budget (but with --md), --node and --ci");
	if (o->separator && !*o->separator)
		return err_set(err, ERR_INVAL, "-t: a separator is needed");
	return 0;
}

int answer_open(struct answer *a, const struct answer_options *o, struct err *err)
{
	memset(a, 0, sizeof(*a));
	a->options = o;
	for (size_t i = 0; i < o->claims.n; i++) {
		struct claim claim;

		if (claim_parse(&claim, o->claims.at[i], err))
			return err_prefix(err, "--fail-if");
		vec_add(&a->claims, claim);
	}
	return check(o, err);
}

static bool has_tree(const struct answer_options *o)
{
	return o->is_markdown || o->budget || o->node;
}

u64 answer_labels(const struct answer *a)
{
	u64 labels = a->options->has_intervals ? LABEL_BIT(LABEL_TIME) : 0;

	vec_each(c, &a->claims)
		labels |= c->words & 1u << CLAIM_COMM ? LABEL_BIT(LABEL_COMM) : 0;
	return labels;
}

bool answer_needs_stacks(const struct answer *a)
{
	vec_each(c, &a->claims)
		if (c->words & 1u << CLAIM_CHILDREN)
			return true;
	return has_tree(a->options);
}

/* One claim about one event; of several events the message says of which. */
static int check_claim(const struct answer *a, const struct claim *c, u32 event, struct log *log,
	bool *ret_fails, struct err *err)
{
	struct shares shares = {a->profile, a->calls, &a->account, event, NULL, NULL};
	struct str said = {0};
	bool fails = claim_holds(c, shares_value, &shares, &said);

	if (shares.unknown)
		log_note(log, "--fail-if '%s': nothing that is called '%s' was sampled", c->text,
			shares.unknown);
	if (fails && !shares.made_up)
		fprintf(stderr, "pace report: --fail-if '%s': it is so%s%s: %s\n", c->text,
			a->profile->events.n > 1 ? ", of " : "",
			a->profile->events.n > 1 ? a->profile->events.at[event].name : "",
			str_text(&said));
	str_fini(&said);
	*ret_fails |= fails;
	return shares.made_up
		? err_set(err, ERR_INVAL,
			  "--fail-if '%s': '%s' is made up after where a function of a stripped file begins, and another build has other names: ask for its file with dso(NAME), or give its debug symbols",
			  c->text, shares.made_up)
		: 0;
}

int answer_claims(const struct answer *a, struct log *log, bool *ret_fails, struct err *err)
{
	*ret_fails = false;
	vec_each(c, &a->claims)
		for (u32 event = 0; event < a->profile->events.n; event++)
			if ((a->profile->events.at[event].n_samples || a->profile->events.n == 1) &&
				check_claim(a, c, event, log, ret_fails, err))
				return err->code;
	return 0;
}

bool answer_is_data(const struct answer_options *o)
{
	return o->is_json || o->is_csv || o->is_markdown || o->separator;
}

void answer_note_whole(struct answer *a, const struct session_tally *t)
{
	account_open(&a->account, t, a->profile);
	if (a->options->has_intervals)
		certainty_whole_init(&a->whole, a->profile);
}

void answer_note_filtered(struct answer *a)
{
	account_filter(&a->account, a->profile);
}

void answer_fini(struct answer *a)
{
	certainty_whole_fini(&a->whole);
	vec_each(c, &a->claims)
		claim_fini(c);
	vec_fini(&a->claims);
}

/* What of the samples rows are printed of. */
static void account_for(struct account *a, const struct hist *h, const struct text_options *t)
{
	u64 n_in_rows = 0, n_shown = 0;

	vec_each(e, &h->entries) {
		u64 n = e->self.n_samples;

		if (h->is_together)
			vec_each(b, &h->beside)
				n += beside_entry(h, b, e)->self.n_samples;
		n_in_rows += n;
		n_shown += text_shows(h, e, t) ? n : 0;
	}
	account_rows(a, n_in_rows, n_shown);
}

/* Of wall-clock time the other events are columns of the first, where there are columns. */
static bool is_column(const struct answer *a, u32 event)
{
	return a->text->is_wall && !report_wall_is_whole(event) && !a->options->is_json &&
		!a->options->is_csv;
}

/* Of what is not the text: each event is on its own unless groups are asked for. */
static bool is_group_data(const struct answer_options *o)
{
	return o->groups > 0 && answer_is_data(o);
}

/* How many events from this one on share a table; 0: it is in the one of those before. */
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

/* Events without samples say so only where they are all there is to say. */
static bool is_left_out(const struct answer *a, u32 event, u32 n)
{
	return a->options->skips_empty && !has_samples(a, event, n) && a->profile->events.n > n &&
		a->profile->rows.n;
}

/* The rows of n events, with their intervals if these are wanted. */
static void rows_init(struct hist *h, struct certainty *c, struct answer *a, u32 event, u32 n)
{
	memset(c, 0, sizeof(*c));
	a->hist->has_row_groups = a->options->has_intervals || a->hist->has_history;
	hist_init(h, a->profile, a->calls, event, a->hist);
	if (n > 1)
		beside_gather(h, n, (u32)a->options->group_order);
	if (!a->text->is_wall)
		account_for(&a->account, h, a->text);
	if (a->text->is_wall && report_wall_is_whole(event))
		report_wall_join(h);
	if (!a->options->has_intervals)
		return;
	certainty_init(c, h, &a->whole);
	h->certainty = c;
}

static void rows_fini(struct hist *h, struct certainty *c)
{
	certainty_fini(c);
	hist_fini(h);
}

/* 0: programs did not ask for groups. */
static u32 largest_group(const struct answer *a)
{
	u32 n = 0;

	for (u32 event = 0; is_group_data(a->options) && event < a->profile->events.n; event++)
		n = MAX(n, events_together(a, event));
	return n;
}

static void show_data(struct answer *a, struct out *out)
{
	const struct export_options o = {a->options->is_json ? EXPORT_JSON
			: a->options->is_csv                 ? EXPORT_CSV
							     : EXPORT_SEPARATED,
		a->options->separator, largest_group(a), a->options->has_intervals};

	export_begin(out, &o, a->text, a->hist);
	for (u32 event = 0; event < a->profile->events.n; event++) {
		const u32 n = events_together(a, event);
		struct certainty certainty;
		struct hist hist;

		if (is_column(a, event) || !n ||
			(o.form == EXPORT_SEPARATED && is_left_out(a, event, n)))
			continue;
		rows_init(&hist, &certainty, a, event, n);
		export_add(out, &hist, &o, a->text);
		rows_fini(&hist, &certainty);
	}
	account_close(&a->account);
	export_end(out, &o, a->text->is_wall ? NULL : &a->account);
}

static void add_legend(const struct hist *h, struct str *text)
{
	u32 n = h->certainty->n_blocks;

	if (!h->entries.n)
		return;
	if (n < CERTAINTY_BLOCKS_MIN)
		str_add(text,
			"\n# Too few samples to see how they depend on each other: intervals are those of independent ones.");
	str_addf(text,
		"\n# Intervals hold the true share with 95%%, judged by %u stretches of time; ~: whether the row belongs before the next one is not decided.\n",
		n);
}

static void show_text(struct answer *a, struct out *out)
{
	for (u32 event = 0; event < a->profile->events.n; event++) {
		const u32 n = events_together(a, event);
		struct certainty certainty;
		struct hist hist;

		if (is_column(a, event) || !n)
			continue;
		if (is_left_out(a, event, n))
			continue;
		rows_init(&hist, &certainty, a, event, n);
		if (a->options->is_hierarchy)
			hierarchy_report(out, &hist, a->text);
		else
			text_report(out, &hist, a->text);
		if (hist.certainty && !a->text->is_bare)
			add_legend(&hist, &out->text);
		str_add(&out->text, "\n\n");
		rows_fini(&hist, &certainty);
	}
}

/* ---- trees ---- */

/* Of an event with the same stacks everything is in some line. */
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

/* The tree of an event; the table before it has n_together, none if another event's has it too. */
static void show_markdown(struct answer *a, const struct outline *o, u32 event, u32 n_together,
	struct out *out)
{
	const struct profile_event *e = &a->profile->events.at[event];
	struct certainty certainty;
	struct hist hist;

	if (n_together) {
		rows_init(&hist, &certainty, a, event, n_together);
		markdown_add_table(&hist, a->text, lines_of(a->options), &out->text);
		rows_fini(&hist, &certainty);
	}
	if (a->text->has_graph && a->profile->has_stacks && e->n_samples)
		markdown_add_tree(o, n_together == 1 ? NULL : e->name, &out->text);
}

static void show_tree(struct answer *a, const struct outline *o, u32 event, u32 node,
	struct out *out)
{
	const struct profile_event *e = &a->profile->events.at[event];
	struct str *text = &out->text;

	account_for_tree(a, event);
	if (a->options->is_json) {
		str_addc(text, '{');
		json_text(text, "event", e->name);
		json_u64(text, "samples", e->n_samples);
		json_u64(text, "period", e->period);
		json_u64(text, "lost", e->n_lost);
		cuttree_add_json(o, text);
		json_end(text, '}');
		str_addc(text, ',');
		return;
	}
	if (!a->text->is_bare)
		text_add_event(e, e->n_samples, e->period, text);
	if (node)
		cuttree_add_node(o, node, text);
	cuttree_add_text(o, text);
	str_add(text, "\n\n");
}

/* Without the '#', which makes headings. */
static void add_account_line(const struct answer *a, struct str *text)
{
	struct str line = {0};

	account_add_text(&a->account, &line);
	str_add(text, str_text(&line) + strspn(str_text(&line), "# "));
	str_fini(&line);
}

static int show_trees(struct answer *a, struct out *out, struct err *err)
{
	const struct answer_options *opt = a->options;
	const struct export_options form = {.form = EXPORT_JSON};
	bool has_found = !opt->node;

	if (opt->is_json)
		export_begin(out, &form, a->text, a->hist);
	for (u32 event = 0; event < a->profile->events.n; event++) {
		const u32 n = events_together(a, event);
		struct outline o;
		u32 node = 0;

		if (is_column(a, event) ||
			(!has_samples(a, event, MAX(n, 1u)) && a->profile->events.n > 1))
			continue;
		outline_init(&o, a->profile, a->calls, event);
		if (!opt->node || !outline_find(&o, opt->node, &node, err)) {
			has_found = true;
			outline_cut(&o, node, lines_of(opt));
			if (opt->is_markdown)
				show_markdown(a, &o, event, n, out);
			else
				show_tree(a, &o, event, node, out);
		}
		outline_fini(&o);
	}
	account_close(&a->account);
	if (opt->is_markdown && !a->text->is_wall)
		add_account_line(a, &out->text);
	if (opt->is_json)
		export_end(out, &form, a->text->is_wall ? NULL : &a->account);
	return has_found ? 0 : err->code;
}

int answer_show(struct answer *a, struct out *out, struct err *err)
{
	vec_each(e, &a->profile->events)
		a->has_groups |= e->n_group > 1;
	if (has_tree(a->options))
		return show_trees(a, out, err);
	if (answer_is_data(a->options))
		show_data(a, out);
	else
		show_text(a, out);
	account_close(&a->account);
	return 0;
}
