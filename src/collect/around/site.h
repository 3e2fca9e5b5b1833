/*
 * site.h - what pace runs inside of: a virtual machine, a container, a security module's rules.
 *
 * In       /proc, /sys and, on this machine's x86 CPU, its cpuid instruction
 * Out      struct site; it tells a remedy on what machine to act
 * Owns     nothing: names point into tables
 * Source   cpuid(4) leaf 0x40000000 of each hypervisor; sysfs-firmware-dmi-tables;
 *          namespaces(7); linux/proc_ns.h for the numbers of the first namespaces;
 *          proc(5): Seccomp; Documentation/admin-guide/LSM
 */
#ifndef PACE_COLLECT_SITE_H
#define PACE_COLLECT_SITE_H

#include "base/types.h"

struct site_hypervisor {
	const char *name;
	const char *remedy; /* what gives its guests hardware counters; NULL: nothing does */
	bool is_fragile;    /* guests have been reset by sampling with NMIs */
};

struct site_runtime { /* of containers */
	const char *name;
	const char *remedy; /* the option that lets perf_event_open(2) through */
};

enum site_seccomp { SITE_SECCOMP_UNKNOWN, SITE_SECCOMP_NONE, SITE_SECCOMP_ACTIVE };

struct site {
	/* A folder with copies of another machine's /proc and /sys; NULL: this machine. */
	const char *root;
	bool is_virtual;
	const struct site_hypervisor *hypervisor; /* NULL: unknown, or none */
	const struct site_runtime *container;     /* NULL: none */
	bool in_user_namespace;                   /* its capabilities count for nothing outside */
	enum site_seccomp seccomp;                /* of this process */
	char model[64];                           /* what the firmware calls the machine, or "" */
	char lockdown[32];                        /* "none", "integrity", "confidentiality", "" */
	char modules[128];                        /* "capability,yama,selinux", or "" */
	char program[256];                        /* pace's own file, or "" */
	unsigned group;                           /* the user's */
	bool is_root;
	bool is_old; /* Linux before 5.8, where CAP_SYS_ADMIN takes the place of CAP_PERFMON */
};

/* Reads everything except the machine. `root` NULL: this one. */
void site_read(struct site *s, const char *root);

/*
 * Finds out whether the machine is virtual, and the hypervisor. Slower, because it reads
 * /proc/cpuinfo.
 */
void site_read_machine(struct site *s);

/* Whether the CPUs' own PMU exists: a device "cpu", or one that lists the CPUs it belongs to. */
bool site_has_core_pmu(const struct site *s);

/* Returns the path below the site's root as it can be opened, in buf. */
const char *site_path(const struct site *s, char *buf, size_t size, const char *fmt, ...)
	PRINTF(4, 5);

#endif
