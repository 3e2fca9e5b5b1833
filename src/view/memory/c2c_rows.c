/*
 * c2c_rows.c - shared cache lines as cells, for programs. The schema is in pace-c2c(1).
 */
#include "view/memory/c2c.h"

#include "profile/rows/rowmaker.h"
#include "view/memory/c2c_calls.h"
#include "view/forms/forms.h"

enum { SCHEMA = 1 };

/* The context of make_line(). */
struct making {
	const struct sharing *sharing;
	struct c2c_calls *calls;
	const u32 *order;
};

static void add_count(struct rowmaker *m, const struct sharing_count *c)
{
	rowmaker_u64(m, "records", c->n);
	for (enum datasrc_kind k = 0; k < DATASRC_KINDS; k++)
		if (c->kinds[k])
			rowmaker_u64(m, datasrc_word(k), c->kinds[k]);
}

static void add_set(struct rowmaker *m, const char *name, const struct sharing_set *set)
{
	struct rowmaker *list = rowmaker_below(m, name, ROWMAKER_LIST);

	vec_each(x, &set->at) {
		rowmaker_row(list);
		rowmaker_u64(list, "number", *x);
	}
}

/* Adds what the CPUs of each node did, if there are several nodes. */
static void add_at_nodes(struct rowmaker *m, const struct sharing_use *use)
{
	struct rowmaker *nodes;

	if (use->at_nodes.n < 2)
		return;
	nodes = rowmaker_below(m, "by_node", ROWMAKER_ROWS);
	vec_each(at, &use->at_nodes) {
		rowmaker_row(nodes);
		rowmaker_u64(nodes, "node", at->node);
		add_count(nodes, &at->count);
	}
}

static void add_use(struct rowmaker *m, const struct sharing *s, const struct sharing_use *use,
	struct c2c_calls *calls)
{
	struct sharing_set nodes = sharing_nodes(s, &use->cpus);

	rowmaker_row(m);
	rowmaker_u64(m, "offset", use->offset);
	if (s->by & SHARING_BY_PID)
		rowmaker_u64(m, "pid", use->pid);
	if (s->by & SHARING_BY_TID)
		rowmaker_u64(m, "tid", use->tid);
	if (s->by & SHARING_BY_CODE)
		rowmaker_hex(m, "code", use->address);
	if (use->dso_name)
		rowmaker_text(m, "dso", use->dso_name);
	if (use->function) {
		rowmaker_text(m, "function", use->function);
		rowmaker_u64(m, "function_offset", use->function_offset);
	}
	if (use->file) {
		rowmaker_text(m, "file", use->file);
		rowmaker_u64(m, "line", use->source_line);
	}
	add_count(m, &use->count);
	rowmaker_u64(m, "cycles_local_hitm", use->local_cycles);
	rowmaker_u64(m, "cycles_remote_hitm", use->remote_cycles);
	if (use->remote_peer_cycles || use->local_peer_cycles) {
		rowmaker_u64(m, "cycles_local_peer", use->local_peer_cycles);
		rowmaker_u64(m, "cycles_remote_peer", use->remote_peer_cycles);
	}
	rowmaker_u64(m, "cycles_other_loads", use->load_cycles);
	add_set(m, "cpus", &use->cpus);
	add_set(m, "threads", &use->threads);
	if (s->nodes.n)
		add_set(m, "nodes", &nodes);
	add_at_nodes(m, use);
	if (calls)
		c2c_calls_add_cells(calls, use->number, m);
	vec_fini(&nodes.at);
}

static void make_line(struct rowmaker *m, const void *of, size_t row)
{
	const struct making *making = of;
	const struct sharing *s = making->sharing;
	const struct sharing_line *line = &s->lines.at[making->order[row]];
	struct rowmaker *uses;
	u32 offset;
	enum sharing_verdict verdict = sharing_judge(s, line, &offset);

	rowmaker_hex(m, "address", line->address);
	rowmaker_u64(m, "pid", line->pid);
	if (c2c_verdict(verdict))
		rowmaker_text(m, "sharing", c2c_verdict(verdict));
	if (verdict == SHARING_TRUE)
		rowmaker_u64(m, "shared_offset", offset);
	add_count(m, &line->count);
	add_set(m, "cpus", &line->cpus);
	add_set(m, "threads", &line->threads);
	uses = rowmaker_below(m, "uses", ROWMAKER_ROWS);
	uses->is_spread = true;
	for (size_t i = 0; i < line->n_uses; i++)
		add_use(uses, s, &s->uses.at[line->first_use + i], making->calls);
}

void c2c_rows(const struct form *form, struct out *out, const struct sharing *s,
	struct c2c_calls *calls, const struct c2c_options *o)
{
	struct making making = {s, calls, NULL};
	struct rowmaker document = {.shape = ROWMAKER_OBJECT}, *total, *lines;
	size_t n;
	u32 *order = c2c_order(s, o, &n);

	making.order = order;
	rowmaker_row(&document);
	rowmaker_u64(&document, "pace_c2c", SCHEMA);
	rowmaker_u64(&document, "line_bytes", s->line_bytes);
	total = rowmaker_below(&document, "total", ROWMAKER_OBJECT);
	add_count(total, &s->total);
	rowmaker_u64(total, "no_code", s->n_no_code);
	lines = rowmaker_below(&document, "lines", ROWMAKER_ROWS);
	rowmaker_lazy(lines, make_line, &making, o->has_stats_only ? 0 : n);
	form_show(form, &document, out);
	rowmaker_fini(&document);
	mem_free(order);
}
