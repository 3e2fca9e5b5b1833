/*
 * idle.h - samples of CPUs that had nothing to do: timers take them too.
 *
 * In       a named profile
 * Out      the same without them, as if they had never been taken; how many they were
 * Source   the kernel's functions in which a CPU waits for an interrupt: arch/x86/kernel/process.c,
 *          drivers/idle/intel_idle.c, drivers/acpi/processor_idle.c, arch/arm64/kernel/idle.c, arch/s390/kernel/idle.c
 */
#ifndef PACE_PROFILE_IDLE_H
#define PACE_PROFILE_IDLE_H

#include "profile/gather/profile.h"

u64 idle_remove(struct profile *p);

#endif
