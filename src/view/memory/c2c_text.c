/*
 * c2c_text.c - shared cache lines for people.
 */
#include "view/memory/c2c.h"

#include "view/memory/c2c_calls.h"
#include "view/text/colour.h"

struct printing {
	const struct sharing *s;
	const struct c2c_options *o;
	struct c2c_calls *calls;
	struct str *text;
};

static bool is_of_peers(const struct printing *p)
{
	return p->o->display == C2C_PEER;
}

/* Both words have the same width. */
static const char *hot_word(const struct printing *p)
{
	return is_of_peers(p) ? "Peer" : "HITM";
}

struct hot_kinds {
	enum datasrc_kind local, remote;
};

static struct hot_kinds hot_kinds(const struct printing *p)
{
	return is_of_peers(p) ? (struct hot_kinds){DATASRC_LOCAL_PEER, DATASRC_REMOTE_PEER}
			      : (struct hot_kinds){DATASRC_LOCAL_HITM, DATASRC_REMOTE_HITM};
}

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Adds a share in percent, with perf's colours of heat. */
static void add_share(const struct printing *p, u64 part, u64 whole)
{
	const size_t start = p->text->n;

	str_addf(p->text, "%5.1f%%", percent(part, whole));
	if (p->o->has_colour && part)
		colour_paint(p->text, start, colour_of_share(percent(part, whole) / 100));
}

static void add_totals(const struct printing *p)
{
	const struct sharing_count *c = &p->s->total;

	str_addf(p->text, "# What %llu memory accesses found\n#\n", (unsigned long long)c->n);
	for (enum datasrc_kind k = 0; k < DATASRC_KINDS; k++)
		if (c->kinds[k])
			str_addf(p->text, "  %10llu  %s\n", (unsigned long long)c->kinds[k],
				datasrc_title(k));
	if (p->s->n_no_code)
		str_addf(p->text, "  %10llu  From code without a known map\n",
			(unsigned long long)p->s->n_no_code);
}

static void add_table(const struct printing *p, const u32 *order, size_t n)
{
	const struct hot_kinds kinds = hot_kinds(p);
	u64 all = c2c_hot(p->o, &p->s->total);

	str_addf(p->text,
		"\n# Cache lines that %s\n#\n"
		"# Line             Address   %s%%    Total    Local   Remote  Records    Loads   Stores   L1 hit  L1 miss  CPUs  Threads\n",
		is_of_peers(p) ? "came from another core's cache when they were loaded (peer)"
			       : "were modified in another cache when they were loaded (HITM)",
		hot_word(p));
	for (size_t i = 0; i < n; i++) {
		const struct sharing_line *line = &p->s->lines.at[order[i]];
		const u64 *k = line->count.kinds;
		const u64 columns[] = {k[kinds.local] + k[kinds.remote], k[kinds.local],
			k[kinds.remote], line->count.n, k[DATASRC_LOAD], k[DATASRC_STORE],
			k[DATASRC_STORE_L1], k[DATASRC_STORE_L1_MISS]};

		str_addf(p->text, "  %4zu  0x%016llx  ", i, (unsigned long long)line->address);
		add_share(p, c2c_hot(p->o, &line->count), all);
		for (size_t j = 0; j < ARRAY_SIZE(columns); j++)
			str_addf(p->text, " %8llu", (unsigned long long)columns[j]);
		str_addf(p->text, "  %4zu  %7zu\n", line->cpus.at.n, line->threads.at.n);
	}
}

static void add_cycles(const struct printing *p, u64 cycles, u64 n)
{
	if (n)
		str_addf(p->text, " %7.0f", (double)cycles / (double)n);
	else
		str_fill(p->text, ' ', 8);
}

