/*
 * hotplug.h - CPUs that go offline and come back while they are measured.
 *
 * In       the list of online CPUs, looked at now and then
 * Out      counters of CPUs that are back are opened again; each change is logged once
 * Owns     its copy of the list
 * Source   Documentation/core-api/cpu_hotplug.rst; sysfs: devices/system/cpu/online
 */
#ifndef PACE_COLLECT_HOTPLUG_H
#define PACE_COLLECT_HOTPLUG_H

#include "base/log.h"
#include "event/cpus.h"
#include "event/target.h"

struct hotplug {
	struct cpus online; /* at the last look */
};

void hotplug_init(struct hotplug *h);
void hotplug_fini(struct hotplug *h);

/* The owner of the counters. */
struct hotplug_user {
	const char *done; /* what it does on a CPU: "counted" */
	void *ctx;
	/* Opens what was open on a CPU that came back. Returns how many could not be opened. */
	size_t (*reopen)(void *ctx, s32 cpu);
};

/* Compares the list with the present one, reopens counters and logs changes. */
void hotplug_check(struct hotplug *h, const struct target *target, const struct hotplug_user *user,
	struct log *log);

#endif
