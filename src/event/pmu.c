#include "event/pmu.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/num.h"
#include "base/str.h"
#include "base/sysfile.h"
#include "event/abi.h"

#define DEVICES "bus/event_source/devices"

/*
 * Calls `each` for the entries of a directory in alphabetical order (imc_2 before imc_10); for none if
 * there is no such directory.
 */
static void each_entry(const char *path, void (*each)(void *ctx, const char *name), void *ctx)
{
	struct dirent **entries;
	int n = scandir(path, &entries, NULL, versionsort);

	for (int i = 0; i < n; i++) {
		if (entries[i]->d_name[0] != '.')
			each(ctx, entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

static void intern_entry(void *ctx, const char *name)
{
	intern_str(ctx, name);
}

void pmu_list(const char *root, struct intern *names)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/" DEVICES, root);
	each_entry(path, intern_entry, names);
}

void pmu_add_names(const char *root, struct str *text)
{
	struct intern names = {0};

	pmu_list(root, &names);
	vec_each(known, &names.strings)
		str_addf(text, " %s", *known);
	if (!names.strings.n)
		str_add(text, " none");
	intern_fini(&names);
}

static int unknown_pmu(const char *root, const char *name, struct err *err)
{
	struct nearest near = {.typed = name};
	struct intern names = {0};
	struct str hint = {0};

	pmu_list(root, &names);
	vec_each(known, &names.strings)
		nearest_offer(&near, *known);
	nearest_add_hint(&near, &hint);
	if (!near.best) {
		str_add(&hint, " (this machine has");
		pmu_add_names(root, &hint);
		str_addc(&hint, ')');
	}
	err_set(err, ERR_NOENT, "there is no PMU '%s'%s", name, str_text(&hint));
	str_fini(&hint);
	intern_fini(&names);
	return err->code;
}

int pmu_open(struct pmu *pmu, const char *root, const char *name, struct err *err)
{
	char path[300], line[4096];
	s64 type;

	memset(pmu, 0, sizeof(*pmu));
	if (strchr(name, '/'))
		return err_set(err, ERR_INVAL, "'%s' is not the name of a PMU", name);
	snprintf(pmu->dir, sizeof(pmu->dir), "%s/" DEVICES "/%s", root, name);
	snprintf(path, sizeof(path), "%s/type", pmu->dir);
	if (!sysfile_s64(path, &type))
		return unknown_pmu(root, name, err);
	pmu->type = (u32)type;
	pmu->name = arena_strdup(&pmu->arena, name, strlen(name));
	snprintf(path, sizeof(path), "%s/cpus", pmu->dir);
	pmu->is_core = !strcmp(name, "cpu") || access(path, F_OK) == 0;
	/* cpumask: one CPU stands for its package; cpus: the core type that the PMU belongs to. */
	snprintf(path, sizeof(path), "%s/cpumask", pmu->dir);
	if (!sysfile_line(path, line, sizeof(line))) {
		snprintf(path, sizeof(path), "%s/cpus", pmu->dir);
		if (!sysfile_line(path, line, sizeof(line)))
			return 0;
	}
	if (line[0] && cpus_parse(&pmu->cpus, line, err)) {
		err_prefix(err, "'%s'", path);
		pmu_close(pmu);
		return err->code;
	}
	return 0;
}

void pmu_close(struct pmu *pmu)
{
	cpus_fini(&pmu->cpus);
	arena_fini(&pmu->arena);
}

bool pmu_alias(const struct pmu *pmu, const char *alias, char *buf, size_t size)
{
	char path[400];

	/* Files like tsc.scale describe an alias; they are not aliases themselves. */
	if (strchr(alias, '/') || strchr(alias, '.'))
		return false;
	snprintf(path, sizeof(path), "%s/events/%s", pmu->dir, alias);
	return sysfile_line(path, buf, size);
}

int pmu_alias_facts(const struct pmu *pmu, const char *alias, struct pmu_facts *ret_facts,
	struct err *err)
{
	struct pmu_facts facts = {.scale = 1};
	char path[400], line[64], *end;

	snprintf(path, sizeof(path), "%s/events/%s.unit", pmu->dir, alias);
	(void)sysfile_line(path, facts.unit, sizeof(facts.unit));
	snprintf(path, sizeof(path), "%s/events/%s.per-pkg", pmu->dir, alias);
	facts.is_per_pkg = sysfile_line(path, line, sizeof(line)) && line[0] == '1';
	snprintf(path, sizeof(path), "%s/events/%s.snapshot", pmu->dir, alias);
	facts.is_snapshot = sysfile_line(path, line, sizeof(line)) && line[0] == '1';
	snprintf(path, sizeof(path), "%s/events/%s.scale", pmu->dir, alias);
	if (sysfile_line(path, line, sizeof(line))) {
		facts.scale = strtod(line, &end);
		if (end == line || *end || !(facts.scale > 0))
			return err_set(err, ERR_FORMAT,
				"event '%s' of PMU '%s' has the scale '%s', which is not a positive number",
				alias, pmu->name, line);
	}
	*ret_facts = facts;
	return 0;
}

static void intern_alias(void *ctx, const char *name)
{
	if (!strchr(name, '.'))
		intern_str(ctx, name);
}

void pmu_list_aliases(const struct pmu *pmu, struct intern *names)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/events", pmu->dir);
	each_entry(path, intern_alias, names);
}

void pmu_list_formats(const struct pmu *pmu, struct intern *names)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/format", pmu->dir);
	each_entry(path, intern_entry, names);
}

