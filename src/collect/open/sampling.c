#include "collect/open/sampling.h"

#include <string.h>

#include "base/sysfile.h"
#include "event/abi.h"
#include "event/tsx.h"
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
	if (s->is_strict)
		return err_set(err, ERR_LIMIT,
			"-F %llu is above the limit of this kernel at the moment (%lld, and --strict-freq was given): 'sudo sysctl kernel.perf_event_max_sample_rate=%llu' raises it",
			(unsigned long long)s->frequency, (long long)max,
			(unsigned long long)s->frequency);
	log_warn(log,
		"-F %llu is lowered to %lld, the limit of this kernel at the moment: 'sudo sysctl "
		"kernel.perf_event_max_sample_rate=%llu' raises it",
		(unsigned long long)s->frequency, (long long)max, (unsigned long long)s->frequency);
	s->frequency = max;
	return 0;
}

/* The bits of side-band records, which one event of a session has to carry. */
static const u64 side_band = ATTR_MMAP | ATTR_MMAP2 | ATTR_COMM | ATTR_COMM_EXEC | ATTR_TASK |
	ATTR_KSYMBOL | ATTR_BPF_EVENT;

/*
 * Whether an event carries side-band records: the first event that is opened on every CPU. If there
 * is none (several kinds of cores, PMUs of packages), each event that is the first on one of its
 * CPUs.
 */
static bool is_side_band_carrier(const struct event_list *events, const struct event *e)
{
	if (events->at[events->n - 1].wishes & EVENT_TRACKER)
		return e->wishes & EVENT_TRACKER;
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

/* Intel's in_tx: only what happens inside hardware transactions is counted. */
static bool is_in_transactions(const struct event_attr *a)
{
	const struct arch *host = arch_of_host();

	return host && host->is_x86 && a->type == PERF_TYPE_RAW && a->config & 1ULL << 32;
}

/*
 * Whether it samples aborts without PEBS, which only knows where they lead to. Its first name, tx-aborts-count, is for those
 * who want just that: the callers of the critical section.
 */
static bool lands_elsewhere(const struct event *e)
{
	const enum tsx_count count = tsx_count_of(e);

	return (count == TSX_ABORTS || count == TSX_ELISION_ABORTS) && !attr_precise(&e->attr) &&
		!strstr(e->name, "-aborts-count");
}

/* Refuses terms whose data pace cannot read; logs terms that have no meaning here. */
static int check_event(const struct event *e, struct log *log, struct err *err)
{
	const struct event_own *own = &e->own;
	bool needs_aux = own->is_aux_output || own->aux_bytes;

	if (e->attr.type == EVENT_TYPE_TOOL)
		return err_set(err, ERR_UNSUPPORTED,
			"event '%s' is a clock of 'pace stat', which counts it: it cannot be sampled",
			e->name);
	if (needs_aux)
		return err_set(err, ERR_UNSUPPORTED,
			"event '%s': the term '%s' puts samples into an AUX area (Intel PT), which is not recorded",
			e->name, own->is_aux_output ? "aux-output" : "aux-sample-size");
	if (is_in_transactions(&e->attr))
		log_note(log,
			"event '%s': the interrupt that takes a sample aborts the transaction it falls into; 'pace stat' counts without that",
			e->name);
	if (lands_elsewhere(e))
		log_note(log,
			"event '%s': its samples are where the abort leads to; with ':pp' they are where the transaction was aborted",
			e->name);
	if (own->max_samples)
		log_debug(log,
			"event '%s': 'nr' limits what 'perf trace' prints and has no effect here",
			e->name);
	if (own->stack_bytes && own->chain != EVENT_CHAIN_DWARF && own->chain != EVENT_CHAIN_AS_ALL)
		log_debug(log, "event '%s': 'stack-size' has an effect only with call-graph=dwarf",
			e->name);
	return 0;
}

/* Whether an event is a place in a program, each pass of which is wanted. */
static bool is_place(const struct event *e)
{
	return e->attr.type == PERF_TYPE_TRACEPOINT || e->attr.type == PERF_TYPE_BREAKPOINT ||
		(e->pmu && (!strcmp(e->pmu, "kprobe") || !strcmp(e->pmu, "uprobe")));
}

bool sampling_is_timer(const struct event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE &&
		(a->config == PERF_COUNT_SW_CPU_CLOCK || a->config == PERF_COUNT_SW_TASK_CLOCK);
}

/*
 * If asked for periods, the kernel writes a sample for each software event that it counts itself:
 * see set_fields().
 */
bool sampling_can_change(const struct event *e)
{
	if (!e->attr.sample_period || e->wishes & EVENT_TRACKER)
		return false;
	return e->attr.flags & ATTR_FREQ || sampling_is_timer(&e->attr) ||
		!(is_place(e) || e->attr.type == PERF_TYPE_SOFTWARE);
}

/*
 * Sets the period: the event's own has precedence over the command's, and that over the table's
 * advice.
 */
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

/* How many bytes of the user's stack go into this event's samples. */
static u32 stack_bytes_of(const struct sampling *s, const struct event *e)
{
	u32 as_all = s->stack_bytes ? s->stack_bytes : (u32)SAMPLING_DEFAULT_STACK;

	if (e->wishes & EVENT_TRACKER)
		return 0;
	if (s->has_few_stacks && is_place(e) && e->own.chain != EVENT_CHAIN_DWARF)
		return 0;
	if (e->own.chain == EVENT_CHAIN_DWARF ||
		(e->own.chain == EVENT_CHAIN_AS_ALL && s->stack_bytes))
		return e->own.stack_bytes ? e->own.stack_bytes : as_all;
	return 0;
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

	if (n && !regs_for_callers(arch_of_host()))
		return err_set(err, ERR_UNSUPPORTED,
			"--call-graph dwarf: on this machine callers cannot be found in copies of the stack; use '--call-graph fp'");
	if (align_up(n, 8) > SAMPLING_MAX_STACK)
		return err_set(err, ERR_INVAL,
			"event '%s': %u bytes of stack are more than a sample can hold (%d)",
			e->name, n, SAMPLING_MAX_STACK);
	return 0;
}

/*
 * Callers in user code are found in the stack copy. The kernel need not look for them, unless its
 * chain is to help.
 */
static void set_stack(u32 stack_bytes, bool has_frame_pointers, struct event_attr *a)
{
	a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	a->sample_regs_user |= regs_for_callers(arch_of_host());
	a->sample_stack_user = (u32)align_up(stack_bytes, 8);
	a->flags |= has_frame_pointers ? 0 : ATTR_EXCLUDE_CALLCHAIN_USER;
}

/*
 * The CPU records the calls that have not returned yet; only their addresses are needed. The call
 * chain holds the kernel's callers, and the user's in case the CPU records too few.
 */
static void set_lbr(const struct sampling *s, struct event *e, struct log *log)
{
	if (s->branches) {
		log_warn(log,
			"event '%s': the CPU can record the branches that -b or -j ask for or the calls, but not both: callers come from frame pointers",
			e->name);
		return;
	}
	if (e->attr.flags & ATTR_EXCLUDE_USER) {
		log_warn(log,
			"event '%s': LBR call stacks cover user code only, which this event excludes: callers come from frame pointers",
			e->name);
		return;
	}
	e->attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	e->attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
		PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS |
		PERF_SAMPLE_BRANCH_HW_INDEX;
}

static bool has_lbr(const struct sampling *s, const struct event *e)
{
	return e->own.chain == EVENT_CHAIN_LBR ||
		(e->own.chain == EVENT_CHAIN_AS_ALL && s->has_lbr);
}

/*
 * The depth to request from the kernel. If callers are found in stack copies, the kernel makes only
 * its own part of the chain, and its limit must not refuse the event.
 */
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
		set_stack(stack_bytes_of(s, e),
			s->has_frame_pointers && e->own.chain != EVENT_CHAIN_DWARF, &e->attr);
	e->attr.sample_max_stack = max_stack_of_kernel(e);
	if (has_lbr(s, e))
		set_lbr(s, e, log);
}

