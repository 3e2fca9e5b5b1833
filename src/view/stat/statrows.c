/*
 * statrows.c - counts as a table of cells, for programs: a row for each event in each place, with its metrics
 * below it; or flat: a row for each metric, and the times of the measurement as if they were events. The names
 * are in pace-stat(1).
 */
#include "profile/rows/rowmaker.h"
#include "view/stat/stat.h"

static void add_count(struct rowmaker *m, const char *name, bool is_known, u64 n)
{
	if (is_known)
		rowmaker_u64(m, name, n);
	else
		rowmaker_text(m, name, NULL);
}

static void add_metrics(struct rowmaker *m, const struct stat_line *l)
{
	struct rowmaker *below = rowmaker_below(m, "metrics", ROWMAKER_ROWS);

	for (unsigned i = 0; i < l->n_metrics; i++) {
		const struct metric *k = &l->metrics[i];

		rowmaker_row(below);
		rowmaker_note(below, "name", k->name);
		rowmaker_fixed(below, "value", rowmaker_known(k->state == METRIC_VALUE, k->value),
			6);
		rowmaker_text(below, "unit", k->unit);
		rowmaker_bool(below, "is_percent", k->is_percent);
		if (k->name)
			rowmaker_fixed(below, "error",
				rowmaker_known(k->state == METRIC_VALUE, k->error), 6);
		rowmaker_note(below, "verdict", stat_verdict_name(k->verdict));
		rowmaker_note(below, "reason", stat_metric_reason(k));
	}
}

/* k: NULL: the line has no metric. */
static void add_metric(struct rowmaker *m, const struct metric *k, bool has_names,
	const char *reason)
{
	const bool has_value = k && k->state == METRIC_VALUE;
	struct str unit = {0};

	if (k)
		str_addf(&unit, "%s%s", k->is_percent ? "% " : "", k->unit);
	rowmaker_fixed(m, "metric", has_value ? k->value : NAN, 6);
	rowmaker_note(m, "metric_unit", rowmaker_copy(m, str_text(&unit)));
	rowmaker_note(m, "reason", !reason && k ? stat_metric_reason(k) : reason);
	if (has_names) {
		rowmaker_note(m, "metric_name", k ? k->name : NULL);
		rowmaker_fixed(m, "metric_error", has_value && k->name ? k->error : NAN, 6);
		rowmaker_note(m, "metric_verdict", k ? stat_verdict_name(k->verdict) : NULL);
	}
	str_fini(&unit);
}

static void add_line(struct rowmaker *m, const struct stat_view *v, const struct stat_line *l,
	u64 time_ns)
{
	const bool is_counted = l->state == COUNT_OK;
	struct cell *time = rowmaker_add(m, "time_s");

	if (time_ns != UINT64_MAX)
		cell_real(time, (double)time_ns / 1e9, 9);
	rowmaker_note(m, "place", l->place->name);
	rowmaker_u64(m, "counters", l->place->n_counters);
	rowmaker_text(m, "event", l->event->name);
	rowmaker_note(m, "cgroup", l->event->cgroup ? stat_cgroup(l->event) : NULL);
	rowmaker_text(m, "state", stat_state_name(l->state));
	rowmaker_fixed(m, "value", rowmaker_known(is_counted, l->count.value), stat_digits(v, l));
	rowmaker_text(m, "unit", counts_unit(l->event));
	add_count(m, "raw", is_counted, l->count.raw);
	rowmaker_u64(m, "enabled_ns", l->count.enabled_ns);
	rowmaker_u64(m, "running_ns", l->count.running_ns);
	rowmaker_fixed(m, "running_pct",
		rowmaker_known(l->state != COUNT_NOT_OPENED, 100 * count_share(&l->count)), 2);
	rowmaker_fixed(m, "scaling_error_pct",
		rowmaker_known(l->scaling_error >= 0, 100 * l->scaling_error), 2);
	rowmaker_fixed(m, "deviation_pct", rowmaker_known(l->deviation >= 0, 100 * l->deviation),
		2);
}

