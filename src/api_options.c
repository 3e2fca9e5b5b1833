/*
 * api_options.c - what the options of a counter may be, and what they make of an event's attr.
 */
#include "api.h"

#include "arch/arch.h"
#include "collect/open/sampling.h"
#include "record/regs.h"

enum { ALL_FLAGS = (PACE_FALLBACK << 1) - 1 };

static bool is_zero(const uint64_t *words, size_t n)
{
	while (n--)
		if (words[n])
			return false;
	return true;
}

int api_check_target(const struct pace_options *o, pid_t pid, int cpu, struct err *err)
{
	if (o->cgroup && (pid != -1 || cpu < 0))
		return err_set(err, ERR_INVAL,
			"control group '%s' is counted on one CPU: it needs pid -1 and a CPU, not pid %d and cpu %d",
			o->cgroup, pid, cpu);
	if (pid == -1 && cpu == -1)
		return err_set(err, ERR_INVAL,
			"pid -1 (every process) needs a CPU, cpu -1 (any CPU) needs a process: choose one");
	if (pid < -1 || cpu < -1)
		return err_set(err, ERR_INVAL, "there is no %s %d", pid < -1 ? "pid" : "cpu",
			pid < -1 ? pid : cpu);
	if (o->flags & PACE_USER_READ && (pid || cpu != -1 || o->flags & PACE_INHERIT))
		return err_set(err, ERR_INVAL,
			"reading in user space works only for counters of the calling thread: pid 0, cpu -1, not "
			"inherited");
	return 0;
}

/* Checks the parts of a sample and their sizes. */
static int check_parts(const struct pace_options *o, struct err *err)
{
	const struct {
		u64 sample, how;
		const char *name, *what;
	} parts[] = {
		{PERF_SAMPLE_BRANCH_STACK, o->branches, "BRANCH_STACK", "the kinds of branches"},
		{PERF_SAMPLE_REGS_USER, o->user_regs, "REGS_USER", "the mask user_regs"},
		{PERF_SAMPLE_REGS_INTR, o->intr_regs, "REGS_INTR", "the mask intr_regs"},
	};
	bool has_stack = o->sample & PERF_SAMPLE_STACK_USER || o->flags & PACE_CALLERS;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (!!(o->sample & parts[i].sample) != !!parts[i].how)
			return err_set(err, ERR_INVAL,
				"PERF_SAMPLE_%s in sample needs %s, and the other way round",
				parts[i].name, parts[i].what);
	if (o->stack_bytes && !has_stack)
		return err_set(err, ERR_INVAL,
			"stack_bytes needs PERF_SAMPLE_STACK_USER or PACE_CALLERS");
	if (o->stack_bytes % 8 || o->stack_bytes > SAMPLING_MAX_STACK)
		return err_set(err, ERR_INVAL, "stack_bytes %u: expected a multiple of 8, up to %u",
			o->stack_bytes, SAMPLING_MAX_STACK);
	if (o->max_chain > UINT16_MAX)
		return err_set(err, ERR_INVAL, "max_chain %u: a call chain has up to %u addresses",
			o->max_chain, UINT16_MAX);
	if (o->flags & PACE_CALLERS && !regs_for_callers(arch_of_host()))
		return err_set(err, ERR_UNSUPPORTED,
			"PACE_CALLERS: on this machine pace cannot find callers in copies of the stack: "
			"PERF_SAMPLE_CALLCHAIN follows frame pointers");
	return 0;
}