/*
 * Whether children may read groups of their own. Their ids are those of their parents' counters,
 * and an older perf would take their counts for one counter's. With whole CPUs nothing is
 * inherited.
 */
static bool has_reading_children(const struct sampling *s, const struct target *target)
{
	return !target->is_system_wide && !s->compat;
}

static bool has_metric(const struct event *leader)
{
	for (u32 i = 1; i < leader->n_members; i++)
		if (attr_is_topdown(&leader[i].attr))
			return true;
	return false;
}

/*
 * The member that samples for its group: the leader, unless it cannot (slots together with its
 * metrics) or is there only to enable another event. NULL: no member can sample.
 */
static const struct event *sampler_of(const struct event *leader)
{
	if (!(attr_is_slots(&leader->attr) && has_metric(leader)) && !event_is_loads_aux(leader))
		return leader;
	for (u32 i = 1; i < leader->n_members; i++)
		if (!attr_is_topdown(&leader[i].attr))
			return &leader[i];
	return NULL;
}

static bool is_read_by_sampler(const struct event *leader)
{
	return leader->wishes & EVENT_SAMPLE_READ && leader->n_members > 1;
}

static int check_sampler(const struct event *e, struct err *err)
{
	if (!is_read_by_sampler(e) || sampler_of(e))
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		"event '%s' cannot sample beside the TopDown metrics of its group, and neither can they: add an event that can, as in '{slots,cycles,topdown-retiring}:S'",
		e->name);
}

