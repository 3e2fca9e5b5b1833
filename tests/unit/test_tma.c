/*
 * TopDown on PMUs that are not here: what they can count, and shares that were computed by hand.
 */
#include "event/tma.h"

#include <math.h>
#include <stdio.h>

#include "fake_sysfs.h"
#include "test.h"

static const char *const intel[] = {"format/event = config:0-7", "format/umask = config:8-15",
	"format/cmask = config:24-31", NULL};
static const char *const register4[] = {"events/slots = event=0x00,umask=0x4",
	"events/topdown-retiring = event=0x00,umask=0x80",
	"events/topdown-bad-spec = event=0x00,umask=0x81",
	"events/topdown-fe-bound = event=0x00,umask=0x82",
	"events/topdown-be-bound = event=0x00,umask=0x83", NULL};
static const char *const register8[] = {"events/topdown-heavy-ops = event=0x00,umask=0x84",
	"events/topdown-br-mispredict = event=0x00,umask=0x85",
	"events/topdown-fetch-lat = event=0x00,umask=0x86",
	"events/topdown-mem-bound = event=0x00,umask=0x87", NULL};

static void put(const char *pmu, const char *const *lines)
{
	for (; *lines; lines++) {
		const char *equals = strstr(*lines, " = ");
		char path[256];

		snprintf(path, sizeof(path), "sys/bus/event_source/devices/%s/%.*s", pmu,
			(int)(equals - *lines), *lines);
		fake_file(path, equals + 3);
	}
}

static void make(const char *pmu, const char *model)
{
	put(pmu, (const char *const[]){"type = 4", NULL});
	setenv("PACE_CPUID", model, 1);
}

