/*
 * vendor.h - what the fields of the vendors' tables are called in sysfs.
 *
 * In       a row of eventfile.h
 * Out      terms of the PMU's formats ("event=0x48,umask=0x1,cmask=1,period=2000003"), PMU names
 * Source   /sys/bus/event_source/devices/<pmu>/format; the kernel's arch/x86/events/intel/core.c for
 *          the codes of fixed counters and extra registers
 */
#ifndef PACE_EVENT_VENDOR_H
#define PACE_EVENT_VENDOR_H

#include "base/str.h"
#include "base/types.h"
#include "event/eventfile.h"

/* Adds a row's terms; false if a number is invalid or a register is unknown. */
bool vendor_add_terms(const struct eventfile_row *row, struct str *text);

/* The field's number: 1 if there is one, 0 if the field is absent, -1 if it is not a number. */
int vendor_number(const struct eventfile_row *row, enum eventfile_field field, u64 *ret_v);

/* Adds the PMU that a table calls `unit`: "iMC" is uncore_imc, "core" is cpu. */
void vendor_add_pmu(const char *unit, struct str *text);

#endif
