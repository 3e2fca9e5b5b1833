/*
 * The kernel's rules for opening events, as far as they matter to a profiler. Each function names its
 * model in the source of Linux 6.12; nothing else about an attr is checked here.
 */
#include "replay.h"

#include <errno.h>
#include <string.h>

enum {
	INTEL_EVENT = 0xffff, /* event select and unit mask: INTEL_ARCH_EVENT_MASK */
	SLOTS = 0x400,        /* INTEL_TD_SLOTS */
	METRIC_FIRST = 0x8000,
	CHECKPOINTED_PERIOD = 0x7fffffff,
};

static const uint64_t IN_TX = 1ULL << 32, IN_TX_CP = 1ULL << 33, ANY_THREAD = 1ULL << 21;
/* edge, any thread, invert, count mask, in_tx: X86_ALL_EVENT_FLAGS */
static const uint64_t FILTERS = 1ULL << 18 | 1ULL << 21 | 1ULL << 23 | 0xffULL << 24 | 3ULL << 32;

static bool is_core(const struct event *e)
{
	return e->pmu &&
		(e->pmu->kind == KIND_INTEL || e->pmu->kind == KIND_AMD ||
			e->pmu->kind == KIND_ARM);
}

static bool is_sampling(const struct event *e)
{
	return e->attr.sample_period != 0;
}

/* arch/x86/events/perf_event.h: is_slots_event(), is_metric_event() */
bool rules_is_slots(const struct event *e)
{
	return e->pmu && e->pmu->kind == KIND_INTEL && e->pmu->n_metrics &&
		(e->config & INTEL_EVENT) == SLOTS;
}

bool rules_is_metric(const struct event *e)
{
	uint64_t code = e->config & INTEL_EVENT;

	return e->pmu && e->pmu->kind == KIND_INTEL && !(code & 0xff) && code >= METRIC_FIRST &&
		code < METRIC_FIRST + e->pmu->n_metrics * 0x100ULL;
}

/* ---- arch/x86/events/intel/core.c: intel_pmu_hw_config() ---- */

static int check_topdown(const struct event *e)
{
	if (!rules_is_slots(e) && !rules_is_metric(e))
		return 0;
	if (e->attr.config1 || e->attr.config2 || (e->attr.config & FILTERS))
		return EINVAL;
	if (!rules_is_metric(e))
		return 0;
	/* "The metric events don't support sampling", nor does slots where it leads them. */
	if (is_sampling(e) || !rules_is_slots(e->leader) || is_sampling(e->leader))
		return EINVAL;
	return 0;
}

/* Loads by latency need mem-loads-aux in front of them in the group, on Sapphire Rapids and later. */
static int check_loads(const struct event *e)
{
	const uint64_t loads = 0x1cd, aux = 0x8203;

	if (!e->pmu->has_aux || !(e->attr.sample_type & PERF_SAMPLE_DATA_SRC) ||
		(e->config & INTEL_EVENT) != loads)
		return 0;
	each_event(other) if (other != e && other->leader == e->leader &&
		(other->config & INTEL_EVENT) == aux) return 0;
	return ENODATA;
}

/* hsw_hw_config(). Without transactions in_tx and in_tx_cp are ignored. */
static int check_transactions(struct event *e)
{
	uint64_t filter = e->config & (IN_TX | IN_TX_CP);

	if (!e->pmu->has_rtm) {
		e->config &= ~(IN_TX | IN_TX_CP);
		return 0;
	}
	if (filter && ((e->config & ANY_THREAD) || e->attr.precise_ip))
		return EOPNOTSUPP;
	if ((filter & IN_TX_CP) && is_sampling(e) && e->attr.sample_period < CHECKPOINTED_PERIOD)
		return EOPNOTSUPP;
	return 0;
}

static int check_intel(struct event *e)
{
	bool is_generic = e->attr.type == PERF_TYPE_HARDWARE || e->attr.type == PERF_TYPE_HW_CACHE;
	int error = is_generic ? 0 : check_topdown(e);

	if (!error && !is_generic)
		error = check_loads(e);
	return error ? error : check_transactions(e);
}

/* arch/x86/events/core.c: x86_pmu_hw_config() */
static int check_precise(const struct event *e)
{
	if (!e->attr.precise_ip)
		return 0;
	if (e->attr.precise_ip > e->pmu->max_precise)
		return EOPNOTSUPP;
	return is_sampling(e) ? 0 : EINVAL;
}

/* ---- arch/x86/events/core.c: validate_event(), validate_group() ---- */

static uint32_t counters_of(const struct event *e)
{
	const struct pmu *p = e->pmu;
	uint64_t code = e->config & INTEL_EVENT;
	uint32_t all = p->n_gp < 32 ? (1U << p->n_gp) - 1 : ~0U;

	for (unsigned i = 0; i < p->n_limits; i++) {
		const struct limit *l = &p->limits[i];
		uint64_t v = l->first > 0xff ? code : code & 0xff;

		if (v >= l->first && v <= l->last)
			return l->counters & all;
	}
	/* Fixed counter 3 is the only one that counts slots. */
	return rules_is_slots(e) ? 0 : all;
}

/*
 * A fixed counter counts one event, and without a filter (FIXED_EVENT_CONSTRAINT); it may count both threads of its core
 * (FIXED_EVENT_FLAGS: "The any-thread option is supported starting with v3").
 */
static int fixed_of(const struct event *e)
{
	for (unsigned i = 0; i < e->pmu->n_fixed; i++)
		if (e->pmu->fixed[i] == (e->config & INTEL_EVENT) &&
			!(e->config & FILTERS & ~ANY_THREAD))
			return (int)i;
	return -1;
}

