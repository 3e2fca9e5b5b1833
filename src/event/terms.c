#include "event/terms.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/num.h"
#include "base/str.h"
#include "event/abi.h"
#include "event/cpuid.h"
#include "event/names.h"
#include "event/tsx.h"

struct applier {
	struct maker *m;
	const struct pmu *pmu; /* NULL: none */
	struct event *e;
	const struct term *terms; /* all that the user wrote */
	struct word at;           /* where errors point */
	bool is_table;            /* the term is from a table, not from the user */
	bool is_legacy;           /* the event is one of the kernel's generic ones */
};

static int refuse(struct applier *a, int code, const char *fmt, ...) PRINTF(3, 4);

static int refuse(struct applier *a, int code, const char *fmt, ...)
{
	char message[sizeof(a->m->err->msg)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	return maker_fail(a->m, a->at, code, message);
}

/* ---- terms that every event takes ---- */

struct common;

/* The value of a term: `text` is "" and `v` is 1 if only the name was written. */
struct value {
	const char *text;
	u64 v;
};

enum takes { TAKES_NUMBER, TAKES_FLAG, TAKES_TEXT }; /* a flag's "=1" may be left out */

struct common {
	const char *name;
	enum takes takes;
	int (*set)(struct applier *a, const struct common *c, const struct value *value);
	size_t offset; /* for set_config */
	u64 max;
};

static int set_config(struct applier *a, const struct common *c, const struct value *value)
{
	*(u64 *)(void *)((u8 *)&a->e->attr + c->offset) = value->v;
	return 0;
}

static int set_period(struct applier *a, const struct common *c, const struct value *value)
{
	(void)c;
	a->e->attr.sample_period = value->v;
	a->e->attr.flags &= ~ATTR_FREQ;
	a->e->wishes |= a->is_table ? EVENT_WEAK_PERIOD : EVENT_OWN_PERIOD;
	return 0;
}

static int set_frequency(struct applier *a, const struct common *c, const struct value *value)
{
	(void)c;
	a->e->attr.sample_period = value->v;
	a->e->attr.flags |= ATTR_FREQ;
	a->e->wishes |= EVENT_OWN_PERIOD;
	return 0;
}

static int set_precise(struct applier *a, const struct common *c, const struct value *value)
{
	(void)c;
	attr_set_precise(&a->e->attr, value->v);
	return 0;
}

static int set_name(struct applier *a, const struct common *c, const struct value *value)
{
	(void)c;
	a->e->name = maker_strdup(a->m, value->text, strlen(value->text));
	return 0;
}

static int set_chain(struct applier *a, const struct common *c, const struct value *value)
{
	static const struct {
		const char *name;
		enum event_chain chain;
	} chains[] = {
		{"no", EVENT_CHAIN_NONE},
		{"fp", EVENT_CHAIN_FP},
		{"dwarf", EVENT_CHAIN_DWARF},
		{"lbr", EVENT_CHAIN_LBR},
	};

	for (size_t i = 0; i < ARRAY_SIZE(chains); i++) {
		if (strcmp(value->text, chains[i].name))
			continue;
		a->e->own.chain = chains[i].chain;
		return 0;
	}
	return refuse(a, ERR_INVAL, "term '%s' is fp, dwarf, lbr or no, not '%.100s'", c->name,
		value->text);
}

static int set_stack_bytes(struct applier *a, const struct common *c, const struct value *value)
{
	(void)c;
	a->e->own.stack_bytes = value->v;
	return 0;
}

static int set_max_stack(struct applier *a, const struct common *c, const struct value *value)
{
	(void)c;
	a->e->own.max_stack = value->v;
	return 0;
}

static int set_max_samples(struct applier *a, const struct common *c, const struct value *value)
{
	(void)c;
	a->e->own.max_samples = value->v;
	return 0;
}

static int set_time(struct applier *a, const struct common *c, const struct value *value)
{
	(void)c;
	a->e->own.has_no_time = !value->v;
	return 0;
}

static void wish(struct event *e, unsigned bit, bool is_wished)
{
	e->wishes = is_wished ? e->wishes | bit : e->wishes & ~bit;
}

static int set_percore(struct applier *a, const struct common *c, const struct value *value)
{
	(void)c;
	wish(a->e, EVENT_PERCORE, value->v);
	return 0;
}

/* cpu=N or N-M; several terms add up, and only CPUs that the event's PMU counts on are left. */
static int set_cpus(struct applier *a, const struct common *c, const struct value *value)
{
	struct cpus said = {0}, kept = {0};
	struct err why;

	if (cpus_parse(&said, value->text, &why)) {
		cpus_fini(&said);
		return refuse(a, ERR_INVAL, "term '%s': %.800s", c->name, why.msg);
	}
	if (a->e->wishes & EVENT_CPUS_SAID)
		vec_each(cpu, &a->e->cpus)
			vec_add(&kept, *cpu);
	vec_each(cpu, &said)
		if (a->e->wishes & EVENT_CPUS_SAID || !a->e->cpus.n || cpus_has(&a->e->cpus, *cpu))
			vec_add(&kept, *cpu);
	cpus_fini(&said);
	if (!kept.n)
		return refuse(a, ERR_INVAL,
			"term '%s': the event's PMU counts on none of the CPUs '%.100s'", c->name,
			value->text);
	cpus_fini(&a->e->cpus);
	cpus_sort(&kept);
	a->e->cpus = kept;
	wish(a->e, EVENT_CPUS_SAID, true);
	return 0;
}

static int set_inherit(struct applier *a, const struct common *c, const struct value *value)
{
	bool is_negated = !strncmp(c->name, "no-", 3);

	wish(a->e, EVENT_NO_INHERIT, is_negated == (value->v != 0));
	return 0;
}

static int set_overwrite(struct applier *a, const struct common *c, const struct value *value)
{
	bool is_negated = !strncmp(c->name, "no-", 3);

	a->e->own.is_overwritten = is_negated == (value->v == 0);
	a->e->own.is_kept = !a->e->own.is_overwritten;
	return 0;
}

static int set_aux_output(struct applier *a, const struct common *c, const struct value *value)
{
	(void)c;
	a->e->own.is_aux_output = value->v;
	return 0;
}

static int set_aux_bytes(struct applier *a, const struct common *c, const struct value *value)
{
	(void)c;
	a->e->own.has_aux_size = true;
	a->e->own.aux_bytes = value->v;
	return 0;
}

/* metric-id: perf's metrics name their events by it; nothing else needs it. */
static int ignore(struct applier *a, const struct common *c, const struct value *value)
{
	(void)a;
	(void)c;
	(void)value;
	return 0;
}

#define CONFIG(m)                                                                        \
	{                                                                                \
#m, TAKES_NUMBER, set_config, offsetof(struct event_attr, m), UINT64_MAX \
	}

static const struct common commons[] = {
	CONFIG(config),
	CONFIG(config1),
	CONFIG(config2),
	CONFIG(config3),
	CONFIG(config4),
	{"period", TAKES_NUMBER, set_period, 0, INT64_MAX},
	{"freq", TAKES_NUMBER, set_frequency, 0, INT64_MAX},
	{"precise", TAKES_NUMBER, set_precise, 0, 3},
	{"name", TAKES_TEXT, set_name, 0, 0},
	{"call-graph", TAKES_TEXT, set_chain, 0, 0},
	{"stack-size", TAKES_NUMBER, set_stack_bytes, 0, UINT16_MAX},
	{"max-stack", TAKES_NUMBER, set_max_stack, 0, UINT16_MAX},
	{"nr", TAKES_NUMBER, set_max_samples, 0, UINT64_MAX},
	{"time", TAKES_FLAG, set_time, 0, 1},
	{"cpu", TAKES_TEXT, set_cpus, 0, 0},
	{"percore", TAKES_FLAG, set_percore, 0, 1},
	{"inherit", TAKES_FLAG, set_inherit, 0, 1},
	{"no-inherit", TAKES_FLAG, set_inherit, 0, 1},
	{"overwrite", TAKES_FLAG, set_overwrite, 0, 1},
	{"no-overwrite", TAKES_FLAG, set_overwrite, 0, 1},
	{"aux-output", TAKES_FLAG, set_aux_output, 0, 1},
	{"aux-sample-size", TAKES_NUMBER, set_aux_bytes, 0, UINT32_MAX},
	{"metric-id", TAKES_TEXT, ignore, 0, 0},
};

static const struct common *common_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commons); i++)
		if (!strcmp(commons[i].name, name))
			return &commons[i];
	return NULL;
}

