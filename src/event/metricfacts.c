#include "event/metricfacts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/num.h"
#include "base/str.h"
#include "base/sysfile.h"
#include "event/catalog.h"
#include "event/cpus.h"
#include "event/pmu.h"

enum { PATH_SIZE = 512, LINE_SIZE = 4096 };

/* The CPUs that a file of sysfs lists; empty if it cannot be read. */
static struct cpus list_of(const struct metric_facts *f, const char *file)
{
	char path[PATH_SIZE], line[LINE_SIZE];
	struct cpus cpus = {0};
	struct err err;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/%s", f->sysfs, file);
	if (sysfile_line(path, line, sizeof(line)) && cpus_parse(&cpus, line, &err))
		cpus_fini(&cpus);
	return cpus;
}

static double count_of(const struct metric_facts *f, const char *file)
{
	struct cpus cpus = list_of(f, file);
	double n = cpus.n ? (double)cpus.n : NAN;

	cpus_fini(&cpus);
	return n;
}

/* One more than the largest number of a CPU, as perf has it. */
static double num_cpus(const struct metric_facts *f)
{
	struct cpus cpus = list_of(f, "present");
	double n = cpus.n ? cpus.at[cpus.n - 1] + 1.0 : NAN;

	cpus_fini(&cpus);
	return n;
}

/* How many lists of CPUs the online CPUs have in a file: cores, dies, packages. */
static double num_units(const struct metric_facts *f, const char *file, const char *old_file)
{
	struct cpus cpus = list_of(f, "online");
	struct intern lists = {0};
	char path[PATH_SIZE], line[LINE_SIZE];
	double n;

	for (size_t i = 0; i < cpus.n; i++) {
		snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%u/topology/%s", f->sysfs,
			cpus.at[i], file);
		if (!sysfile_line(path, line, sizeof(line)) && old_file) {
			snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%u/topology/%s",
				f->sysfs, cpus.at[i], old_file);
			if (!sysfile_line(path, line, sizeof(line)))
				continue;
		}
		intern_str(&lists, line);
	}
	n = lists.strings.n ? (double)lists.strings.n : NAN;
	intern_fini(&lists);
	cpus_fini(&cpus);
	return n;
}

static double num_cores(const struct metric_facts *f)
{
	return num_units(f, "core_cpus_list", "thread_siblings_list");
}

static double num_dies(const struct metric_facts *f)
{
	double n = num_units(f, "die_cpus_list", NULL);

	return isnan(n) ? num_units(f, "package_cpus_list", "core_siblings_list") : n;
}

static double num_packages(const struct metric_facts *f)
{
	return num_units(f, "package_cpus_list", "core_siblings_list");
}

/* Whether cores run several threads at once. */
static double smt_on(const struct metric_facts *f)
{
	char path[PATH_SIZE];
	s64 v;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/smt/active", f->sysfs);
	if (sysfile_s64(path, &v))
		return v != 0;
	return num_cores(f) < count_of(f, "online");
}

/* Whether counts are of whole cores, so that nothing of another thread is missing. */
static double core_wide(const struct metric_facts *f)
{
	return f->is_system_wide;
}

/* The slots of a cycle, which the PMUs of Arm's cores tell. */
static double slots(const struct metric_facts *f)
{
	struct intern names = {0};
	double result = NAN;
	char path[PATH_SIZE], line[64];

	pmu_list_cores(f->sysfs, &names);
	vec_each(name, &names.strings) {
		snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/caps/slots", f->sysfs,
			*name);
		if (isnan(result) && sysfile_line(path, line, sizeof(line)))
			result = (double)strtoul(line, NULL, 0);
	}
	intern_fini(&names);
	return result;
}

static double has_pmem(const struct metric_facts *f)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/firmware/acpi/tables/NFIT", f->sysfs);
	return access(path, F_OK) == 0;
}

