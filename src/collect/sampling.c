#include "collect/sampling.h"

#include "base/sysfile.h"
#include "event/abi.h"

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
 * The first event that is opened on every CPU; one of a package-wide PMU would miss the others'
 * records.
 */
static const struct event *side_band_carrier(const struct event_list *events)
{
	vec_each(e, events)
		if (!e->cpus.n)
			return e;
	return events->at;
}

static void apply_one(const struct sampling *s, struct event *e, const struct event_list *events,
	const struct target *target)
{
	bool has_many = events->n > 1, is_carrier = e == side_band_carrier(events),
	     is_member = e->leader != (u32)(e - events->at);
	struct event_attr *a = &e->attr;

	a->size = MAX(attr_needed_size(a), s->compat ? s->compat->attr_size : (u32)ATTR_SIZE_VER7);
	a->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	a->read_format |= PERF_FORMAT_ID | PERF_FORMAT_LOST;
	a->flags |= ATTR_DISABLED | ATTR_INHERIT | ATTR_SAMPLE_ID_ALL;
	if (!(e->wishes & EVENT_OWN_PERIOD)) {
		if (s->period || a->type == PERF_TYPE_TRACEPOINT)
			a->sample_period = s->period ? s->period : 1;
		else {
			a->flags |= ATTR_FREQ;
			a->sample_period = s->frequency;
		}
	}
	/*
	 * With a fixed period every sample stands for the same. To ask for it nevertheless would
	 * make the kernel write a sample for each single software event (perf_swevent_event()).
	 */
	if (a->flags & ATTR_FREQ)
		a->sample_type |= PERF_SAMPLE_PERIOD;
	if (has_many)
		a->sample_type |= PERF_SAMPLE_IDENTIFIER;
	if (target->is_system_wide || target->has_cpu_list || a->type == PERF_TYPE_TRACEPOINT)
		a->sample_type |= PERF_SAMPLE_CPU;
	if (a->type == PERF_TYPE_TRACEPOINT)
		a->sample_type |= PERF_SAMPLE_RAW | PERF_SAMPLE_PERIOD;
	if (s->has_chains)
		a->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (s->has_data_addresses) {
		a->sample_type |= PERF_SAMPLE_ADDR;
		a->flags |= is_carrier ? ATTR_MMAP_DATA : 0;
	}
	/* Members of a group run when their leader does. */
	if (is_member)
		a->flags &= ~ATTR_DISABLED;
	else if (s->is_command)
		a->flags |= ATTR_ENABLE_ON_EXEC;
	if (is_carrier)
		a->flags |= side_band & ~(s->compat ? s->compat->unknown_flags : 0);
	if (e->wishes & EVENT_MAX_PRECISE)
		attr_set_precise(a, 3);
	if (!(e->wishes & EVENT_GUEST_SAID))
		a->flags |= ATTR_EXCLUDE_GUEST;
}

int sampling_apply(struct sampling *s, struct event_list *events, const struct target *target,
	struct log *log, struct err *err)
{
	if (!s->period && !s->frequency && !s->is_max)
		s->frequency = SAMPLING_DEFAULT_HZ;
	if (!s->period && limit_frequency(s, log, err))
		return err->code;
	vec_each(e, events) {
		apply_one(s, e, events, target);
		if (s->compat && attr_needed_size(&e->attr) > s->compat->attr_size)
			return err_set(err, ERR_UNSUPPORTED,
				"event '%s' needs an attr of %u bytes: that perf knows %u", e->name,
				attr_needed_size(&e->attr), s->compat->attr_size);
	}
	return 0;
}
