/*
 * hotplug.h - CPUs that go off and come back while they are measured.
 *
 * In       the list of online CPUs, looked at now and then
 * Out      counters of CPUs that are back count on; what came and went is said once
 * Owns     its copy of the list
 * Source   Documentation/core-api/cpu_hotplug.rst; sysfs: devices/system/cpu/online
 */
#ifndef PACE_COLLECT_HOTPLUG_H
#define PACE_COLLECT_HOTPLUG_H

#include "base/log.h"
#include "collect/counting.h"
#include "event/cpus.h"
#include "event/target.h"

struct hotplug {
	struct cpus online; /* as it was last seen */
};

void hotplug_init(struct hotplug *h);
void hotplug_fini(struct hotplug *h);

/*
 * Compares with the list as it is now: `counting` belongs to `target`, and is switched on or not.
 * Call it behind counting_read().
 */
void hotplug_check(struct hotplug *h, struct counting *counting, const struct target *target,
	bool is_on, struct log *log);

#endif
