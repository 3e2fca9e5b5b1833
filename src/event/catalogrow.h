/*
 * catalogrow.h - one row of the vendors' tables: an event or a metric of the catalog that is being opened.
 *
 * In       rows, as event/eventfile reads them; the PMUs of this machine
 * Out      entries of the catalog; what a row lacks, it does not have
 * Owns     nothing: texts go into the catalog's arena
 * Errors   false: a number in the row is invalid
 * Source   tools/perf/pmu-events/README; perfmon's readme
 */
#ifndef PACE_EVENT_CATALOGROW_H
#define PACE_EVENT_CATALOGROW_H

#include "event/catalog.h"
#include "event/eventfile.h"

/* A kind of core: its PMU, and the CPU model that selects its tables. */
struct catalog_core {
	const char *pmu;
	bool pmu_is_here;
	char cpuid[CPUID_SIZE];
};

/* A unit of the tables, the PMU that it stands for, and whether this machine has that PMU. */
struct catalog_unit {
	const char *unit, *pmu;
	bool is_here;
};

struct catalog_opener {
	struct catalog *catalog;
	const struct catalog_places *places;
	struct log *log;
	struct intern pmus; /* those of sysfs */
	VEC(struct catalog_unit) units;
	const struct catalog_core *core;
	const char *role_pmu;            /* PMU of this file's entries that name none */
	const char *standard_folder;     /* where the architecture's events are */
	VEC(struct eventfile) standards; /* its files, read when the first entry refers to one */
	VEC(struct eventfile_row) standard_rows;
	bool has_standards;
	u32 n_read, n_broken;
	struct err first_err;
};

/* Of an event's name, whatever its case. */
u64 catalogrow_hash(const char *name);

/* Whether this machine has a PMU of that name; without a sysfs it has all. */
bool catalogrow_has_pmu(const struct catalog_opener *o, const char *pmu);

bool catalogrow_add_event(struct catalog_opener *o, const struct eventfile_row *row,
	const char *topic);
void catalogrow_add_metric(struct catalog_opener *o, const struct eventfile_row *row,
	const char *topic);

#endif
