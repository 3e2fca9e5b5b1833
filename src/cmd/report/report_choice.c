#include "cmd/report/report_choice.h"

#include <string.h>
#include <unistd.h>

#include "cmd/report/report_import.h"
#include "cmd/report/report_wall.h"
#include "event/abi.h"
#include "profile/rows/key.h"
#include "profile/gather/label.h"
#include "profile/gather/matching.h"

#define DEFAULT_GRAPH_LIMIT 0.5 /* percent */

static void choose_graph(struct choice *c)
{
	const struct graph_options *g = &c->options->graph;

	c->rows.has_graph = keys_have_stacks(&c->keys) && !g->is_none && !c->keys.has_branches;
	c->rows.order = c->options->is_inverted ? GRAPH_CALLER
		: g->has_order                  ? g->order
		: c->hist.has_children          ? GRAPH_CALLER
						: GRAPH_CALLEE;
	c->text.n_workers = (unsigned)c->options->n_workers;
	c->text.has_colour = colour_is_on(c->options->colour, STDOUT_FILENO);
	/* With rows limited to a share, branches are limited to it too. */
	c->text.drawing = (struct drawing_options){
		.style = c->has_wall && !g->is_given ? DRAWING_FRACTAL : g->style,
		.value = g->value,
		.limit = g->limit >= 0 ? g->limit
				       : MAX(c->options->percent_limit, DEFAULT_GRAPH_LIMIT),
		.entries = g->entries,
		.skips_first_node = c->options->keys.sort && !c->options->keys.fields &&
			c->hist.n_keys && c->hist.keys[0]->frame == KEY_SYMBOL,
		.has_colour = c->text.has_colour};
	c->text.row_limit = c->rows.limit = c->options->percent_limit;
	c->rows.graph_limit =
		answer_is_data(&c->options->answer) || c->text.drawing.style == DRAWING_FRACTAL
		? 0
		: c->text.drawing.limit;
	c->hist.prefers_callers = c->rows.has_graph;
}

/* The time quantum that intervals are computed from: `confidence` joins quanta to larger blocks. */
static int choose_blocks(struct choice *c, struct err *err)
{
	enum { QUANTA = 256 };
	const struct file_info *info = &c->recorded->trace.session.reader.info;

	for (size_t i = 0; i < c->hist.n_keys; i++)
		if (c->hist.keys[i]->label == LABEL_TIME)
			return err_set(err, ERR_INVAL,
				"--ci: rows that are stretches of time have no intervals");
	if (which_check_field(&c->recorded->trace.session, "--ci", PERF_SAMPLE_TIME, "when", err))
		return err->code;
	c->time_quantum = info->has_times && info->last_time > info->first_time
		? (info->last_time - info->first_time) / QUANTA + 1
		: 10000000;
	return 0;
}

static int choose_parallelisms(struct choice *c, struct err *err)
{
	const char *list = c->options->parallelisms;

	if (list &&
		(cpus_parse(&c->filter.parallelisms, list, err) ||
			recorded_check_label(c->recorded, LABEL_PARALLELISM, err)))
		return err_prefix(err, "--parallelism");
	return 0;
}

static int choose_socket(struct choice *c, struct err *err)
{
	const struct session *s = &c->recorded->trace.session;

	c->filter.has_socket = c->options->socket != UINT64_MAX;
	c->filter.socket = (u32)c->options->socket;
	if (!c->filter.has_socket)
		return 0;
	if (label_check(s, LABEL_SOCKET, err))
		return err_prefix(err, "--socket-filter");
	return s->reader.info.host.cpus.n
		? 0
		: err_set(err, ERR_INVAL,
			  "--socket-filter: the recording does not say which CPUs its sockets have");
}

/* Sums need samples that are each in one row only. */
static int check_hierarchy(const struct choice *c, struct err *err)
{
	const struct report_options *o = c->options;

	if (!o->answer.is_hierarchy)
		return 0;
	if (o->keys.fields)
		return err_set(err, ERR_INVAL, "--hierarchy takes its levels from -s, not from -F");
	if (o->children > 0)
		return err_set(err, ERR_INVAL,
			"--hierarchy does not work with --children: samples of callees cannot be summed up");
	if (c->has_wall)
		return err_set(err, ERR_INVAL,
			"--hierarchy shows samples, not time on and off the CPU: add --no-wall");
	return 0;
}

