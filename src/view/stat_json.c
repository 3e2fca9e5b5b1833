/*
 * stat_json.c - counts as JSON, one object a line. The names are in pace-stat(1).
 */
#include "base/json.h"
#include "view/stat.h"

static void add_number(struct str *text, const char *key, double value, unsigned digits)
{
	json_key(text, key);
	str_addf(text, "%.*f,", (int)digits, value);
}

static void add_known(struct str *text, const char *key, double share)
{
	if (share < 0)
		json_null(text, key);
	else
		add_number(text, key, 100 * share, 2);
}

static void add_metrics(const struct stat_line *l, struct str *text)
{
	json_key(text, "metrics");
	str_addc(text, '[');
	for (unsigned i = 0; i < l->n_metrics; i++) {
		const struct metric *m = &l->metrics[i];

		str_addc(text, '{');
		if (m->state == METRIC_VALUE)
			add_number(text, "value", m->value, 6);
		else
			json_null(text, "value");
		json_text(text, "unit", m->unit);
		json_key(text, "is_percent");
		str_add(text, m->is_percent ? "true," : "false,");
		if (m->state == METRIC_APART)
			json_text(text, "reason", STAT_APART);
		json_end(text, '}');
		str_addc(text, ',');
	}
	json_end(text, ']');
	str_addc(text, ',');
}

static void add_row(const struct stat_view *v, const struct stat_line *l, u64 time_ns,
	struct str *text)
{
	bool is_counted = l->state == COUNT_OK;

	str_add(text, "{\"kind\":\"count\",");
	if (time_ns != UINT64_MAX)
		add_number(text, "time_s", (double)time_ns / 1e9, 9);
	if (l->place->name[0])
		json_text(text, "place", l->place->name);
	json_u64(text, "counters", l->place->n_counters);
	json_text(text, "event", l->event->name);
	if (l->event->cgroup)
		json_text(text, "cgroup", stat_cgroup(l->event));
	json_text(text, "state", stat_state_name(l->state));
	if (is_counted)
		add_number(text, "value", l->count.value, stat_digits(v, l));
	else
		json_null(text, "value");
	json_text(text, "unit", counts_unit(l->event));
	if (is_counted)
		json_u64(text, "raw", l->count.raw);
	else
		json_null(text, "raw");
	json_u64(text, "enabled_ns", l->count.enabled_ns);
	json_u64(text, "running_ns", l->count.running_ns);
	add_known(text, "running_pct", l->state == COUNT_NOT_OPENED ? -1 : count_share(&l->count));
	add_known(text, "scaling_error_pct", l->scaling_error);
	add_known(text, "deviation_pct", l->deviation);
	add_metrics(l, text);
	if (l->reason)
		json_text(text, "reason", l->reason);
	json_end(text, '}');
	str_addc(text, '\n');
}

void stat_json_rows(struct stat_view *v, const struct stat_lines *lines, u64 time_ns,
	struct str *text)
{
	vec_each(l, lines)
		add_row(v, l, time_ns, text);
}

static void add_spread(struct str *text, const char *key, const struct spread *ns)
{
	add_number(text, key, ns->mean / 1e9, 9);
}

void stat_json_result(struct stat_view *v, const struct stat_facts *facts, struct str *text)
{
	const struct counts *s = v->counts;

	str_add(text, "{\"kind\":\"run\",");
	json_text(text, "what", facts->what);
	json_u64(text, "runs", s->n_runs);
	json_key(text, "is_complete");
	str_add(text, facts->ended ? "false," : "true,");
	if (facts->ended)
		json_text(text, "ended_by", facts->ended);
	add_spread(text, "elapsed_s", &s->elapsed_ns);
	if (s->elapsed_ns.n > 1 && s->elapsed_ns.mean > 0)
		add_number(text, "elapsed_deviation_pct",
			100 * spread_error(&s->elapsed_ns) / s->elapsed_ns.mean, 2);
	if (facts->runs_ns) {
		json_key(text, "runs_s");
		str_addc(text, '[');
		for (u64 i = 0; i < s->n_runs; i++)
			str_addf(text, "%.9f,", facts->runs_ns[i] / 1e9);
		json_end(text, ']');
		str_addc(text, ',');
	}
	if (facts->has_usage) {
		add_spread(text, "user_s", &s->user_ns);
		add_spread(text, "sys_s", &s->system_ns);
		if (facts->max_rss_kb > facts->own_rss_kb)
			json_u64(text, "max_rss_bytes", facts->max_rss_kb * 1024);
		else
			json_null(text, "max_rss_bytes");
		json_u64(text, "blocks_read", facts->n_blocks_in);
		json_u64(text, "blocks_written", facts->n_blocks_out);
		json_u64(text, "voluntary_switches", facts->n_waits);
		json_u64(text, "involuntary_switches", facts->n_preempted);
		if (facts->queue_ns == UINT64_MAX)
			json_null(text, "queue_s");
		else
			add_number(text, "queue_s", (double)facts->queue_ns / 1e9, 9);
	}
	json_end(text, '}');
	str_addc(text, '\n');
}
