/*
 * eventfile.h - one JSON file of a vendor's table, event by event.
 *
 * In       an array of objects (Linux' pmu-events), or an object whose "Events" is one (Intel's
 *          perfmon; "Metrics" in its files of metrics); values are strings, numbers, or lists, of which the first
 *          counts
 * Out      rows: the text behind each key that is known here. A row without a FIELD_NAME is a metric, and a
 *          row may be both; one with neither name describes a group of metrics
 * Owns     the rows' texts, until eventfile_close()
 * Errors   ERR_FORMAT with file, offset and what stands there; ERR_LIMIT for more than any table
 *          has; ERR_UNSUPPORTED if pace was built without cJSON
 * Source   tools/perf/pmu-events/README; perfmon's readme; RFC 8259
 */
#ifndef PACE_EVENT_EVENTFILE_H
#define PACE_EVENT_EVENTFILE_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/types.h"

enum eventfile_field {
	FIELD_NAME,
	FIELD_STANDARD, /* the event of the architecture that this one is */
	FIELD_UNIT,
	FIELD_CODE,
	FIELD_CODE_MORE, /* ExtSel: the bits above the lowest eight */
	FIELD_CONFIG,
	FIELD_EVENT_ID,
	FIELD_NODE_TYPE,
	FIELD_UMASK,
	FIELD_UMASK_MORE, /* UMaskExt: the same */
	FIELD_CMASK,
	FIELD_INVERT,
	FIELD_EDGE,
	FIELD_ANY_THREAD,
	FIELD_PORT_MASK,
	FIELD_FC_MASK,
	FIELD_READ_WRITE_MASK,
	FIELD_ALL_CORES,
	FIELD_ALL_SLICES,
	FIELD_SLICE,
	FIELD_THREAD_MASK,
	FIELD_MSR,
	FIELD_MSR_VALUE,
	FIELD_FILTER,
	FIELD_FILTER_VALUE,
	FIELD_PERIOD,
	FIELD_RETIRE_LATENCY,
	FIELD_SCALE,
	FIELD_PER_PKG,
	FIELD_PRECISE,
	FIELD_DEPRECATED,
	FIELD_COMPAT, /* the entry is about a chip, not a CPU */
	FIELD_ERRATA,
	FIELD_BRIEF,
	FIELD_DESCRIPTION,
	FIELD_METRIC_NAME,
	FIELD_METRIC_EXPR,
	FIELD_METRIC_FORMULA, /* perfmon's: over aliases */
	FIELD_METRIC_GROUP,
	FIELD_METRIC_THRESHOLD,
	FIELD_METRIC_CONSTRAINT,
	FIELD_METRIC_NO_GROUP,
	FIELD_METRIC_DEFAULT,
	FIELD_METRIC_UNIT,   /* perfmon's UnitOfMeasure */
	FIELD_METRIC_LEGACY, /* perfmon's older name, which its thresholds use */
	FIELD_COUNT,
};

/* In a formula of perfmon `alias` stands for an event or a constant; in its threshold for a metric. */
struct eventfile_alias {
	const char *alias, *name;
	bool is_of_threshold;
};

struct eventfile_row {
	const char *text[FIELD_COUNT]; /* NULL: not given */
	struct eventfile_alias *aliases;
	size_t n_aliases;
};

struct eventfile {
	struct str text;
	struct arena arena; /* texts of values that are not strings */
	void *tree;
	const void *next;
};

/* Whether this build has the library that reads JSON. */
bool eventfile_is_built_in(void);

/* Without `has_metrics` a file that has only metrics has no rows. */
int eventfile_open(struct eventfile *f, const char *path, bool has_metrics, struct err *err);

/* Reads the next entry into *row; fields that it lacks keep their value. False after the last entry. */
bool eventfile_next(struct eventfile *f, struct eventfile_row *row);
/*
 * Appends the file without blanks and without what is not read here, such as the columns of perfmon that
 * repeat others: the same rows, in a third of the bytes.
 */
int eventfile_compact(const char *path, struct str *ret, struct err *err);

void eventfile_close(struct eventfile *f);

#endif