static int set_common(struct applier *a, const struct common *c, const char *text)
{
	struct value value = {.text = text ? text : "", .v = 1};
	struct err why;

	if (!text && c->takes != TAKES_FLAG)
		return refuse(a, ERR_INVAL, "term '%s' needs a value: %s=%s", c->name, c->name,
			c->takes == TAKES_TEXT ? "..." : "N");
	if (text && c->takes != TAKES_TEXT) {
		if (num_parse(text, &value.v, &why))
			return refuse(a, ERR_INVAL, "term '%s': %.800s", c->name, why.msg);
		if (value.v > c->max)
			return refuse(a, ERR_INVAL, "term '%s': %llu is more than %llu", c->name,
				(unsigned long long)value.v, (unsigned long long)c->max);
	}
	return c->set(a, c, &value);
}

/* ---- terms of one PMU ---- */

/* The manuals and sysfs spell Intel's transaction bits differently: returns the spelling that this PMU knows. */
static const char *respell(const struct pmu *pmu, const char *name)
{
	static const char *const pairs[][2] = {{"intx", "in_tx"}, {"intx_cp", "in_tx_cp"}};
	char format[64];

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		for (size_t k = 0; k < 2; k++)
			if (!strcmp(name, pairs[i][k]) &&
				!pmu_format(pmu, name, format, sizeof(format)) &&
				pmu_format(pmu, pairs[i][!k], format, sizeof(format)))
				return pairs[i][!k];
	return name;
}

