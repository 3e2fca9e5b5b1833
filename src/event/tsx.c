#include "event/tsx.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/sysfile.h"
#include "event/abi.h"
#include "event/cpuid.h"

/* ---- models and their events ---- */

enum {
	SANDY_BRIDGE = 1 << 0, /* and Ivy Bridge: without transactions */
	HASWELL = 1 << 1,
	BROADWELL = 1 << 2,
	SKYLAKE = 1 << 3, /* to Cascade Lake */
	ICE_LAKE = 1 << 4,
	ICE_LAKE_SP = 1 << 5, /* and Tiger Lake: without HLE from here on */
	SAPPHIRE_RAPIDS = 1 << 6,
	FIRST = HASWELL | BROADWELL,
	WITH_HLE = FIRST | SKYLAKE | ICE_LAKE,
	WITH_RTM = WITH_HLE | ICE_LAKE_SP | SAPPHIRE_RAPIDS,
	LATER = ICE_LAKE | ICE_LAKE_SP | SAPPHIRE_RAPIDS,
};

static const struct {
	unsigned model;
	const char *pattern;
} models[] = {
	{SANDY_BRIDGE, "GenuineIntel-6-(2A|2D|3A|3E)"},
	{HASWELL, "GenuineIntel-6-(3C|45|46|3F)"},
	{BROADWELL, "GenuineIntel-6-(3D|47|56|4F)"},
	{SKYLAKE, "GenuineIntel-6-(4E|5E|8E|9E|A5|A6|55)"},
	{ICE_LAKE, "GenuineIntel-6-(7D|7E|A7)"},
	{ICE_LAKE_SP, "GenuineIntel-6-(6A|6C|8C|8D)"},
	{SAPPHIRE_RAPIDS, "GenuineIntel-6-(8F|CF|AD|AE)"},
};

#define TX "tx-start"
#define EL "el-start"

/* Both kinds of transactions have the same events, at 0xc9 and 0xc8. */
#define BOTH(tail, umask, first, second)                                               \
	{"rtm_retired." tail, "event=0xc9,umask=" umask, TX, WITH_RTM & (first)},      \
	{                                                                              \
		"hle_retired." tail, "event=0xc8,umask=" umask, EL, WITH_HLE &(second) \
	}
#define MEM(tail, umask, on)                                      \
	{                                                         \
		"tx_mem." tail, "event=0x54,umask=" umask, TX, on \
	}
#define EXEC(tail, umask, on)                                      \
	{                                                          \
		"tx_exec." tail, "event=0x5d,umask=" umask, TX, on \
	}

