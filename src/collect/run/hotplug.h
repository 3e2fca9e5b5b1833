/*
 * hotplug.h - CPUs that go off and come back while they are measured.
 *
 * In       the list of online CPUs, looked at now and then
 * Out      counters of CPUs that are back are opened again; what came and went is said once
 * Owns     its copy of the list
 * Source   Documentation/core-api/cpu_hotplug.rst; sysfs: devices/system/cpu/online
 */
#ifndef PACE_COLLECT_HOTPLUG_H
#define PACE_COLLECT_HOTPLUG_H

#include "base/log.h"
#include "event/cpus.h"
#include "event/target.h"

struct hotplug {
	struct cpus online; /* as it was last seen */
};

void hotplug_init(struct hotplug *h);
void hotplug_fini(struct hotplug *h);

/* Whose counters they are. */
struct hotplug_user {
	const char *done; /* what is done on a CPU: "counted" */
	void *ctx;
	/* Opens what was open on a CPU that is back; returns how many could not be. */
	size_t (*reopen)(void *ctx, s32 cpu);
};

/* Compares with the list as it is now. */
void hotplug_check(struct hotplug *h, const struct target *target, const struct hotplug_user *user,
	struct log *log);

#endif
