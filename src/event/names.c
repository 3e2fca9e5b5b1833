#include "event/names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/selfname.h"
#include "event/abi.h"
#include "event/event.h"

/* clang-format off */
#define HW(n, a, c, h) {n, a, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##c, h}
#define SW(n, a, c, h) {n, a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##c, h}
#define TOOL(n, c, h) {n, NULL, EVENT_TYPE_TOOL, EVENT_TOOL_##c, h}
/* clang-format on */

static const struct event_name rows[] = {
	HW("cycles", "cpu-cycles", CPU_CYCLES,
		"unhalted core cycles; follow the clock's frequency"),
	HW("instructions", NULL, INSTRUCTIONS,
		"instructions retired; a repeated string instruction is one"),
	HW("cache-references", NULL, CACHE_REFERENCES, "last-level cache references"),
	HW("cache-misses", NULL, CACHE_MISSES, "last-level cache misses"),
	HW("branches", "branch-instructions", BRANCH_INSTRUCTIONS, "branches retired"),
	HW("branch-misses", NULL, BRANCH_MISSES, "mispredicted branches retired"),
	HW("bus-cycles", NULL, BUS_CYCLES, "unhalted cycles of a fixed reference clock"),
	HW("stalled-cycles-frontend", "idle-cycles-frontend", STALLED_CYCLES_FRONTEND,
		"cycles without new instructions from the front end"),
	HW("stalled-cycles-backend", "idle-cycles-backend", STALLED_CYCLES_BACKEND,
		"cycles without progress in the back end"),
	HW("ref-cycles", NULL, REF_CPU_CYCLES, "unhalted cycles at the nominal frequency"),
	SW("cpu-clock", NULL, CPU_CLOCK, "nanoseconds of a CPU, by a timer; works without a PMU"),
	SW("task-clock", NULL, TASK_CLOCK, "nanoseconds the task ran"),
	SW("page-faults", "faults", PAGE_FAULTS, "page faults"),
	SW("context-switches", "cs", CONTEXT_SWITCHES, "context switches"),
	SW("cpu-migrations", "migrations", CPU_MIGRATIONS, "moves of a task to another CPU"),
	SW("minor-faults", NULL, PAGE_FAULTS_MIN, "page faults served without I/O"),
	SW("major-faults", NULL, PAGE_FAULTS_MAJ, "page faults that waited for I/O"),
	SW("alignment-faults", NULL, ALIGNMENT_FAULTS, "unaligned accesses the kernel repaired"),
	SW("emulation-faults", NULL, EMULATION_FAULTS, "instructions the kernel emulated"),
	SW("dummy", NULL, DUMMY, "counts nothing; carries mmap and comm records"),
	SW("bpf-output", NULL, BPF_OUTPUT, "records written by BPF programs"),
	SW("cgroup-switches", NULL, CGROUP_SWITCHES, "context switches to another cgroup"),
	TOOL("duration_time", DURATION, "nanoseconds from start to end, in wall-clock time"),
	TOOL("user_time", USER, "nanoseconds of the command in user space, its children included"),
	TOOL("system_time", SYSTEM, "nanoseconds of the command in the kernel, likewise"),
	TOOL("num_cpus", NUM_CPUS, "how many CPUs the machine can have"),
	TOOL("num_cpus_online", NUM_CPUS_ONLINE, "how many CPUs are online"),
	TOOL("num_cores", NUM_CORES, "how many cores are online"),
	TOOL("num_dies", NUM_DIES, "how many dies have CPUs that are online"),
	TOOL("num_packages", NUM_PACKAGES, "how many sockets have CPUs that are online"),
	TOOL("smt_on", SMT_ON, "1 if cores run several threads at once"),
	TOOL("system_tsc_freq", SYSTEM_TSC_FREQ,
		"frequency of the time stamp counter in Hz; 0: not known"),
	TOOL("has_pmem", HAS_PMEM, "1 if the machine has persistent memory"),
	TOOL("core_wide", CORE_WIDE, "1 if everything that runs on the cores is counted"),
	TOOL("target_cpu", TARGET_CPU, "1 if CPUs are counted, not a command or tasks"),
};

/* Spellings of one part of a cache event, the canonical one first. */
struct part {
	const char *names[6];
	u8 number;
};

