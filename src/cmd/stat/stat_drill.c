/*
 * stat_drill.c - 'pace stat --topdown --drill': counts branch after branch, each time the one that dominates.
 *
 * A command is run again for each step, some times; processes and the system are measured in consecutive intervals.
 */
#include <math.h>
#include <string.h>

#include "cmd/stat/measuring.h"
#include "cmd/stat/stat_drilltables.h"
#include "profile/diff/slots.h"
#include "view/stat/stat_drill.h"

enum { RUNS = 5, INTERVALS = 20, INTERVAL_MS = 100, DEPTH_MAX = 12 };

struct stat_drilling {
	struct measuring *m;
	struct stat_command options; /* of one step */
	struct stat_drill found;
	struct drill_step
		*step; /* the one that is measured; NULL: the first one's kinds of cores, below */
	u32 core, parent;
	double *times;             /* of the first step: by kind of core, how long it counted */
	struct drill_step *firsts; /* by kind of core */
	bool is_by_intervals;
	struct drill_tables tables; /* below pace's own tree */
	bool is_of_tables;          /* the step that is measured */
	struct str command;
};

/* ---- one measurement ---- */

static void take_core(struct stat_drilling *d, struct drill_step *step, u32 core,
	const struct count *counts)
{
	const struct tma *t = &d->m->topdown.cores.at[core];
	struct slots s;

	slots_of(&s, &d->m->topdown, core, counts);
	for (u32 i = tma_child(t, d->parent, TMA_NONE); i != TMA_NONE;
		i = tma_child(t, d->parent, i))
		drill_add(step, t->family->nodes[i].name, i, s.share[i], s.is_notable[i]);
}

/* Adds the counts of the last run or interval, which took `ns`. */
static void take(struct stat_drilling *d, double ns)
{
	const struct tma_plan *p = &d->m->topdown;
	struct count *counts = mem_alloc((d->m->events.n + 1) * sizeof(*counts));

	slots_take(&d->m->counts, 0, true, counts);
	if (d->is_of_tables)
		drill_tables_take(&d->tables, &d->m->events, counts, ns, d->step);
	for (u32 core = 0; core < p->cores.n && !d->is_of_tables; core++) {
		if (d->step && core != d->core)
			continue;
		take_core(d, d->step ? d->step : &d->firsts[core], core, counts);
		vec_each(g, &p->groups)
			if (g->core == core && g->parent == TMA_NONE)
				d->times[core] += (double)counts[g->first].running_ns;
	}
	mem_free(counts);
}

void stat_drill_interval(struct stat_drilling *d, double ns)
{
	/* What is left after the last whole interval says little. */
	if (d->is_by_intervals && ns > 1e6 * (double)d->options.interval_ms / 2)
		take(d, ns);
}

/* ---- one step ---- */

/* Makes the events of the plan's groups, or of a table's metrics, those of the measurement. */
static int begin_step(struct stat_drilling *d, struct err *err)
{
	struct measuring *m = d->m;

	counting_close(&m->counting);
	counts_fini(&m->counts);
	event_list_fini(&m->events);
	memset(&m->events, 0, sizeof(m->events));
	m->has_topdown = !d->is_of_tables;
	if (d->is_of_tables
			? drill_tables_count(&d->tables, d->step->parent, &m->events, &m->log, err)
			: stat_topdown_parse(m, err))
		return err->code;
	vec_each(e, &m->events)
		e->attr.flags |= stat_excluded(m->options);
	counts_init(&m->counts, &m->events, COUNTS_ALL);
	m->counts.is_unscaled = m->options->no_scale;
	return 0;
}

static int measure(struct stat_drilling *d, enum run_end *ret_end, int *ret_status, struct err *err)
{
	struct measuring *m = d->m;
	u64 n = d->is_by_intervals ? 1 : m->n_runs;

	*ret_end = RUN_TARGET_ENDED;
	for (u64 i = 0; i < n && *ret_end != RUN_SIGNAL; i++) {
		if (stat_run_once(m, ret_end, err))
			return err->code;
		if (!d->is_by_intervals && *ret_end != RUN_SIGNAL)
			take(d, m->counts.elapsed_ns.mean);
		if (*ret_end == RUN_TARGET_ENDED && m->has_workload)
			*ret_status = workload_exit_status(&m->workload);
		if (m->has_workload)
			stat_end_workload(m, *ret_end);
	}
	return 0;
}

