/*
 * tables.h - the user's own tables of events: installed from a kernel's sources or a copy of perfmon, and removed.
 *
 * In       a folder in any layout that catalog.h knows, or an archive of a kernel's sources, which tar(1) unpacks
 * Out      below XDG_DATA_HOME/pace/events: the maps' rows and the files of this CPU or of all, without blanks and without
 *          what pace does not read; catalog_open() finds them. What was installed before is replaced at once or not at all
 * Errors   ERR_NOENT if there are no tables, or none of this CPU; ERR_UNSUPPORTED without tar or cJSON; ERR_INVAL if there
 *          is a folder of that name that pace did not make
 */
#ifndef PACE_EVENT_TABLES_H
#define PACE_EVENT_TABLES_H

#include "base/err.h"
#include "base/log.h"
#include "base/types.h"
#include "event/cpuid.h"

struct tables_options {
	const char *path;
	const char *sysfs; /* "/sys" */
	bool has_all_cpus;
};

struct tables_result {
	char folder[4096];
	char cpuid[CPUID_SIZE];
	u32 n_files, n_events, n_metrics; /* events and metrics of this CPU */
	u32 n_absent;                     /* of n_events: those of PMUs that sysfs does not have */
	u64 n_bytes;
};

int tables_install(const struct tables_options *options, struct tables_result *ret, struct log *log,
	struct err *err);

/* Removes what was installed. ERR_NOENT if nothing was. `ret_folder` has room for 4096 bytes. */
int tables_remove(char *ret_folder, struct err *err);

#endif
