#include "profile/diff/metric.h"

#include <string.h>

#include "event/abi.h"

/* ---- the kind of an event, whatever its name ---- */

enum kind {
	KIND_OTHER,
	KIND_CLOCK,
	KIND_CYCLES,
	KIND_INSTRUCTIONS,
	KIND_BRANCHES,
	KIND_BRANCH_MISSES,
	KIND_CACHE_REFERENCES,
	KIND_CACHE_MISSES,
	KIND_STALLED_FRONTEND,
	KIND_STALLED_BACKEND,
	KIND_L1D,
	KIND_L1D_MISSES,
	KIND_L1I,
	KIND_L1I_MISSES,
	KIND_LL,
	KIND_LL_MISSES,
	KIND_DTLB,
	KIND_DTLB_MISSES,
	KIND_ITLB,
	KIND_ITLB_MISSES,
};

#define CACHE(id, result) \
	(PERF_COUNT_HW_CACHE_##id | (u64)PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct {
	enum kind kind;
	u32 type;
	u64 config;
	const char *names[4]; /* names of PMUs' events in sysfs */
} kinds[] = {
	{KIND_CLOCK, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, {NULL}},
	{KIND_CLOCK, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, {NULL}},
	{KIND_CYCLES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
		{"cpu-cycles", "cycles", "cpu_cycles"}},
	{KIND_INSTRUCTIONS, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS,
		{"instructions", "inst_retired"}},
	{KIND_BRANCHES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		{"branch-instructions", "branches", "br_retired"}},
	{KIND_BRANCH_MISSES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES,
		{"branch-misses", "br_mis_pred_retired"}},
	{KIND_CACHE_REFERENCES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES,
		{"cache-references"}},
	{KIND_CACHE_MISSES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, {"cache-misses"}},
	{KIND_STALLED_FRONTEND, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
		{"stalled-cycles-frontend", "stall_frontend"}},
	{KIND_STALLED_BACKEND, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
		{"stalled-cycles-backend", "stall_backend"}},
	{KIND_L1D, PERF_TYPE_HW_CACHE, CACHE(L1D, ACCESS), {"l1d_cache"}},
	{KIND_L1D_MISSES, PERF_TYPE_HW_CACHE, CACHE(L1D, MISS), {"l1d_cache_refill"}},
	{KIND_L1I, PERF_TYPE_HW_CACHE, CACHE(L1I, ACCESS), {"l1i_cache"}},
	{KIND_L1I_MISSES, PERF_TYPE_HW_CACHE, CACHE(L1I, MISS), {"l1i_cache_refill"}},
	{KIND_LL, PERF_TYPE_HW_CACHE, CACHE(LL, ACCESS), {NULL}},
	{KIND_LL_MISSES, PERF_TYPE_HW_CACHE, CACHE(LL, MISS), {NULL}},
	{KIND_DTLB, PERF_TYPE_HW_CACHE, CACHE(DTLB, ACCESS), {"l1d_tlb"}},
	{KIND_DTLB_MISSES, PERF_TYPE_HW_CACHE, CACHE(DTLB, MISS), {"l1d_tlb_refill"}},
	{KIND_ITLB, PERF_TYPE_HW_CACHE, CACHE(ITLB, ACCESS), {"l1i_tlb"}},
	{KIND_ITLB_MISSES, PERF_TYPE_HW_CACHE, CACHE(ITLB, MISS), {"l1i_tlb_refill"}},
};

