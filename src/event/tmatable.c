/*
 * tmatable.c - the families of CPUs that TopDown knows.
 *
 * Names of metrics are those of Linux' tables where these have them (tools/perf/pmu-events/arch); Arm's and AMD's have
 * the same names, so that a script finds them on any CPU.
 * Source   A. Yasin, A Top-Down Method for Performance Analysis and Counters Architecture (ISPASS 2014)
 *          Intel: Software Developer's Manual vol. 3B, Performance Metrics (PERF_METRICS);
 *          arch/x86/events/intel/core.c: topdown-* of each generation; Documentation/topdown.txt of perf
 *          AMD: Processor Programming Reference for Family 19h Model 11h (Zen 4), Family 1Ah (Zen 5): pipeline
 *          utilization
 *          Arm: Server Base System Architecture 7.0, PMU; Telemetry Specification of Neoverse V1, N2, V2; PMU Guide
 *          of Neoverse N1
 */
#include "event/tma.h"

#define FAMILY_TABLES(e, n) \
	.events = (e), .n_events = ARRAY_SIZE(e), .nodes = (n), .n_nodes = ARRAY_SIZE(n)

/* clang-format off: one row for each fact */

/* ---- what nodes mean, whatever counts them ---- */

#define RETIRING                                                       \
	.means = "slots whose operations were completed: useful work", \
	.todo = "fewer instructions for the same work: better algorithms, vectors"
#define BAD_SPECULATION                                                                         \
	.means = "slots lost to operations that were thrown away, and to recovering from that", \
	.todo = "branches that cannot be predicted, and pipeline flushes"
#define FRONTEND_BOUND                                                                \
	.means = "empty slots because too few instructions were fetched and decoded", \
	.todo = "the size and the layout of hot code: profile-guided optimization, huge pages for code"
#define BACKEND_BOUND                                                                             \
	.means = "empty slots because earlier operations waited for data or for execution units", \
	.todo = "misses of the data caches, long dependency chains, divisions"
#define FETCH_LATENCY                                                                                     \
	.means =                                                                                          \
		"no instruction came at all: misses of the instruction cache or TLB, redirected fetches", \
	.todo = "the size and the layout of hot code: profile-guided optimization, huge pages for code"
#define FETCH_BANDWIDTH                                                                     \
	.means = "some instructions came, but fewer than the slots: decoding is the limit", \
	.todo = "hot loops that leave the cache of decoded operations: alignment, less unrolling"
#define BRANCH_MISPREDICTS                                                                         \
	.means =                                                                                   \
		"operations of wrongly predicted branches, and refilling the pipeline after them", \
	.todo = "hot branches on random data: conditional moves, sorted data, lookup tables"
#define MACHINE_CLEARS                                                                                    \
	.means =                                                                                          \
		"flushes for other reasons than branches: memory ordering, self-modifying code, assists", \
	.todo = "data that threads share within a cache line, stores into code, denormal numbers"
#define MEMORY_BOUND                             \
	.means = "waiting for loads and stores", \
	.todo = "the loads that take longest: smaller or denser data, blocking, prefetches"
#define CORE_BOUND                                                                 \
	.means = "waiting for execution units, or for results of slow operations", \
	.todo = "divisions and long dependency chains: the hottest instructions show them"
#define HEAVY_OPERATIONS                                                                 \
	.means = "completed operations of instructions that need several, or microcode", \
	.todo = "instructions that are made of many operations: string instructions, divisions, gathers"
#define LIGHT_OPERATIONS                                        \
	.means = "completed operations of simple instructions", \
	.todo = "fewer instructions for the same work: better algorithms, vectors"

/* ---- Intel, the metrics register: Ice Lake (level 1), Sapphire Rapids and Alder Lake (level 2) ---- */

/* Performance cores with eight metrics: Alder to Panther Lake, Sapphire to Granite Rapids. */
#define EIGHT_METRICS "GenuineIntel-6-(8F|CF|A[ADEC]|97|9A|B[57AF]|BD|C[56C]|D7)"
#define FOUR_METRICS  "GenuineIntel-6-(6[AC]|7[DE]|8[CD]|A7)"

