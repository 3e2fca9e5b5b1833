/*
 * metricset.h - the metrics that somebody asked for: compiled, with the metrics and the events that they are made of.
 *
 *     metricset_init(), metricset_ask() for each word of -M, metricset_count() when all are known
 *
 * A name of a formula is a metric of the same table, or else an event. What the machine decides without counts (#smt_on,
 * has_event()) decides which of them are needed. The events of a metric become one group, so that they are on the PMU
 * together: one for each PMU, weak, in which slots lead. A metric whose events are all in another's group shares that.
 *
 * In       metrictable.h; where events are looked up
 * Out      metrics in such an order that each comes after those it is made of; their events, parsed
 * Owns     formulas and lists; rows and what `env` points to are the caller's
 * Errors   ERR_NOENT: no metric or group of that name, with the nearest; ERR_INVAL with the metric's name: a formula that
 *          makes no sense, an event that is not here, metrics that are made of each other
 */
#ifndef PACE_EVENT_METRICSET_H
#define PACE_EVENT_METRICSET_H

#include "base/log.h"
#include "event/metricexpr.h"
#include "event/metricfacts.h"
#include "event/metrictable.h"
#include "event/parse.h"

/* What a name of a formula stands for. */
struct metric_operand {
	u32 use;      /* position of a metric in the set; TABLE_NONE: it is an event */
	u32 event;    /* position of an event in the set; TABLE_NONE: it is not needed */
	bool is_here; /* has_event() */
};

struct metric_formula {
	struct metricexpr x;
	struct metric_operand *operands; /* by name of x */
};

/* The events of a session that an event's name stands for: one, or one of each PMU. */
struct metric_counted {
	u32 *at;
	u32 n;
};

struct metric_use {
	const struct metric_row *row;
	const char *name; /* the row's, and the number of what it is about if there are several */
	u32 parameter;
	bool is_asked; /* else others are made of it */
	bool is_loose; /* its events are not a group */
	bool has_threshold;
	struct metric_formula value, threshold;
	/* If it is asked for: what it and its threshold are made of, itself included, and the events of all these. */
	u32 *parts, *events;
	u32 n_parts, n_events;
	struct metric_counted *counted; /* by event of the set; after metricset_count() */
};

struct metricset_options {
	bool has_no_groups;     /* --metric-no-group */
	bool has_no_merge;      /* --metric-no-merge */
	bool has_no_thresholds; /* --metric-no-threshold */
};

struct metricset {
	const struct metrictable *table;
	struct parse_env env;
	struct metric_facts *facts;
	struct metricset_options options;
	VEC(struct metric_use) uses;
	VEC(struct metric_event {
		const char *text; /* as -e takes it */
		const char *pmu;  /* which PMU's, if several have it; or NULL */
	})
	events;
	u32 n_asked;
	struct arena arena;
};

void metricset_init(struct metricset *s, const struct metrictable *table,
	const struct parse_env *env, struct metric_facts *facts,
	const struct metricset_options *options);
void metricset_fini(struct metricset *s);

/*
 * Adds a metric, or those of a group ("all": every metric). A metric of a group that cannot be counted here is left out,
 * and logged; one that was named is an error, and so is a group of which nothing is left.
 */
int metricset_ask(struct metricset *s, const char *word, struct log *log, struct err *err);

/* Adds one metric. */
int metricset_ask_row(struct metricset *s, const struct metric_row *row, struct err *err);

/* Appends the events of all metrics to the list. */
int metricset_count(struct metricset *s, struct event_list *events, struct err *err);

#endif
