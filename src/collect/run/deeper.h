/*
 * deeper.h - opens events a second time, with larger stack copies, to wait until these are needed.
 *
 * What samples contain cannot be changed while their event is open, and the counters that tasks inherited
 * have no descriptors. But disabling one event and enabling another reaches all tasks at once.
 *
 * In       counters as open_events() returns them, of events whose samples all have stack copies
 * Out      the same number of counters behind them, idle, for the same events and in the same groups
 * Errors   those of opening; then no idle counters are left
 * Source   perf_event_open(2): inherit, PERF_EVENT_IOC_ENABLE
 */
#ifndef PACE_COLLECT_DEEPER_H
#define PACE_COLLECT_DEEPER_H

#include "collect/counter/counter.h"

/* Opens the idle counters, with `stack_bytes` in each sample, and fetches the events' ids again. */
int deeper_open(struct event_list *events, struct counters *counters, u32 stack_bytes,
	struct err *err);

/* Whether there are idle counters. */
bool deeper_is_there(const struct counters *counters);

/*
 * Replaces the other counters by the idle ones, which are enabled unless `is_off`; at every moment
 * one kind is enabled. The idle counters must have a ring already.
 */
int deeper_take_over(struct counters *counters, bool is_off, struct err *err);

#endif