static const struct part caches[] = {
	{{"L1-dcache", "l1-d", "l1d", "L1-data"}, PERF_COUNT_HW_CACHE_L1D},
	{{"L1-icache", "l1-i", "l1i", "L1-instruction"}, PERF_COUNT_HW_CACHE_L1I},
	{{"LLC", "L2"}, PERF_COUNT_HW_CACHE_LL},
	{{"dTLB", "d-tlb", "Data-TLB"}, PERF_COUNT_HW_CACHE_DTLB},
	{{"iTLB", "i-tlb", "Instruction-TLB"}, PERF_COUNT_HW_CACHE_ITLB},
	{{"branch", "branches", "bpu", "btb", "bpc"}, PERF_COUNT_HW_CACHE_BPU},
	{{"node"}, PERF_COUNT_HW_CACHE_NODE},
};

static const struct part ops[] = {
	{{"loads", "load", "read"}, PERF_COUNT_HW_CACHE_OP_READ},
	{{"stores", "store", "write"}, PERF_COUNT_HW_CACHE_OP_WRITE},
	{{"prefetches", "prefetch", "speculative-read", "speculative-load"},
		PERF_COUNT_HW_CACHE_OP_PREFETCH},
};

/* The operation in the middle of a name: L1-dcache-load-misses. */
static const char *const op_with_result[] = {"load", "store", "prefetch"};

static const struct part results[] = {
	{{"refs", "Reference", "ops", "access"}, PERF_COUNT_HW_CACHE_RESULT_ACCESS},
	{{"misses", "miss"}, PERF_COUNT_HW_CACHE_RESULT_MISS},
};

/* Instruction caches and the branch unit are not written to, TLB prefetches exist for data only. */
static bool cache_does(u8 cache, u8 op)
{
	static const u8 does[] = {
		[PERF_COUNT_HW_CACHE_L1D] = 7,
		[PERF_COUNT_HW_CACHE_L1I] = 5,
		[PERF_COUNT_HW_CACHE_LL] = 7,
		[PERF_COUNT_HW_CACHE_DTLB] = 7,
		[PERF_COUNT_HW_CACHE_ITLB] = 1,
		[PERF_COUNT_HW_CACHE_BPU] = 1,
		[PERF_COUNT_HW_CACHE_NODE] = 7,
	};

	return does[cache] >> op & 1;
}

/*
 * The part with the longest name that the text begins with and that ends at '-' or at the text's end;
 * moves *at past the name.
 */
static const struct part *match_part(const struct part *parts, size_t n_parts, const char **at,
	const char *end)
{
	const struct part *found = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < n_parts; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(parts->names) && parts[i].names[k]; k++) {
			size_t n = strlen(parts[i].names[k]);

			if (n <= longest || n > (size_t)(end - *at) ||
				strncasecmp(*at, parts[i].names[k], n) ||
				(*at + n < end && (*at)[n] != '-'))
				continue;
			found = &parts[i];
			longest = n;
		}
	}
	*at += longest;
	return found;
}

static bool find_cache(const char *text, size_t n, u64 *ret_config)
{
	const char *at = text, *end = text + n;
	const struct part *cache = match_part(caches, ARRAY_SIZE(caches), &at, end), *op = NULL,
			  *result = NULL;

	if (!cache)
		return false;
	while (at < end) {
		const struct part *part;

		at++; /* the '-' that match_part() stopped at */
		if (!op && (part = match_part(ops, ARRAY_SIZE(ops), &at, end)))
			op = part;
		else if (!result && (part = match_part(results, ARRAY_SIZE(results), &at, end)))
			result = part;
		else
			return false;
	}
	/*
	 * Just "L1-dcache" or "node" counts its loads; but "branch" alone is too short to be meant
	 * so.
	 */
	if (!op && !result && cache->number == PERF_COUNT_HW_CACHE_BPU)
		return false;
	u8 op_number = op ? op->number : PERF_COUNT_HW_CACHE_OP_READ;
	if (!cache_does(cache->number, op_number))
		return false;
	*ret_config = cache->number | (u64)op_number << 8 |
		(u64)(result ? result->number : PERF_COUNT_HW_CACHE_RESULT_ACCESS) << 16;
	return true;
}

static bool is_word(const char *name, const char *text, size_t n)
{
	return name && !strncmp(name, text, n) && !name[n];
}

