#include "collect/sampling.h"

#include <string.h>

#include "base/sysfile.h"
#include "event/abi.h"
#include "record/regs.h"

/* The kernel refuses frequencies above kernel.perf_event_max_sample_rate. */
static int limit_frequency(struct sampling *s, struct log *log, struct err *err)
{
	static const char path[] = "/proc/sys/kernel/perf_event_max_sample_rate";
	s64 max;

	if (!sysfile_s64(path, &max) || max <= 0)
		return s->is_max
			? err_set(err, ERR_UNSUPPORTED, "-F max: '%s' cannot be read", path)
			: 0;
	if (s->is_max)
		s->frequency = max;
	if (s->frequency <= (u64)max)
		return 0;
	log_warn(log,
		"-F %llu is lowered to %lld, the limit of this kernel at the moment: 'sudo sysctl "
		"kernel.perf_event_max_sample_rate=%llu' raises it",
		(unsigned long long)s->frequency, (long long)max, (unsigned long long)s->frequency);
	s->frequency = max;
	return 0;
}

/* Bits that ask for side-band records; one event of a session has to carry them. */
static const u64 side_band = ATTR_MMAP | ATTR_MMAP2 | ATTR_COMM | ATTR_COMM_EXEC | ATTR_TASK |
	ATTR_KSYMBOL | ATTR_BPF_EVENT;

/*
 * The first event that is opened on every CPU. If there is none (several kinds of cores, PMUs of
 * packages), each that is the first on one of its CPUs.
 */
static bool is_side_band_carrier(const struct event_list *events, const struct event *e)
{
	vec_each(other, events)
		if (!other->cpus.n)
			return other == e;
	vec_each(cpu, &e->cpus) {
		const struct event *other = events->at;

		while (other < e && !cpus_has(&other->cpus, *cpu))
			other++;
		if (other == e)
			return true;
	}
	return false;
}

/* Terms that recording does not do yet are refused rather than forgotten. */
static int check_event(const struct event *e, struct err *err)
{
	const struct event_own *own = &e->own;
	const struct {
		bool is_asked;
		const char *term;
	} refused[] = {
		{own->stack_bytes > 0 && own->chain != EVENT_CHAIN_DWARF, "stack-size"},
		{own->max_samples > 0, "nr"},
		{own->is_overwritten, "overwrite"},
		{own->is_aux_output, "aux-output"},
		{own->has_aux_size, "aux-sample-size"},
	};

	if (e->attr.type == EVENT_TYPE_TOOL)
		return err_set(err, ERR_UNSUPPORTED,
			"event '%s' is a clock of 'pace stat', which counts it: it cannot be sampled",
			e->name);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		if (refused[i].is_asked)
			return err_set(err, ERR_UNSUPPORTED,
				"event '%s': the term '%s' is not supported for recording", e->name,
				refused[i].term);
	return 0;
}

/* Passes of a place in a program: each one is wanted. */
static bool is_place(const struct event *e)
{
	return e->attr.type == PERF_TYPE_TRACEPOINT || e->attr.type == PERF_TYPE_BREAKPOINT ||
		(e->pmu && (!strcmp(e->pmu, "kprobe") || !strcmp(e->pmu, "uprobe")));
}

/* How often: the event's own word, then the command's, then the table's advice. */
static void set_period(const struct sampling *s, bool is_asked, struct event *e)
{
	struct event_attr *a = &e->attr;

	if (e->wishes & EVENT_OWN_PERIOD)
		return;
	if (e->wishes & EVENT_WEAK_PERIOD && !is_asked)
		return;
	if (s->period) {
		a->sample_period = s->period;
	} else if (is_place(e)) {
		a->sample_period = 1;
	} else {
		a->flags |= ATTR_FREQ;
		a->sample_period = s->frequency;
	}
}

