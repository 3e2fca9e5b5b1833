/*
 * pmu.h - the machine's event sources as sysfs describes them.
 *
 * In       <root>/bus/event_source/devices/<name>/{type,alias,format/,events/,caps/,cpumask,cpus}
 * Out      type numbers, where the bits of a term go, the terms an alias stands for
 * Words    an alias is a name that sysfs gives an event of a PMU; a core PMU counts for the CPUs
 *          themselves, and machines with cores of several kinds have one for each kind
 * Owns     struct pmu its strings (an arena of its own)
 * Errors   ERR_NOENT with the nearest name; ERR_INVAL for values that do not fit
 * Source   Documentation/ABI/testing/sysfs-bus-event_source-devices-{format,events}
 */
#ifndef PACE_EVENT_PMU_H
#define PACE_EVENT_PMU_H

#include "base/err.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "base/types.h"
#include "base/vec.h"
#include "event/attr.h"
#include "event/cpus.h"

struct pmu {
	const char *name;
	u32 type;
	bool is_core;
	char dir[256];    /* where its sysfs files are */
	struct cpus cpus; /* where its events must be opened; empty: anywhere */
	struct arena arena;
};

/* `root` is "/sys" unless a test or --sysfs says otherwise. */
int pmu_open(struct pmu *pmu, const char *root, const char *name, struct err *err);
void pmu_close(struct pmu *pmu);

/* The text of an alias ("event=0x3c,umask=1") into buf; false if the PMU has no such event. */
bool pmu_alias(const struct pmu *pmu, const char *alias, char *buf, size_t size);

/* What the files beside an alias say: tsc.scale, tsc.unit, tsc.per-pkg, tsc.snapshot. */
struct pmu_facts {
	double scale;  /* 1 if it has none */
	char unit[64]; /* "" if it has none */
	bool is_per_pkg, is_snapshot;
};

/* ERR_FORMAT if the scale is not a positive number. */
int pmu_alias_facts(const struct pmu *pmu, const char *alias, struct pmu_facts *ret_facts,
	struct err *err);

/* Names of the PMU's aliases, and of the fields of its formats; sorted, interned in `names`. */
void pmu_list_aliases(const struct pmu *pmu, struct intern *names);
void pmu_list_formats(const struct pmu *pmu, struct intern *names);

/* The text of a field ("config:0-7,32-35") into buf; false if the PMU has no such field. */
bool pmu_format(const struct pmu *pmu, const char *field, char *buf, size_t size);

/* The first line of a file in the PMU's directory ("caps/mtc"); false if there is none. */
bool pmu_line(const struct pmu *pmu, const char *file, char *buf, size_t size);

/*
 * Puts `value` into the bits of attr that the PMU's format `term` names. ERR_NOENT: no such term
 * (the hint lists the nearest); ERR_INVAL: the value is wider than the field.
 */
int pmu_set_term(const struct pmu *pmu, const char *term, u64 value, struct event_attr *attr,
	struct err *err);

/* Names of all PMUs, sorted, interned in `names`. */
void pmu_list(const char *root, struct intern *names);

/* The same as a text, each with a blank in front; " none" if there is none. */
void pmu_add_names(const char *root, struct str *text);

/*
 * Interns in `names`, sorted, the PMUs that a name stands for: the one of that name; else those whose
 * file `alias` holds it; else uncore_imc_0, uncore_imc_1... for uncore_imc or imc, and the matches of a
 * glob.
 */
void pmu_match(const char *root, const char *pattern, struct intern *names);

/* Whether the PMU `name` is one that `pattern` stands for, by its name only. */
bool pmu_is_called(const char *name, const char *pattern);

/*
 * The PMUs of the machine's CPUs: `cpu`, or one for each kind of core, Intel's big cores first. None in
 * most virtual machines.
 */
void pmu_list_cores(const char *root, struct intern *names);

/* Whether a PMU of CPUs is there: virtual machines often have none. */
bool pmu_is_core_there(const char *sysfs);

/* Offers all PMU names and all their events' names. */
void pmu_offer_all(const char *root, struct intern *names, struct nearest *near);

#endif