int api_check_options(const struct pace_options *o, struct err *err)
{
	if (o->flags & ~ALL_FLAGS)
		return err_set(err, ERR_INVAL, "flags 0x%x: this libpace knows only 0x%x", o->flags,
			ALL_FLAGS);
	if (!is_zero(o->reserved, ARRAY_SIZE(o->reserved)))
		return err_set(err, ERR_INVAL, "pace_options.reserved is not 0");
	if (o->period && o->frequency)
		return err_set(err, ERR_INVAL, "a counter has a period or a frequency, not both");
	if (o->wakeup_samples && o->wakeup_bytes)
		return err_set(err, ERR_INVAL,
			"a ring wakes up after wakeup_samples or after wakeup_bytes, not both");
	if (check_parts(o, err))
		return err->code;
	if (o->flags & PACE_INHERIT_STAT && !(o->flags & PACE_INHERIT))
		return err_set(err, ERR_INVAL, "PACE_INHERIT_STAT needs PACE_INHERIT");
	return 0;
}

/* Completes registers and stacks. */
static void complete_parts(const struct pace_options *o, struct event_attr *a)
{
	if (o->flags & PACE_CALLERS) {
		a->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN |
			PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		a->sample_regs_user |= regs_for_callers(arch_of_host());
		/* The user's part of the chain is in the copy of the stack. */
		a->flags |= ATTR_EXCLUDE_CALLCHAIN_USER;
	}
	a->sample_regs_user |= o->user_regs;
	a->sample_regs_intr |= o->intr_regs;
	a->sample_max_stack = (u16)o->max_chain;
	if (a->sample_type & PERF_SAMPLE_STACK_USER)
		a->sample_stack_user = o->stack_bytes ? o->stack_bytes : SAMPLING_DEFAULT_STACK;
}

static int complete_sampling(const struct pace_options *o, struct event_attr *a, struct err *err)
{
	if (o->period || o->frequency) {
		a->sample_period = o->period ? o->period : o->frequency;
		a->flags = (a->flags & ~ATTR_FREQ) | (o->frequency ? ATTR_FREQ : 0);
	}
	if (!a->sample_period) {
		if (o->sample || o->wakeup_samples || o->wakeup_bytes ||
			o->flags & (PACE_SIDE_BAND | PACE_KEEP_LATEST | PACE_CALLERS))
			return err_set(err, ERR_INVAL, "samples need a period or a frequency");
		return 0;
	}
	a->sample_type |= o->sample;
	a->branch_sample_type |= o->branches;
	a->read_format |= PERF_FORMAT_LOST;
	a->wakeup_events = o->wakeup_bytes ? o->wakeup_bytes : o->wakeup_samples;
	a->flags |= ATTR_SAMPLE_ID_ALL | (o->wakeup_bytes ? ATTR_WATERMARK : 0);
	complete_parts(o, a);
	if (o->flags & PACE_SIDE_BAND) {
		a->flags |= ATTR_MMAP | ATTR_MMAP2 | ATTR_COMM | ATTR_COMM_EXEC | ATTR_TASK;
		a->sample_type |= PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	}
	if (o->flags & PACE_KEEP_LATEST)
		a->flags |= ATTR_WRITE_BACKWARD;
	return 0;
}

/* Completes a leader, which members are switched with. */
static int complete_leader(const struct pace_options *o, struct event_attr *a, struct err *err)
{
	a->flags |= (o->flags & PACE_ENABLED ? 0 : ATTR_DISABLED) |
		(o->flags & PACE_ENABLE_ON_EXEC ? ATTR_ENABLE_ON_EXEC : 0) |
		(o->flags & PACE_PINNED ? ATTR_PINNED : 0) |
		(o->flags & PACE_EXCLUSIVE ? ATTR_EXCLUSIVE : 0);
	return complete_sampling(o, a, err);
}

int api_complete(const struct pace_options *o, bool leads, bool is_group, struct event_attr *a,
	struct err *err)
{
	a->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
		PERF_FORMAT_ID |
		(is_group && (leads || attr_is_topdown(a)) ? PERF_FORMAT_GROUP : 0);
	a->flags |= (o->flags & PACE_INHERIT ? ATTR_INHERIT : 0) |
		(o->flags & PACE_INHERIT_STAT ? ATTR_INHERIT_STAT : 0);
	if (o->flags & PACE_USER_READ)
		userread_allow(a);
	return leads ? complete_leader(o, a, err) : 0;
}