/* How much of the user's stack goes into this event's samples. */
static u32 stack_bytes_of(const struct sampling *s, const struct event *e)
{
	u32 as_all = s->stack_bytes ? s->stack_bytes : (u32)SAMPLING_DEFAULT_STACK;

	if (e->own.chain == EVENT_CHAIN_DWARF)
		return e->own.stack_bytes ? e->own.stack_bytes : as_all;
	return e->own.chain == EVENT_CHAIN_AS_ALL ? s->stack_bytes : 0;
}

static bool has_stacks(const struct sampling *s, const struct event_list *events)
{
	vec_each(e, events)
		if (stack_bytes_of(s, e))
			return true;
	return false;
}

static int check_stack(const struct sampling *s, const struct event *e, struct err *err)
{
	u32 n = stack_bytes_of(s, e);

	if (n && !regs_for_callers(REGS_THIS_MACHINE))
		return err_set(err, ERR_UNSUPPORTED,
			"--call-graph dwarf: on this machine callers cannot be found in copies of the stack: '--call-graph fp' works");
	if (align_up(n, 8) > SAMPLING_MAX_STACK)
		return err_set(err, ERR_INVAL,
			"event '%s': %u bytes of stack are more than a sample can hold (%d)",
			e->name, n, SAMPLING_MAX_STACK);
	return 0;
}

/* The callers in user code are in the copy of the stack: the kernel need not look for them. */
static void set_stack(u32 stack_bytes, struct event_attr *a)
{
	a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	a->sample_regs_user = regs_for_callers(REGS_THIS_MACHINE);
	a->sample_stack_user = (u32)align_up(stack_bytes, 8);
	a->flags |= ATTR_EXCLUDE_CALLCHAIN_USER;
}

/*
 * The CPU remembers the calls that have not returned yet; of the entries only their addresses are
 * wanted. The kernel's own callers, and the user's where the CPU remembers too few, are in the chain.
 */
static void set_branches(struct event *e, struct log *log)
{
	if (e->attr.flags & ATTR_EXCLUDE_USER) {
		log_warn(log,
			"event '%s': LBR call stacks are of user code, which it leaves out: callers come from frame pointers",
			e->name);
		return;
	}
	e->attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	e->attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
		PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS |
		PERF_SAMPLE_BRANCH_HW_INDEX;
}

static bool has_branches(const struct sampling *s, const struct event *e)
{
	return e->own.chain == EVENT_CHAIN_LBR ||
		(e->own.chain == EVENT_CHAIN_AS_ALL && s->has_branches);
}

/* Of a chain that is walked here the kernel makes only its own part, and that no deeper than it may. */
static u16 max_stack_of_kernel(const struct event *e)
{
	s64 limit;

	if (!e->attr.sample_stack_user ||
		!sysfile_s64("/proc/sys/kernel/perf_event_max_stack", &limit))
		return e->own.max_stack;
	return (u16)MIN((s64)e->own.max_stack, MAX(limit, 0));
}

static void set_chain(const struct sampling *s, struct event *e, struct log *log)
{
	bool has_own = e->own.chain == EVENT_CHAIN_FP || e->own.max_stack ||
		e->own.chain == EVENT_CHAIN_DWARF || e->own.chain == EVENT_CHAIN_LBR;

	if (e->own.chain == EVENT_CHAIN_NONE || (!s->has_chains && !has_own))
		return;
	if (!e->own.max_stack)
		e->own.max_stack = s->max_stack;
	e->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (stack_bytes_of(s, e))
		set_stack(stack_bytes_of(s, e), &e->attr);
	e->attr.sample_max_stack = max_stack_of_kernel(e);
	if (has_branches(s, e))
		set_branches(e, log);
}

/*
 * :S - the leader's samples read all members, which only count. Linux reads no groups of events that
 * children inherit.
 */
static void let_leader_read(struct event_attr *a, bool is_member)
{
	a->sample_type |= PERF_SAMPLE_READ;
	a->read_format |= PERF_FORMAT_GROUP;
	a->flags &= ~ATTR_INHERIT;
	if (!is_member)
		return;
	a->flags &= ~ATTR_FREQ;
	a->sample_period = 0;
}