static const struct tma_event register_events[] = {
	{"slots", "event=0x00,umask=0x04", NULL},
	{"topdown-retiring", "event=0x00,umask=0x80", NULL},
	{"topdown-bad-spec", "event=0x00,umask=0x81", NULL},
	{"topdown-fe-bound", "event=0x00,umask=0x82", NULL},
	{"topdown-be-bound", "event=0x00,umask=0x83", NULL},
	{"topdown-heavy-ops", "event=0x00,umask=0x84", EIGHT_METRICS},
	{"topdown-br-mispredict", "event=0x00,umask=0x85", EIGHT_METRICS},
	{"topdown-fetch-lat", "event=0x00,umask=0x86", EIGHT_METRICS},
	{"topdown-mem-bound", "event=0x00,umask=0x87", EIGHT_METRICS},
};

/* The four fractions are rounded to 1/255 each, so their sum stands for all slots. */
#define SUM \
	"(topdown\\-retiring + topdown\\-bad\\-spec + topdown\\-fe\\-bound + topdown\\-be\\-bound)"

static const struct tma_node register_nodes[] = {
	{"tma_retiring", NULL, "topdown\\-retiring / " SUM " + 0 * slots",
		"tma_retiring > 0.7 | tma_heavy_operations > 0.1", RETIRING,
		.sample = "instructions:P"},
	{"tma_backend_bound", NULL, "topdown\\-be\\-bound / " SUM " + 0 * slots",
		"tma_backend_bound > 0.2", BACKEND_BOUND,
		.sample = "%s/event=0xa4,umask=0x02,name=topdown.backend_bound_slots/"},
	{"tma_frontend_bound", NULL, "topdown\\-fe\\-bound / " SUM " + 0 * slots",
		"tma_frontend_bound > 0.15", FRONTEND_BOUND,
		.sample =
			"%s/event=0xc6,umask=0x01,frontend=0x500406,name=frontend_retired.latency_ge_4/P"},
	{"tma_bad_speculation", NULL, "topdown\\-bad\\-spec / " SUM " + 0 * slots",
		"tma_bad_speculation > 0.15", BAD_SPECULATION, .sample = "branch-misses:P"},
	{"tma_memory_bound", "tma_backend_bound", "topdown\\-mem\\-bound / " SUM " + 0 * slots",
		"tma_memory_bound > 0.2 & tma_backend_bound > 0.2", MEMORY_BOUND,
		.sample = "mem record", .is_command = true},
	{"tma_core_bound", "tma_backend_bound", "max(0, tma_backend_bound - tma_memory_bound)",
		"tma_core_bound > 0.1 & tma_backend_bound > 0.2", CORE_BOUND, .sample = "cycles:P"},
	{"tma_fetch_latency", "tma_frontend_bound", "topdown\\-fetch\\-lat / " SUM " + 0 * slots",
		"tma_fetch_latency > 0.1 & tma_frontend_bound > 0.15", FETCH_LATENCY,
		.sample =
			"%s/event=0xc6,umask=0x01,frontend=0x601006,name=frontend_retired.latency_ge_16/P"},
	{"tma_fetch_bandwidth", "tma_frontend_bound",
		"max(0, tma_frontend_bound - tma_fetch_latency)", "tma_fetch_bandwidth > 0.2",
		FETCH_BANDWIDTH,
		.sample =
			"%s/event=0xc6,umask=0x01,frontend=0x100206,name=frontend_retired.latency_ge_2_bubbles_ge_1/P"},
	{"tma_branch_mispredicts", "tma_bad_speculation",
		"topdown\\-br\\-mispredict / " SUM " + 0 * slots",
		"tma_branch_mispredicts > 0.1 & tma_bad_speculation > 0.15", BRANCH_MISPREDICTS,
		.sample = "branch-misses:P"},
	{"tma_machine_clears", "tma_bad_speculation",
		"max(0, tma_bad_speculation - tma_branch_mispredicts)",
		"tma_machine_clears > 0.1 & tma_bad_speculation > 0.15", MACHINE_CLEARS,
		.sample = "%s/event=0xc3,umask=0x01,cmask=1,edge=1,name=machine_clears.count/"},
	{"tma_light_operations", "tma_retiring", "max(0, tma_retiring - tma_heavy_operations)",
		"tma_light_operations > 0.6", LIGHT_OPERATIONS, .sample = "instructions:P"},
	{"tma_heavy_operations", "tma_retiring", "topdown\\-heavy\\-ops / " SUM " + 0 * slots",
		"tma_heavy_operations > 0.1", HEAVY_OPERATIONS,
		.sample = "%s/event=0xc2,umask=0x01,name=uops_retired.heavy/"},
};