static const struct fact {
	const char *name, *terms;
	const char *needs; /* what the PMU has in sysfs if its CPU has this; NULL: nothing */
	unsigned models;
} facts[] = {
	/* Names of the first patches for Haswell: the abort without PEBS, whose address is where the abort returns to. */
	{"tx-aborts-count", "event=0xc9,umask=0x4", TX, WITH_RTM},
	{"el-aborts-count", "event=0xc8,umask=0x4", EL, WITH_HLE},
	BOTH("start", "0x1", WITH_RTM, WITH_HLE),
	BOTH("commit", "0x2", WITH_RTM, WITH_HLE),
	BOTH("aborted", "0x4", WITH_RTM, WITH_HLE),
	BOTH("aborted_misc1", "0x8", FIRST, FIRST),
	BOTH("aborted_misc2", "0x10", FIRST, FIRST),
	BOTH("aborted_misc3", "0x20", FIRST, FIRST),
	BOTH("aborted_misc4", "0x40", FIRST, FIRST),
	BOTH("aborted_misc5", "0x80", FIRST, FIRST),
	BOTH("aborted_mem", "0x8", SKYLAKE | LATER, SKYLAKE | ICE_LAKE),
	BOTH("aborted_timer", "0x10", SKYLAKE, SKYLAKE),
	BOTH("aborted_unfriendly", "0x20", SKYLAKE | LATER, SKYLAKE | ICE_LAKE),
	BOTH("aborted_memtype", "0x40", SKYLAKE | LATER, SKYLAKE),
	BOTH("aborted_events", "0x80", SKYLAKE | LATER, SKYLAKE | ICE_LAKE),
	MEM("abort_conflict", "0x1", WITH_RTM),
	MEM("abort_capacity", "0x2", SKYLAKE),
	MEM("abort_capacity_write", "0x2", FIRST | LATER),
	MEM("abort_capacity_read", "0x80", LATER),
	MEM("abort_hle_store_to_elided_lock", "0x4", WITH_HLE),
	MEM("abort_hle_elision_buffer_not_empty", "0x8", WITH_HLE),
	MEM("abort_hle_elision_buffer_mismatch", "0x10", WITH_HLE),
	MEM("abort_hle_elision_buffer_unsupported_alignment", "0x20", WITH_HLE),
	MEM("hle_elision_buffer_full", "0x40", WITH_HLE),
	MEM("abort_hle_elision_buffer_full", "0x40", WITH_HLE),
	EXEC("misc1", "0x1", FIRST | SKYLAKE),
	EXEC("misc2", "0x2", FIRST | SKYLAKE | ICE_LAKE | ICE_LAKE_SP),
	EXEC("misc3", "0x4", FIRST | SKYLAKE | ICE_LAKE | ICE_LAKE_SP),
	EXEC("misc4", "0x8", FIRST | SKYLAKE),
	EXEC("misc5", "0x10", FIRST | SKYLAKE),
	/* Atomic instructions, under both names that Intel gave them: the encoding has stayed. */
	{"mem_uops_retired.lock_loads", "event=0xd0,umask=0x21", NULL, SANDY_BRIDGE | WITH_RTM},
	{"mem_inst_retired.lock_loads", "event=0xd0,umask=0x21", NULL, SANDY_BRIDGE | WITH_RTM},
};

/* What sysfs names where transactions are counted. */
static const char *const in_sysfs[] = {"tx-start", "tx-commit", "tx-abort", "tx-capacity",
	"tx-capacity-read", "tx-capacity-write", "tx-conflict", "el-start", "el-commit", "el-abort",
	"el-capacity", "el-capacity-read", "el-capacity-write", "el-conflict", "cycles-t",
	"cycles-ct"};

static const struct fact *fact_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++)
		if (!strcasecmp(facts[i].name, name))
			return &facts[i];
	return NULL;
}

const char *tsx_event_at(size_t i)
{
	return i < ARRAY_SIZE(facts) ? facts[i].name : NULL;
}

bool tsx_is_event(const char *name)
{
	const struct fact *f = fact_of(name);

	for (size_t i = 0; i < ARRAY_SIZE(in_sysfs); i++)
		if (!strcmp(in_sysfs[i], name))
			return true;
	return f && f->needs;
}

bool tsx_is_term(const char *name)
{
	static const char *const terms[] = {"in_tx", "in_tx_cp", "intx", "intx_cp"};

	for (size_t i = 0; i < ARRAY_SIZE(terms); i++)
		if (!strcmp(terms[i], name))
			return true;
	return false;
}

static unsigned model_of(const char *cpuid)
{
	for (size_t i = 0; *cpuid && i < ARRAY_SIZE(models); i++)
		if (cpuid_matches(cpuid, models[i].pattern))
			return models[i].model;
	return 0;
}

int tsx_find(const struct pmu *pmu, const char *name, const char *cpuid, const char **ret_terms,
	struct err *err)
{
	const struct fact *f = pmu->is_core ? fact_of(name) : NULL;
	char text[256];

	if (!f)
		return 0;
	if (f->needs && !pmu_alias(pmu, f->needs, text, sizeof(text)))
		return 0;
	/* Without a model, what sysfs names has decided. Lock loads have no such witness. */
	if (*cpuid || !f->needs) {
		if (!(model_of(cpuid) & f->models))
			return err_set(err, ERR_NOENT,
				"other models have it, but not this CPU ('%s')",
				*cpuid ? cpuid : "not known");
	}
	*ret_terms = f->terms;
	return 1;
}

