/*
 * cpus.h - a set of CPUs, written as 0-3,8.
 *
 * Owns     its array: ascending, no duplicates
 * Source   cpuset(7) List format; /sys/devices/system/cpu/{online,possible}
 */
#ifndef PACE_EVENT_CPUS_H
#define PACE_EVENT_CPUS_H

#include "base/err.h"
#include "base/str.h"
#include "base/types.h"
#include "base/vec.h"

enum { CPUS_MAX = 1 << 16 }; /* numbers above are refused: no machine has them, a typo does */

struct cpus {
	u32 *at;
	size_t n, cap;
};

/* Adds the CPUs that text lists; ERR_INVAL says where it stops making sense. */
int cpus_parse(struct cpus *cpus, const char *text, struct err *err);
int cpus_online(struct cpus *cpus, struct err *err);
/* Brings an array that was filled by hand into order, without duplicates. */
void cpus_sort(struct cpus *cpus);
void cpus_add_all(struct cpus *cpus, const struct cpus *from); /* cpus must be empty */
bool cpus_has(const struct cpus *cpus, u32 cpu);
void cpus_add_text(const struct cpus *cpus, struct str *text);
void cpus_fini(struct cpus *cpus);

#endif