static void note_left_children(const struct sampling *s, const struct target *target,
	const struct event *e, struct log *log)
{
	if (is_read_by_sampler(e) && s->compat && !target->is_system_wide && !s->has_no_inherit)
		log_note(log,
			"event '%s': an older perf cannot tell the counters of children apart: threads and processes that are started from now on are left out (drop ':S' or --compat to include them)",
			e->name);
}

/* :S - one member samples and reads all the others, which only count. */
static void let_one_read(const struct sampling *s, const struct target *target, bool is_sampler,
	struct event_attr *a)
{
	a->sample_type |= PERF_SAMPLE_READ;
	a->read_format |= PERF_FORMAT_GROUP;
	if (!has_reading_children(s, target))
		a->flags &= ~ATTR_INHERIT;
	if (is_sampler)
		return;
	a->flags &= ~ATTR_FREQ;
	a->sample_period = 0;
}

/* Sets the fields of this event's samples. */
static void set_fields(const struct sampling *s, const struct target *target, bool has_many,
	struct event *e)
{
	struct event_attr *a = &e->attr;

	a->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID | s->sample_type;
	if (s->has_time != SAMPLING_NO && !e->own.has_no_time)
		a->sample_type |= PERF_SAMPLE_TIME;
	/*
	 * With a fixed period all samples weigh the same. If the period were requested all the
	 * same, the kernel would write a sample for each single software event
	 * (perf_swevent_event()).
	 */
	if (s->has_period == SAMPLING_YES || (a->flags & ATTR_FREQ && s->has_period != SAMPLING_NO))
		a->sample_type |= PERF_SAMPLE_PERIOD;
	if (s->changes_periods && sampling_can_change(e))
		a->sample_type |= PERF_SAMPLE_PERIOD | PERF_SAMPLE_STREAM_ID;
	if (has_many)
		a->sample_type |= PERF_SAMPLE_IDENTIFIER;
	if (target->is_system_wide || target->has_cpu_list || a->type == PERF_TYPE_TRACEPOINT)
		a->sample_type |= PERF_SAMPLE_CPU;
	if (a->type == PERF_TYPE_TRACEPOINT)
		a->sample_type |= PERF_SAMPLE_RAW | PERF_SAMPLE_PERIOD;
	if (s->intr_regs) {
		a->sample_type |= PERF_SAMPLE_REGS_INTR;
		a->sample_regs_intr = s->intr_regs;
	}
	if (s->user_regs) {
		a->sample_type |= PERF_SAMPLE_REGS_USER;
		a->sample_regs_user = s->user_regs;
		e->own.has_user_regs = true;
	}
	if (s->branches) {
		a->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		a->branch_sample_type = s->branches;
	}
}

/* Sets the flags for who is measured, when, and how the rings are written. */
static void set_flags(const struct sampling *s, bool is_member, bool is_overwritten,
	struct event *e)
{
	struct event_attr *a = &e->attr;
	bool has_no_inherit = e->wishes & EVENT_NO_INHERIT || s->has_no_inherit;

	a->flags |= ATTR_DISABLED | ATTR_SAMPLE_ID_ALL | s->flags;
	a->flags &= ~s->cleared_flags;
	a->flags |= has_no_inherit ? 0 : ATTR_INHERIT;
	a->flags |= is_overwritten ? ATTR_WRITE_BACKWARD : 0;
	if (s->has_clock) {
		a->flags |= ATTR_USE_CLOCKID;
		a->clockid = s->clock;
	}
	/* Members of a group run when their leader does. */
	if (is_member)
		a->flags &= ~ATTR_DISABLED;
	else if (s->is_command && !s->is_late)
		a->flags |= ATTR_ENABLE_ON_EXEC;
	if (s->is_unbuffered)
		a->wakeup_events = 1;
	if (e->wishes & EVENT_MAX_PRECISE)
		attr_set_precise(a, 3);
	if (!(e->wishes & EVENT_GUEST_SAID))
		a->flags |= ATTR_EXCLUDE_GUEST;
}

static bool is_overwritten(const struct sampling *s, const struct event *e)
{
	return e->own.is_overwritten || (s->is_overwritten && !e->own.is_kept);
}

static void set_side_band(const struct sampling *s, const struct event_list *events,
	struct event_attr *a)
{
	a->flags |= (side_band & ~(s->compat ? s->compat->unknown_flags : 0)) | s->side_flags;
	a->flags &= ~s->no_side_flags;
	/*
	 * perf finds a file's call frame information by the data map that holds it. Such maps are
	 * most of the records of many short processes, and pace needs none of them if it finds
	 * callers while recording.
	 */
	if (s->has_data_maps || (s->keeps_stacks && has_stacks(s, events)))
		a->flags |= ATTR_MMAP_DATA;
}