/* "model name : Intel(R) Xeon(R) CPU @ 2.60GHz": the frequency in Hz; NaN if there is none. */
static double named_frequency(void)
{
	char text[8192], *line, *at;

	if (!sysfile_start("/proc/cpuinfo", text, sizeof(text)))
		return NAN;
	line = strstr(text, "model name");
	if (!line)
		return NAN;
	line[strcspn(line, "\n")] = '\0';
	at = strchr(line, '@');
	if (at && strstr(at, "GHz"))
		return strtod(at + 1, NULL) * 1e9;
	return at && strstr(at, "MHz") ? strtod(at + 1, NULL) * 1e6 : NAN;
}

/*
 * The frequency of the time stamp counter.
 * Source: Intel's manual, CPUID leaf 15H: EBX / EAX times the crystal's frequency, ECX.
 */
static double system_tsc_freq(const struct metric_facts *f)
{
	if (strcmp(f->sysfs, "/sys") != 0)
		return NAN;
#if defined(__x86_64__)
	unsigned a = 0, b = 0, c = 0, d = 0;

	if (__get_cpuid(0x15, &a, &b, &c, &d) && a && b && c)
		return (double)c * b / a;
#endif
	return named_frequency();
}

/* Events count; they are not sampled (VTune's words). */
static double ebs_mode(const struct metric_facts *f)
{
	(void)f;
	return 0;
}

static double num_cpus_online(const struct metric_facts *f)
{
	return count_of(f, "online");
}

double metricfacts_literal(struct metric_facts *f, const char *name)
{
	static const struct {
		const char *name;
		double (*find)(const struct metric_facts *f);
	} literals[] = {
		{"smt_on", smt_on},
		{"core_wide", core_wide},
		{"num_cpus", num_cpus},
		{"num_cpus_online", num_cpus_online},
		{"num_cores", num_cores},
		{"num_dies", num_dies},
		{"num_packages", num_packages},
		{"system_tsc_freq", system_tsc_freq},
		{"slots", slots},
		{"has_pmem", has_pmem},
		{"ebs_mode", ebs_mode},
	};

	_Static_assert(ARRAY_SIZE(literals) <= METRICFACTS_MAX, "room for all literals");
	for (size_t i = 0; i < ARRAY_SIZE(literals); i++) {
		if (strcmp(name, literals[i].name) != 0)
			continue;
		if (!f->has_literal[i])
			f->literals[i] = literals[i].find(f);
		f->has_literal[i] = true;
		return f->literals[i];
	}
	return NAN;
}

bool metricfacts_has_pmu(const struct metric_facts *f, const char *pmu)
{
	struct intern names = {0};
	bool is_there = false;

	pmu_list(f->sysfs, &names);
	vec_each(name, &names.strings)
		is_there |= !strcmp(*name, pmu) || catalog_pmu_matches(pmu, *name);
	intern_fini(&names);
	return is_there;
}

/* The MIDR of a CPU as it is; cpuid.h leaves out variant and revision. */
static bool midr_of(const struct metric_facts *f, u64 *ret_midr)
{
	char path[PATH_SIZE], line[64];
	const char *p = line + 2;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu0/regs/identification/midr_el1",
		f->sysfs);
	if (!getenv("PACE_CPUID") && !getenv("PERF_CPUID") &&
		sysfile_line(path, line, sizeof(line)) && !strncmp(line, "0x", 2))
		return num_scan(&p, 16, ret_midr);
	p = f->cpuid + 2;
	return !strncmp(f->cpuid, "0x", 2) && num_scan(&p, 16, ret_midr) && !*p;
}

bool metricfacts_is_cpu(const struct metric_facts *f, const char *model)
{
	const u64 variant = 0xf << 20, revision = 0xf;
	const char *p = model + 2;
	u64 wanted, is;

	if (strncmp(model, "0x", 2) != 0 || !num_scan(&p, 16, &wanted) || *p || !midr_of(f, &is))
		return f->cpuid[0] && cpuid_matches(f->cpuid, model);
	if ((wanted & ~(variant | revision)) != (is & ~(variant | revision)))
		return false;
	return (is & variant) == (wanted & variant) ? (is & revision) >= (wanted & revision)
						    : (is & variant) > (wanted & variant);
}

bool metricfacts_has_watchdog(void)
{
	s64 v;

	return sysfile_s64("/proc/sys/kernel/nmi_watchdog", &v) && v;
}
