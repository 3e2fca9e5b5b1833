#include "cmd/stat/stat_drilltables.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profile/diff/metricvalue.h"

enum { NAME_SIZE = 256 };

int drill_tables_open(struct drill_tables *t, const char *folder, const char *pmu,
	bool is_system_wide, struct log *log, struct err *err)
{
	const struct catalog_places places = {.folder = folder,
		.sysfs = "/sys",
		.has_metrics = true};

	if (t->is_open)
		return 0;
	if (catalog_open(&t->catalog, &places, log, err))
		return folder ? err->code : 0;
	t->is_open = true;
	t->pmu = pmu;
	t->folder = folder;
	t->facts = (struct metric_facts){.sysfs = places.sysfs,
		.cpuid = t->catalog.cpuid,
		.is_system_wide = is_system_wide};
	metrictable_init(&t->table, &t->catalog);
	return 0;
}

static void drop_set(struct drill_tables *t)
{
	if (t->has_set)
		metricset_fini(&t->set);
	t->has_set = false;
}

void drill_tables_close(struct drill_tables *t)
{
	drop_set(t);
	if (!t->is_open)
		return;
	metrictable_fini(&t->table);
	catalog_close(&t->catalog);
	t->is_open = false;
}

static void group_of(const char *parent, char group[NAME_SIZE])
{
	snprintf(group, NAME_SIZE, "%.200s_group", parent);
}

static bool is_here(const struct drill_tables *t, const struct metric_row *row)
{
	return !row->pmu || !strcmp(row->pmu, t->pmu);
}

bool drill_tables_have(const struct drill_tables *t, const char *parent)
{
	char group[NAME_SIZE];

	group_of(parent, group);
	for (size_t i = 0; t->is_open && i < t->table.rows.n; i++)
		if (metric_list_has(t->table.rows.at[i]->groups, group) &&
			is_here(t, t->table.rows.at[i]))
			return true;
	return false;
}

int drill_tables_count(struct drill_tables *t, const char *parent, struct event_list *events,
	struct log *log, struct err *err)
{
	static const struct metricset_options options;
	const struct parse_env env = {.sysfs = t->facts.sysfs, .catalog = &t->catalog};
	char group[NAME_SIZE];

	drop_set(t);
	group_of(parent, group);
	metricset_init(&t->set, &t->table, &env, &t->facts, &options);
	t->has_set = true;
	return metricset_ask(&t->set, group, log, err) || metricset_count(&t->set, events, err)
		? err->code
		: 0;
}

void drill_tables_take(const struct drill_tables *t, const struct event_list *events,
	const struct count *counts, double elapsed_ns, struct drill_step *step)
{
	double *errors = mem_alloc((events->n + 1) * sizeof(*errors));
	const struct metricvalue_input in = {&t->set, events, counts, errors, elapsed_ns};

	for (size_t i = 0; i < events->n; i++)
		errors[i] = -1;
	vec_each(use, &t->set.uses) {
		struct metric m;

		if (!use->is_asked || !use->n_events || !is_here(t, use->row))
			continue;
		m = metricvalue_of(&in, use);
		drill_add(step, use->row->name, DRILL_NONE,
			m.state == METRIC_VALUE ? m.value / use->row->scale : NAN,
			m.verdict == METRIC_NOTABLE);
	}
	mem_free(errors);
}

const struct metric_row *drill_tables_row(const struct drill_tables *t, const char *name)
{
	return t->is_open ? metrictable_find(&t->table, t->pmu, name) : NULL;
}

/* The first name behind "Sample with:". Older tables end names of precise events in _PS. */
bool drill_tables_add_sample(const struct drill_tables *t, const struct metric_row *row,
	struct str *text)
{
	static const char mark[] = "Sample with:";
	const char *at = row->description ? strstr(row->description, mark) : NULL;
	size_t n, start = text->n;
	bool is_precise;

	if (!at)
		return false;
	at += strlen(mark);
	at += strspn(at, " ");
	n = strcspn(at, " ;,");
	n -= n && at[n - 1] == '.';
	is_precise = n > 3 && !strncasecmp(at + n - 3, "_PS", 3);
	n -= is_precise ? 3 : 0;
	if (!n)
		return false;
	str_addn(text, at, n);
	for (size_t i = start; i < text->n; i++)
		text->at[i] = (char)tolower((unsigned char)text->at[i]);
	if (is_precise)
		str_add(text, ":pp");
	if (t->folder)
		str_addf(text, " --events-dir %s", t->folder);
	return true;
}
