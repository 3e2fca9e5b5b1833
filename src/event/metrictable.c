#include "event/metrictable.h"

#include <stdlib.h>
#include <strings.h>

#include "event/catalogrow.h"
#include "event/metricown.h"

static void add(struct metrictable *t, const struct metric_row *row)
{
	table_add(&t->index, catalogrow_hash(row->name), t->rows.n);
	if (row->other_name)
		table_add(&t->index, catalogrow_hash(row->other_name), t->rows.n);
	vec_add(&t->rows, row);
}

void metrictable_init(struct metrictable *t, const struct catalog *catalog)
{
	*t = (struct metrictable){0};
	if (catalog)
		vec_each(row, &catalog->metrics)
			add(t, row);
	/* Where a vendor has a metric of the same name, that is meant. */
	for (size_t i = 0; i < metricown_n; i++)
		if (metricown[i].row.name && !metrictable_find(t, NULL, metricown[i].row.name) &&
			metricown_is_for(&metricown[i], catalog ? catalog->cpuid : ""))
			add(t, &metricown[i].row);
}

void metrictable_fini(struct metrictable *t)
{
	vec_fini(&t->rows);
	table_fini(&t->index);
}

const struct metric_row *metrictable_find(const struct metrictable *t, const char *pmu,
	const char *name)
{
	struct table_probe probe = table_probe(&t->index, catalogrow_hash(name));
	const struct metric_row *other = NULL;
	u32 i;

	while ((i = table_next(&t->index, &probe)) != TABLE_NONE) {
		const struct metric_row *row = t->rows.at[i];

		if (strcasecmp(row->name, name) != 0 &&
			(!row->other_name || strcasecmp(row->other_name, name) != 0))
			continue;
		if (!pmu || (row->pmu && !strcmp(row->pmu, pmu)))
			return row;
		if (!other)
			other = row;
	}
	return other;
}

bool metric_list_has(const char *list, const char *group)
{
	size_t n = strlen(group);

	for (const char *at = list; at && *at;) {
		size_t length = strcspn(at, ";");

		if (length == n && !strncasecmp(at, group, n))
			return true;
		at += length + (at[length] == ';');
	}
	return false;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void metrictable_groups(const struct metrictable *t, struct intern *ret_names)
{
	vec_each(row, &t->rows) {
		for (const char *at = (*row)->groups; at && *at;) {
			size_t n = strcspn(at, ";");

			if (n)
				intern_add(ret_names, at, n);
			at += n + (at[n] == ';');
		}
	}
	if (ret_names->strings.n)
		qsort(ret_names->strings.at, ret_names->strings.n, sizeof(*ret_names->strings.at),
			by_text);
}
