/*
 * deeper.h - events opened a second time, with larger copies of the stack, that wait until these are needed.
 *
 * What is in a sample cannot be changed while its event is open, and what tasks have inherited of it has no
 * descriptor. But to switch one event off and another on reaches all tasks at once.
 *
 * In       counters as open_events() gives them, of events whose samples all have copies of the stack
 * Out      as many again behind them, idle: they belong to the same events, in the same groups
 * Errors   of opening; then there are none of them
 * Source   perf_event_open(2): inherit, PERF_EVENT_IOC_ENABLE
 */
#ifndef PACE_COLLECT_DEEPER_H
#define PACE_COLLECT_DEEPER_H

#include "collect/counter/counter.h"

/* Opens them; `stack_bytes`: of each sample's stack. The ids of the events are fetched again. */
int deeper_open(struct event_list *events, struct counters *counters, u32 stack_bytes,
	struct err *err);

/* Whether there are some that wait. */
bool deeper_is_there(const struct counters *counters);

/*
 * Those that wait take the others' place, switched on unless `is_off`; there is no moment without any. Their
 * output is to have a ring before.
 */
int deeper_take_over(struct counters *counters, bool is_off, struct err *err);

#endif