/* ---- this machine ---- */

/* Whether the first line of flags has this word. */
static bool has_flag(const char *cpuinfo, const char *flag)
{
	const char *line = strstr(cpuinfo, "\nflags"), *end, *at;
	size_t n = strlen(flag);

	if (!line)
		return false;
	end = line + 1 + strcspn(line + 1, "\n");
	for (at = line; (at = strstr(at, flag)) != NULL && at < end; at += n)
		if (isspace((u8)at[-1]) && (!at[n] || isspace((u8)at[n])))
			return true;
	return false;
}

typedef bool (*has_fn)(const struct pmu *pmu, const char *name, char *text, size_t size);

/* Whether a core's PMU has it. */
static bool any_core_has(const char *sysfs, has_fn has, const char *name)
{
	struct intern cores = {0};
	bool is_there = false;
	struct err ignored;

	pmu_list_cores(sysfs, &cores);
	vec_each(core, &cores.strings) {
		struct pmu pmu;
		char text[256];

		if (pmu_open(&pmu, sysfs, *core, &ignored))
			continue;
		is_there |= has(&pmu, name, text, sizeof(text));
		pmu_close(&pmu);
	}
	intern_fini(&cores);
	return is_there;
}

static bool is_counted(const char *sysfs)
{
	return any_core_has(sysfs, pmu_alias, TX);
}

/* Linux turns TSX off where it would leak data, and with tsx=off. */
static bool is_off_by_kernel(const char *sysfs)
{
	char path[300], line[128];

	snprintf(path, sizeof(path), "%s/devices/system/cpu/vulnerabilities/tsx_async_abort",
		sysfs);
	return sysfile_line(path, line, sizeof(line)) && strstr(line, "TSX disabled");
}

enum tsx_state tsx_state_of(const char *sysfs, const char *cpuinfo)
{
	char cpuid[CPUID_SIZE];

	if (is_counted(sysfs))
		return TSX_COUNTED;
	if (!cpuinfo)
		return TSX_MISSING;
	if (has_flag(cpuinfo, "rtm_always_abort"))
		return TSX_MICROCODE;
	if (has_flag(cpuinfo, "rtm"))
		return TSX_UNCOUNTED;
	if (is_off_by_kernel(sysfs))
		return TSX_KERNEL;
	if (!cpuid_of_cpuinfo(cpuinfo, cpuid) || !(model_of(cpuid) & WITH_RTM))
		return TSX_MISSING;
	return has_flag(cpuinfo, "hypervisor") ? TSX_HYPERVISOR : TSX_DISABLED;
}

enum tsx_state tsx_state_here(const char *sysfs)
{
	char text[8192];

	return tsx_state_of(sysfs,
		!strcmp(sysfs, "/sys") && sysfile_start("/proc/cpuinfo", text, sizeof(text))
			? text
			: NULL);
}

const char *tsx_reason(enum tsx_state state)
{
	static const char *const reasons[] = {[TSX_COUNTED] = "",
		[TSX_UNCOUNTED] =
			"programs can run transactions here, but no PMU counts them: in a virtual machine the host has to pass its PMU through",
		[TSX_MICROCODE] =
			"this CPU's microcode aborts every transaction (rtm_always_abort in /proc/cpuinfo): no setting brings them back",
		[TSX_KERNEL] =
			"Linux has turned this CPU's transactions off: the kernel option tsx=on brings them back",
		[TSX_HYPERVISOR] =
			"the hypervisor of this virtual machine hides transactions (rtm) from it",
		[TSX_DISABLED] =
			"this CPU's model has transactions, but they are turned off: by its microcode, or by the kernel, which tsx=on changes",
		[TSX_MISSING] = "this CPU has no transactions (Intel TSX)"};

	return reasons[state];
}

