#include "profile/diff/kind.h"

#include <string.h>
#include <strings.h>

#include "event/abi.h"

#define CACHE(id, result) \
	(PERF_COUNT_HW_CACHE_##id | (u64)PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct {
	const char *kind;
	u32 type;
	u64 config;
	const char *names[4]; /* names of PMUs' events in sysfs */
} kinds[] = {
	{KIND_CLOCK, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, {NULL}},
	{KIND_CLOCK, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, {NULL}},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, {NULL}},
	{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, {NULL}},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, {NULL}},
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
		{"cpu-cycles", "cycles", "cpu_cycles"}},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS,
		{"instructions", "inst_retired"}},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		{"branch-instructions", "branches", "br_retired"}},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES,
		{"branch-misses", "br_mis_pred_retired"}},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES,
		{"cache-references"}},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, {"cache-misses"}},
	{"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
		{"stalled-cycles-frontend", "stall_frontend"}},
	{"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
		{"stalled-cycles-backend", "stall_backend"}},
	{"cycles-t", PERF_TYPE_RAW, 0x10000003c, {"cycles-t"}},
	{"cycles-ct", PERF_TYPE_RAW, 0x30000003c, {"cycles-ct"}},
	{"tx-start", PERF_TYPE_RAW, 0x1c9, {"tx-start"}},
	{"el-start", PERF_TYPE_RAW, 0x1c8, {"el-start"}},
	{"mem_uops_retired.lock_loads", PERF_TYPE_RAW, 0x21d0,
		{"mem_uops_retired.lock_loads", "mem_inst_retired.lock_loads"}},
	{"L1-dcache-loads", PERF_TYPE_HW_CACHE, CACHE(L1D, ACCESS), {"l1d_cache"}},
	{"L1-dcache-load-misses", PERF_TYPE_HW_CACHE, CACHE(L1D, MISS), {"l1d_cache_refill"}},
	{"L1-icache-loads", PERF_TYPE_HW_CACHE, CACHE(L1I, ACCESS), {"l1i_cache"}},
	{"L1-icache-load-misses", PERF_TYPE_HW_CACHE, CACHE(L1I, MISS), {"l1i_cache_refill"}},
	{"LLC-loads", PERF_TYPE_HW_CACHE, CACHE(LL, ACCESS), {NULL}},
	{"LLC-load-misses", PERF_TYPE_HW_CACHE, CACHE(LL, MISS), {NULL}},
	{"dTLB-loads", PERF_TYPE_HW_CACHE, CACHE(DTLB, ACCESS), {"l1d_tlb"}},
	{"dTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(DTLB, MISS), {"l1d_tlb_refill"}},
	{"iTLB-loads", PERF_TYPE_HW_CACHE, CACHE(ITLB, ACCESS), {"l1i_tlb"}},
	{"iTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(ITLB, MISS), {"l1i_tlb_refill"}},
};

/* Whether the event's name is `name`: that of "cpu_core/cpu-cycles/u" is cpu-cycles. */
static bool is_called(const char *text, const char *name)
{
	const char *slash = strchr(text, '/'), *from = slash ? slash + 1 : text;
	size_t n = strcspn(from, slash ? "/," : ":");

	return strlen(name) == n && !strncasecmp(from, name, n);
}

static bool has_name(const struct event *e, const char *const names[4])
{
	for (size_t i = 0; i < 4 && names[i]; i++)
		if (is_called(e->name, names[i]))
			return true;
	return false;
}

bool kind_is(const struct event *e, const char *kind)
{
	/* On hybrid machines the upper half of a generic event's config is its PMU. */
	u64 config = e->attr.type <= PERF_TYPE_HW_CACHE ? (u32)e->attr.config : e->attr.config;
	bool has_row = false;

	/* Cycles that an event took are no cycles that were counted. */
	if (e->wishes & EVENT_RETIRE_LATENCY)
		return false;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcasecmp(kinds[i].kind, kind) != 0)
			continue;
		has_row = true;
		if ((kinds[i].type == e->attr.type && kinds[i].config == config) ||
			(e->pmu && has_name(e, kinds[i].names)))
			return true;
	}
	return !has_row && e->pmu && is_called(e->name, kind);
}