static bool is_pmu(const struct applier *a, const char *name)
{
	return a->pmu && !strcmp(a->pmu->name, name);
}

static int unknown_term(struct applier *a, const char *name)
{
	struct nearest near = {.typed = name};
	struct intern names = {0};
	struct str hint = {0};

	if (a->pmu && a->pmu->is_core && tsx_is_event(name))
		return refuse(a, ERR_NOENT, "PMU '%s' has no event '%s': %s", a->pmu->name, name,
			tsx_reason_of_event(a->m->env->sysfs));
	if (a->pmu && a->pmu->is_core && tsx_is_term(name))
		return refuse(a, ERR_NOENT, "PMU '%s' has no term '%s': %s", a->pmu->name, name,
			tsx_reason_of_event(a->m->env->sysfs));
	if (a->pmu) {
		pmu_list_formats(a->pmu, &names);
		pmu_list_aliases(a->pmu, &names);
	}
	vec_each(known, &names.strings)
		nearest_offer(&near, *known);
	for (size_t i = 0; i < ARRAY_SIZE(commons); i++)
		nearest_offer(&near, commons[i].name);
	nearest_add_hint(&near, &hint);
	if (is_pmu(a, "kprobe") || is_pmu(a, "uprobe"))
		str_add(&hint,
			is_pmu(a, "kprobe") ? " (it takes func=NAME, offset=N)"
					    : " (it takes path=FILE, offset=N)");
	if (a->pmu)
		refuse(a, ERR_NOENT, "PMU '%s' has no event or term '%s'%s", a->pmu->name, name,
			str_text(&hint));
	else
		refuse(a, ERR_NOENT,
			"there is no term '%s' for events that are not written pmu/.../%s", name,
			str_text(&hint));
	str_fini(&hint);
	intern_fini(&names);
	return a->m->err->code;
}

static int set_field(struct applier *a, const char *name, const char *text)
{
	u64 value = 1;
	char format[256];
	struct err why;

	if (!a->pmu || !pmu_format(a->pmu, name, format, sizeof(format)))
		return unknown_term(a, name);
	if (a->is_legacy)
		return refuse(a, ERR_INVAL,
			"term '%s' applies to events of PMU '%s' itself, but this one is the kernel's: use "
			"its event= and umask=",
			name, a->pmu->name);
	if (text && num_parse(text, &value, &why))
		return refuse(a, ERR_INVAL, "term '%s': %.800s", name, why.msg);
	if (pmu_set_term(a->pmu, name, value, &a->e->attr, &why))
		return refuse(a, why.code, "%s", why.msg);
	return 0;
}

/* CoreSight: @sink names where the trace goes; the driver knows it by a number. */
static int set_driver(struct applier *a, const char *name)
{
	char file[160], line[64];
	const char *p = line;
	u64 number;

	if (!a->pmu)
		return refuse(a, ERR_INVAL,
			"term '%s' is for the driver of a PMU, but this event has no PMU", name);
	snprintf(file, sizeof(file), "sinks/%s", name + 1);
	if (strchr(name, '/') || !pmu_line(a->pmu, file, line, sizeof(line)))
		return refuse(a, ERR_NOENT, "the driver of PMU '%s' takes no '%s'", a->pmu->name,
			name);
	if (!strncmp(p, "0x", 2))
		p += 2;
	if (!num_scan(&p, 16, &number) || *p)
		return refuse(a, ERR_FORMAT,
			"sink '%s' of PMU '%s' has the number '%s', which is not hexadecimal",
			name + 1, a->pmu->name, line);
	a->e->attr.config2 |= number;
	return 0;
}

