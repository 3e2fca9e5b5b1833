/*
 * skid.h - how far from an instruction the samples are that it caused.
 *
 * In       an event as it was opened
 * Out      where its samples stand
 * Source   perf_event_open(2): precise_ip
 */
#ifndef PACE_EVENT_SKID_H
#define PACE_EVENT_SKID_H

#include "event/attr.h"

enum skid_kind {
	SKID_NONE,     /* the instruction itself */
	SKID_ONE,      /* the one before it */
	SKID_TIMER,    /* where an interrupt was taken */
	SKID_DEBUGGER, /* a breakpoint: behind the access */
	SKID_SOME,     /* a counter: some before it */
};

enum skid_kind skid_of(const struct event_attr *attr);

#endif