bool pmu_format(const struct pmu *pmu, const char *field, char *buf, size_t size)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/format/%s", pmu->dir, field);
	return !strchr(field, '/') && sysfile_line(path, buf, size);
}

bool pmu_line(const struct pmu *pmu, const char *file, char *buf, size_t size)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/%s", pmu->dir, file);
	return sysfile_line(path, buf, size);
}

static int bad_format(const char *format, struct err *err)
{
	return err_set(err, ERR_UNSUPPORTED, "the format '%s' is not understood", format);
}

/* Spreads the low bits of value over the ranges of a format text: "config:0-7,21". */
static int scatter(const char *format, u64 value, struct event_attr *attr, struct err *err)
{
	static const struct {
		const char *word;
		size_t offset;
	} words[] = {
		{"config:", offsetof(struct event_attr, config)},
		{"config1:", offsetof(struct event_attr, config1)},
		{"config2:", offsetof(struct event_attr, config2)},
		{"config3:", offsetof(struct event_attr, config3)},
		{"config4:", offsetof(struct event_attr, config4)},
	};
	u64 *to = NULL, left = value;
	unsigned width = 0;
	const char *p;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strncmp(format, words[i].word, strlen(words[i].word)))
			to = (u64 *)(void *)((u8 *)attr + words[i].offset);
	p = strchr(format, ':');
	if (!to || !p)
		return bad_format(format, err);
	do {
		u64 low, high;

		p++;
		if (!num_scan(&p, 10, &low))
			return bad_format(format, err);
		high = low;
		if (*p == '-' && (p++, !num_scan(&p, 10, &high)))
			return bad_format(format, err);
		if (low > high || high > 63)
			return bad_format(format, err);
		u64 mask = high - low == 63 ? ~0ULL : (1ULL << (high - low + 1)) - 1;
		*to = (*to & ~(mask << low)) | (left & mask) << low;
		left = high - low == 63 ? 0 : left >> (high - low + 1);
		width += high - low + 1;
	} while (*p == ',');
	if (*p)
		return bad_format(format, err);
	if (left)
		return err_set(err, ERR_INVAL, "0x%llx does not fit into %u bits (%s)",
			(unsigned long long)value, width, format);
	return 0;
}

int pmu_set_term(const struct pmu *pmu, const char *term, u64 value, struct event_attr *attr,
	struct err *err)
{
	struct nearest near = {.typed = term};
	struct intern names = {0};
	struct str hint = {0};
	char format[256];

	if (pmu_format(pmu, term, format, sizeof(format))) {
		if (scatter(format, value, attr, err))
			return err_prefix(err, "term '%s' of PMU '%s'", term, pmu->name);
		return 0;
	}
	pmu_list_formats(pmu, &names);
	pmu_list_aliases(pmu, &names);
	vec_each(known, &names.strings)
		nearest_offer(&near, *known);
	nearest_add_hint(&near, &hint);
	err_set(err, ERR_NOENT, "PMU '%s' has no event or term '%s'%s", pmu->name, term,
		str_text(&hint));
	str_fini(&hint);
	intern_fini(&names);
	return err->code;
}

