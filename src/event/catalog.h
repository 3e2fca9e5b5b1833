/*
 * catalog.h - events that neither the kernel nor sysfs names, and metrics: the CPU vendors' tables, read from
 * JSON.
 *
 * In       directories in the layout of Linux' pmu-events (mapfile.csv, one folder a CPU model) or
 *          of Intel's perfmon (mapfile.csv, one file of Events a model); this CPU's id
 * Out      events: the terms they stand for, in the words of the PMU's sysfs formats; if asked for, metrics: their
 *          formulas, those of perfmon in the words of pmu-events
 * Owns     all strings (one arena)
 * Errors   ERR_NOENT if the named folder does not exist or holds no tables; ERR_FORMAT with file and
 *          offset if no file can be read. A broken file is reported, and the others stay usable
 * Source   tools/perf/pmu-events/README; perfmon's readme
 */
#ifndef PACE_EVENT_CATALOG_H
#define PACE_EVENT_CATALOG_H

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/table.h"
#include "base/types.h"
#include "base/vec.h"
#include "event/cpuid.h"
#include "event/metricrow.h"

struct catalog_event {
	const char *name;        /* lower case */
	const char *pmu;         /* "cpu", "cpu_core", "uncore_imc": see catalog_pmu_matches() */
	const char *terms;       /* "event=0x3c,umask=0x1,period=2000003" */
	const char *brief;       /* one sentence, or NULL */
	const char *description; /* more of them, or NULL */
	const char *topic;       /* "cache": the file it is from */
	const char *unit;        /* of count * scale; NULL: events */
	double scale;            /* 1 unless the table says otherwise */
	double retire_latency;   /* its usual mean, in cycles; 0: the table has none */
	const char *errata;      /* the vendor's numbers of errata, or NULL */
	u8 precise;              /* 1: can be sampled with :p; 2: not without it */
	bool is_per_pkg, is_deprecated;
};

struct catalog_group { /* of metrics */
	const char *name, *brief;
};

struct catalog {
	VEC(struct catalog_event) events; /* by name */
	VEC(struct metric_row) metrics;   /* in the order of the files */
	VEC(struct catalog_group) groups; /* those that the tables describe */
	struct table index, metric_index;
	struct arena arena;
	const char *folder; /* where the tables are from; NULL: none were found */
	char cpuid[CPUID_SIZE];
	u32 n_absent; /* left out: events of PMUs that sysfs does not have */
	u32 n_chips;  /* left out: events of chips, which have a version of their own */
};

/* Something that tables are made of: a file, or a row of the map of CPUs. */
struct catalog_source {
	const char *folder; /* with the map, mapfile.csv */
	const char *file;   /* below it, or NULL */
	const char *row;    /* of the map, or NULL */
};

struct catalog_sources {
	VEC(struct catalog_source) list;
	struct intern texts;
	bool has_all_cpus; /* those of all CPUs are wanted; the catalog stays empty then */
};

struct catalog_places {     /* and what is wanted from there */
	const char *folder; /* --events-dir, or NULL: where they are usually installed */
	const char *cpuid;  /* as in mapfile.csv; NULL: this machine's */
	const char *sysfs;  /* "/sys", or a test's tree: PMUs that are not there have no events */
	bool has_metrics;   /* metrics are wanted too */
	struct catalog_sources
		*sources; /* if not NULL, what is read is noted here, as far as a map names it */
};

/*
 * Reads the tables of this CPU, or of each kind of its cores. If no folder is named and none is
 * installed, there are 0 events and no error.
 */
int catalog_open(struct catalog *c, const struct catalog_places *places, struct log *log,
	struct err *err);
void catalog_close(struct catalog *c);
void catalog_sources_fini(struct catalog_sources *s);

/* Where the user's own tables are: below XDG_DATA_HOME. False: neither it nor HOME says where. */
bool catalog_own_folder(char *buf, size_t size);

/*
 * The event of that name (letter case is ignored) on that PMU (by a table's or sysfs' name for it), or
 * on any PMU if `pmu` is NULL. NULL if there is none.
 */
const struct catalog_event *catalog_find(const struct catalog *c, const char *pmu,
	const char *name);

/*
 * Whether the PMU that sysfs calls `name` is one of those that a table calls `pmu`. "uncore_imc" is
 * uncore_imc, uncore_imc_0, uncore_imc_1 ..., but not uncore_imc_free_running_0; "hisi_sccl,ddrc" is
 * hisi_sccl1_ddrc0.
 */
bool catalog_pmu_matches(const char *pmu, const char *name);

#endif
