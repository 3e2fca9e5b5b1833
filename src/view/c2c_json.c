/*
 * c2c_json.c - shared cache lines as JSON. The schema is in pace-c2c(1).
 */
#include "view/c2c.h"

#include "base/json.h"
#include "view/c2c_calls.h"

enum { SCHEMA = 1 };

static void add_count(struct str *text, const struct sharing_count *c)
{
	json_u64(text, "records", c->n);
	for (enum datasrc_kind k = 0; k < DATASRC_KINDS; k++)
		if (c->kinds[k])
			json_u64(text, datasrc_word(k), c->kinds[k]);
}

static void add_set(struct str *text, const char *key, const struct sharing_set *set)
{
	json_open(text, key, '[');
	vec_each(x, &set->at)
		str_addf(text, "%u,", *x);
	json_close(text, ']');
}

/* What the CPUs of each node did, of more than one. */
static void add_at_nodes(struct str *text, const struct sharing_use *use)
{
	if (use->at_nodes.n < 2)
		return;
	json_open(text, "by_node", '[');
	vec_each(at, &use->at_nodes) {
		str_addc(text, '{');
		json_u64(text, "node", at->node);
		add_count(text, &at->count);
		json_close(text, '}');
	}
	json_close(text, ']');
}

static void add_use(struct str *text, const struct sharing *s, const struct sharing_use *use,
	struct c2c_calls *calls)
{
	struct sharing_set nodes = sharing_nodes(s, &use->cpus);

	str_addc(text, '{');
	json_u64(text, "offset", use->offset);
	if (s->by & SHARING_BY_PID)
		json_u64(text, "pid", use->pid);
	if (s->by & SHARING_BY_TID)
		json_u64(text, "tid", use->tid);
	if (s->by & SHARING_BY_CODE)
		json_hex(text, "code", use->address);
	if (use->dso_name)
		json_text(text, "dso", use->dso_name);
	if (use->function) {
		json_text(text, "function", use->function);
		json_u64(text, "function_offset", use->function_offset);
	}
	if (use->file) {
		json_text(text, "file", use->file);
		json_u64(text, "line", use->source_line);
	}
	add_count(text, &use->count);
	json_u64(text, "cycles_local_hitm", use->local_cycles);
	json_u64(text, "cycles_remote_hitm", use->remote_cycles);
	if (use->remote_peer_cycles || use->local_peer_cycles) {
		json_u64(text, "cycles_local_peer", use->local_peer_cycles);
		json_u64(text, "cycles_remote_peer", use->remote_peer_cycles);
	}
	json_u64(text, "cycles_other_loads", use->load_cycles);
	add_set(text, "cpus", &use->cpus);
	add_set(text, "threads", &use->threads);
	if (s->nodes.n)
		add_set(text, "nodes", &nodes);
	add_at_nodes(text, use);
	if (calls)
		c2c_calls_add_json(calls, use->number, text);
	vec_fini(&nodes.at);
	json_end(text, '}');
}

static void add_line(struct str *text, const struct sharing *s, const struct sharing_line *line,
	struct c2c_calls *calls)
{
	u32 offset;
	enum sharing_verdict verdict = sharing_judge(s, line, &offset);

	str_addc(text, '{');
	json_hex(text, "address", line->address);
	json_u64(text, "pid", line->pid);
	if (c2c_verdict(verdict))
		json_text(text, "sharing", c2c_verdict(verdict));
	if (verdict == SHARING_TRUE)
		json_u64(text, "shared_offset", offset);
	add_count(text, &line->count);
	add_set(text, "cpus", &line->cpus);
	add_set(text, "threads", &line->threads);
	json_key(text, "uses");
	str_add(text, "[\n");
	for (size_t i = 0; i < line->n_uses; i++) {
		add_use(text, s, &s->uses.at[line->first_use + i], calls);
		str_add(text, i + 1 < line->n_uses ? ",\n" : "\n");
	}
	str_add(text, "]}");
}

void c2c_json(struct out *out, const struct sharing *s, struct c2c_calls *calls,
	const struct c2c_options *o)
{
	struct str *text = &out->text;
	size_t n;
	u32 *order = c2c_order(s, o, &n);

	str_addc(text, '{');
	json_u64(text, "pace_c2c", SCHEMA);
	json_u64(text, "line_bytes", SHARING_LINE_BYTES);
	json_open(text, "total", '{');
	add_count(text, &s->total);
	json_u64(text, "no_code", s->n_no_code);
	json_close(text, '}');
	json_key(text, "lines");
	str_add(text, "[\n");
	for (size_t i = 0; i < n && !o->has_stats_only; i++) {
		add_line(text, s, &s->lines.at[order[i]], calls);
		str_add(text, i + 1 < n ? ",\n" : "\n");
		out_flush_some(out);
	}
	str_add(text, "]}\n");
	mem_free(order);
}
