#include "event/tma.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/sysfile.h"

/* Variant and revision, which tell steppings of one model apart: MIDR_EL1. */
#define MIDR_STEPPING (0xfULL << 20 | 0xf)

/* ---- the CPU ---- */

static bool is_arm(const char *cpuid)
{
	return !strncmp(cpuid, "0x", 2);
}

/* The model without what tells steppings apart, as tables name it. */
static void model_of(const char *cpuid, char ret[CPUID_SIZE])
{
	const char *p = cpuid + 2;
	u64 midr;

	if (is_arm(cpuid) && num_scan(&p, 16, &midr) && !*p)
		snprintf(ret, CPUID_SIZE, "0x%016llx", (unsigned long long)(midr & ~MIDR_STEPPING));
	else
		snprintf(ret, CPUID_SIZE, "%s", cpuid);
}

/* With variant and revision, where sysfs has them: cpuid_read() leaves them out. */
static void read_cpuid(const char *sysfs, const struct pmu *pmu, char ret[CPUID_SIZE])
{
	const u32 cpu = pmu->cpus.n ? (u32)pmu->cpus.at[0] : 0;
	char path[300], line[64];
	struct err err;

	ret[0] = '\0';
	if (cpuid_read(sysfs, cpu, ret, &err) || !is_arm(ret) || getenv("PACE_CPUID") ||
		getenv("PERF_CPUID"))
		return;
	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%u/regs/identification/midr_el1",
		sysfs, cpu);
	if (sysfile_line(path, line, sizeof(line)) && is_arm(line))
		snprintf(ret, CPUID_SIZE, "%s", line);
}

static u32 read_width(const struct pmu *pmu)
{
	char line[32];

	return pmu_line(pmu, "caps/slots", line, sizeof(line)) ? (u32)strtoul(line, NULL, 0) : 0;
}

/* ---- what formulas ask for ---- */

struct world {
	const struct tma *t;
	const struct metricexpr *x;
	const double *counts; /* of events; NULL: the shares below are all that is known */
	const double *shares; /* of nodes; NULL: computed from counts */
};

static u32 find_event(const struct tma_family *f, const char *name)
{
	for (u32 i = 0; i < f->n_events; i++)
		if (!strcmp(f->events[i].name, name))
			return i;
	return TMA_NONE;
}

static u32 find_node(const struct tma_family *f, const char *name)
{
	for (u32 i = 0; name && i < f->n_nodes; i++)
		if (!strcmp(f->nodes[i].name, name))
			return i;
	return TMA_NONE;
}

static double value_of(void *ctx, u32 name)
{
	const struct world *w = ctx;
	const char *text = w->x->names.at[name].text;
	const struct tma_family *f = w->t->family;
	u32 node = find_node(f, text);

	if (node != TMA_NONE && w->shares) /* a limit: what is not known exceeds none */
		return isnan(w->shares[node]) ? 0 : w->shares[node];
	if (node != TMA_NONE)
		return tma_share(w->t, node, w->counts);
	return w->counts ? w->counts[find_event(f, text)] : NAN;
}

static double one_source(void *ctx, u32 name)
{
	(void)ctx, (void)name;
	return 1;
}

static bool has_event(void *ctx, u32 name)
{
	const struct world *w = ctx;
	u32 i = find_event(w->t->family, w->x->names.at[name].text);

	return i != TMA_NONE && w->t->terms[i];
}

static bool has_pmu(void *ctx, const char *pmu)
{
	const struct world *w = ctx;

	return !strcmp(pmu, w->t->pmu);
}

/* The model, in this stepping or a later one, as the formulas of Linux' tables mean it. */
static bool is_cpu(void *ctx, const char *model)
{
	const struct world *w = ctx;
	const char *wanted = model + 2, *here = w->t->cpuid + 2;
	u64 a, b;

	if (!is_arm(model) || !is_arm(w->t->cpuid) || !num_scan(&wanted, 16, &a) ||
		!num_scan(&here, 16, &b))
		return !strcmp(model, w->t->cpuid);
	return (a & ~MIDR_STEPPING) == (b & ~MIDR_STEPPING) &&
		(b & MIDR_STEPPING) >= (a & MIDR_STEPPING);
}