static void open_on(struct tma *t, const char *pmu)
{
	struct err err;

	if (tma_open(t, test_path("sys"), pmu, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
}

/* Counts by name, "slots 8000 topdown-retiring 2000"; all others are not known. */
static void count(const struct tma *t, const char *text, double counts[TMA_EVENTS_MAX])
{
	char name[64];
	double v;
	int n;

	for (u32 i = 0; i < TMA_EVENTS_MAX; i++)
		counts[i] = NAN;
	for (; sscanf(text, "%63s %lf%n", name, &v, &n) == 2; text += n) {
		u32 found = 0;

		for (u32 i = 0; i < t->family->n_events; i++)
			if (!strcmp(t->family->events[i].name, name)) {
				counts[i] = v;
				found++;
			}
		CHECK_EQ(found, 1);
	}
}

/* All shares of the tree, in %: "tma_retiring 25 tma_light_operations 20 ..." in the table's order. */
static const char *shares(const struct tma *t, const double *counts, struct str *text)
{
	str_clear(text);
	for (u32 i = 0; i < t->family->n_nodes; i++)
		if (t->level[i])
			str_addf(text, "%s%s %.4g", text->n ? " " : "", t->family->nodes[i].name,
				100 * tma_share(t, i, counts));
	return str_text(text);
}

static const char *group(const struct tma *t, u32 parent, u32 level, struct str *text)
{
	str_clear(text);
	tma_add_group(t, tma_needs(t, parent, level), text);
	return str_text(text);
}

/* Node by name. */
static u32 node(const struct tma *t, const char *name)
{
	for (u32 i = 0; i < t->family->n_nodes; i++)
		if (!strcmp(t->family->nodes[i].name, name))
			return i;
	test_failed(__FILE__, __LINE__, "there is no node '%s'", name);
	return 0;
}

TEST(tma_of_the_metrics_register_has_two_levels_where_sysfs_has_eight_metrics)
{
	double counts[TMA_EVENTS_MAX];
	struct str text = {0};
	struct tma t;

	make("cpu", "GenuineIntel-6-8F-6");
	put("cpu", intel);
	put("cpu", register4);
	put("cpu", register8);
	open_on(&t, "cpu");
	CHECK_STR(t.family->name, "Intel, metrics register");
	CHECK_EQ(t.levels, 2);
	CHECK_STR(group(&t, TMA_NONE, 1, &text),
		"{cpu/slots,name=slots/,cpu/topdown-retiring,name=topdown-retiring/,"
		"cpu/topdown-bad-spec,name=topdown-bad-spec/,cpu/topdown-fe-bound,name=topdown-fe-bound/,"
		"cpu/topdown-be-bound,name=topdown-be-bound/}");
	CHECK_EQ(tma_needs(&t, TMA_NONE, 2), 0x1ff);
	/* 8000 slots: 2000 + 1000 + 1800 + 3200. */
	count(&t,
		"slots 8000 topdown-retiring 2000 topdown-bad-spec 1000 topdown-fe-bound 1800"
		" topdown-be-bound 3200 topdown-heavy-ops 300 topdown-br-mispredict 700"
		" topdown-fetch-lat 1100 topdown-mem-bound 2100",
		counts);
	CHECK_STR(shares(&t, counts, &text),
		"tma_retiring 25 tma_backend_bound 40 tma_frontend_bound 22.5 tma_bad_speculation 12.5 "
		"tma_memory_bound 26.25 tma_core_bound 13.75 tma_fetch_latency 13.75 tma_fetch_bandwidth 8.75 "
		"tma_branch_mispredicts 8.75 tma_machine_clears 3.75 tma_light_operations 21.25 tma_heavy_operations 3.75");
	CHECK(fabs(tma_whole(&t, counts) - 1) < 1e-9);
	/* Slots were on the PMU longer than the metrics. */
	counts[0] = 16000;
	CHECK(fabs(tma_whole(&t, counts) - 0.5) < 1e-9);
	tma_close(&t);
	str_fini(&text);
}

TEST(tma_of_ice_lake_has_one_level)
{
	struct tma t;

	make("cpu", "GenuineIntel-6-6A-6");
	put("cpu", intel);
	put("cpu", register4);
	open_on(&t, "cpu");
	CHECK_EQ(t.levels, 1);
	CHECK_EQ(tma_child(&t, node(&t, "tma_retiring"), TMA_NONE), TMA_NONE);
	tma_close(&t);
}

TEST(tma_uses_raw_encodings_where_sysfs_lacks_the_names_of_a_known_model)
{
	struct str text = {0};
	struct tma t;

	make("cpu", "GenuineIntel-6-8F-6");
	put("cpu", intel);
	open_on(&t, "cpu");
	CHECK_EQ(t.levels, 2);
	CHECK_STR(group(&t, TMA_NONE, 1, &text),
		"{cpu/event=0x00,umask=0x04,name=slots/,cpu/event=0x00,umask=0x80,name=topdown-retiring/,"
		"cpu/event=0x00,umask=0x81,name=topdown-bad-spec/,cpu/event=0x00,umask=0x82,name=topdown-fe-bound/,"
		"cpu/event=0x00,umask=0x83,name=topdown-be-bound/}");
	CHECK_HAS(group(&t, TMA_NONE, 2, &text),
		"cpu/event=0x00,umask=0x87,name=topdown-mem-bound/}");
	tma_close(&t);
	make("cpu", "GenuineIntel-6-6A-6");
	open_on(&t, "cpu");
	CHECK_EQ(t.levels, 1);
	tma_close(&t);
	str_fini(&text);
}

TEST(tma_before_ice_lake_counts_five_events_of_sysfs)
{
	double counts[TMA_EVENTS_MAX];
	struct str text = {0};
	struct tma t;

	make("cpu", "GenuineIntel-6-55-4");
	put("cpu", intel);
	put("cpu",
		(const char *const[]){"events/topdown-total-slots = event=0x3c,umask=0x0",
			"events/topdown-total-slots.scale = 4",
			"events/topdown-slots-issued = event=0xe,umask=0x1",
			"events/topdown-slots-retired = event=0xc2,umask=0x2",
			"events/topdown-fetch-bubbles = event=0x9c,umask=0x1",
			"events/topdown-recovery-bubbles = event=0xd,umask=0x3,cmask=1", NULL});
	open_on(&t, "cpu");
	CHECK_STR(t.family->name, "Intel, before Ice Lake");
	CHECK(t.family->counts_cores);
	count(&t,
		"topdown-total-slots 4000 topdown-slots-issued 1500 topdown-slots-retired 1200"
		" topdown-fetch-bubbles 600 topdown-recovery-bubbles 100",
		counts);
	/* Bad speculation: (1500 - 1200 + 100) / 4000; the backend has the rest. */
	CHECK_STR(shares(&t, counts, &text),
		"tma_retiring 30 tma_backend_bound 45 tma_frontend_bound 15 tma_bad_speculation 10");
	tma_close(&t);
	str_fini(&text);
}

TEST(tma_of_efficient_cores_knows_level_2_of_documented_models)
{
	double counts[TMA_EVENTS_MAX];
	struct str text = {0};
	struct tma t;

	make("cpu_atom", "GenuineIntel-6-97-2");
	put("cpu_atom", (const char *const[]){"type = 10", "cpus = 8-15", NULL});
	put("cpu_atom", intel);
	put("cpu_atom",
		(const char *const[]){"events/topdown-retiring = event=0xc2,umask=0x0",
			"events/topdown-bad-spec = event=0x73,umask=0x0",
			"events/topdown-fe-bound = event=0x71,umask=0x0",
			"events/topdown-be-bound = event=0x74,umask=0x0", NULL});
	open_on(&t, "cpu_atom");
	CHECK_STR(t.family->name, "Intel, efficient cores");
	CHECK_EQ(t.levels, 2);
	count(&t,
		"topdown-retiring 1500 topdown-bad-spec 500 topdown-fe-bound 1000 topdown-be-bound 2000"
		" topdown_fe_bound.frontend_latency 600 topdown_bad_speculation.mispredict 400"
		" topdown_be_bound.alloc_restrictions 250",
		counts);
	CHECK_STR(shares(&t, counts, &text),
		"tma_retiring 30 tma_backend_bound 40 tma_frontend_bound 20 tma_bad_speculation 10 "
		"tma_resource_bound 35 tma_core_bound 5 tma_ifetch_latency 12 tma_ifetch_bandwidth 8 "
		"tma_branch_mispredicts 8 tma_machine_clears 2");
	/* The branch of the backend needs the sum of level 1 and one event more. */
	CHECK_HAS(group(&t, node(&t, "tma_backend_bound"), 2, &text),
		"cpu_atom/topdown-be-bound,name=topdown-be-bound/,"
		"cpu_atom/event=0x74,umask=0x01,name=topdown_be_bound.alloc_restrictions/}");
	tma_close(&t);
	/* Skymont's umasks are others: sysfs knows them, the table of level 2 does not. */
	make("cpu_atom", "GenuineIntel-6-BD-1");
	open_on(&t, "cpu_atom");
	CHECK_EQ(t.levels, 1);
	tma_close(&t);
	str_fini(&text);
}

static void check_zen(const char *model, const char *family, const char *cmask, const char *resync,
	double cycles)
{
	double counts[TMA_EVENTS_MAX];
	struct str text = {0}, events = {0};
	struct tma t;

	make("cpu", model);
	put("cpu", intel);
	open_on(&t, "cpu");
	CHECK_STR(t.family->name, family);
	CHECK_EQ(t.levels, 2);
	CHECK_STR(group(&t, TMA_NONE, 1, &text),
		"{cpu/event=0x76,name=ls_not_halted_cyc/,"
		"cpu/event=0x1a0,umask=0x01,name=de_no_dispatch_per_slot.no_ops_from_frontend/,"
		"cpu/event=0x1a0,umask=0x1e,name=de_no_dispatch_per_slot.backend_stalls/,"
		"cpu/event=0x1a0,umask=0x60,name=de_no_dispatch_per_slot.smt_contention/,"
		"cpu/event=0xaa,umask=0x07,name=de_src_op_disp.all/,cpu/event=0xc1,name=ex_ret_ops/}");
	str_addf(&events,
		"ls_not_halted_cyc %g de_no_dispatch_per_slot.no_ops_from_frontend 1200"
		" de_no_dispatch_per_slot.backend_stalls 1800 de_no_dispatch_per_slot.smt_contention 600"
		" de_src_op_disp.all 2400 ex_ret_ops 2100 ex_ret_ucode_ops 210 ex_ret_brn_misp 30"
		" ex_no_retire.not_complete 400 ex_no_retire.load_not_complete 300 %s 90 %s 10",
		cycles, cmask, resync);
	count(&t, events.at, counts);
	/* 6000 slots; level 2: of the backend 300 of 400 cycles, of bad speculation 30 of 40 flushes. */
	CHECK_STR(shares(&t, counts, &text),
		cycles == 1000
			? "tma_retiring 35 tma_backend_bound 30 tma_frontend_bound 20 tma_bad_speculation 5 "
			  "tma_smt_contention 10 tma_memory_bound 22.5 tma_core_bound 7.5 tma_fetch_latency 9 "
			  "tma_fetch_bandwidth 11 tma_branch_mispredicts 3.75 tma_pipeline_restarts 1.25 "
			  "tma_light_operations 31.5 tma_microcode 3.5"
			: "tma_retiring 35 tma_backend_bound 30 tma_frontend_bound 20 tma_bad_speculation 5 "
			  "tma_smt_contention 10 tma_memory_bound 22.5 tma_core_bound 7.5 tma_fetch_latency 12 "
			  "tma_fetch_bandwidth 8 tma_branch_mispredicts 3.75 tma_pipeline_restarts 1.25 "
			  "tma_light_operations 31.5 tma_microcode 3.5");
	CHECK(fabs(tma_whole(&t, counts) - 1) < 1e-9);
	tma_close(&t);
	str_fini(&text);
	str_fini(&events);
}

TEST(tma_of_zen_tells_contention_of_threads_apart)
{
	check_zen("AuthenticAMD-25-11-1", "AMD Zen 4", "no_ops_from_frontend.cmask6",
		"resyncs_or_nc_redirects", 1000);
	check_zen("AuthenticAMD-26-2-1", "AMD Zen 5", "no_ops_from_frontend.cmask8",
		"bp_redirects.resync", 750);
}

static void check_neoverse(const char *model, u32 slots, const char *family, const char *wanted)
{
	double counts[TMA_EVENTS_MAX];
	struct str text = {0};
	struct tma t;
	char line[64];

	make("armv8_pmuv3_0", model);
	put("armv8_pmuv3_0", (const char *const[]){"format/event = config:0-15", NULL});
	snprintf(line, sizeof(line), "caps/slots = 0x%08x", slots);
	put("armv8_pmuv3_0", (const char *const[]){line, NULL});
	open_on(&t, "armv8_pmuv3_0");
	CHECK_STR(t.family->name, family);
	CHECK_EQ(t.levels, 1);
	count(&t,
		"cpu_cycles 1000 stall_slot_frontend 1600 stall_slot_backend 2400 op_retired 900"
		" op_spec 1000 br_mis_pred 10",
		counts);
	CHECK_STR(shares(&t, counts, &text), wanted);
	tma_close(&t);
	str_fini(&text);
}

TEST(tma_of_neoverse_corrects_what_mispredicted_branches_empty)
{
	/* 8000 slots, 4000 of them stalled, of the others 90 % retire; a branch empties 4 cycles: 4 %. */
	check_neoverse("0x00000000411fd401", 8, "Arm Neoverse V1",
		"tma_retiring 45 tma_backend_bound 30 tma_frontend_bound 16 tma_bad_speculation 9");
	/* 1 % of the frontend's, 3 % of the backend's. */
	check_neoverse("0x00000000410fd4f0", 8, "Arm Neoverse V2",
		"tma_retiring 45 tma_backend_bound 27 tma_frontend_bound 19 tma_bad_speculation 9");
	/* sysfs of old kernels does not say how many slots there are. */
	check_neoverse("0x00000000410fd4f0", 0, "Arm Neoverse V2",
		"tma_retiring 45 tma_backend_bound 27 tma_frontend_bound 19 tma_bad_speculation 9");
}

TEST(tma_of_neoverse_n2_leaves_out_the_cycles_that_its_first_revisions_count_too_much)
{
	/* 5000 slots. Correct: 4000 stalled; 20 % for 90 % and 10 %. */
	check_neoverse("0x00000000410fd493", 5, "Arm Neoverse N2",
		"tma_retiring 18 tma_backend_bound 45 tma_frontend_bound 31 tma_bad_speculation 6");
	check_neoverse("0x00000000411fd490", 5, "Arm Neoverse N2",
		"tma_retiring 18 tma_backend_bound 45 tma_frontend_bound 31 tma_bad_speculation 6");
	/* r0p1: 1000 cycles less: 3000 stalled, 600 of the frontend. */
	check_neoverse("0x00000000410fd491", 5, "Arm Neoverse N2",
		"tma_retiring 36 tma_backend_bound 45 tma_frontend_bound 11 tma_bad_speculation 8");
}

TEST(tma_of_neoverse_n1_counts_cycles)
{
	double counts[TMA_EVENTS_MAX];
	struct str text = {0};
	struct tma t;

	make("armv8_pmuv3_0", "0x00000000413fd0c1");
	put("armv8_pmuv3_0", (const char *const[]){"format/event = config:0-15", NULL});
	open_on(&t, "armv8_pmuv3_0");
	count(&t, "cpu_cycles 1000 stall_frontend 150 stall_backend 450", counts);
	CHECK_STR(shares(&t, counts, &text),
		"tma_not_stalled 40 tma_backend_bound 45 tma_frontend_bound 15");
	tma_close(&t);
	str_fini(&text);
}

TEST(tma_of_an_unknown_arm_core_needs_its_events_and_slots_in_sysfs)
{
	static const char *const events[] = {"events/cpu_cycles = event=0x11",
		"events/stall_slot_frontend = event=0x3e", "events/stall_slot_backend = event=0x3d",
		"events/op_retired = event=0x3a", "events/op_spec = event=0x3b", NULL};
	struct tma t;
	struct err err;

	make("armv8_pmuv3_0", "0x00000000480fd022");
	put("armv8_pmuv3_0", (const char *const[]){"format/event = config:0-15", NULL});
	CHECK_EQ(tma_open(&t, test_path("sys"), "armv8_pmuv3_0", &err), ERR_UNSUPPORTED);
	put("armv8_pmuv3_0", events);
	CHECK_EQ(tma_open(&t, test_path("sys"), "armv8_pmuv3_0", &err), ERR_UNSUPPORTED);
	put("armv8_pmuv3_0", (const char *const[]){"caps/slots = 0x6", NULL});
	open_on(&t, "armv8_pmuv3_0");
	CHECK_STR(t.family->name, "Arm, events of slots");
	tma_close(&t);
}

TEST(tma_says_which_cpu_counts_no_slots)
{
	struct tma t;
	struct err err;

	make("cpu", "AuthenticAMD-25-1-1");
	put("cpu", intel);
	CHECK_EQ(tma_open(&t, test_path("sys"), "cpu", &err), ERR_UNSUPPORTED);
	CHECK_STR(err.msg,
		"PMU 'cpu' of CPU model 'AuthenticAMD-25-1-1' counts no events of slots");
}

TEST(tma_limits_tell_what_deserves_attention)
{
	double all[TMA_NODES_MAX];
	struct tma t;

	make("cpu", "GenuineIntel-6-6A-6");
	put("cpu", intel);
	put("cpu", register4);
	open_on(&t, "cpu");
	for (u32 i = 0; i < TMA_NODES_MAX; i++)
		all[i] = NAN;
	all[node(&t, "tma_backend_bound")] = 0.21;
	all[node(&t, "tma_frontend_bound")] = 0.14;
	CHECK(tma_is_notable(&t, node(&t, "tma_backend_bound"), all));
	CHECK(!tma_is_notable(&t, node(&t, "tma_frontend_bound"), all));
	/* tma_heavy_operations, of which its limit also speaks, is not known on Ice Lake. */
	all[node(&t, "tma_retiring")] = 0.8;
	CHECK(tma_is_notable(&t, node(&t, "tma_retiring"), all));
	tma_close(&t);
}

/* Every family: formulas compile, and name nothing but its events and nodes; levels add up. */
TEST(tma_tables_are_whole)
{
	CHECK(tma_families_n >= 9);
	for (size_t k = 0; k < tma_families_n; k++) {
		const struct tma_family *f = &tma_families[k];

		CHECK(f->n_events <= TMA_EVENTS_MAX && f->n_nodes <= TMA_NODES_MAX);
		for (u32 i = 0; i < f->n_nodes; i++) {
			const struct tma_node *n = &f->nodes[i];
			const char *texts[] = {n->expr, n->limit};

			CHECK(n->means && n->todo);
			for (u32 j = 0; j < ARRAY_SIZE(texts); j++) {
				struct metricexpr x;
				struct err err;

				if (metricexpr_compile(&x, texts[j], 0, &err))
					test_failed(__FILE__, __LINE__, "%s: %s", n->name, err.msg);
				vec_each(name, &x.names) {
					bool is_known = strncmp(name->text, "0x", 2) == 0;

					for (u32 e = 0; e < f->n_events; e++)
						is_known |= !strcmp(f->events[e].name, name->text);
					for (u32 e = 0; e < f->n_nodes; e++)
						is_known |= !strcmp(f->nodes[e].name, name->text);
					if (!is_known)
						test_failed(__FILE__, __LINE__, "%s: %s", n->name,
							name->text);
				}
				metricexpr_fini(&x);
			}
		}
	}
}

TEST(tma_names_the_command_that_samples_a_leaf)
{
	struct str text = {0};
	struct tma t;

	make("cpu", "GenuineIntel-6-8F-6");
	put("cpu", intel);
	open_on(&t, "cpu");
	tma_add_command(&t, node(&t, "tma_memory_bound"), &text);
	CHECK_STR(text.at, "mem record");
	str_clear(&text);
	tma_add_command(&t, node(&t, "tma_fetch_latency"), &text);
	CHECK_STR(text.at,
		"record -e cpu/event=0xc6,umask=0x01,frontend=0x601006,name=frontend_retired.latency_ge_16/P");
	str_clear(&text);
	tma_add_command(&t, node(&t, "tma_branch_mispredicts"), &text);
	CHECK_STR(text.at, "record -e branch-misses:P");
	tma_close(&t);
	str_fini(&text);
}
