/*
 * stat_json.c - what was measured and how it ended, as an object of JSON. The names are in pace-stat(1).
 */
#include "base/json.h"
#include "view/stat.h"

static void add_number(struct str *text, const char *key, double value, unsigned digits)
{
	json_key(text, key);
	str_addf(text, "%.*f,", (int)digits, value);
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
