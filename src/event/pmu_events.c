#include "event/pmu_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "event/abi.h"
#include "event/terms.h"

/* ---- what is set before the first term ---- */

/*
 * Terms that a trace PMU has by default. A cap says whether this model supports one: it is "1" or, for
 * a period, the set of values that may be chosen.
 */
static const struct {
	const char *pmu, *field;
	u64 value;
	const char *cap, *periods; /* in the PMU's directory, or NULL */
} defaults[] = {
	{"intel_pt", "tsc", 1, NULL, NULL},
	{"intel_pt", "mtc", 1, "caps/mtc", NULL},
	{"intel_pt", "mtc_period", 3, "caps/mtc", "caps/mtc_periods"},
	{"intel_pt", "psb_period", 3, "caps/psb_cyc", "caps/psb_periods"},
	{"intel_pt", "pt", 1, NULL, NULL},
	{"intel_pt", "branch", 1, NULL, NULL},
};

static bool can(const struct pmu *pmu, const char *cap)
{
	char line[16];

	return !cap || (pmu_line(pmu, cap, line, sizeof(line)) && !strcmp(line, "1"));
}

/* Whether bit `value` is set in a hexadecimal number: the values that may be chosen. */
static bool is_offered(const struct pmu *pmu, const char *periods, u64 value)
{
	char line[32];
	const char *p = line;
	u64 set;

	return !periods ||
		(pmu_line(pmu, periods, line, sizeof(line)) && num_scan(&p, 16, &set) &&
			set >> value & 1);
}

static int set_defaults(const struct pmu *pmu, struct event_attr *attr, struct err *err)
{
	char format[64];

	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++) {
		if (strcmp(defaults[i].pmu, pmu->name) || !can(pmu, defaults[i].cap) ||
			!is_offered(pmu, defaults[i].periods, defaults[i].value) ||
			!pmu_format(pmu, defaults[i].field, format, sizeof(format)))
			continue;
		if (pmu_set_term(pmu, defaults[i].field, defaults[i].value, attr, err))
			return err->code;
	}
	return 0;
}

static void set_pmu(struct maker *m, const struct pmu *pmu, struct event *e)
{
	char line[16];

	e->pmu = maker_strdup(m, pmu->name, strlen(pmu->name));
	cpus_add_all(&e->cpus, &pmu->cpus);
	if (pmu_line(pmu, "nr_addr_filters", line, sizeof(line)))
		e->n_addr_filters = strtoul(line, NULL, 10);
	/* A uprobe that is inherited makes fork() fail in the child (seen on Linux 6.18). */
	if (!strcmp(pmu->name, "uprobe"))
		e->wishes |= EVENT_NO_INHERIT;
}

static void drop_last(struct maker *m)
{
	cpus_fini(&m->events->at[--m->events->n].cpus);
}

/* ---- one PMU ---- */

/* Names "cycles:u" and "cycles/period=9/u" for one kind of core: cpu_core/cycles/u, ... */
static void name_of_core(const struct node *node, const char *pmu, char *buf, size_t size)
{
	struct word w = node->words[0];
	const char *rest = w.at + w.n, *end = node->end;
	char between = node->has_slashes ? ',' : '/';

	if (rest < end)
		rest++;
	snprintf(buf, size, "%s/%.*s%c%.*s", pmu, (int)w.n, w.at, between, (int)(end - rest), rest);
}

static struct event *add(struct maker *m, const struct pmu *pmu, const struct event_attr *attr,
	const struct node *node, bool is_one_of_cores)
{
	struct event *e = maker_add(m, attr, node);
	char name[512];

	if (is_one_of_cores) {
		name_of_core(node, pmu->name, name, sizeof(name));
		e->name = maker_strdup(m, name, strlen(name));
	}
	set_pmu(m, pmu, e);
	return e;
}