static double literal(void *ctx, const char *name)
{
	const struct world *w = ctx;

	return !strcmp(name, "slots") && w->t->n_slots ? w->t->n_slots : NAN;
}

static struct metricexpr_world world_of(struct world *w)
{
	return (struct metricexpr_world){value_of, one_source, has_event, has_pmu, is_cpu, literal,
		w};
}

static double compute(const struct tma *t, const struct metricexpr *x, const double *counts,
	const double *shares)
{
	struct world w = {t, x, counts, shares};
	struct metricexpr_world world = world_of(&w);

	return metricexpr_value(x, &world);
}

double tma_share(const struct tma *t, u32 node, const double *counts)
{
	return compute(t, &t->expr[node], counts, NULL);
}

double tma_whole(const struct tma *t, const double *counts)
{
	return t->family->whole ? compute(t, &t->whole, counts, NULL) : NAN;
}

bool tma_is_notable(const struct tma *t, u32 node, const double *shares)
{
	double v = compute(t, &t->limit[node], NULL, shares);

	return !isnan(v) && v != 0;
}

/* ---- which events and nodes there are ---- */

/* The terms of each event, by sysfs' name, or as the table knows them for the model. */
static bool find_terms(struct tma *t, const struct tma_family *f, const struct pmu *pmu,
	const char *model)
{
	bool is_any = false;

	memset(t->terms, 0, sizeof(t->terms));
	for (u32 i = 0; i < f->n_events; i++) {
		const struct tma_event *e = &f->events[i];
		const char *models = e->models ? e->models : f->models;
		char text[256];

		if (pmu_alias(pmu, e->name, text, sizeof(text)))
			t->terms[i] = e->name;
		else if (e->terms && models && cpuid_matches(model, models))
			t->terms[i] = e->terms;
		is_any |= t->terms[i] != NULL;
	}
	return is_any;
}

/* The events that a node's formula needs, and those of the nodes in it. False: one of them is not here. */
static bool find_needs(struct tma *t, u32 node)
{
	const struct metricexpr *x = &t->expr[node];
	struct world w = {.t = t, .x = x};
	struct metricexpr_world world = world_of(&w);
	bool *needs = mem_zalloc(x->names.n + 1), is_complete = true;

	metricexpr_needs(x, &world, needs);
	for (u32 i = 0; i < x->names.n; i++) {
		u32 event = find_event(t->family, x->names.at[i].text);
		u32 other = find_node(t->family, x->names.at[i].text);

		if (!needs[i])
			continue;
		assert(event != TMA_NONE || other != TMA_NONE);
		if (other != TMA_NONE)
			is_complete &= find_needs(t, other);
		if (other != TMA_NONE)
			t->needs[node] |= t->needs[other];
		else if (t->terms[event])
			t->needs[node] |= 1u << event;
		else
			is_complete = false;
	}
	mem_free(needs);
	return is_complete;
}

static void compile(struct metricexpr *x, const char *text)
{
	struct err err;
	int r = metricexpr_compile(x, text, 0, &err);

	assert(!r);
	(void)r;
}

static void drop_formulas(struct tma *t)
{
	for (u32 i = 0; i < TMA_NODES_MAX; i++) {
		metricexpr_fini(&t->expr[i]);
		metricexpr_fini(&t->limit[i]);
	}
	metricexpr_fini(&t->whole);
	memset(t->expr, 0, sizeof(t->expr));
	memset(t->limit, 0, sizeof(t->limit));
	memset(&t->whole, 0, sizeof(t->whole));
}