static void apply_one(const struct sampling *s, bool is_asked, struct event *e,
	const struct event_list *events, const struct target *target, struct log *log)
{
	bool has_many = events->n > 1, is_carrier = is_side_band_carrier(events, e),
	     is_member = e->leader != (u32)(e - events->at);
	struct event_attr *a = &e->attr;

	set_chain(s, e, log);
	a->size = MAX(attr_needed_size(a), s->compat ? s->compat->attr_size : (u32)ATTR_SIZE_VER7);
	a->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	a->sample_type |= e->own.has_no_time ? 0 : PERF_SAMPLE_TIME;
	a->read_format |= PERF_FORMAT_ID | PERF_FORMAT_LOST;
	a->flags |= ATTR_DISABLED | ATTR_SAMPLE_ID_ALL;
	a->flags |= e->wishes & EVENT_NO_INHERIT ? 0 : ATTR_INHERIT;
	set_period(s, is_asked, e);
	/*
	 * With a fixed period every sample stands for the same. To ask for it nevertheless would
	 * make the kernel write a sample for each single software event (perf_swevent_event()).
	 */
	if (a->flags & ATTR_FREQ)
		a->sample_type |= PERF_SAMPLE_PERIOD;
	if (has_many)
		a->sample_type |= PERF_SAMPLE_IDENTIFIER;
	if (s->has_clock) {
		a->flags |= ATTR_USE_CLOCKID;
		a->clockid = s->clock;
	}
	if (target->is_system_wide || target->has_cpu_list || a->type == PERF_TYPE_TRACEPOINT)
		a->sample_type |= PERF_SAMPLE_CPU;
	if (a->type == PERF_TYPE_TRACEPOINT)
		a->sample_type |= PERF_SAMPLE_RAW | PERF_SAMPLE_PERIOD;
	if (s->has_data_addresses) {
		a->sample_type |= PERF_SAMPLE_ADDR;
		a->flags |= is_carrier ? ATTR_MMAP_DATA : 0;
	}
	/* perf finds a file's call frame information by the map that holds it, which is no code's. */
	if (is_carrier && has_stacks(s, events))
		a->flags |= ATTR_MMAP_DATA;
	/* Members of a group run when their leader does. */
	if (is_member)
		a->flags &= ~ATTR_DISABLED;
	else if (s->is_command)
		a->flags |= ATTR_ENABLE_ON_EXEC;
	if (is_carrier)
		a->flags |= side_band & ~(s->compat ? s->compat->unknown_flags : 0);
	if (events->at[e->leader].wishes & EVENT_SAMPLE_READ && events->at[e->leader].n_members > 1)
		let_leader_read(a, is_member);
	if (e->wishes & EVENT_MAX_PRECISE)
		attr_set_precise(a, 3);
	if (!(e->wishes & EVENT_GUEST_SAID))
		a->flags |= ATTR_EXCLUDE_GUEST;
}

int sampling_apply(struct sampling *s, struct event_list *events, const struct target *target,
	struct log *log, struct err *err)
{
	bool is_asked = s->period || s->frequency || s->is_max;

	vec_each(e, events)
		if (check_event(e, err) || check_stack(s, e, err))
			return err->code;
	if (!is_asked)
		s->frequency = SAMPLING_DEFAULT_HZ;
	if (!s->period && limit_frequency(s, log, err))
		return err->code;
	vec_each(e, events) {
		apply_one(s, is_asked, e, events, target, log);
		if (s->compat && attr_needed_size(&e->attr) > s->compat->attr_size)
			return err_set(err, ERR_UNSUPPORTED,
				"event '%s' needs an attr of %u bytes: that perf knows %u", e->name,
				attr_needed_size(&e->attr), s->compat->attr_size);
	}
	return 0;
}