/* Makes the node's event on one PMU. With `is_named`, the node's name is an event's: 0 if this PMU has none such. */
static int make_one(struct maker *m, const char *name, const struct node *node, bool is_named,
	bool is_one_of_cores)
{
	struct event_attr attr = {0};
	struct event *e;
	struct pmu pmu;
	struct err why;
	int r;

	if (pmu_open(&pmu, m->env->sysfs, name, &why))
		return maker_fail(m, node->words[0], why.code, why.msg);
	attr.type = pmu.type;
	if (set_defaults(&pmu, &attr, &why)) {
		pmu_close(&pmu);
		return maker_fail(m, node->words[0], why.code, why.msg);
	}
	e = add(m, &pmu, &attr, node, is_one_of_cores);
	if (is_named)
		r = terms_apply_named(m, &pmu, node->words[0], node->terms, e);
	else
		r = terms_apply(m, &pmu, node->terms, e) ? m->err->code : 1;
	pmu_close(&pmu);
	if (r <= 0)
		drop_last(m);
	return r;
}

/*
 * Makes the node's event on every PMU of the list that knows its terms; an error if none does. 0 if the
 * name is an event's and no PMU has it.
 */
static int make_all(struct maker *m, const struct intern *pmus, const struct node *node,
	bool is_named, bool is_one_of_cores)
{
	struct err first = {0}, why;
	struct maker quiet = *m;
	bool has_made = false;

	quiet.err = &why;
	vec_each(name, &pmus->strings) {
		int r = make_one(&quiet, *name, node, is_named, is_one_of_cores);

		has_made |= r > 0;
		if (r < 0 && !first.code)
			first = why;
		if (r < 0 && r != ERR_NOENT)
			break;
	}
	if (!first.code || (has_made && first.code == ERR_NOENT))
		return has_made;
	*m->err = first;
	return first.code;
}

int pmu_events_make(struct maker *m, const struct node *node)
{
	struct intern pmus = {0};
	char name[128];
	int r = 0;

	pmu_match(m->env->sysfs, syntax_copy(node->words[0], name, sizeof(name)), &pmus);
	if (pmus.strings.n)
		r = make_all(m, &pmus, node, false, false);
	intern_fini(&pmus);
	return r;
}

int pmu_events_make_named(struct maker *m, const struct node *node)
{
	struct intern cores = {0}, others = {0};
	int r;

	pmu_list_cores(m->env->sysfs, &cores);
	r = make_all(m, &cores, node, true, cores.strings.n > 1);
	if (!r) {
		struct intern all = {0};

		pmu_list(m->env->sysfs, &all);
		vec_each(name, &all.strings) {
			struct err ignored;
			struct pmu pmu;

			/* Folders that are not PMUs have no events. */
			if (pmu_open(&pmu, m->env->sysfs, *name, &ignored))
				continue;
			intern_str(&others, *name);
			pmu_close(&pmu);
		}
		intern_fini(&all);
		r = make_all(m, &others, node, true, false);
	}
	intern_fini(&cores);
	intern_fini(&others);
	return r;
}

/* ---- the kernel's own events ---- */

static bool is_counted_by_cores(u32 type)
{
	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW;
}

static int make_on_core(struct maker *m, const char *name, const struct node *node,
	struct event_attr attr)
{
	struct pmu pmu;
	struct err why;

	if (pmu_open(&pmu, m->env->sysfs, name, &why))
		return maker_fail(m, node->words[0], why.code, why.msg);
	if (attr.type == PERF_TYPE_RAW)
		attr.type = pmu.type;
	else
		attr.config |= (u64)pmu.type << PERF_PMU_TYPE_SHIFT;
	add(m, &pmu, &attr, node, true);
	pmu_close(&pmu);
	return 0;
}

int pmu_events_make_generic(struct maker *m, const struct node *node, const struct event_attr *attr)
{
	size_t first = m->events->n;
	struct intern cores = {0};
	int r = 0;

	if (is_counted_by_cores(attr->type))
		pmu_list_cores(m->env->sysfs, &cores);
	if (cores.strings.n > 1) {
		vec_each(name, &cores.strings)
			if (!r)
				r = make_on_core(m, *name, node, *attr);
	} else {
		maker_add(m, attr, node);
	}
	intern_fini(&cores);
	for (size_t i = first; i < m->events->n && !r; i++)
		r = terms_apply(m, NULL, node->terms, &m->events->at[i]);
	return r ? r : 1;
}