static int choose_forgotten(struct choice *c, struct err *err)
{
	if (!c->options->forgotten)
		return 0;
	if (!keys_have_stacks(&c->keys) || c->keys.has_branches)
		return err_set(err, ERR_INVAL, "--ignore-callees: %s",
			c->keys.has_branches ? "branches have no callers: add --no-branch-stack"
					     : "the recording has no call chains: record with -g");
	if (matching_compile(&c->forgotten, c->options->forgotten, err))
		return err_prefix(err, "--ignore-callees");
	c->forgets = true;
	return 0;
}

/* -w: the widths of the table's columns, in order. */
static int choose_widths(struct choice *c, struct err *err)
{
	enum { WIDEST = 4096 };
	const char *p = c->options->widths;
	u64 width;

	if (!p)
		return 0;
	if (c->options->answer.is_hierarchy)
		return err_set(err, ERR_INVAL,
			"--column-widths does not work with --hierarchy, which has no column of its own for each key");
	for (size_t i = 0; *p && i < c->rows.n_columns; i++) {
		if (!num_scan(&p, 10, &width) || width > WIDEST || (*p && *p != ','))
			return err_set(err, ERR_INVAL,
				"--column-widths '%.60s': expected widths up to %d, like 10,0,20",
				c->options->widths, WIDEST);
		c->rows.widths[i] = (u16)width;
		p += *p == ',';
	}
	return 0;
}

/* Which samples, and which rows. */
static int choose_samples(struct choice *c, struct err *err)
{
	const struct report_options *o = c->options;
	const char *cpus = o->cpus;

	c->filter = o->filter;
	/* In diff -C takes names of threads. */
	if (cpus && !(*cpus >= '0' && *cpus <= '9')) {
		if (o->filter.comms)
			return err_set(err, ERR_INVAL,
				"-C '%.60s' is not a list of CPUs, and --comms names threads already",
				cpus);
		c->filter.comms = cpus;
		cpus = NULL;
	}
	if (which_choose(&c->which, cpus, o->time, &c->recorded->trace.session, err))
		return err->code;
	if (choose_socket(c, err) || choose_forgotten(c, err))
		return err->code;
	if (num_list_parse(&c->filter.pids, "--pid", o->pids, err) ||
		num_list_parse(&c->filter.tids, "--tid", o->tids, err) ||
		choose_parallelisms(c, err))
		return err->code;
	if (o->answer.has_intervals && choose_blocks(c, err))
		return err->code;
	c->hist.has_history = c->keys.has_history;
	c->hist.has_ns = o->has_ns;
	/* Profiles from elsewhere have no addresses, or others. */
	c->hist.is_verbose = o->verbose && recorded_has_trace(c->recorded) &&
		(form_chosen(&o->answer.forms) == &form_text ||
			form_chosen(&o->answer.forms) == &form_separated);
	c->hist.part = o->part;
	c->hist.is_relative = o->filter.is_relative;
	for (size_t i = 0; i < c->hist.n_keys; i++)
		if (c->hist.keys[i]->frame == KEY_SYMBOL)
			return 0;
	return o->part ? err_set(err, ERR_INVAL, "--symbol-filter needs rows by symbol") : 0;
}