static const struct ratio {
	enum kind of, by;
	double factor;
	unsigned digits;
	bool is_percent;
	const char *unit;
	u8 limits
		[3]; /* perf's: a share above them is burning, hot, warm; 0: it is neither good nor bad */
} ratios[] = {
	{KIND_CYCLES, KIND_CLOCK, 1e-6, 3, false, "GHz"},
	{KIND_INSTRUCTIONS, KIND_CYCLES, 1, 2, false, "insn per cycle"},
	{KIND_STALLED_FRONTEND, KIND_CYCLES, 100, 2, true, "frontend cycles idle", {50, 30, 10}},
	{KIND_STALLED_BACKEND, KIND_CYCLES, 100, 2, true, "backend cycles idle", {75, 50, 20}},
	{KIND_BRANCH_MISSES, KIND_BRANCHES, 100, 2, true, "of all branches", {20, 10, 5}},
	{KIND_CACHE_MISSES, KIND_CACHE_REFERENCES, 100, 2, true, "of all cache refs", {20, 10, 5}},
	{KIND_L1D_MISSES, KIND_L1D, 100, 2, true, "of all L1-dcache accesses", {20, 10, 5}},
	{KIND_L1I_MISSES, KIND_L1I, 100, 2, true, "of all L1-icache accesses", {20, 10, 5}},
	{KIND_LL_MISSES, KIND_LL, 100, 2, true, "of all LL-cache accesses", {20, 10, 5}},
	{KIND_DTLB_MISSES, KIND_DTLB, 100, 2, true, "of all dTLB cache accesses", {20, 10, 5}},
	{KIND_ITLB_MISSES, KIND_ITLB, 100, 2, true, "of all iTLB cache accesses", {20, 10, 5}},
};

/* Whether the event's name is `name`: that of "cpu_core/cpu-cycles/u" is cpu-cycles. */
static bool is_called(const char *text, const char *name)
{
	const char *slash = strchr(text, '/'), *from = slash ? slash + 1 : text;
	size_t n = strcspn(from, slash ? "/," : ":");

	return strlen(name) == n && !strncasecmp(from, name, n);
}

static enum kind kind_of(const struct event *e)
{
	/* On hybrid machines the upper half of a generic event's config is its PMU. */
	u64 config = e->attr.type <= PERF_TYPE_HW_CACHE ? (u32)e->attr.config : e->attr.config;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i].type == e->attr.type && kinds[i].config == config)
			return kinds[i].kind;
		for (size_t k = 0; e->pmu && k < ARRAY_SIZE(kinds[i].names); k++)
			if (kinds[i].names[k] && is_called(e->name, kinds[i].names[k]))
				return kinds[i].kind;
	}
	return KIND_OTHER;
}

/* ---- which two belong together ---- */

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Whether two events observe the same instructions of the same tasks on the same cores. */
static bool see_the_same(const struct event *a, const struct event *b)
{
	const u64 levels = ATTR_EXCLUDE_USER | ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV |
		ATTR_EXCLUDE_HOST | ATTR_EXCLUDE_GUEST | ATTR_EXCLUDE_IDLE;

	return (a->attr.flags & levels) == (b->attr.flags & levels) &&
		is_same(a->cgroup, b->cgroup) && is_same(a->pmu, b->pmu) &&
		a->attr.config >> 32 == b->attr.config >> 32;
}

static bool is_counted(const struct count *c)
{
	return count_state(c) == COUNT_OK;
}

/* The event of a kind to compare with, preferably of the same group; TABLE_NONE if there is none. */
static u32 partner_of(const struct metric_input *in, u32 event, enum kind kind)
{
	const struct event *e = &in->events->at[event];
	u32 found = TABLE_NONE;

	for (u32 i = 0; i < in->events->n; i++) {
		const struct event *o = &in->events->at[i];

		if (i == event || kind_of(o) != kind || !is_counted(&in->counts[i]))
			continue;
		/* A clock counts in user space and kernel, and for every PMU. */
		if (kind == KIND_CLOCK ? !is_same(e->cgroup, o->cgroup) : !see_the_same(e, o))
			continue;
		if (o->leader == e->leader)
			return i;
		if (found == TABLE_NONE)
			found = i;
	}
	return found;
}

static bool ran_all_the_time(const struct count *c)
{
	return c->running_ns >= c->enabled_ns && !c->n_idle && !c->n_failed;
}

static bool ran_together(const struct metric_input *in, u32 a, u32 b)
{
	if (in->pass_of && in->pass_of[a] != in->pass_of[b])
		return false;
	return in->events->at[a].leader == in->events->at[b].leader ||
		(ran_all_the_time(&in->counts[a]) && ran_all_the_time(&in->counts[b]));
}

