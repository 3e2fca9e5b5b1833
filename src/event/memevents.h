/*
 * memevents.h - which events of this machine sample memory accesses.
 *
 * In       sysfs; loads or stores or both; how many cycles a load has to take at least
 * Out      text for parse_events(), of user space and kernel
 * Owns     nothing
 * Errors   ERR_NOENT if no PMU here has such events, with the PMUs that do
 * Source   Intel SDM volume 3, 20.3.4 (PEBS load latency); AMD PPR (IBS); perf-mem(1)
 */
#ifndef PACE_EVENT_MEMEVENTS_H
#define PACE_EVENT_MEMEVENTS_H

#include "base/err.h"
#include "base/str.h"

enum memevents_what { MEMEVENTS_LOADS = 1, MEMEVENTS_STORES = 2 };

struct memevents_wish {
	unsigned what; /* enum memevents_what */
	u64 latency;   /* cycles */
};

/* Appends to ret_text only on success. */
int memevents_find(const char *sysfs, const struct memevents_wish *wish, struct str *ret_text,
	struct err *err);

#endif