/* ---- probes ---- */

/* The kernel reads the string when the event is opened: attr holds its address. */
static void set_string(struct applier *a, const char *text)
{
	a->e->attr.config1 = (u64)(uintptr_t)maker_strdup(a->m, text, strlen(text));
}

/* 1 if it was a term of a probe. */
static int set_probe_term(struct applier *a, const char *name, const char *text)
{
	bool is_kprobe = is_pmu(a, "kprobe"), is_uprobe = is_pmu(a, "uprobe");
	struct err why;

	if ((!is_kprobe && !is_uprobe) || !text)
		return 0;
	if (is_kprobe ? !strcmp(name, "func") : !strcmp(name, "path")) {
		if (is_uprobe && access(text, F_OK))
			return refuse(a, ERR_NOENT, "there is no file '%s' to probe", text);
		set_string(a, text);
		return 1;
	}
	if (strcmp(name, "offset") && strcmp(name, "addr"))
		return 0;
	if (num_parse(text, &a->e->attr.config2, &why))
		return refuse(a, ERR_INVAL, "term '%s': %.800s", name, why.msg);
	return 1;
}

/* ---- events of the PMU ---- */

static int set_term(struct applier *a, const char *name, const char *text);

/* Applies "event=0x3c,umask=1": what an event stands for. */
static int apply_text(struct applier *a, const char *name, const char *text)
{
	char buf[1024], *rest = buf, *item;
	int r = 0;

	if (strlen(text) >= sizeof(buf))
		return refuse(a, ERR_LIMIT,
			"event '%s' of PMU '%s' has %zu bytes of terms, more than %zu", name,
			a->pmu->name, strlen(text), sizeof(buf) - 1);
	snprintf(buf, sizeof(buf), "%s", text);
	a->is_table = true;
	while (!r && (item = strsep(&rest, ",")) != NULL) {
		char *value = strchr(item, '=');
		bool is_given = false;

		if (value)
			*value++ = '\0';
		if (!value || strcmp(value, "?")) {
			r = set_term(a, item, value);
			continue;
		}
		/* "umask=?" asks the user for the value. */
		for (const struct term *t = a->terms; t; t = t->next)
			is_given |= t->value.at && t->name.n == strlen(item) &&
				!memcmp(t->name.at, item, t->name.n);
		if (!is_given)
			r = refuse(a, ERR_INVAL,
				"event '%s' of PMU '%s' needs a value: %s/%s,%s=N/", name,
				a->pmu->name, a->pmu->name, name, item);
	}
	a->is_table = false;
	return r;
}

static void set_unit(struct applier *a, double scale, const char *unit, bool is_per_pkg)
{
	a->e->scale = scale;
	if (unit && unit[0])
		a->e->unit = maker_strdup(a->m, unit, strlen(unit));
	wish(a->e, EVENT_PER_PKG, is_per_pkg);
}

/* The event's name in sysfs, which may be the other of two spellings; NULL: sysfs has neither. */
static const char *alias_of(const struct pmu *pmu, const char *name, char *text, size_t size)
{
	const char *other = names_other(name);

	if (pmu_alias(pmu, name, text, size))
		return name;
	return other && pmu_alias(pmu, other, text, size) ? other : NULL;
}

/* The same for an event of transactions that sysfs does not name. */
static int set_transaction(struct applier *a, const char *name)
{
	char cpuid[CPUID_SIZE];
	const char *terms;
	struct err why;
	int r;

	if (cpuid_read(a->m->env->sysfs, 0, cpuid, &why))
		cpuid[0] = '\0';
	r = tsx_find(a->pmu, name, cpuid, &terms, &why);
	if (r < 0)
		return refuse(a, why.code, "%s", why.msg);
	return r && apply_text(a, name, terms) ? a->m->err->code : r;
}

/* Makes the event of sysfs that `name` stands for the event; `text` are its terms. */
static int set_alias(struct applier *a, const char *name, const char *alias, const char *text)
{
	struct pmu_facts facts;
	struct err why;

	if (pmu_alias_facts(a->pmu, alias, &facts, &why))
		return refuse(a, why.code, "%s", why.msg);
	set_unit(a, facts.scale, facts.unit, facts.is_per_pkg);
	wish(a->e, EVENT_SNAPSHOT, facts.is_snapshot);
	return apply_text(a, name, text) ? a->m->err->code : 1;
}