/* "0-1,3": the CPUs on one node. */
static void add_cpus(const struct printing *p, const struct sharing_set *cpus, u32 number)
{
	const char *separator = "";
	const struct cpus *of_node = NULL;

	vec_each(node, &p->s->nodes)
		of_node = node->number == number ? &node->cpus : of_node;
	for (size_t i = 0; of_node && i < cpus->at.n; i++) {
		u32 first = cpus->at.at[i], last = first;

		if (!cpus_has(of_node, first))
			continue;
		while (i + 1 < cpus->at.n && cpus->at.at[i + 1] == last + 1 &&
			cpus_has(of_node, last + 1)) {
			last++;
			i++;
		}
		str_addf(p->text, "%s%u", separator, first);
		if (last > first)
			str_addf(p->text, "-%u", last);
		separator = ",";
	}
}

static size_t n_cpus_at(const struct printing *p, const struct sharing_set *cpus, u32 number)
{
	size_t n = 0;

	vec_each(node, &p->s->nodes)
		vec_each(cpu, &cpus->at)
			n += node->number == number && cpus_has(&node->cpus, *cpu);
	return n;
}

/* "{2 50.0% 25.0%}", "{0-1}": the share of a node's CPUs in what was done at the offset, or the list of these CPUs. */
static void add_node_info(const struct printing *p, const struct sharing_use *use, u32 number)
{
	str_addc(p->text, '{');
	if (p->o->node_info > 1)
		add_cpus(p, &use->cpus, number);
	vec_each(at, &use->at_nodes)
		if (p->o->node_info == 1 && at->node == number)
			str_addf(p->text, "%zu %.1f%% %.1f%%", n_cpus_at(p, &use->cpus, number),
				percent(c2c_hot(p->o, &at->count), c2c_hot(p->o, &use->count)),
				percent(at->count.kinds[DATASRC_STORE],
					use->count.kinds[DATASRC_STORE]));
	str_addc(p->text, '}');
}

/* Adds the column's header to `text` unless that is NULL; returns its width. */
static size_t nodes_header(const struct printing *p, struct str *text)
{
	struct str header = {0};
	size_t n;

	str_add(&header, "Nodes");
	if (p->o->node_info == 1)
		str_addf(&header, "{CPUs %s stores}", hot_word(p));
	else if (p->o->node_info)
		str_add(&header, "{CPUs}");
	if (text)
		str_add(text, str_text(&header));
	n = header.n;
	str_fini(&header);
	return n;
}

/* "0,1"; "-" if the recording does not tell the CPUs or the nodes. */
static void add_nodes(const struct printing *p, const struct sharing_use *use)
{
	struct sharing_set nodes = sharing_nodes(p->s, &use->cpus);
	size_t start = p->text->n, width;

	vec_each(node, &nodes.at) {
		str_addf(p->text, "%s%u", node > nodes.at.at ? "," : "", *node);
		if (p->o->node_info)
			add_node_info(p, use, *node);
	}
	if (!nodes.at.n)
		str_addc(p->text, '-');
	width = nodes_header(p, NULL);
	str_fill(p->text, ' ', p->text->n - start < width ? width - (p->text->n - start) : 0);
	vec_fini(&nodes.at);
}

