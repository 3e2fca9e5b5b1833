/*
 * metrictable.h - all metrics that have a name here: those of the vendors' tables and pace's own.
 *
 * In       a catalog that was opened with metrics, or NULL
 * Out      rows, by name or by group
 * Owns     its index; rows and their texts are the catalog's, which must live as long
 */
#ifndef PACE_EVENT_METRICTABLE_H
#define PACE_EVENT_METRICTABLE_H

#include "base/str.h"
#include "event/catalog.h"
#include "event/metricrow.h"

struct metrictable {
	VEC(const struct metric_row *) rows; /* a vendor's before pace's own */
	struct table index;                  /* by name, in lower case */
};

void metrictable_init(struct metrictable *t, const struct catalog *catalog);
void metrictable_fini(struct metrictable *t);

/*
 * The metric of that name (letter case is ignored), of `pmu` if there is one, else of any PMU; on any
 * PMU if `pmu` is NULL. NULL if there is none.
 */
const struct metric_row *metrictable_find(const struct metrictable *t, const char *pmu,
	const char *name);

/* Whether a list like "TopdownL1;Default" names the group. */
bool metric_list_has(const char *list, const char *group);

/* Interns the names of all groups, in alphabetical order. */
void metrictable_groups(const struct metrictable *t, struct intern *ret_names);

#endif