/* ---- Intel before Ice Lake: sysfs' five events (Linux 4.8), with their scale ---- */

static const struct tma_event slots_events[] = {
	{"topdown-total-slots", NULL, NULL},
	{"topdown-slots-issued", NULL, NULL},
	{"topdown-slots-retired", NULL, NULL},
	{"topdown-fetch-bubbles", NULL, NULL},
	{"topdown-recovery-bubbles", NULL, NULL},
};

static const struct tma_node slots_nodes[] = {
	{"tma_retiring", NULL, "topdown\\-slots\\-retired / topdown\\-total\\-slots",
		"tma_retiring > 0.7", RETIRING, .sample = "instructions:P"},
	{"tma_backend_bound", NULL,
		"max(0, 1 - tma_frontend_bound - tma_bad_speculation - tma_retiring)",
		"tma_backend_bound > 0.2", BACKEND_BOUND, .sample = "cycles:P"},
	{"tma_frontend_bound", NULL, "topdown\\-fetch\\-bubbles / topdown\\-total\\-slots",
		"tma_frontend_bound > 0.15", FRONTEND_BOUND, .sample = "L1-icache-load-misses"},
	{"tma_bad_speculation", NULL,
		"max(0, topdown\\-slots\\-issued - topdown\\-slots\\-retired + topdown\\-recovery\\-bubbles) / topdown\\-total\\-slots",
		"tma_bad_speculation > 0.15", BAD_SPECULATION, .sample = "branch-misses:P"},
};

/* Silvermont and Airmont have no event for recovery. */
static const struct tma_event three_events[] = {
	{"topdown-total-slots", NULL, NULL},
	{"topdown-slots-retired", NULL, NULL},
	{"topdown-fetch-bubbles", NULL, NULL},
};

static const struct tma_node three_nodes[] = {
	{"tma_retiring", NULL, "topdown\\-slots\\-retired / topdown\\-total\\-slots",
		"tma_retiring > 0.7", RETIRING, .sample = "instructions:P"},
	{"tma_backend_bound_or_bad_speculation", NULL,
		"max(0, 1 - tma_frontend_bound - tma_retiring)",
		"tma_backend_bound_or_bad_speculation > 0.3",
		.means =
			"all other slots: this CPU cannot tell waiting from operations that were thrown away",
		.todo = "count branch-misses and cache-misses to tell them apart",
		.sample = "cycles"},
	{"tma_frontend_bound", NULL, "topdown\\-fetch\\-bubbles / topdown\\-total\\-slots",
		"tma_frontend_bound > 0.15", FRONTEND_BOUND, .sample = "L1-icache-load-misses"},
};

/* ---- Intel's efficient cores: Tremont, Gracemont and later ---- */

/* Gracemont and Crestmont, whose level 2 is documented with these encodings. */
#define ATOM_LEVEL2 "GenuineIntel-6-(BE|AF|B6|97|9A|B[57AF]|A[AC])"

static const struct tma_event atom_events[] = {
	{"topdown-retiring", "event=0xc2,umask=0x00", ATOM_LEVEL2},
	{"topdown-bad-spec", "event=0x73,umask=0x00", ATOM_LEVEL2},
	{"topdown-fe-bound", "event=0x71,umask=0x00", ATOM_LEVEL2},
	{"topdown-be-bound", "event=0x74,umask=0x00", ATOM_LEVEL2},
	{"topdown_fe_bound.frontend_latency", "event=0x71,umask=0x72", ATOM_LEVEL2},
	{"topdown_bad_speculation.mispredict", "event=0x73,umask=0x04", ATOM_LEVEL2},
	{"topdown_be_bound.alloc_restrictions", "event=0x74,umask=0x01", ATOM_LEVEL2},
};

