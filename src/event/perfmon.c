#include "event/perfmon.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/types.h"

/* What is no event, and events that the kernel calls otherwise. */
static const struct {
	const char *name, *formula;
} names[] = {
	{"SYSTEM_TSC_FREQ", "#system_tsc_freq"},
	{"SOCKET_COUNT", "#num_packages"},
	{"CORES_PER_SOCKET", "(#num_cores / #num_packages)"},
	{"THREADS_PER_CORE", "(#num_cpus_online / #num_cores)"},
	{"HYPERTHREADING_ON", "#smt_on"},
	/* Each CHA is a PMU, whose events count on all sockets. */
	{"CHAS_PER_SOCKET", "source_count(UNC_CHA_CLOCKTICKS)"},
	{"DURATIONTIMEINSECONDS", "duration_time"},
	{"DURATIONTIMEINMILLISECONDS", "(duration_time * 1000)"},
	{"TOPDOWN.SLOTS:perf_metrics", "slots"},
	{"PERF_METRICS.RETIRING", "topdown\\-retiring"},
	{"PERF_METRICS.BAD_SPECULATION", "topdown\\-bad\\-spec"},
	{"PERF_METRICS.FRONTEND_BOUND", "topdown\\-fe\\-bound"},
	{"PERF_METRICS.BACKEND_BOUND", "topdown\\-be\\-bound"},
	{"PERF_METRICS.HEAVY_OPERATIONS", "topdown\\-heavy\\-ops"},
	{"PERF_METRICS.BRANCH_MISPREDICTS", "topdown\\-br\\-mispredict"},
	{"PERF_METRICS.FETCH_LATENCY", "topdown\\-fetch\\-lat"},
	{"PERF_METRICS.MEMORY_BOUND", "topdown\\-mem\\-bound"},
};

/* Modifiers of events: "c4" is cmask=4. */
static const struct {
	char letter;
	const char *term;
} modifiers[] = {{'c', "cmask"}, {'e', "edge"}, {'i', "inv"}, {'u', "umask"}};

static void add_escaped(const char *at, size_t n, struct str *text)
{
	for (size_t i = 0; i < n; i++) {
		if (strchr("-,=/:", at[i]))
			str_addc(text, '\\');
		str_addc(text, at[i]);
	}
}

/* Adds a modifier to the terms, or to the letters behind them. */
static void add_modifier(const char *at, size_t n, struct str *terms, struct str *letters)
{
	if (n == 3 && !strncasecmp(at, "SUP", n)) {
		str_addc(letters, 'k');
		return;
	}
	if (n == 4 && !strncasecmp(at, "USER", n)) {
		str_addc(letters, 'u');
		return;
	}
	str_add(terms, terms->n ? "\\," : "");
	for (size_t i = 0; i < ARRAY_SIZE(modifiers); i++) {
		if (at[0] == modifiers[i].letter && n > 1 && isdigit((u8)at[1])) {
			str_addf(terms, "%s\\=%.*s", modifiers[i].term, (int)n - 1, at + 1);
			return;
		}
	}
	add_escaped(at, n, terms);
}

/* "UOPS_RETIRED.MS:c1:e1" is UOPS_RETIRED.MS/cmask=1,edge=1/ */
static void add_event(const char *name, struct str *text)
{
	struct str terms = {0}, letters = {0};
	size_t n = strcspn(name, ":");

	add_escaped(name, n, text);
	while (name[n]) {
		size_t from = n + 1;

		n = from + strcspn(name + from, ":");
		add_modifier(name + from, n - from, &terms, &letters);
	}
	if (terms.n)
		str_addf(text, "@%s@%s", terms.at, str_text(&letters));
	else if (letters.n)
		str_addf(text, ":%s", letters.at);
	str_fini(&terms);
	str_fini(&letters);
}

static void add_name(const char *name, struct str *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(names[i].name, name)) {
			str_add(text, names[i].formula);
			return;
		}
	}
	add_event(name, text);
}

void perfmon_add_metric(const char *name, struct str *text)
{
	for (; *name; name++)
		str_addc(text, isalnum((u8)*name) || strchr("_.", *name) ? *name : '_');
}

static const struct eventfile_alias *find_alias(const struct eventfile_row *row, const char *at,
	size_t n, bool is_threshold)
{
	for (size_t i = 0; i < row->n_aliases; i++) {
		const struct eventfile_alias *a = &row->aliases[i];

		if (a->is_of_threshold == is_threshold && strlen(a->alias) == n &&
			!strncasecmp(a->alias, at, n))
			return a;
	}
	return NULL;
}

static bool is_of_word(char c)
{
	return isalnum((u8)c) || c == '_' || c == '.';
}

/* Adds a word of a formula: an alias, a name, or a word of the language. */
static void add_word(const struct eventfile_row *row, bool is_threshold, const char *at, size_t n,
	struct str *text)
{
	const struct eventfile_alias *alias = find_alias(row, at, n, is_threshold);
	struct str own = {0};

	if (alias && is_threshold) {
		perfmon_add_metric(alias->name, text);
	} else if (alias) {
		add_name(alias->name, text);
	} else {
		str_addn(&own, at, n);
		add_name(str_text(&own), text);
		str_fini(&own);
	}
}

void perfmon_add_formula(const struct eventfile_row *row, bool is_threshold, struct str *text)
{
	const char *at = row->text[is_threshold ? FIELD_METRIC_THRESHOLD : FIELD_METRIC_FORMULA];

	while (at && *at) {
		size_t n = 0;

		while (is_of_word(at[n]))
			n++;
		if (!n)
			str_addc(text, *at++);
		else if (isdigit((u8)*at) || *at == '.')
			str_addn(text, at, n);
		else
			add_word(row, is_threshold, at, n, text);
		at += n;
	}
}