static void set_size(const struct sampling *s, struct event_attr *a)
{
	a->size = MAX(attr_needed_size(a), s->compat ? s->compat->attr_size : (u32)ATTR_SIZE_VER7);
}

static void apply_one(const struct sampling *s, bool is_asked, struct event *e,
	const struct event_list *events, const struct target *target, struct log *log)
{
	bool is_member = e->leader != (u32)(e - events->at);
	const struct event *leader = &events->at[e->leader];
	struct event_attr *a = &e->attr;

	a->read_format |= PERF_FORMAT_ID | PERF_FORMAT_LOST | s->read_format;
	set_period(s, is_asked, e);
	set_fields(s, target, events->n > 1, e);
	set_chain(s, e, log);
	set_flags(s, is_member, is_overwritten(s, e), e);
	if (is_side_band_carrier(events, e))
		set_side_band(s, events, a);
	if (s->has_no_samples)
		a->sample_period = 0;
	if (is_read_by_sampler(leader))
		let_one_read(s, target, e == sampler_of(leader), a);
	set_size(s, a);
}

/* ---- the tracker: reports tasks while no other event does ---- */

/* Whether the tracker is needed: the other events are switched on and off, their rings are overwritten, or they are not on all CPUs. */
static bool needs_tracker(const struct sampling *s, const struct event_list *events)
{
	vec_each(e, events)
		if (is_overwritten(s, e))
			return true;
	return s->is_late || s->tracks_everywhere;
}

static void add_tracker(const struct sampling *s, struct event_list *events,
	const struct target *target)
{
	static const struct event_attr dummy = {.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1};
	struct event *e = event_add(events, &dummy, SAMPLING_TRACKER);
	struct event_attr *a = &e->attr;

	e->wishes = EVENT_TRACKER;
	a->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_IDENTIFIER;
	a->sample_type |= s->has_time == SAMPLING_NO ? 0 : PERF_SAMPLE_TIME;
	a->sample_type |= target->is_system_wide || target->has_cpu_list ? PERF_SAMPLE_CPU : 0;
	a->read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	a->flags = ATTR_SAMPLE_ID_ALL | (s->has_no_inherit ? 0 : ATTR_INHERIT);
	a->flags |= s->is_command ? ATTR_DISABLED | ATTR_ENABLE_ON_EXEC : 0;
	if (s->has_clock) {
		a->flags |= ATTR_USE_CLOCKID;
		a->clockid = s->clock;
	}
	set_side_band(s, events, a);
	set_size(s, a);
}

/* Whether its samples come from interrupts that hit programs anywhere, in transactions, too. */
static bool hits_transactions(const struct event *e)
{
	enum tsx_count count = tsx_count_of(e);

	if (count == TSX_ABORTS || count == TSX_ELISION_ABORTS || is_in_transactions(&e->attr))
		return false;
	return e->attr.type == PERF_TYPE_SOFTWARE ? sampling_is_timer(&e->attr) : !is_place(e);
}

static void note_transactions(const struct sampling *s, const struct event_list *events,
	struct log *log)
{
	vec_each(e, events) {
		if (!s->runs_transactions || !hits_transactions(e))
			continue;
		log_note(log,
			"event '%s': a sample aborts the transaction that it falls into, which this machine's programs may run: 'pace stat -T' counts without that%s",
			e->name,
			e->attr.type == PERF_TYPE_SOFTWARE || attr_precise(&e->attr) > 1
				? ""
				: "; with ':pp' samples are at least where the transaction was, and not where its abort leads to");
		return;
	}
}

int sampling_apply(struct sampling *s, struct event_list *events, const struct target *target,
	struct log *log, struct err *err)
{
	bool is_asked = s->period || s->frequency || s->is_max;

	vec_each(e, events)
		if (check_event(e, log, err) || check_stack(s, e, err) || check_sampler(e, err))
			return err->code;
	if (!is_asked)
		s->frequency = SAMPLING_DEFAULT_HZ;
	if (!s->period && limit_frequency(s, log, err))
		return err->code;
	vec_each(e, events)
		note_left_children(s, target, e, log);
	note_transactions(s, events, log);
	if (needs_tracker(s, events))
		add_tracker(s, events, target);
	vec_each(e, events) {
		if (!(e->wishes & EVENT_TRACKER))
			apply_one(s, is_asked, e, events, target, log);
		if (s->compat && attr_needed_size(&e->attr) > s->compat->attr_size)
			return err_set(err, ERR_UNSUPPORTED,
				"event '%s' needs an attr of %u bytes: that perf knows only %u",
				e->name, attr_needed_size(&e->attr), s->compat->attr_size);
	}
	return 0;
}