/* Manuals and formulas of metrics write TSC and CPU_CYCLES for what sysfs calls tsc and cpu_cycles. */
static bool lower(const char *name, char *buf, size_t size)
{
	size_t n = strlen(name);

	if (n >= size || !strpbrk(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
		return false;
	for (size_t i = 0; i <= n; i++)
		buf[i] = (char)tolower((u8)name[i]);
	return true;
}

/* Makes `name` the event: 1 if the PMU, or its vendor's table, or the kernel has one. */
static int set_event(struct applier *a, const char *name)
{
	const struct catalog *catalog = a->m->env->catalog;
	const struct catalog_event *listed;
	const char *alias;
	char text[1024], small[128];

	if (!a->pmu)
		return 0;
	alias = alias_of(a->pmu, name, text, sizeof(text));
	if (alias)
		return set_alias(a, name, alias, text);
	listed = catalog ? catalog_find(catalog, a->pmu->name, name) : NULL;
	if (listed) {
		set_unit(a, listed->scale, listed->unit, listed->is_per_pkg);
		a->e->retire_latency = listed->retire_latency;
		return apply_text(a, name, listed->terms) ? a->m->err->code : 1;
	}
	if (lower(name, small, sizeof(small)) && pmu_alias(a->pmu, small, text, sizeof(text)))
		return set_alias(a, name, small, text);
	return set_transaction(a, name);
}

/* Makes `name` a generic event, counted by this kind of core. 1 if there is one of that name. */
static int set_legacy(struct applier *a, const char *name)
{
	struct intern cores = {0};
	u32 type;
	u64 config;

	if (!a->pmu || !a->pmu->is_core || a->is_table ||
		!names_find(name, strlen(name), &type, &config) ||
		(type != PERF_TYPE_HARDWARE && type != PERF_TYPE_HW_CACHE))
		return 0;
	a->e->attr.type = type;
	a->e->attr.config = config;
	a->is_legacy = true;
	pmu_list_cores(a->m->env->sysfs, &cores);
	if (cores.strings.n > 1)
		a->e->attr.config |= (u64)a->pmu->type << PERF_PMU_TYPE_SHIFT;
	intern_fini(&cores);
	return 1;
}

/* r1a8 or r0x1a8: all of config. */
static bool set_raw(struct applier *a, const char *name)
{
	const char *p = name + 1;
	u64 config;

	if (!a->pmu || name[0] != 'r')
		return false;
	if (!strncmp(p, "0x", 2))
		p += 2;
	if (!num_scan(&p, 16, &config) || *p)
		return false;
	a->e->attr.config = config;
	return true;
}

static int set_term(struct applier *a, const char *name, const char *text)
{
	const struct common *c = common_find(name);
	char format[256];
	int r;

	if (name[0] == '@')
		return set_driver(a, name);
	r = set_probe_term(a, name, text);
	if (!r && !text && !a->is_table)
		r = set_event(a, name);
	if (r)
		return r < 0 ? r : 0;
	if (c)
		return set_common(a, c, text);
	if (!a->pmu)
		return unknown_term(a, name);
	name = respell(a->pmu, name);
	if (!text && !pmu_format(a->pmu, name, format, sizeof(format)) &&
		(set_raw(a, name) || set_legacy(a, name)))
		return 0;
	return set_field(a, name, text);
}

static int set_terms(struct applier *a)
{
	char name[128], value[4096];

	for (const struct term *t = a->terms; t; t = t->next) {
		a->at = t->name;
		if (set_term(a, syntax_copy(t->name, name, sizeof(name)),
			    t->value.at ? syntax_copy(t->value, value, sizeof(value)) : NULL))
			return a->m->err->code;
	}
	return 0;
}

int terms_apply(struct maker *m, const struct pmu *pmu, const struct term *terms, struct event *e)
{
	struct applier a = {.m = m, .pmu = pmu, .terms = terms, .e = e};

	return set_terms(&a);
}

int terms_apply_named(struct maker *m, const struct pmu *pmu, struct word word,
	const struct term *terms, struct event *e)
{
	struct applier a = {.m = m, .pmu = pmu, .terms = terms, .e = e, .at = word};
	char name[128];
	int r = set_event(&a, syntax_copy(word, name, sizeof(name)));

	if (r <= 0)
		return r;
	return set_terms(&a) ? m->err->code : 1;
}