static const struct tma_node atom_nodes[] = {
	{"tma_retiring", NULL, "topdown\\-retiring / " SUM, "tma_retiring > 0.75", RETIRING,
		.sample = "%s/instructions/P"},
	{"tma_backend_bound", NULL, "topdown\\-be\\-bound / " SUM, "tma_backend_bound > 0.1",
		BACKEND_BOUND, .sample = "%s/cpu-cycles/P"},
	{"tma_frontend_bound", NULL, "topdown\\-fe\\-bound / " SUM, "tma_frontend_bound > 0.2",
		FRONTEND_BOUND, .sample = "%s/cpu-cycles/P"},
	{"tma_bad_speculation", NULL, "topdown\\-bad\\-spec / " SUM, "tma_bad_speculation > 0.15",
		BAD_SPECULATION, .sample = "%s/branch-misses/P"},
	{"tma_resource_bound", "tma_backend_bound", "max(0, tma_backend_bound - tma_core_bound)",
		"tma_resource_bound > 0.2 & tma_backend_bound > 0.1",
		.means = "a queue or buffer was full, most often behind loads that miss",
		.todo = "the loads that take longest: smaller or denser data, blocking, prefetches",
		.sample = "mem record", .is_command = true},
	{"tma_core_bound", "tma_backend_bound", "topdown_be_bound.alloc_restrictions / " SUM,
		"tma_core_bound > 0.1 & tma_backend_bound > 0.1",
		.means = "operations of this mix could not be allocated together",
		.todo = "the hottest instructions show it", .sample = "%s/cpu-cycles/P"},
	{"tma_ifetch_latency", "tma_frontend_bound", "topdown_fe_bound.frontend_latency / " SUM,
		"tma_ifetch_latency > 0.15 & tma_frontend_bound > 0.2", FETCH_LATENCY,
		.sample = "%s/cpu-cycles/P"},
	{"tma_ifetch_bandwidth", "tma_frontend_bound",
		"max(0, tma_frontend_bound - tma_ifetch_latency)",
		"tma_ifetch_bandwidth > 0.1 & tma_frontend_bound > 0.2", FETCH_BANDWIDTH,
		.sample = "%s/cpu-cycles/P"},
	{"tma_branch_mispredicts", "tma_bad_speculation",
		"topdown_bad_speculation.mispredict / " SUM,
		"tma_branch_mispredicts > 0.05 & tma_bad_speculation > 0.15", BRANCH_MISPREDICTS,
		.sample = "%s/branch-misses/P"},
	{"tma_machine_clears", "tma_bad_speculation",
		"max(0, tma_bad_speculation - tma_branch_mispredicts)",
		"tma_machine_clears > 0.05 & tma_bad_speculation > 0.15", MACHINE_CLEARS,
		.sample = "%s/event=0xc3,umask=0x6f/"},
};

/* ---- AMD Zen 4 and Zen 5 ---- */

#define ZEN_EVENTS                                                                                \
	{"ls_not_halted_cyc", "event=0x76", NULL},                                                \
		{"de_no_dispatch_per_slot.no_ops_from_frontend", "event=0x1a0,umask=0x01", NULL}, \
		{"de_no_dispatch_per_slot.backend_stalls", "event=0x1a0,umask=0x1e", NULL},       \
		{"de_no_dispatch_per_slot.smt_contention", "event=0x1a0,umask=0x60", NULL},       \
		{"de_src_op_disp.all", "event=0xaa,umask=0x07", NULL},                            \
		{"ex_ret_ops", "event=0xc1", NULL}, {"ex_ret_ucode_ops", "event=0x1c2", NULL},    \
		{"ex_ret_brn_misp", "event=0xc3", NULL},                                          \
		{"ex_no_retire.not_complete", "event=0xd6,umask=0x02", NULL},                     \
	{                                                                                         \
		"ex_no_retire.load_not_complete", "event=0xd6,umask=0xa2", NULL                   \
	}

