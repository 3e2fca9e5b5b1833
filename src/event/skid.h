/*
 * skid.h - how far a sample may be from the instruction that caused it.
 *
 * In       the attr that the event was opened with
 * Out      which instruction causes a sample, seen from the sampled one
 * Source   perf_event_open(2): precise_ip
 */
#ifndef PACE_EVENT_SKID_H
#define PACE_EVENT_SKID_H

#include "event/attr.h"

enum skid_kind {
	SKID_NONE,     /* the sampled instruction itself */
	SKID_ONE,      /* the one before it */
	SKID_TIMER,    /* none: an interrupt was taken here */
	SKID_DEBUGGER, /* a breakpoint: the access before it */
	SKID_SOME,     /* a counter: one some way before it */
};

enum skid_kind skid_of(const struct event_attr *attr);

#endif