/* Whether the PMU can count all that level 1 of this family needs. */
static bool takes_family(struct tma *t, const struct tma_family *f)
{
	bool has_level1 = true;

	t->family = f;
	t->levels = 0;
	if (!t->n_slots)
		t->n_slots = f->width;
	memset(t->needs, 0, sizeof(t->needs));
	for (u32 i = 0; i < f->n_nodes; i++) {
		compile(&t->expr[i], f->nodes[i].expr);
		compile(&t->limit[i], f->nodes[i].limit);
	}
	if (f->whole)
		compile(&t->whole, f->whole);
	for (u32 i = 0; i < f->n_nodes; i++) {
		u32 parent = tma_parent(t, i);
		u8 level = parent == TMA_NONE ? 1 : t->level[parent] + 1;
		bool needs_width = strstr(f->nodes[i].expr, "#slots") && !t->n_slots;

		t->level[i] = find_needs(t, i) && !needs_width ? level : 0;
		has_level1 &= level > 1 || t->level[i];
		t->levels = MAX(t->levels, (u32)t->level[i]);
	}
	return has_level1;
}

static bool may_be(const struct tma_family *f, const char *pmu, const char *model)
{
	if (f->pmus && !cpuid_matches(pmu, f->pmus))
		return false;
	return !f->is_for_models || cpuid_matches(model, f->models);
}

int tma_open(struct tma *t, const char *sysfs, const char *name, struct err *err)
{
	char model[CPUID_SIZE];
	struct pmu pmu;
	u32 width;

	memset(t, 0, sizeof(*t));
	if (pmu_open(&pmu, sysfs, name, err))
		return err->code;
	t->pmu = arena_strdup(&t->arena, name, strlen(name));
	read_cpuid(sysfs, &pmu, t->cpuid);
	model_of(t->cpuid, model);
	width = read_width(&pmu);
	for (size_t i = 0; i < tma_families_n; i++) {
		const struct tma_family *f = &tma_families[i];

		t->n_slots = width;
		if (may_be(f, name, model) && find_terms(t, f, &pmu, model) && takes_family(t, f))
			break;
		drop_formulas(t);
		t->family = NULL;
	}
	pmu_close(&pmu);
	if (t->family)
		return 0;
	err_set(err, ERR_UNSUPPORTED, "PMU '%s'%s%s%s counts no events of slots", name,
		t->cpuid[0] ? " of CPU model '" : "", t->cpuid, t->cpuid[0] ? "'" : "");
	tma_close(t);
	return err->code;
}

void tma_close(struct tma *t)
{
	drop_formulas(t);
	arena_fini(&t->arena);
	memset(t, 0, sizeof(*t));
}

/* ---- the tree ---- */

u32 tma_parent(const struct tma *t, u32 node)
{
	return find_node(t->family, t->family->nodes[node].parent);
}

u32 tma_child(const struct tma *t, u32 parent, u32 i)
{
	for (i = i == TMA_NONE ? 0 : i + 1; i < t->family->n_nodes; i++)
		if (t->level[i] && tma_parent(t, i) == parent)
			return i;
	return TMA_NONE;
}

u32 tma_needs(const struct tma *t, u32 parent, u32 level)
{
	u32 events = 0;

	for (u32 i = 0; i < t->family->n_nodes; i++) {
		bool is_meant =
			t->family->has_register ? t->level[i] <= level : tma_parent(t, i) == parent;

		if (t->level[i] && is_meant)
			events |= t->needs[i];
	}
	return events;
}

/* ---- texts ---- */

void tma_add_group(const struct tma *t, u32 events, struct str *text)
{
	const char *between = "{";

	for (u32 i = 0; i < t->family->n_events; i++) {
		const char *name = t->family->events[i].name;

		if (!(events >> i & 1))
			continue;
		str_addf(text, "%s%s/%s,name=%s/", between, t->pmu, t->terms[i], name);
		between = ",";
	}
	str_add(text, "}");
}

void tma_add_command(const struct tma *t, u32 node, struct str *text)
{
	const struct tma_node *n = &t->family->nodes[node];
	const char *hole = n->sample ? strstr(n->sample, "%s") : NULL;

	if (!n->sample)
		return;
	if (!n->is_command)
		str_add(text, "record -e ");
	if (hole)
		str_addf(text, "%.*s%s%s", (int)(hole - n->sample), n->sample, t->pmu, hole + 2);
	else
		str_add(text, n->sample);
}