/* The kind of core where most time was counted; its first step becomes the drill-down's. */
static void choose_core(struct stat_drilling *d)
{
	const struct tma_plan *p = &d->m->topdown;
	double all = 0;

	for (u32 i = 0; i < p->cores.n; i++) {
		all += d->times[i];
		if (d->times[i] > d->times[d->core])
			d->core = i;
	}
	d->found.pmu = p->cores.at[d->core].pmu;
	d->found.family = p->cores.at[d->core].family->name;
	if (p->cores.n > 1 && all > 0)
		log_note(&d->m->log, "%.0f %% of the time was counted on %s, which is followed",
			100 * d->times[d->core] / all, d->found.pmu);
	for (u32 i = 0; i < p->cores.n; i++)
		if (i != d->core)
			drill_step_fini(&d->firsts[i]);
	vec_add(&d->found.steps, d->firsts[d->core]);
}

static void print_step(struct stat_drilling *d)
{
	struct measuring *m = d->m;

	if (!form_is_data(m->print.form) && !d->options.is_quiet)
		stat_drill_add_step(&d->found, d->found.steps.n - 1, &m->out.text);
	out_flush(&m->out);
}

/* ---- the end ---- */

static bool add_command_of_node(const struct stat_drilling *d, u32 node, struct str *text)
{
	const struct tma *t = &d->m->topdown.cores.at[d->core];

	tma_add_command(t, node, text);
	return t->family->nodes[node].sample;
}

static bool add_command_of_row(const struct stat_drilling *d, const struct metric_row *row,
	struct str *text)
{
	str_add(text, "record -e ");
	return drill_tables_add_sample(&d->tables, row, text);
}

/* The branch that is followed is the leaf, until a step goes on below it. One that nothing samples leaves its parent's command. */
static void take_leaf(struct stat_drilling *d, const struct drill_branch *b)
{
	const struct metric_row *row = drill_tables_row(&d->tables, b->name);
	const struct tma_node *nodes = d->m->topdown.cores.at[d->core].family->nodes;
	const bool is_node = b->node != DRILL_NONE;
	struct str command = {0};

	d->found.leaf = b->name;
	d->found.means = is_node ? nodes[b->node].means : row ? row->brief : NULL;
	d->found.todo = is_node ? nodes[b->node].todo : NULL;
	str_add(&command, "pace ");
	if (is_node ? add_command_of_node(d, b->node, &command)
		    : row && add_command_of_row(d, row, &command)) {
		stat_add_target(d->m, &command);
		str_fini(&d->command);
		d->command = command;
		d->found.command = str_text(&d->command);
		d->found.sampled = b->name;
		return;
	}
	str_fini(&command);
}

static void print_end(struct stat_drilling *d)
{
	struct measuring *m = d->m;
	struct rowmaker rows = {0};
	bool has_head = false;

	if (d->options.is_quiet)
		return;
	if (form_is_data(m->print.form)) {
		stat_drill_rows(&d->found, &rows);
		stat_add_table(&m->print, &rows, &has_head, &m->out.text);
		rowmaker_fini(&rows);
	} else {
		stat_drill_add_end(&d->found, &m->out.text);
	}
	out_flush(&m->out);
}

/* ---- all steps ---- */

static int first_step(struct stat_drilling *d, enum run_end *end, int *ret_status, struct err *err)
{
	tma_plan_level(&d->m->topdown, 1);
	d->parent = TMA_NONE;
	if (begin_step(d, err) || measure(d, end, ret_status, err))
		return err->code;
	choose_core(d);
	return drill_tables_open(&d->tables, d->options.events.folder, d->found.pmu,
		d->m->target.is_system_wide, &d->m->log, err);
}

/* Whether there are branches below one, and in which tree. */
static bool goes_on(struct stat_drilling *d, const struct drill_branch *b)
{
	const struct tma *t = &d->m->topdown.cores.at[d->core];

	d->is_of_tables = b->node == DRILL_NONE || tma_child(t, b->node, TMA_NONE) == TMA_NONE;
	return !d->is_of_tables || drill_tables_have(&d->tables, b->name);
}