bool names_find(const char *text, size_t n, u32 *ret_type, u64 *ret_config)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!is_word(rows[i].name, text, n) && !is_word(rows[i].alias, text, n))
			continue;
		*ret_type = rows[i].type;
		*ret_config = rows[i].config;
		return true;
	}
	if (!find_cache(text, n, ret_config))
		return false;
	*ret_type = PERF_TYPE_HW_CACHE;
	return true;
}

static bool cache_name(u8 cache, u8 op, u8 result, char *buf, size_t size)
{
	if (cache >= ARRAY_SIZE(caches) || op >= ARRAY_SIZE(ops) || result >= ARRAY_SIZE(results) ||
		!cache_does(cache, op))
		return false;
	if (result)
		snprintf(buf, size, "%s-%s-%s", caches[cache].names[0], op_with_result[op],
			results[result].names[0]);
	else
		snprintf(buf, size, "%s-%s", caches[cache].names[0], ops[op].names[0]);
	return true;
}

const char *names_other(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!rows[i].alias)
			continue;
		if (!strcmp(rows[i].name, name))
			return rows[i].alias;
		if (!strcmp(rows[i].alias, name))
			return rows[i].name;
	}
	return NULL;
}

bool names_of(u32 type, u64 config, char *buf, size_t size)
{
	if (type == PERF_TYPE_HW_CACHE)
		return config >> 24 == 0 &&
			cache_name(config, config >> 8, config >> 16, buf, size);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].type != type || rows[i].config != config)
			continue;
		snprintf(buf, size, "%s", rows[i].name);
		return true;
	}
	return false;
}

const struct event_name *names_at(size_t i)
{
	return i < ARRAY_SIZE(rows) ? &rows[i] : NULL;
}

bool names_cache_at(size_t i, char *buf, size_t size)
{
	for (u8 cache = 0; cache < ARRAY_SIZE(caches); cache++)
		for (u8 op = 0; op < ARRAY_SIZE(ops); op++)
			for (u8 result = 0; result < ARRAY_SIZE(results); result++)
				if (cache_does(cache, op) && i-- == 0)
					return cache_name(cache, op, result, buf, size);
	return false;
}

void names_offer_all(struct nearest *near)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		nearest_offer(near, rows[i].name);
		if (rows[i].alias)
			nearest_offer(near, rows[i].alias);
	}
}

/* perf 6.1 names the machines that are measured, where they are not those that it takes for granted. */
static size_t machines_of(const struct event_attr *a, bool has_modifiers, char *ret_letters)
{
	const bool skips_host = a->flags & ATTR_EXCLUDE_HOST;
	const bool skips_guest = a->flags & ATTR_EXCLUDE_GUEST;
	size_t n = 0;

	if (!skips_host && skips_guest != has_modifiers)
		return 0;
	if (!skips_host)
		ret_letters[n++] = 'H';
	if (!skips_guest)
		ret_letters[n++] = 'G';
	return n;
}

void names_default(const struct event_attr *a, char *buf, size_t size)
{
	static const struct {
		u64 flag;
		char letter;
	} levels[] = {{ATTR_EXCLUDE_USER, 'u'}, {ATTR_EXCLUDE_KERNEL, 'k'}, {ATTR_EXCLUDE_HV, 'h'}};
	u64 excluded = a->flags & (ATTR_EXCLUDE_USER | ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV);
	char mods[16];
	size_t n = 0;

	if (!names_of(a->type, a->config, buf, size)) {
		if (a->type == PERF_TYPE_RAW)
			snprintf(buf, size, "raw 0x%llx", (unsigned long long)a->config);
		else
			snprintf(buf, size, "type %u config 0x%llx", a->type,
				(unsigned long long)a->config);
	}
	for (size_t i = 0; excluded && i < ARRAY_SIZE(levels); i++)
		if (!(excluded & levels[i].flag))
			mods[n++] = levels[i].letter;
	for (unsigned i = 0; i < attr_precise(a); i++)
		mods[n++] = 'p';
	if (program_is_perf() && a->type != PERF_TYPE_TRACEPOINT)
		n += machines_of(a, n != 0, mods + n);
	mods[n] = '\0';
	if (n)
		snprintf(buf + strlen(buf), size - strlen(buf), ":%s", mods);
}
