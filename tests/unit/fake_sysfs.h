/*
 * fake_sysfs.h - a small /sys and a small tracefs in the test's directory.
 *
 * cpu (4), cpu_atom (10, cpus 4-7), uncore_imc_0 (14, cpumask 0,2), split (20: fields in several
 * pieces), bent (21: formats that make no sense), and directories that are no PMUs. Tracepoints:
 * sched:sched_switch (314), sched:sched_wakeup (315), syscalls:sys_enter_openat (600).
 */
#ifndef PACE_TESTS_UNIT_FAKE_SYSFS_H
#define PACE_TESTS_UNIT_FAKE_SYSFS_H

/* Makes the tree; the root to hand to pmu_open() or struct parse_env. */
const char *fake_sysfs(void);
const char *fake_tracefs(void);

/* Writes a file below the test's directory, with its folders. */
void fake_file(const char *path, const char *text);

#endif