struct schedule {
	struct event *at[EVENTS_MAX];
	unsigned n;
	int place[64]; /* of each counter: which event is there; -1: none. From 32 on: fixed ones */
};

/* A place for the i-th event, if others make way (an augmenting path). */
static bool place(struct schedule *s, unsigned i, uint64_t *tried)
{
	const struct event *e = s->at[i];
	int fixed = fixed_of(e);
	uint64_t may = counters_of(e) | (fixed >= 0 ? 1ULL << (32 + fixed) : 0);

	for (int c = 63; c >= 0; c--) {
		if (!(may >> c & 1) || (*tried >> c & 1))
			continue;
		*tried |= 1ULL << c;
		if (s->place[c] < 0 || place(s, s->place[c], tried)) {
			s->place[c] = (int)i;
			return true;
		}
	}
	return false;
}

/* Whether all events of a group, with `more`, have a counter at once; sets their indices. */
static bool fits(struct event *leader, struct event *more)
{
	static struct schedule s;
	unsigned metrics = 0;

	s.n = 0;
	for (int c = 0; c < 64; c++)
		s.place[c] = -1;
	each_event(e)
	{
		if ((e->leader != leader && e != more) || e->pmu != more->pmu)
			continue;
		/* collect_events() leaves out members that are off. */
		if (e != more && e != leader && e->attr.disabled && !e->is_on)
			continue;
		if (!rules_is_metric(e)) {
			s.at[s.n++] = e;
			continue;
		}
		/* All metrics come out of one register, each once (METRIC_EVENT_CONSTRAINT). */
		if (metrics >> (e->config >> 8 & 7) & 1)
			return false;
		metrics |= 1U << (e->config >> 8 & 7);
		e->index = (1 << 29) + 1;
	}
	for (unsigned i = 0; i < s.n; i++) {
		uint64_t tried = 0;

		if (!place(&s, i, &tried))
			return false;
	}
	for (int c = 0; c < 64; c++)
		if (s.place[c] >= 0)
			s.at[s.place[c]]->index = (c >= 32 ? (1 << 30) + c - 32 : c) + 1;
	return true;
}

/* arch/x86/events/msr.c: "task_ctx_nr = perf_sw_context"; perf_event_open() lets such events into any group. */
static bool is_in_software_context(const struct event *e)
{
	return !e->pmu || !strcmp(e->pmu->name, "msr");
}

static int check_group(struct event *e)
{
	if (is_in_software_context(e))
		return 0;
	/* "Reject events from different hybrid PMUs"; kernel/events/core.c says it of all others. */
	each_event(other) if (other != e && other->leader == e->leader &&
		!is_in_software_context(other) && other->pmu != e->pmu) return EINVAL;
	return fits(e->leader, e) ? 0 : EINVAL;
}

/* ---- arch/x86/events/intel/uncore.c: uncore_pmu_event_init() ---- */

static int check_uncore(const struct event *e)
{
	const struct perf_event_attr *a = &e->attr;

	/* kernel/events/core.c, perf_event_alloc(): perf_invalid_context takes no task */
	if (e->pid != -1 || e->cpu < 0 || is_sampling(e))
		return EINVAL;
	/* perf_try_init_event(): PERF_PMU_CAP_NO_EXCLUDE */
	if (a->exclude_user || a->exclude_kernel || a->exclude_hv || a->exclude_idle ||
		a->exclude_host || a->exclude_guest)
		return EINVAL;
	return 0;
}

/* ---- kernel/events/core.c ---- */

/* perf_copy_attr() */
static int check_attr(const struct perf_event_attr *a)
{
	if ((a->sample_type & PERF_SAMPLE_WEIGHT) && (a->sample_type & PERF_SAMPLE_WEIGHT_STRUCT))
		return EINVAL;
	if (a->read_format & ~(uint64_t)(PERF_FORMAT_MAX - 1))
		return EINVAL;
	/* perf_event_alloc(): inherited events in samples are kept apart by thread */
	if (a->inherit && (a->sample_type & PERF_SAMPLE_READ) &&
		!(a->sample_type & PERF_SAMPLE_TID))
		return EINVAL;
	return 0;
}

/* perf_event_open(): what has to be the same in a group. */
static int check_leader(const struct event *e)
{
	const struct event *l = e->leader;

	if (l == e)
		return 0;
	if (l->leader != l || l->cpu != e->cpu || l->pid != e->pid || e->attr.pinned ||
		e->attr.exclusive || (e->pid != -1 && l->attr.inherit != e->attr.inherit))
		return EINVAL;
	return 0;
}

int rules_check(struct event *e)
{
	int error = check_attr(&e->attr);

	if (!error)
		error = check_leader(e);
	if (error || !e->pmu)
		return error;
	if (e->pmu->kind == KIND_UNCORE) {
		error = check_uncore(e);
		return error || e->leader == e ? error : check_group(e);
	}
	if (!is_core(e))
		return e->leader == e ? 0 : check_group(e);
	/* x86_pmu_event_init(), armpmu_event_init(): a CPU of another kind */
	if (e->cpu >= 0 && e->pmu->cpus && !(e->pmu->cpus >> e->cpu & 1))
		return ENOENT;
	if (e->pmu->kind == KIND_ARM)
		error = e->attr.precise_ip ? EOPNOTSUPP : 0;
	else
		error = check_precise(e);
	if (!error && e->pmu->kind == KIND_INTEL)
		error = check_intel(e);
	return error ? error : check_group(e);
}