static const struct tma_event zen4_events[] = {
	ZEN_EVENTS,
	{"no_ops_from_frontend.cmask6", "event=0x1a0,umask=0x01,cmask=6", NULL},
	{"resyncs_or_nc_redirects", "event=0x96", NULL},
};

static const struct tma_event zen5_events[] = {
	ZEN_EVENTS,
	{"no_ops_from_frontend.cmask8", "event=0x1a0,umask=0x01,cmask=8", NULL},
	{"bp_redirects.resync", "event=0x9f,umask=0x01", NULL},
};

/* width: of dispatch; RESYNC: the event of flushes that are not for branches. */
#define ZEN_NODES(width, RESYNC)                                                                                        \
	{"tma_retiring", NULL, "ex_ret_ops / (" width " * ls_not_halted_cyc)",                                          \
		"tma_retiring > 0.7", RETIRING, .sample = "instructions"},                                              \
		{"tma_backend_bound", NULL,                                                                             \
			"de_no_dispatch_per_slot.backend_stalls / (" width                                              \
			" * ls_not_halted_cyc)",                                                                        \
			"tma_backend_bound > 0.2", BACKEND_BOUND, .sample = "cycles:P"},                                \
		{"tma_frontend_bound", NULL,                                                                            \
			"de_no_dispatch_per_slot.no_ops_from_frontend / (" width                                        \
			" * ls_not_halted_cyc)",                                                                        \
			"tma_frontend_bound > 0.15", FRONTEND_BOUND, .sample = "ibs_fetch//"},                          \
		{"tma_bad_speculation", NULL,                                                                           \
			"max(0, de_src_op_disp.all - ex_ret_ops) / (" width                                             \
			" * ls_not_halted_cyc)",                                                                        \
			"tma_bad_speculation > 0.15", BAD_SPECULATION, .sample = "branch-misses"},                      \
		{"tma_smt_contention", NULL,                                                                            \
			"de_no_dispatch_per_slot.smt_contention / (" width                                              \
			" * ls_not_halted_cyc)",                                                                        \
			"tma_smt_contention > 0.2",                                                                     \
			.means =                                                                                        \
				"slots that the other thread of the core was given in this cycle",                      \
			.todo = "compare with one thread a core: both threads share the slots",                         \
			.sample = NULL},                                                                                \
		{"tma_memory_bound", "tma_backend_bound",                                                               \
			"tma_backend_bound * d_ratio(ex_no_retire.load_not_complete, ex_no_retire.not_complete)",       \
			"tma_memory_bound > 0.2 & tma_backend_bound > 0.2", MEMORY_BOUND,                               \
			.sample = "mem record", .is_command = true},                                                    \
		{"tma_core_bound", "tma_backend_bound",                                                                 \
			"tma_backend_bound * (1 - d_ratio(ex_no_retire.load_not_complete, ex_no_retire.not_complete))", \
			"tma_core_bound > 0.1 & tma_backend_bound > 0.2", CORE_BOUND,                                   \
			.sample = "cycles:P"},                                                                          \
		{"tma_fetch_latency", "tma_frontend_bound",                                                             \
			"no_ops_from_frontend.cmask" width " / ls_not_halted_cyc",                                      \
			"tma_fetch_latency > 0.1 & tma_frontend_bound > 0.15", FETCH_LATENCY,                           \
			.sample = "ibs_fetch//"},                                                                       \
		{"tma_fetch_bandwidth", "tma_frontend_bound",                                                           \
			"max(0, tma_frontend_bound - tma_fetch_latency)",                                               \
			"tma_fetch_bandwidth > 0.2", FETCH_BANDWIDTH, .sample = "ibs_fetch//"},                         \
		{"tma_branch_mispredicts", "tma_bad_speculation",                                                       \
			"tma_bad_speculation * d_ratio(ex_ret_brn_misp, ex_ret_brn_misp + " RESYNC                      \
			")",                                                                                            \
			"tma_branch_mispredicts > 0.1 & tma_bad_speculation > 0.15",                                    \
			BRANCH_MISPREDICTS, .sample = "branch-misses"},                                                 \
		{"tma_pipeline_restarts", "tma_bad_speculation",                                                        \
			"tma_bad_speculation * d_ratio(" RESYNC ", ex_ret_brn_misp + " RESYNC ")",                      \
			"tma_pipeline_restarts > 0.1 & tma_bad_speculation > 0.15",                                     \
			MACHINE_CLEARS, .sample = "cycles:P"},                                                          \
		{"tma_light_operations", "tma_retiring",                                                                \
			"tma_retiring * (1 - d_ratio(ex_ret_ucode_ops, ex_ret_ops))",                                   \
			"tma_light_operations > 0.6", LIGHT_OPERATIONS, .sample = "instructions"},                      \
	{                                                                                                               \
		"tma_microcode", "tma_retiring",                                                                        \
			"tma_retiring * d_ratio(ex_ret_ucode_ops, ex_ret_ops)",                                         \
			"tma_microcode > 0.1", HEAVY_OPERATIONS,                                                        \
			.sample = "%s/event=0x1c2,name=ex_ret_ucode_ops/"                                               \
	}