/* Refuses options that do not work together. */
static int check_together(const struct choice *c, struct err *err)
{
	const struct report_options *o = c->options;

	if (c->has_wall && o->answer.has_intervals)
		return err_set(err, ERR_INVAL,
			"--ci shows samples, not time on and off the CPU: add --no-wall");
	if (c->has_wall &&
		(form_chosen(&o->answer.forms)->wants & (FORM_WANTS_STACKS | FORM_SHOWS_WALL)) ==
			FORM_WANTS_STACKS)
		return err_set(err, ERR_INVAL,
			"--format %s shows samples, not time on and off the CPU: add --no-wall",
			form_chosen(&o->answer.forms)->name);
	if (check_hierarchy(c, err))
		return err->code;
	if (o->keys.has_history &&
		(form_chosen(&o->answer.forms)->wants & (FORM_WANTS_TREE | FORM_WANTS_STACKS) ||
			o->answer.budget || o->answer.node))
		return err_set(err, ERR_INVAL,
			"--branch-history: the trees of --md, --budget and --node and folded stacks do not show branches; --json does");
	if (c->has_wall && (o->switching.on || o->switching.off))
		return err_set(err, ERR_INVAL,
			"--switch-on and --switch-off select samples, not time on and off the CPU: add --no-wall");
	if (o->has_thread_counts && answer_is_data(&o->answer))
		return err_set(err, ERR_INVAL,
			"-T works in text output only, not with --json, --csv, --md and -t");
	return 0;
}

/* Without callers the children column would repeat the self column. */
static bool shows_children(const struct choice *c)
{
	const struct report_options *o = c->options;

	if (c->keys.has_branches || o->answer.is_hierarchy || !keys_have_stacks(&c->keys))
		return false;
	/* In Markdown the tree below the rows has the callers. */
	return o->children < 0
		? !c->has_wall && !(form_chosen(&o->answer.forms)->wants & FORM_WANTS_TREE)
		: o->children;
}

int choice_make(struct choice *c, const struct report_options *o, struct recorded *in,
	struct err *err)
{
	*c = (struct choice){.options = o, .recorded = in, .time_quantum = o->time_quantum};
	if (report_import_check(in, o, err) ||
		report_wall_choose(&in->trace.session, o->wall, &c->has_wall, err) ||
		check_together(c, err) || keys_init(&c->keys, &o->keys, in, c->has_wall, err))
		return err->code;
	c->text.is_wall = c->has_wall;
	c->text.is_bare = o->is_quiet;
	c->hist.has_children = shows_children(c);
	if (keys_choose(&c->keys, &c->hist, &c->rows, err) || choose_widths(c, err) ||
		choose_samples(c, err) || report_wall_check_columns(&c->rows, c->has_wall, err))
		return err->code;
	choose_graph(c);
	return 0;
}

void choice_tell(const struct choice *c, const struct answer *a, struct recorded_options *reading)
{
	const struct report_options *o = c->options;

	*reading = (struct recorded_options){.has_stacks = keys_have_stacks(&c->keys) &&
			/* The reason for a wait is found on the way out of the scheduler. */
			(c->hist.has_children || c->rows.has_graph || c->has_wall || c->forgets ||
				answer_needs_stacks(a)),
		.max_stack = (u32)o->max_stack,
		.n_workers = (unsigned)o->n_workers,
		.has_wall = c->has_wall,
		.labels = profile_filter_labels(&c->filter) | answer_labels(a),
		.cpus = &c->which.cpus,
		.spans = &c->which.spans,
		.switching = &o->switching,
		.time_quantum = c->time_quantum,
		.timeline_most = answer_timeline(a),
		.naming = {.style = symbol_options_style(&o->symbols, o->verbose),
			.has_full_paths = o->has_full_paths}};
	keys_tell(&c->keys, &c->hist, reading);
	reading->naming.has_inlined = reading->has_stacks && !reading->naming.source && o->inlines;
	reading->naming.has_sites = answer_needs_lines(a) && !reading->naming.source;
	symbol_options_tell(&o->symbols, o->debuginfod_s, reading);
	reading->trace.stitches = o->stitches;
	reading->has_multiplexing = answer_wants_documents(a);
	/* Unless they were asked for anyway. Time on and off the CPU is not of instructions. */
	if (answer_wants_documents(a) && !c->has_wall && recorded_has_trace(c->recorded) &&
		!(reading->labels & LABEL_BIT(LABEL_ACCESS))) {
		reading->labels |= LABEL_BIT(LABEL_ACCESS);
		reading->may_lack_types = true;
	}
}

void choice_fini(struct choice *c)
{
	if (c->forgets)
		regfree(&c->forgotten);
	profile_filter_fini(&c->filter);
	which_fini(&c->which);
	keys_fini(&c->keys);
}
