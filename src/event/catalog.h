/*
 * catalog.h - events that neither the kernel nor sysfs names: the CPU vendors' tables, read from
 * JSON.
 *
 * In       directories in the layout of Linux' pmu-events (mapfile.csv, one folder a CPU model) or
 *          of Intel's perfmon (mapfile.csv, one file of Events a model); this CPU's id
 * Out      events: the terms they stand for, in the words of the PMU's sysfs formats
 * Owns     all strings (one arena)
 * Errors   ERR_NOENT if no directory was found, ERR_FORMAT with file and offset; a broken file
 *          leaves the others usable
 * Source   tools/perf/pmu-events/README; perfmon's readme
 */
#ifndef PACE_EVENT_CATALOG_H
#define PACE_EVENT_CATALOG_H

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/types.h"
#include "base/vec.h"

struct catalog_event {
	const char *name;        /* lower case */
	const char *pmu;         /* "cpu", "cpu_core", "uncore_imc" (all that begin so) */
	const char *terms;       /* "event=0x3c,umask=0x1,period=2000003" */
	const char *brief;       /* one sentence, or NULL */
	const char *description; /* more of them, or NULL */
	const char *topic;       /* "cache": the file it is from */
	const char *unit;        /* of count * scale; NULL: events */
	double scale;            /* 1 unless the table says otherwise */
	bool is_per_pkg, is_deprecated;
};

struct catalog {
	VEC(struct catalog_event) events; /* by name */
	struct table index;
	struct arena arena;
	const char *folder; /* where they are from; NULL: none was found */
};

struct catalog_places {
	const char *folder; /* --events-dir, or NULL: where they are usually installed */
	const char *cpuid;  /* as in mapfile.csv; NULL: this machine's */
	const char *sysfs;  /* "/sys", or a test's tree: PMUs that are not there have no events */
};

/* Reads the tables of one CPU. Without a folder and none installed: 0 events, no error. */
int catalog_open(struct catalog *c, const struct catalog_places *places, struct log *log,
	struct err *err);
void catalog_close(struct catalog *c);

/* The event of that name; of that PMU, or of any if `pmu` is NULL. NULL if there is none. */
const struct catalog_event *catalog_find(const struct catalog *c, const char *pmu,
	const char *name);

#endif