static int next_step(struct stat_drilling *d, const struct drill_branch *b, enum run_end *end,
	int *ret_status, struct err *err)
{
	const struct drill_branch parent = *b;

	vec_add(&d->found.steps, ((struct drill_step){.parent = parent.name}));
	d->step = &d->found.steps.at[d->found.steps.n - 1];
	d->parent = parent.node;
	if (!d->is_of_tables)
		tma_plan_branch(&d->m->topdown, d->core, parent.node);
	return begin_step(d, err) || measure(d, end, ret_status, err) ? err->code : 0;
}

/* A step that leads nowhere is shown if it has counted something. */
static void end_without_branch(struct stat_drilling *d, const struct drill_step *step,
	enum run_end end)
{
	if (end == RUN_SIGNAL)
		d->found.ended = "it was interrupted";
	else if (step->branches.n)
		d->found.ended = "none of its parts is above 0";
	else if (step->parent)
		d->found.ended = "nothing was counted any more";
	else if (d->is_by_intervals && end == RUN_TARGET_ENDED)
		d->found.ended = "what is measured ended before the first interval did; "
				 "a command is run several times without -I";
	if (step->branches.n)
		print_step(d);
	else
		d->found.steps.n -= d->found.steps.n > 1;
}

/* Follows the tree until a leaf, or until there is nothing to measure any more. */
static int follow(struct stat_drilling *d, enum run_end *end, int *ret_status, struct err *err)
{
	int r = first_step(d, end, ret_status, err);

	while (!r) {
		struct drill_step *step = &d->found.steps.at[d->found.steps.n - 1];
		const struct drill_branch *best;

		drill_decide(step);
		if (step->best == DRILL_NONE) {
			end_without_branch(d, step, *end);
			return 0;
		}
		print_step(d);
		best = &step->branches.at[step->best];
		take_leaf(d, best);
		if (*end == RUN_SIGNAL) {
			d->found.ended = "it was interrupted";
			return 0;
		}
		if (d->found.steps.n >= DEPTH_MAX || !goes_on(d, best))
			return 0;
		r = next_step(d, best, end, ret_status, err);
	}
	/* What was found until the processes ended is worth its end. */
	if (d->found.leaf) {
		d->found.ended = err->msg;
		drill_step_fini(&d->found.steps.at[--d->found.steps.n]);
	}
	return r;
}

static void choose_measurements(struct stat_drilling *d)
{
	struct measuring *m = d->m;
	struct stat_command *o = &d->options;

	d->is_by_intervals = o->interval_ms || !m->command;
	if (!d->is_by_intervals && !o->repeat)
		m->n_runs = RUNS;
	if (d->is_by_intervals && !o->interval_ms)
		o->interval_ms = INTERVAL_MS;
	if (d->is_by_intervals && !o->interval_count)
		o->interval_count = INTERVALS;
	d->found.unit = d->is_by_intervals ? "interval" : "run";
}

int run_stat_drill(struct measuring *m, int *ret_status, struct err *err)
{
	u32 n = (u32)m->topdown.cores.n;
	struct stat_drilling d = {.m = m, .options = *m->options, .found.what = m->facts.what};
	enum run_end end = RUN_TARGET_ENDED;
	const struct stat_command *before = m->options;
	int r;

	choose_measurements(&d);
	d.times = mem_zalloc(n * sizeof(*d.times));
	d.firsts = mem_zalloc(n * sizeof(*d.firsts));
	m->options = &d.options;
	m->drilling = &d;
	stat_open_init(m);
	r = follow(&d, &end, ret_status, err);
	if (!r || d.found.leaf)
		print_end(&d);
	if (!r && end == RUN_SIGNAL)
		*ret_status = 128 + m->stop.signal;
	for (u32 i = 0; i < n && !d.found.steps.n; i++)
		drill_step_fini(&d.firsts[i]);
	vec_each(s, &d.found.steps)
		drill_step_fini(s);
	vec_fini(&d.found.steps);
	str_fini(&d.command);
	drill_tables_close(&d.tables);
	mem_free(d.times);
	mem_free(d.firsts);
	m->drilling = NULL;
	m->options = before;
	return r;
}