const char *tsx_reason_of_event(const char *sysfs)
{
	enum tsx_state state = tsx_state_here(sysfs);

	return state == TSX_COUNTED
		? "this CPU counts transactions, but not these ('pace list tx' has its events)"
		: tsx_reason(state);
}

/* Source: the kernel's intel_pmu_init(), hsw_hw_config() */
int tsx_check(const char *sysfs, const struct event_attr *a, struct err *err)
{
	const u64 in_transactions = 3ULL << 32;
	char cpuid[CPUID_SIZE];
	enum tsx_state state;
	struct err ignored;

	if (a->type != PERF_TYPE_RAW || !(a->config & in_transactions) ||
		cpuid_read(sysfs, 0, cpuid, &ignored) || strncmp(cpuid, "GenuineIntel", 12) != 0)
		return 0;
	/* The field is there where the bits mean something. */
	state = tsx_state_here(sysfs);
	if (state == TSX_COUNTED || any_core_has(sysfs, pmu_format, "in_tx"))
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		"it asks for what happens in transactions (bits 32 and 33 of 0x%llx), and Linux would count everything: %s",
		(unsigned long long)a->config, tsx_reason(state));
}

/* RTM_RETIRED, HLE_RETIRED, TX_MEM and TX_EXEC. */
static bool is_raw_code(const struct event_attr *a)
{
	const u64 code = a->config & 0xff;

	return a->type == PERF_TYPE_RAW && !(a->config >> 16) &&
		(code == 0xc9 || code == 0xc8 || code == 0x54 || code == 0x5d);
}

void tsx_note_raw(const char *sysfs, const struct event_list *events, struct log *log)
{
	char cpuid[CPUID_SIZE];
	enum tsx_state state;
	struct err ignored;

	vec_each(e, events) {
		if (!is_raw_code(&e->attr))
			continue;
		if (cpuid_read(sysfs, 0, cpuid, &ignored) || !(model_of(cpuid) & WITH_RTM) ||
			(state = tsx_state_here(sysfs)) == TSX_COUNTED)
			return;
		log_note(log, "event '%s' counts transactions, and there are none: %s", e->name,
			tsx_reason(state));
		return;
	}
}

/* ---- kinds of events ---- */

static const struct {
	enum tsx_count count;
	u32 type;
	u64 config;
	const char *name; /* in sysfs; NULL: none */
} kinds[] = {
	{TSX_CYCLES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cpu-cycles"},
	{TSX_CYCLES, PERF_TYPE_RAW, 0x3c, "cycles"},
	{TSX_CYCLES_IN, PERF_TYPE_RAW, 0x10000003c, "cycles-t"},
	{TSX_CYCLES_COMMITTED, PERF_TYPE_RAW, 0x30000003c, "cycles-ct"},
	{TSX_STARTS, PERF_TYPE_RAW, 0x1c9, "tx-start"},
	{TSX_ELISIONS, PERF_TYPE_RAW, 0x1c8, "el-start"},
	{TSX_LOCK_LOADS, PERF_TYPE_RAW, 0x21d0, NULL},
	{TSX_ABORTS, PERF_TYPE_RAW, 0x4c9, "tx-abort"},
	{TSX_ELISION_ABORTS, PERF_TYPE_RAW, 0x4c8, "el-abort"},
};

/* "cpu/cycles-t,u/", "cycles-t:u" */
static bool is_called(const char *text, const char *name)
{
	const char *slash = strchr(text, '/'), *from = slash && slash[1] ? slash + 1 : text;

	return strcspn(from, slash ? "/," : ":") == strlen(name) &&
		!strncmp(from, name, strlen(name));
}

enum tsx_count tsx_count_of(const struct event *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].type == e->attr.type && kinds[i].config == e->attr.config)
			return kinds[i].count;
	for (size_t i = 0; e->attr.type > PERF_TYPE_BREAKPOINT && i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].name && is_called(e->name, kinds[i].name))
			return kinds[i].count;
	return TSX_COUNTS;
}
