/*
 * sampling.h - how often to sample and what each sample carries: options in, attr bits out.
 *
 * Units    Hz; events
 * Source   perf-record(1); linux/perf_event.h
 */
#ifndef PACE_COLLECT_SAMPLING_H
#define PACE_COLLECT_SAMPLING_H

#include "base/err.h"
#include "base/log.h"
#include "event/compat.h"
#include "event/event.h"
#include "event/target.h"

enum {
	SAMPLING_DEFAULT_HZ = 4000,
	SAMPLING_DEFAULT_STACK = 8192,
	SAMPLING_MAX_STACK = 65528, /* the kernel's: a record has a size of 16 bits */
};

struct sampling {
	u64 frequency; /* samples a second and CPU; 0: a fixed period */
	u64 period;    /* events between samples, if not 0 */
	bool is_max;   /* -F max: as often as the kernel allows */
	bool has_chains;
	bool has_branches; /* chains of user code are the CPU's own record of calls (LBR) */
	u16 max_stack;     /* addresses of a chain; 0: what the kernel allows */
	u32 stack_bytes;   /* of the user's stack, with his registers, in each sample; 0: none */
	bool has_data_addresses;
	bool has_clock; /* times are of `clock`, not of the kernel's scheduler */
	s32 clock;
	bool is_command;             /* counting begins when the workload is exec'd */
	const struct compat *compat; /* for a perf that is older; NULL: today's */
};

/*
 * Fills in sample_type, read_format, frequency and the side-band bits of all events; what an event's
 * own terms say goes before; what holds for an event's chains is in its own.max_stack afterwards. A frequency above the kernel's limit is lowered and said. The first
 * event that may carries mmap, comm and task records. ERR_UNSUPPORTED for events that cannot be
 * sampled and terms that are not honoured yet.
 */
int sampling_apply(struct sampling *s, struct event_list *events, const struct target *target,
	struct log *log, struct err *err);

#endif
