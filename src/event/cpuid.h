/*
 * cpuid.h - the name of a CPU model, as the vendors' tables of events spell it.
 *
 *     GenuineIntel-6-55-4        x86: vendor, family, model and stepping (the last two hexadecimal)
 *     0x00000000410fd0c0         arm64: MIDR_EL1 without variant and revision
 *     0x004e1202                 powerpc: PVR
 *     0x489-0x8000000000000007-0x0  riscv: mvendorid, marchid, mimpid
 *
 * Errors   ERR_UNSUPPORTED if the kernel does not tell
 * Source   tools/perf/pmu-events/arch: mapfile.csv; proc(5): /proc/cpuinfo
 */
#ifndef PACE_EVENT_CPUID_H
#define PACE_EVENT_CPUID_H

#include "base/err.h"
#include "base/types.h"

enum { CPUID_SIZE = 128 };

/*
 * Writes the model of `cpu` to ret: from $PACE_CPUID or perf's $PERF_CPUID; else from sysfs; else, if
 * `sysfs` is this machine's, from /proc/cpuinfo.
 */
int cpuid_read(const char *sysfs, u32 cpu, char ret[CPUID_SIZE], struct err *err);

/* The same from the text of a /proc/cpuinfo; false if it does not tell. */
bool cpuid_of_cpuinfo(const char *text, char ret[CPUID_SIZE]);

/*
 * Whether a pattern of a mapfile.csv matches the model. A pattern is a POSIX regular expression for
 * the whole id; on x86 it may leave out the stepping.
 */
bool cpuid_matches(const char *cpuid, const char *pattern);

#endif
