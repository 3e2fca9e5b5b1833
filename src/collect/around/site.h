/*
 * site.h - what pace runs inside of: a virtual machine, a container, a security module's rules.
 *
 * In       /proc, /sys and, on this machine's x86 CPU, its cpuid instruction
 * Out      struct site; whoever made a remedy of it knows whose machine has to be changed
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
	bool is_fragile;    /* sampling by NMI has reset its guests */
};

struct site_runtime { /* of containers */
	const char *name;
	const char *remedy; /* the option that lets perf_event_open(2) through */
};

enum site_seccomp { SITE_SECCOMP_UNKNOWN, SITE_SECCOMP_NONE, SITE_SECCOMP_ACTIVE };

struct site {
	const char *root; /* NULL: this machine; else a folder with copies of its /proc and /sys */
	bool is_virtual;
	const struct site_hypervisor *hypervisor; /* NULL: one that we do not know, or none */
	const struct site_runtime *container;     /* NULL: none */
	bool in_user_namespace;                   /* capabilities in there count for nothing */
	enum site_seccomp seccomp;                /* of this process */
	char model[64];                           /* what the machine calls itself, or "" */
	char lockdown[32];                        /* "none", "integrity", "confidentiality", "" */
	char modules[128];                        /* "capability,yama,selinux", or "" */
	char program[256];                        /* pace's own file, or "" */
	unsigned group;                           /* of the user */
	bool is_root;
	bool is_old; /* Linux before 5.8: CAP_SYS_ADMIN is what later became CAP_PERFMON */
};

/* Everything but the machine. `root` NULL looks at this one. */
void site_read(struct site *s, const char *root);

/* Whether it is virtual, and whose; takes longer, as /proc/cpuinfo does. */
void site_read_machine(struct site *s);

/* Whether the CPUs' own PMU is there: a device "cpu", or one that lists the CPUs it belongs to. */
bool site_has_core_pmu(const struct site *s);

/* "/proc/x" below the site's root: the path as it can be opened, in buf. */
const char *site_path(const struct site *s, char *buf, size_t size, const char *fmt, ...)
	PRINTF(4, 5);

#endif