static const struct tma_node zen4_nodes[] = {ZEN_NODES("6", "resyncs_or_nc_redirects")};
static const struct tma_node zen5_nodes[] = {ZEN_NODES("8", "bp_redirects.resync")};

/* ---- Arm ---- */

static const struct tma_event arm_events[] = {
	{"cpu_cycles", "event=0x11", NULL},
	{"stall_slot_frontend", "event=0x3e", NULL},
	{"stall_slot_backend", "event=0x3d", NULL},
	{"op_retired", "event=0x3a", NULL},
	{"op_spec", "event=0x3b", NULL},
	{"br_mis_pred", "event=0x10", NULL},
};

/*
 * slots: of a cycle. frontend: the event, corrected. flush: slots of the frontend, of the backend, that a mispredicted
 * branch empties: they are bad speculation, by Arm's specification of the core. STALL_SLOT is the sum of both stalls.
 */
#define ARM_NODES(slots, frontend, flush_frontend, flush_backend)                                \
	{"tma_retiring", NULL,                                                                   \
		"op_retired / op_spec * (1 - (" frontend                                         \
		" + stall_slot_backend) / (cpu_cycles * " slots "))",                            \
		"tma_retiring > 0.7", RETIRING, .sample = "instructions"},                       \
		{"tma_backend_bound", NULL,                                                      \
			"stall_slot_backend / (cpu_cycles * " slots ")" flush_backend,           \
			"tma_backend_bound > 0.2", BACKEND_BOUND, .sample = "mem record",        \
			.is_command = true},                                                     \
		{"tma_frontend_bound", NULL,                                                     \
			frontend " / (cpu_cycles * " slots ")" flush_frontend,                   \
			"tma_frontend_bound > 0.15", FRONTEND_BOUND,                             \
			.sample = "L1-icache-load-misses"},                                      \
	{                                                                                        \
		"tma_bad_speculation", NULL,                                                     \
			"1 - tma_retiring - tma_backend_bound - tma_frontend_bound",             \
			"tma_bad_speculation > 0.15", BAD_SPECULATION, .sample = "branch-misses" \
	}

/*
 * Neoverse N2 before r0p3 counts a cycle too much for each cycle in STALL_SLOT_FRONTEND and STALL_SLOT: Arm, Neoverse
 * N2 Software Developer Errata Notice; Linux, pmu-events/arch/arm64/arm/neoverse-n2-v2/metrics.json.
 */
#define N2_FRONTEND \
	"(stall_slot_frontend if strcmp_cpuid_str(0x410fd493) | strcmp_cpuid_str(0x410fd490) ^ 1 else stall_slot_frontend - cpu_cycles)"

static const struct tma_node v1_nodes[] = {
	ARM_NODES("8", "stall_slot_frontend", " - br_mis_pred * 4 / cpu_cycles", "")};
static const struct tma_node n2_nodes[] = {ARM_NODES("#slots", N2_FRONTEND,
	" - br_mis_pred / cpu_cycles", " - br_mis_pred * 3 / cpu_cycles")};
static const struct tma_node arm_nodes[] = {ARM_NODES("#slots", "stall_slot_frontend", "", "")};

