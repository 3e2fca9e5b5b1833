/*
 * metricfacts.h - what formulas of metrics ask about the machine: #smt_on, #num_cpus, has_pmu(), strcmp_cpuid_str().
 *
 * In       sysfs, of this machine or a copy; the model; what is measured
 * Out      numbers; NaN if the machine does not tell
 * Source   Documentation/ABI/stable/sysfs-devices-system-cpu; tools/perf/util/expr.c for what the words mean
 */
#ifndef PACE_EVENT_METRICFACTS_H
#define PACE_EVENT_METRICFACTS_H

#include "base/types.h"

enum { METRICFACTS_MAX = 16 };

struct metric_facts {
	const char *sysfs;
	const char *cpuid;                /* cpuid.h; "" if it is not known */
	bool is_system_wide;              /* all that runs on all CPUs is counted */
	double literals[METRICFACTS_MAX]; /* those that were asked for */
	bool has_literal[METRICFACTS_MAX];
};

/* `name` as in metricexpr.h: "smt_on". The machine is asked once. */
double metricfacts_literal(struct metric_facts *f, const char *name);

bool metricfacts_has_pmu(const struct metric_facts *f, const char *pmu);

/* Whether the model matches: a pattern as in mapfile.csv; on arm64 a MIDR, of this or an earlier revision. */
bool metricfacts_is_cpu(const struct metric_facts *f, const char *model);

/* Whether the kernel's watchdog has one of the counters. */
bool metricfacts_has_watchdog(void);

#endif
