/*
 * pmu.h - the machine's event sources as sysfs describes them.
 *
 * In       <root>/bus/event_source/devices/<name>/{type,format/,events/,cpumask,cpus}
 * Out      type numbers, where the bits of a term go, the terms an alias stands for
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
	char dir[256];    /* where its sysfs files are */
	struct cpus cpus; /* where its events must be opened; empty: anywhere */
	struct arena arena;
};

/* `root` is "/sys" unless a test or --sysfs says otherwise. */
int pmu_open(struct pmu *pmu, const char *root, const char *name, struct err *err);
void pmu_close(struct pmu *pmu);

/* The text of an alias ("event=0x3c,umask=1") into buf; false if the PMU has no such event. */
bool pmu_alias(const struct pmu *pmu, const char *alias, char *buf, size_t size);

/*
 * Puts `value` into the bits of attr that the PMU's format `term` names. ERR_NOENT: no such term
 * (the hint lists the nearest); ERR_INVAL: the value is wider than the field.
 */
int pmu_set_term(const struct pmu *pmu, const char *term, u64 value, struct event_attr *attr,
	struct err *err);

/*
 * The PMU that has an event called `alias` into *ret_pmu, core PMUs first; 1 if found, 0 if none
 * has.
 */
int pmu_find_alias(const char *root, const char *alias, struct pmu *ret_pmu, struct err *err);

/* Names of all PMUs, sorted, interned in `names`. */
void pmu_list(const char *root, struct intern *names);

/* Offers all PMU names and all their events' names. */
void pmu_offer_all(const char *root, struct intern *names, struct nearest *near);

#endif