/* Neoverse N1 and Cortex-A76 count stalled cycles, not slots, and no operations. */
static const struct tma_event n1_events[] = {
	{"cpu_cycles", "event=0x11", NULL},
	{"stall_frontend", "event=0x23", NULL},
	{"stall_backend", "event=0x24", NULL},
};

static const struct tma_node n1_nodes[] = {
	{"tma_not_stalled", NULL, "max(0, 1 - tma_backend_bound - tma_frontend_bound)",
		"tma_not_stalled > 0.9",
		.means =
			"cycles in which operations were dispatched, useful ones and others: this CPU cannot tell them apart",
		.todo = "fewer instructions for the same work; branch-misses shows what was thrown away",
		.sample = "instructions"},
	{"tma_backend_bound", NULL, "stall_backend / cpu_cycles", "tma_backend_bound > 0.2",
		.means =
			"cycles without a new operation because earlier ones waited for data or for execution units",
		.todo = "misses of the data caches, long dependency chains, divisions",
		.sample = "cycles"},
	{"tma_frontend_bound", NULL, "stall_frontend / cpu_cycles", "tma_frontend_bound > 0.15",
		.means = "cycles without a new operation because none was fetched",
		.todo = "the size and the layout of hot code; also mispredicted branches",
		.sample = "L1-icache-load-misses"},
};

/* ---- families; the first that fits a PMU is its ---- */

const struct tma_family tma_families[] = {
	{.name = "Intel, metrics register",
		.pmus = "cpu|cpu_core",
		.models = FOUR_METRICS "|" EIGHT_METRICS,
		.has_register = true,
		.whole = SUM " / slots",
		FAMILY_TABLES(register_events, register_nodes)},
	{.name = "Intel, before Ice Lake",
		.pmus = "cpu",
		.counts_cores = true,
		.whole =
			"tma_retiring + tma_backend_bound + tma_frontend_bound + tma_bad_speculation",
		FAMILY_TABLES(slots_events, slots_nodes)},
	{.name = "Intel, Silvermont",
		.pmus = "cpu",
		.whole = "tma_retiring + tma_backend_bound_or_bad_speculation + tma_frontend_bound",
		FAMILY_TABLES(three_events, three_nodes)},
	{.name = "Intel, efficient cores",
		.pmus = "cpu|cpu_atom|cpu_lowpower",
		.models = ATOM_LEVEL2,
		FAMILY_TABLES(atom_events, atom_nodes)},
	{.name = "AMD Zen 4",
		.pmus = "cpu",
		.models = "AuthenticAMD-25-(1[0-9A-F]|[67A][0-9A-F])",
		.is_for_models = true,
		.whole =
			"tma_retiring + tma_backend_bound + tma_frontend_bound + tma_bad_speculation + tma_smt_contention",
		FAMILY_TABLES(zen4_events, zen4_nodes)},
	{.name = "AMD Zen 5",
		.pmus = "cpu",
		.models = "AuthenticAMD-26-[0-9A-F]+",
		.is_for_models = true,
		.whole =
			"tma_retiring + tma_backend_bound + tma_frontend_bound + tma_bad_speculation + tma_smt_contention",
		FAMILY_TABLES(zen5_events, zen5_nodes)},
	{.name = "Arm Neoverse V1",
		.models = "0x00000000410fd400",
		.is_for_models = true,
		FAMILY_TABLES(arm_events, v1_nodes)},
	{.name = "Arm Neoverse N2",
		.models = "0x00000000410fd490",
		.is_for_models = true,
		.width = 5,
		FAMILY_TABLES(arm_events, n2_nodes)},
	{.name = "Arm Neoverse V2",
		.models = "0x00000000410fd4f0",
		.is_for_models = true,
		.width = 8,
		FAMILY_TABLES(arm_events, n2_nodes)},
	{.name = "Arm Neoverse N1",
		.models = "0x00000000410fd0(c0|b0)",
		.is_for_models = true,
		FAMILY_TABLES(n1_events, n1_nodes)},
	{.name = "Arm, events of slots", FAMILY_TABLES(arm_events, arm_nodes)},
};
/* clang-format on */

const size_t tma_families_n = ARRAY_SIZE(tma_families);