/* ---- answers ---- */

static bool add_ratio(const struct metric_input *in, u32 event, const struct ratio *r,
	struct metric *ret)
{
	u32 other = partner_of(in, event, r->by);

	if (other == TABLE_NONE)
		return false;
	*ret = (struct metric){.digits = r->digits,
		.factor = 1,
		.is_percent = r->is_percent,
		.unit = r->unit,
		.other = other};
	/* A clock always runs: a scaled count may be compared with it. */
	if (r->by != KIND_CLOCK && !ran_together(in, event, other)) {
		ret->state = METRIC_APART;
		return true;
	}
	if (!in->counts[other].value)
		return false;
	ret->state = METRIC_VALUE;
	ret->value = r->factor * in->counts[event].value / in->counts[other].value;
	for (size_t i = 0; i < ARRAY_SIZE(r->limits); i++)
		ret->heat += r->limits[i] && ret->value > r->limits[i];
	return true;
}

/* The rate: events per second of the clock that was counted with them. */
static bool add_rate(const struct metric_input *in, u32 event, struct metric *ret)
{
	static const struct {
		double from;
		const char *unit;
	} units[] = {{1e9, "G/sec"}, {1e6, "M/sec"}, {1e3, "K/sec"}, {1, "/sec"}};
	u32 clock = partner_of(in, event, KIND_CLOCK);
	double rate;
	size_t i = 0;

	/* A count with a unit is not a number of events. */
	if (clock == TABLE_NONE || !in->counts[clock].value || in->events->at[event].unit ||
		in->events->at[event].attr.type == EVENT_TYPE_TOOL)
		return false;
	rate = in->counts[event].value / (in->counts[clock].value / 1000);
	while (i + 1 < ARRAY_SIZE(units) && rate < units[i].from)
		i++;
	*ret = (struct metric){.state = METRIC_VALUE,
		.value = rate / units[i].from,
		.factor = units[i].from,
		.digits = 3,
		.unit = units[i].unit,
		.other = clock};
	return true;
}

static bool add_utilization(const struct metric_input *in, u32 event, struct metric *ret)
{
	if (in->elapsed_ns <= 0)
		return false;
	*ret = (struct metric){.state = METRIC_VALUE,
		.value = in->counts[event].value * 1e6 / in->elapsed_ns,
		.digits = 3,
		.factor = 1,
		.unit = "CPUs utilized",
		.other = TABLE_NONE};
	return true;
}

/* The larger of the two kinds of stalled cycles, per instruction. */
static bool add_stalls(const struct metric_input *in, u32 event, struct metric *ret)
{
	static const struct ratio stalls = {KIND_INSTRUCTIONS, KIND_OTHER, 1, 2, false,
		"stalled cycles per insn"};
	const enum kind by[] = {KIND_STALLED_FRONTEND, KIND_STALLED_BACKEND};
	bool has = false;

	for (size_t i = 0; i < ARRAY_SIZE(by); i++) {
		struct ratio r = stalls;
		struct metric m;

		r.by = by[i];
		if (!in->counts[event].value || !add_ratio(in, event, &r, &m) ||
			m.state != METRIC_VALUE)
			continue;
		m.value = m.value ? 1 / m.value : 0;
		if (!has || m.value > ret->value)
			*ret = m;
		has = true;
	}
	return has;
}

unsigned metric_of(const struct metric_input *in, u32 event, struct metric ret[METRIC_MAX])
{
	enum kind kind = kind_of(&in->events->at[event]);
	unsigned n = 0;

	if (!is_counted(&in->counts[event]))
		return 0;
	if (kind == KIND_CLOCK)
		return add_utilization(in, event, &ret[0]);
	for (size_t i = 0; i < ARRAY_SIZE(ratios) && !n; i++)
		if (ratios[i].of == kind)
			n += add_ratio(in, event, &ratios[i], &ret[0]);
	if (n && kind == KIND_INSTRUCTIONS)
		n += add_stalls(in, event, &ret[1]);
	return n ? n : add_rate(in, event, &ret[0]);
}