static void add_time(struct rowmaker *m, const char *name, const struct variance *ns,
	const char *ended)
{
	rowmaker_row(m);
	rowmaker_text(m, "event", name);
	rowmaker_text(m, "state", ended ? "incomplete" : "counted");
	rowmaker_fixed(m, "value", ns->mean / 1e9, 9);
	rowmaker_text(m, "unit", "seconds");
	rowmaker_fixed(m, "deviation_pct",
		rowmaker_known(ns->n > 1 && ns->mean > 0, 100 * variance_error(ns) / ns->mean), 2);
	rowmaker_note(m, "reason", ended);
}

static void add_usage(struct rowmaker *m, const struct counts *s, const struct stat_facts *facts)
{
	const bool has_rss = facts->max_rss_kb > facts->own_rss_kb;

	rowmaker_fixed(m, "user_s", s->user_ns.mean / 1e9, 9);
	rowmaker_fixed(m, "sys_s", s->system_ns.mean / 1e9, 9);
	add_count(m, "max_rss_bytes", has_rss, facts->max_rss_kb * 1024);
	rowmaker_u64(m, "blocks_read", facts->n_blocks_in);
	rowmaker_u64(m, "blocks_written", facts->n_blocks_out);
	rowmaker_u64(m, "voluntary_switches", facts->n_waits);
	rowmaker_u64(m, "involuntary_switches", facts->n_preempted);
	rowmaker_fixed(m, "queue_s",
		rowmaker_known(facts->queue_ns != UINT64_MAX, (double)facts->queue_ns / 1e9), 9);
}

/* Adds what was measured and how it ended. */
static void add_run(struct rowmaker *m, const struct counts *s, const struct stat_facts *facts)
{
	const struct variance *elapsed = &s->elapsed_ns;

	rowmaker_row(m);
	rowmaker_text(m, "kind", "run");
	rowmaker_text(m, "what", facts->what);
	rowmaker_u64(m, "runs", s->n_runs);
	rowmaker_bool(m, "is_complete", !facts->ended);
	rowmaker_note(m, "ended_by", facts->ended);
	rowmaker_fixed(m, "elapsed_s", elapsed->mean / 1e9, 9);
	if (elapsed->n > 1 && elapsed->mean > 0)
		rowmaker_fixed(m, "elapsed_deviation_pct",
			100 * variance_error(elapsed) / elapsed->mean, 2);
	if (facts->runs_ns) {
		struct rowmaker *runs = rowmaker_below(m, "runs_s", ROWMAKER_LIST);

		for (u64 i = 0; i < s->n_runs; i++) {
			rowmaker_row(runs);
			rowmaker_fixed(runs, "run_s", facts->runs_ns[i] / 1e9, 9);
		}
	}
	if (facts->has_usage)
		add_usage(m, s, facts);
}

void stat_make_rows(const struct stat_view *v, const struct stat_lines *lines,
	const struct stat_facts *facts, u64 time_ns, struct rowmaker *m)
{
	vec_each(l, lines) {
		rowmaker_row(m);
		rowmaker_text(m, "kind", "count");
		add_line(m, v, l, time_ns);
		add_metrics(m, l);
		rowmaker_note(m, "reason", l->reason);
	}
	if (facts)
		add_run(m, v->counts, facts);
}

void stat_make_flat_rows(const struct stat_view *v, const struct stat_lines *lines,
	const struct stat_facts *facts, u64 time_ns, struct rowmaker *m)
{
	static const char *const names[] = {"time_s", "place", "counters", "event", "cgroup",
		"state", "value", "unit", "raw", "enabled_ns", "running_ns", "running_pct",
		"scaling_error_pct", "deviation_pct", "metric", "metric_unit", "reason",
		"metric_name", "metric_error", "metric_verdict"};
	/* Only -M has the last three. */
	const size_t n_names = ARRAY_SIZE(names) - (v->options->metrics ? 0 : 3);
	const struct counts *s = v->counts;

	rowmaker_columns(m, names, n_names);
	vec_each(l, lines)
		for (unsigned k = 0; k < MAX(l->n_metrics, 1u); k++) {
			rowmaker_row(m);
			add_line(m, v, l, time_ns);
			add_metric(m, l->n_metrics ? &l->metrics[k] : NULL,
				v->options->metrics != NULL, l->reason);
		}
	if (facts)
		add_time(m, "elapsed", &s->elapsed_ns, facts->ended);
	if (facts && facts->has_usage) {
		add_time(m, "user", &s->user_ns, facts->ended);
		add_time(m, "sys", &s->system_ns, facts->ended);
	}
}
