/*
 * inventory.h - everything that can be measured here, each with its encoding and whether it opens.
 *
 *     inventory_open() finds the names, inventory_choose() keeps those that are asked for, inventory_try()
 *     examines the rest: it encodes each event with the parser of -e and tries to open it.
 *
 * In       sysfs and tracefs, of this machine or a copy of another's; the vendors' tables
 * Owns     all strings
 * Errors   ERR_NOENT if nothing is left, with the nearest names
 * Source   perf_event_open(2); perf-list(1) for the words of groups
 */
#ifndef PACE_COLLECT_INVENTORY_H
#define PACE_COLLECT_INVENTORY_H

#include "base/err.h"
#include "base/log.h"
#include "base/str.h"
#include "base/vec.h"
#include "event/catalog.h"
#include "event/event.h"

/* In the order of the list. */
enum inventory_kind {
	INVENTORY_HARDWARE,
	INVENTORY_SOFTWARE,
	INVENTORY_CACHE,
	INVENTORY_TOOL,       /* not the kernel's: stat itself counts them */
	INVENTORY_PMU,        /* named by sysfs */
	INVENTORY_RAW,        /* forms: a number, terms */
	INVENTORY_BREAKPOINT, /* a form */
	INVENTORY_TABLE,      /* named by a vendor's table */
	INVENTORY_TRACEPOINT,
	INVENTORY_KIND_COUNT,
};

enum inventory_opens {
	INVENTORY_UNTRIED,
	INVENTORY_OPENS,
	INVENTORY_OPENS_USER, /* only without the kernel */
	INVENTORY_REFUSED,
};

struct inventory_item {
	enum inventory_kind kind;
	const char *name;  /* as -e takes it */
	const char *alias; /* as -e takes it too, or NULL */
	const char *pmu;   /* sysfs' name, or NULL */
	/* The heading it is listed under: a PMU, a topic, a tracepoint's system; or NULL. */
	const char *group;
	const char *terms;               /* for that PMU, or NULL */
	const char *brief, *description; /* or NULL */
	const char *unit;                /* or NULL */
	double scale;
	const struct catalog_event *row; /* of INVENTORY_TABLE: the rest of the table's facts */
	struct event_attr attr;          /* after inventory_try(), if has_attr */
	bool has_attr;
	enum inventory_opens opens;
	const char *reason; /* why it is not INVENTORY_OPENS */
};

struct inventory_options {
	const char *sysfs;      /* "/sys", or a copy of another machine's */
	const char *tracefs;    /* NULL: where it is mounted */
	bool is_copy;           /* nothing is opened */
	const char *events_dir; /* as in struct catalog_places */
	const char *pmu;        /* only events of this PMU; NULL: all */
	bool has_all;           /* tracepoints too, even if no word asks for them */
	bool has_deprecated;
	char *const *words; /* groups, globs, or texts to find in names and descriptions */
	size_t n_words;
};

struct inventory {
	VEC(struct inventory_item) items;
	struct inventory_options options;
	struct catalog catalog;
	struct intern pmus;
	struct arena arena;
	char tracefs[300]; /* "": unknown */
	u32 n_tracepoints, n_systems;
	bool has_hidden_tracepoints; /* no word asked for them, so they are not among the items */
	struct err no_tracepoints;   /* why there are none; code 0: there are some */
};

int inventory_open(struct inventory *m, const struct inventory_options *options, struct log *log,
	struct err *err);
int inventory_choose(struct inventory *m, struct err *err);
void inventory_try(struct inventory *m);
void inventory_close(struct inventory *m);

/* Tries to open one item, whose attr is known, anywhere or on one of the CPUs that it names. */
void inventory_try_item(struct inventory *m, struct inventory_item *item, const struct cpus *cpus);

/* Adds the terms of a PMU's formats: "event (config:0-7), umask (config:8-15)". */
void inventory_add_formats(const struct inventory *m, const char *pmu, struct str *text);

/* Adds the fields of a tracepoint, which filters can use; nothing for other items. */
void inventory_add_fields(const struct inventory *m, const struct inventory_item *item,
	struct str *text);

/* The type number of a PMU. False: there is no such PMU. */
bool inventory_pmu_type(const struct inventory *m, const char *pmu, u32 *ret_type);

#endif