static void add_use(const struct printing *p, const struct sharing_line *line,
	const struct sharing_use *use)
{
	const char *file =
		use->file && strrchr(use->file, '/') ? strrchr(use->file, '/') + 1 : use->file;
	const u64 *k = use->count.kinds;
	const struct hot_kinds kinds = hot_kinds(p);
	const enum datasrc_kind shown[] = {kinds.local, kinds.remote, DATASRC_STORE};

	str_addf(p->text, "   0x%02x", use->offset);
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		str_add(p->text, "  ");
		add_share(p, k[shown[i]], line->count.kinds[shown[i]]);
	}
	add_cycles(p, is_of_peers(p) ? use->local_peer_cycles : use->local_cycles, k[kinds.local]);
	add_cycles(p, is_of_peers(p) ? use->remote_peer_cycles : use->remote_cycles,
		k[kinds.remote]);
	add_cycles(p, use->load_cycles, use->n_other_loads);
	str_addf(p->text, " %8llu  %4zu  %7zu  ", (unsigned long long)use->count.n, use->cpus.at.n,
		use->threads.at.n);
	add_nodes(p, use);
	if (p->s->by & SHARING_BY_PID)
		str_addf(p->text, "  %7u", use->pid);
	if (p->s->by & SHARING_BY_TID)
		str_addf(p->text, "  %7u", use->tid);
	str_add(p->text, use->dso_name ? "  " : "\n");
	if (!use->dso_name)
		return;
	if (!(p->s->by & SHARING_BY_CODE)) {
		str_add_safe(p->text, use->dso_name, strlen(use->dso_name));
		str_addc(p->text, '\n');
		return;
	}
	if (use->function) {
		str_add_safe(p->text, use->function, strlen(use->function));
		str_addf(p->text, "+0x%llx", (unsigned long long)use->function_offset);
	} else {
		str_addf(p->text, "0x%llx", (unsigned long long)use->address);
	}
	str_add(p->text, "  ");
	str_add_safe(p->text, use->dso_name, strlen(use->dso_name));
	if (file) {
		str_add(p->text, "  ");
		str_add_safe(p->text, file, strlen(file));
		str_addf(p->text, ":%u", use->source_line);
	}
	str_addc(p->text, '\n');
}

static void add_line(const struct printing *p, const struct sharing_line *line, size_t number)
{
	u32 offset = 0;
	enum sharing_verdict verdict = sharing_judge(p->s, line, &offset);

	str_addf(p->text, "\n# Line %zu, 0x%llx: ", number, (unsigned long long)line->address);
	if (verdict == SHARING_FALSE)
		str_add(p->text,
			"false sharing: no written offset is used by two threads; put the data of different threads into different lines\n");
	else if (verdict == SHARING_TRUE)
		str_addf(p->text,
			"true sharing: offset 0x%x is written, and several threads use it\n",
			offset);
	else
		str_add(p->text, "no write to it was sampled\n");
	str_addf(p->text,
		"#          %s loads           cycles of a load with\n"
		"# Offset   local  remote   stores   local  remote    none  Records  CPUs  Threads  ",
		hot_word(p));
	nodes_header(p, p->text);
	str_addf(p->text, "%s%s%s\n", p->s->by & SHARING_BY_PID ? "      Pid" : "",
		p->s->by & SHARING_BY_TID ? "      Tid" : "",
		p->s->by & SHARING_BY_CODE          ? "  Code"
			: p->s->by & SHARING_BY_DSO ? "  File"
						    : "");
	for (size_t i = line->first_use; i < line->first_use + line->n_uses; i++) {
		add_use(p, line, &p->s->uses.at[i]);
		if (p->calls)
			c2c_calls_add(p->calls, p->s->uses.at[i].number, p->text);
	}
}

void c2c_text(struct out *out, const struct sharing *s, struct c2c_calls *calls,
	const struct c2c_options *o)
{
	const struct printing p = {s, o, calls, &out->text};
	size_t n, n_full;
	u32 *order = c2c_order(s, o, &n);

	if (!o->is_quiet || o->has_stats_only)
		add_totals(&p);
	if (!o->has_stats_only && !n)
		str_add(p.text,
			is_of_peers(&p)
				? "\n# No load got its line from another core's cache, or the event does not tell\n"
				: "\n# No load found its line modified in another cache: no written data is shared, or the event does not tell\n");
	if (!o->has_stats_only && n) {
		add_table(&p, order, n);
		n_full = o->max_lines && o->max_lines < n ? (size_t)o->max_lines : n;
		for (size_t i = 0; i < n_full; i++) {
			add_line(&p, &s->lines.at[order[i]], i);
			out_flush_some(out);
		}
		if (n_full < n)
			str_addf(p.text, "\n# and %zu more lines: --max-lines 0 shows all\n",
				n - n_full);
	}
	mem_free(order);
}