/* "_3", "3" or a long hexadecimal address at the end of a name: instances of the same unit. */
static size_t without_number(const char *name)
{
	size_t n = strlen(name), digits = 0, hex = 0;

	while (digits < n && name[n - digits - 1] >= '0' && name[n - digits - 1] <= '9')
		digits++;
	while (hex < n && strchr("0123456789abcdef", name[n - hex - 1]))
		hex++;
	/* Two hexadecimal digits could as well be a word: cpu_ab. */
	if (hex > 2 && hex < n && name[n - hex - 1] == '_')
		return n - hex - 1;
	if (!digits || digits == n)
		return n;
	return n - digits - (name[n - digits - 1] == '_');
}

static bool is_glob_match(const char *pattern, const char *name)
{
	char base[256];

	snprintf(base, sizeof(base), "%.*s", (int)without_number(name), name);
	return !fnmatch(pattern, name, 0) || !fnmatch(pattern, base, 0);
}

bool pmu_is_called(const char *name, const char *pattern)
{
	static const char uncore[] = "uncore_";
	size_t n = strlen(pattern);

	if (!strcmp(name, pattern))
		return true;
	for (;;) {
		size_t base = without_number(name);

		if (strpbrk(pattern, "*?[") ? is_glob_match(pattern, name)
					    : base == n && !strncmp(name, pattern, n))
			return true;
		/* uncore_ may be left out. */
		if (strncmp(name, uncore, strlen(uncore)) ||
			!strncmp(pattern, uncore, strlen(uncore)))
			return false;
		name += strlen(uncore);
		if (!strcmp(name, pattern))
			return true;
	}
}

static bool has_alias(const char *root, const char *name, const char *alias)
{
	char path[300], line[128];

	snprintf(path, sizeof(path), "%s/" DEVICES "/%s/alias", root, name);
	return sysfile_line(path, line, sizeof(line)) && !strcmp(line, alias);
}

static bool exists(const char *root, const char *name)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/" DEVICES "/%s/type", root, name);
	return !strchr(name, '/') && access(path, F_OK) == 0;
}

void pmu_match(const char *root, const char *pattern, struct intern *names)
{
	struct intern all = {0};

	if (exists(root, pattern)) {
		intern_str(names, pattern);
		return;
	}
	pmu_list(root, &all);
	vec_each(name, &all.strings)
		if (has_alias(root, *name, pattern))
			intern_str(names, *name);
	if (!names->strings.n)
		vec_each(name, &all.strings)
			if (pmu_is_called(*name, pattern) && exists(root, *name))
				intern_str(names, *name);
	intern_fini(&all);
}

/* PMUs of cores whose type is (not) the one that raw events go to. */
static void add_cores(const char *root, const struct intern *all, bool is_raw, struct intern *names)
{
	vec_each(name, &all->strings) {
		char path[300];
		s64 type;

		snprintf(path, sizeof(path), "%s/" DEVICES "/%s/cpus", root, *name);
		if (access(path, F_OK))
			continue;
		snprintf(path, sizeof(path), "%s/" DEVICES "/%s/type", root, *name);
		if (sysfile_s64(path, &type) && (type == PERF_TYPE_RAW) == is_raw)
			intern_str(names, *name);
	}
}

void pmu_list_cores(const char *root, struct intern *names)
{
	struct intern all = {0};

	if (exists(root, "cpu")) {
		intern_str(names, "cpu");
		return;
	}
	pmu_list(root, &all);
	add_cores(root, &all, true, names);
	add_cores(root, &all, false, names);
	intern_fini(&all);
}

bool pmu_is_core_there(const char *sysfs)
{
	struct intern names = {0};
	bool is_there;

	pmu_list_cores(sysfs, &names);
	is_there = names.strings.n > 0;
	intern_fini(&names);
	return is_there;
}

void pmu_offer_all(const char *root, struct intern *names, struct nearest *near)
{
	struct intern pmus = {0};

	pmu_list(root, &pmus);
	vec_each(name, &pmus.strings) {
		char path[300];

		snprintf(path, sizeof(path), "%s/" DEVICES "/%s/events", root, *name);
		each_entry(path, intern_entry, names);
	}
	intern_fini(&pmus);
	vec_each(name, &names->strings)
		if (!strchr(*name, '.'))
			nearest_offer(near, *name);
}
