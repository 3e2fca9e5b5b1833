#include "event/catalog.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event/pmu.h"

#include "fake_sysfs.h"
#include "said.h"
#include "test.h"

/* Our own tables, in the two layouts. */

static const char mapfile[] = "Family-model,Version,Filename,EventType\n"
			      "# a comment, with a comma\n"
			      "GenuineIntel-6-55-[01234],v1,laker,core\n"
			      "GenuineIntel-6-(97|9A),v1,hybrid,core\n";

static const char cache_json[] =
	"[\n"
	"  {\"EventName\": \"L1D.REPLACEMENT\", \"EventCode\": \"0x51\", \"UMask\": \"0x1\",\n"
	"   \"SampleAfterValue\": \"2000003\", \"Counter\": \"0,1,2,3\", \"Errata\": \"SKL1, SKL2\",\n"
	"   \"BriefDescription\": \"Lines replaced\", \"PublicDescription\": \"More of it\", \"PEBS\": \"1\"},\n"
	"  {\"EventName\": \"L1D_PEND.CYCLES\", \"EventCode\": \"0x48\", \"UMask\": \"0x01\", \"CounterMask\": \"1\",\n"
	"   \"Invert\": \"1\", \"EdgeDetect\": \"1\", \"AnyThread\": \"1\", \"BriefDescription\": \"Same\",\n"
	"   \"PublicDescription\": \"Same\", \"Deprecated\": \"1\"},\n"
	"  {\"EventName\": \"OCR.ALL\", \"EventCode\": \"0xB7, 0xBB\", \"UMask\": \"0x1\", \"MSRIndex\": \"0x1a6,0x1a7\",\n"
	"   \"MSRValue\": \"0x10001\"},\n"
	"  {\"EventName\": \"LOADS_GT_8\", \"EventCode\": \"0xcd\", \"UMask\": \"0x1\", \"MSRIndex\": \"0x3F6\", \"MSRValue\": \"0x8\",\n"
	"   \"PEBS\": \"2\"},\n"
	"  {\"EventName\": \"FRONTEND.DSB\", \"EventCode\": \"0xc6\", \"MSRIndex\": \"0x3F7\", \"MSRValue\": \"0x11\"},\n"
	"  {\"MetricName\": \"ipc\", \"MetricExpr\": \"a / b\"},\n"
	"  {\"EventName\": \"AND_METRIC\", \"EventCode\": \"0x1\", \"MetricName\": \"x\", \"MetricExpr\": \"AND_METRIC * 4\"},\n"
	"  {\"EventName\": \"INST_RETIRED.ANY\", \"Counter\": \"Fixed counter 0\", \"UMask\": \"0x1\", \"SampleAfterValue\": \"2000003\"},\n"
	"  {\"EventName\": \"CPU_CLK_UNHALTED.REF_TSC\", \"Counter\": \"Fixed counter 2\", \"UMask\": \"0x3\"},\n"
	"  {\"EventName\": \"NUMBERS\", \"EventCode\": 60, \"UMask\": 2, \"SampleAfterValue\": 1000, \"RetirementLatencyMean\": 11.5},\n"
	"  {\"EventName\": \"L1D.REPLACEMENT\", \"EventCode\": \"0x99\"}\n"
	"]\n";

static const char uncore_json[] =
	"[\n"
	"  {\"EventName\": \"UNC_M_CAS_COUNT.RD\", \"EventCode\": \"0x4\", \"UMask\": \"0x3\", \"Unit\": \"iMC\", \"PerPkg\": \"1\",\n"
	"   \"ScaleUnit\": \"6.103515625e-5MiB\"},\n"
	"  {\"EventName\": \"UNC_C_TICKS\", \"Unit\": \"CBO\"},\n"
	"  {\"EventName\": \"UNC_M_FILTERED\", \"EventCode\": \"0x80\", \"ExtSel\": \"1\", \"Filter\": \"occ_sel=1\", \"Unit\": \"iMC\",\n"
	"   \"PortMask\": \"0x1\", \"FCMask\": \"0x07\", \"ScaleUnit\": \"64Bytes\"},\n"
	"  {\"EventName\": \"CHIP\", \"EventCode\": \"1\", \"Unit\": \"sys_ddr\", \"Compat\": \"v8\"}\n"
	"]\n";

static void linux_tree(const char *root)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/mapfile.csv", root);
	fake_file(path, mapfile);
	snprintf(path, sizeof(path), "%s/laker/cache.json", root);
	fake_file(path, cache_json);
	snprintf(path, sizeof(path), "%s/laker/uncore-memory.json", root);
	fake_file(path, uncore_json);
	snprintf(path, sizeof(path), "%s/laker/metricgroups.json", root);
	fake_file(path, "{\"Backend\": \"Grouping\"}");
	snprintf(path, sizeof(path), "%s/laker/readme.txt", root);
	fake_file(path, "no JSON\n");
	snprintf(path, sizeof(path), "%s/hybrid/core.json", root);
	fake_file(path,
		"[{\"EventName\": \"BOTH\", \"EventCode\": \"0x1\", \"Unit\": \"cpu_core\"},"
		" {\"EventName\": \"BOTH\", \"EventCode\": \"0x2\", \"Unit\": \"cpu_atom\"}]");
}

struct opened {
	struct catalog catalog;
	struct said said;
	struct err err;
	int result;
};

static struct opened *open_tables(const char *folder, const char *cpuid, const char *sysfs)
{
	static struct opened o;
	struct catalog_places places = {.folder = folder, .cpuid = cpuid, .sysfs = sysfs};

#ifndef PACE_HAS_CJSON
	SKIP("built without cJSON");
#endif
	memset(&o, 0, sizeof(o));
	said_init(&o.said, LOG_NOTE);
	o.result = catalog_open(&o.catalog, &places, &o.said.log, &o.err);
	return &o;
}

static void close_tables(struct opened *o)
{
	if (!o->result)
		catalog_close(&o->catalog);
	said_fini(&o->said);
}

static void check_terms(const struct catalog *c, const char *name, const char *pmu,
	const char *terms)
{
	const struct catalog_event *e = catalog_find(c, pmu, name);

	if (!e)
		test_failed(__FILE__, __LINE__, "there is no event '%s'", name);
	CHECK_STR(e->terms, terms);
}

TEST(catalog_turns_fields_into_terms)
{
	struct opened *o;
	const struct catalog *c;

	linux_tree("tables");
	o = open_tables(test_path("tables"), "GenuineIntel-6-55-4", NULL);
	c = &o->catalog;
	CHECK_EQ(o->result, 0);
	CHECK_STR(str_text(&o->said.text), "");
	CHECK_STR(c->folder, test_path("tables"));
	CHECK_STR(c->cpuid, "GenuineIntel-6-55-4");
	CHECK_EQ(c->events.n, 12);
	CHECK_EQ(c->n_chips, 1);
	CHECK_EQ(c->n_absent, 0);
	check_terms(c, "l1d.replacement", "cpu", "event=0x51,umask=0x1,period=2000003");
	check_terms(c, "l1d_pend.cycles", "cpu", "event=0x48,umask=0x1,cmask=1,inv=1,edge=1,any=1");
	check_terms(c, "ocr.all", "cpu", "event=0xb7,umask=0x1,offcore_rsp=0x10001");
	check_terms(c, "loads_gt_8", "cpu", "event=0xcd,umask=0x1,ldlat=0x8");
	check_terms(c, "frontend.dsb", "cpu", "event=0xc6,frontend=0x11");
	check_terms(c, "and_metric", "cpu", "event=0x1");
	check_terms(c, "inst_retired.any", "cpu", "event=0xc0,period=2000003");
	check_terms(c, "cpu_clk_unhalted.ref_tsc", "cpu", "event=0x0,umask=0x3");
	check_terms(c, "numbers", "cpu", "event=0x3c,umask=0x2,period=1000");
	check_terms(c, "unc_m_cas_count.rd", "uncore_imc", "event=0x4,umask=0x3");
	check_terms(c, "unc_c_ticks", "uncore_cbox", "event=0x0");
	check_terms(c, "unc_m_filtered", "uncore_imc",
		"event=0x180,ch_mask=0x1,fc_mask=0x7,occ_sel=1");
	close_tables(o);
}

TEST(catalog_tells_what_the_tables_tell)
{
	const struct catalog_event *e;
	struct opened *o;

	linux_tree("tables");
	o = open_tables(test_path("tables"), "GenuineIntel-6-55-4", NULL);
	e = catalog_find(&o->catalog, NULL, "L1D.Replacement");
	CHECK(e);
	CHECK_STR(e->name, "l1d.replacement");
	CHECK_STR(e->pmu, "cpu");
	CHECK_STR(e->brief, "Lines replaced");
	CHECK_STR(e->description, "More of it");
	CHECK_STR(e->topic, "cache");
	CHECK_STR(e->errata, "SKL1, SKL2");
	CHECK_EQ(e->precise, 1);
	CHECK(e->scale == 1 && !e->unit && !e->is_per_pkg && !e->is_deprecated);
	CHECK(e->retire_latency == 0);
	CHECK(catalog_find(&o->catalog, NULL, "numbers")->retire_latency == 11.5);
	e = catalog_find(&o->catalog, NULL, "l1d_pend.cycles");
	CHECK(e->is_deprecated && !e->description);
	CHECK_EQ(catalog_find(&o->catalog, NULL, "loads_gt_8")->precise, 2);
	e = catalog_find(&o->catalog, NULL, "unc_m_cas_count.rd");
	CHECK(e->scale == 6.103515625e-5 && e->is_per_pkg);
	CHECK_STR(e->unit, "MiB");
	CHECK_STR(e->topic, "uncore memory");
	e = catalog_find(&o->catalog, NULL, "unc_m_filtered");
	CHECK(e->scale == 64);
	CHECK_STR(e->unit, "Bytes");
	CHECK(!catalog_find(&o->catalog, NULL, "ipc"));
	CHECK(!catalog_find(&o->catalog, "uncore_imc", "l1d.replacement"));
	CHECK(catalog_find(&o->catalog, "uncore_imc_3", "unc_m_cas_count.rd"));
	close_tables(o);
}

TEST(catalog_is_sorted_by_name)
{
	struct opened *o;

	linux_tree("tables");
	o = open_tables(test_path("tables"), "GenuineIntel-6-55-4", NULL);
	for (size_t i = 1; i < o->catalog.events.n; i++)
		CHECK(strcmp(o->catalog.events.at[i - 1].name, o->catalog.events.at[i].name) < 0);
	close_tables(o);
}

TEST(catalog_finds_the_tables_below_a_kernel_tree)
{
	static const char *const below[] = {"a", "b/arch/x86", "c/pmu-events/arch/x86",
		"d/tools/perf/pmu-events/arch/x86"};

	for (size_t i = 0; i < ARRAY_SIZE(below); i++) {
		char root[2] = {below[i][0]};
		struct opened *o;

		linux_tree(below[i]);
		fake_file("b/arch/arm64/mapfile.csv", "0x00000000410fd0c0,v1,n1,core\n");
		o = open_tables(test_path(root), "GenuineIntel-6-55-4", NULL);
		CHECK_EQ(o->result, 0);
		CHECK_EQ(o->catalog.events.n, 12);
		close_tables(o);
	}
}

TEST(catalog_has_only_events_of_pmus_that_are_there)
{
	struct opened *o;

	linux_tree("tables");
	o = open_tables(test_path("tables"), "GenuineIntel-6-55-4", fake_sysfs());
	CHECK_EQ(o->result, 0);
	/* cpu and uncore_imc_0 are there, no cbox. */
	CHECK(catalog_find(&o->catalog, "cpu", "l1d.replacement"));
	CHECK(catalog_find(&o->catalog, "uncore_imc_0", "unc_m_cas_count.rd"));
	CHECK(!catalog_find(&o->catalog, NULL, "unc_c_ticks"));
	CHECK_EQ(o->catalog.n_absent, 1);
	close_tables(o);

	o = open_tables(test_path("tables"), "GenuineIntel-6-55-4", test_path("nowhere"));
	CHECK_EQ(o->result, 0);
	CHECK_EQ(o->catalog.events.n, 0);
	CHECK_EQ(o->catalog.n_absent, 13);
	close_tables(o);
}

/* Every term of every event is one that the kernel's formats of that CPU have. */
TEST(catalog_speaks_in_terms_of_sysfs)
{
	struct opened *o;
	struct pmu pmu;
	struct err err;

	linux_tree("tables");
	fake_file("sys/bus/event_source/devices/cpu/format/any", "config:21\n");
	o = open_tables(test_path("tables"), "GenuineIntel-6-55-4", fake_sysfs());
	CHECK_EQ(pmu_open(&pmu, test_path("sys"), "cpu", &err), 0);
	vec_each(e, &o->catalog.events) {
		char text[256], *rest = text, *term;

		if (strcmp(e->pmu, "cpu") != 0)
			continue;
		snprintf(text, sizeof(text), "%s", e->terms);
		while ((term = strsep(&rest, ",")) != NULL) {
			struct event_attr attr = {0};
			char *value = strchr(term, '=');

			CHECK(value);
			*value++ = '\0';
			if (strcmp(term, "period") != 0 &&
				pmu_set_term(&pmu, term, strtoull(value, NULL, 0), &attr, &err))
				test_failed(__FILE__, __LINE__, "%s: %s", e->name, err.msg);
		}
	}
	pmu_close(&pmu);
	close_tables(o);
}

TEST(catalog_keeps_events_of_both_kinds_of_core_apart)
{
	struct opened *o;

	linux_tree("tables");
	fake_file("sys/bus/event_source/devices/cpu_core/type", "4\n");
	fake_file("sys/bus/event_source/devices/cpu_core/cpus", "0-3\n");
	fake_file("sys/bus/event_source/devices/cpu_atom/type", "10\n");
	fake_file("sys/bus/event_source/devices/cpu_atom/cpus", "4-7\n");
	o = open_tables(test_path("tables"), "GenuineIntel-6-9A-3", test_path("sys"));
	CHECK_EQ(o->catalog.events.n, 2);
	check_terms(&o->catalog, "both", "cpu_core", "event=0x1");
	check_terms(&o->catalog, "both", "cpu_atom", "event=0x2");
	close_tables(o);
}

static void perfmon_tree(void)
{
	fake_file("pm/mapfile.csv",
		"Family-model,Version,Filename,EventType,Core Type,Native Model ID,Core Role Name\r\n"
		"GenuineIntel-6-2E,V4,/NHM/events/NHM_core.json,core,,,\r\n"
		"GenuineIntel-6-97,V1,/ADL/events/adl_atom.json,hybridcore,0x20,0x1,Atom\r\n"
		"GenuineIntel-6-97,V1,/ADL/events/adl_core.json,hybridcore,0x40,0x1,Core\r\n"
		"GenuineIntel-6-97,V1,/ADL/events/adl_uncore.json,uncore,,,\r\n"
		"GenuineIntel-6-97,V1,/ADL/metrics/adl_metrics.json,metrics,0x40,0x1,Core\r\n");
	fake_file("pm/ADL/events/adl_atom.json",
		"{\"Header\": {\"Copyright\": \"none\", \"Info\": \"small\"}, \"Events\": [\n"
		" {\"EventCode\": \"0xb7\", \"UMask\": \"0x01,0x02\", \"EventName\": \"OCR.ATOM\", \"BriefDescription\": \"b\",\n"
		"  \"PublicDescription\": \"p\", \"Counter\": \"0,1\", \"PEBScounters\": \"0,1\", \"SampleAfterValue\": \"1000\",\n"
		"  \"MSRIndex\": [\"0x1a6\", \"0x1a7\"], \"MSRValue\": [\"0x3\"], \"CollectPEBSRecord\": \"2\", \"TakenAlone\": \"0\",\n"
		"  \"CounterMask\": \"0\", \"Invert\": \"0\", \"EdgeDetect\": \"0\", \"Precise\": \"0\", \"PEBS\": \"0\",\n"
		"  \"Errata\": \"null\", \"Offcore\": \"1\", \"Deprecated\": \"0\"}]}");
	fake_file("pm/ADL/events/adl_core.json",
		"{\"Header\": {}, \"Events\": [{\"EventCode\": \"0x3c\", \"UMask\": \"0x00\", \"EventName\": \"CYCLES.P\","
		" \"MSRIndex\": \"0x00\", \"MSRValue\": \"0x00\", \"Errata\": null, \"Deprecated\": true}]}");
	fake_file("pm/ADL/events/adl_uncore.json",
		"{\"Events\": [{\"Unit\": \"iMC\", \"EventCode\": \"0x22\", \"UMask\": \"0x80\", \"UMaskExt\": \"0x1bc\","
		" \"EventName\": \"UNC_M_X\", \"Filter\": \"CHAFilter1\", \"FILTER_VALUE\": \"0x40\"}]}");
}

TEST(catalog_reads_the_layout_of_perfmon)
{
	const struct catalog_event *e;
	struct opened *o;

	perfmon_tree();
	o = open_tables(test_path("pm"), "GenuineIntel-6-97-2", NULL);
	CHECK_EQ(o->result, 0);
	CHECK_STR(str_text(&o->said.text), "");
	CHECK_EQ(o->catalog.events.n, 3);
	check_terms(&o->catalog, "ocr.atom", "cpu_atom",
		"event=0xb7,umask=0x1,offcore_rsp=0x3,period=1000");
	check_terms(&o->catalog, "cycles.p", "cpu_core", "event=0x3c");
	check_terms(&o->catalog, "unc_m_x", "uncore_imc", "event=0x22,umask=0x1bc80,config1=0x40");
	e = catalog_find(&o->catalog, NULL, "ocr.atom");
	CHECK(!e->errata && !e->precise && !e->is_deprecated);
	CHECK(catalog_find(&o->catalog, NULL, "cycles.p")->is_deprecated);
	close_tables(o);
}

TEST(catalog_reads_a_folder_of_files_without_a_map)
{
	struct opened *o;

	fake_file("own/mine.json", "[{\"EventName\": \"MINE\", \"EventCode\": \"0x1\"}]");
	o = open_tables(test_path("own"), "SomethingElse-1-2-3", NULL);
	CHECK_EQ(o->result, 0);
	check_terms(&o->catalog, "mine", NULL, "event=0x1");
	CHECK_STR(o->catalog.events.at[0].topic, "mine");
	close_tables(o);
}

TEST(catalog_completes_events_of_the_architecture)
{
	const struct catalog_event *e;
	struct opened *o;

	fake_file("arm/mapfile.csv", "0x00000000410fd0c0,v1,arm/n1,core\n");
	fake_file("arm/common.json",
		"[{\"EventName\": \"BUS_ACCESS\", \"EventCode\": \"0x19\", \"BriefDescription\": \"general\","
		"  \"PublicDescription\": \"of all\"}]");
	fake_file("arm/arm/n1/bus.json",
		"[{\"ArchStdEvent\": \"BUS_ACCESS\", \"PublicDescription\": \"of this one\"},"
		" {\"ArchStdEvent\": \"NO_SUCH\"}]");
	fake_file("sys/bus/event_source/devices/armv8_pmuv3_0/type", "8\n");
	fake_file("sys/bus/event_source/devices/armv8_pmuv3_0/cpus", "0-3\n");
	fake_file("sys/devices/system/cpu/cpu0/regs/identification/midr_el1",
		"0x00000000413fd0c1\n");
	unsetenv("PACE_CPUID");
	unsetenv("PERF_CPUID");
	o = open_tables(test_path("arm"), NULL, test_path("sys"));
	CHECK_EQ(o->result, 0);
	check_terms(&o->catalog, "bus_access", "armv8_pmuv3_0", "event=0x19");
	e = catalog_find(&o->catalog, NULL, "bus_access");
	CHECK_STR(e->brief, "general");
	CHECK_STR(e->description, "of this one");
	CHECK_HAS(str_text(&o->said.text), "bus.json': left out 1 of its events ('NO_SUCH')");
	close_tables(o);
}

TEST(catalog_reads_the_tables_of_each_kind_of_core)
{
	struct opened *o;

	fake_file("arm/mapfile.csv",
		"0x00000000410fd0d0,v1,big,core\n0x00000000410fd050,v1,little,core\n");
	fake_file("arm/big/a.json", "[{\"EventName\": \"BOTH\", \"EventCode\": \"0x1\"}]");
	fake_file("arm/little/a.json", "[{\"EventName\": \"BOTH\", \"EventCode\": \"0x2\"}]");
	fake_file("sys/bus/event_source/devices/armv8_cortex_a55/type", "8\n");
	fake_file("sys/bus/event_source/devices/armv8_cortex_a55/cpus", "0-3\n");
	fake_file("sys/bus/event_source/devices/armv8_cortex_a77/type", "9\n");
	fake_file("sys/bus/event_source/devices/armv8_cortex_a77/cpus", "4-7\n");
	fake_file("sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "0x412fd050\n");
	fake_file("sys/devices/system/cpu/cpu4/regs/identification/midr_el1", "0x411fd0d0\n");
	unsetenv("PACE_CPUID");
	unsetenv("PERF_CPUID");
	o = open_tables(test_path("arm"), NULL, test_path("sys"));
	CHECK_EQ(o->result, 0);
	check_terms(&o->catalog, "both", "armv8_cortex_a55", "event=0x2");
	check_terms(&o->catalog, "both", "armv8_cortex_a77", "event=0x1");
	close_tables(o);
}

TEST(catalog_pmu_names_match_those_of_sysfs)
{
	CHECK(catalog_pmu_matches("cpu", "cpu"));
	CHECK(!catalog_pmu_matches("cpu", "cpu_core"));
	CHECK(!catalog_pmu_matches("cpu", "cpum_cf"));
	CHECK(catalog_pmu_matches("uncore_imc", "uncore_imc"));
	CHECK(catalog_pmu_matches("uncore_imc", "uncore_imc_12"));
	CHECK(catalog_pmu_matches("imx8_ddr", "imx8_ddr0"));
	CHECK(catalog_pmu_matches("ali_drw", "ali_drw_21000a"));
	CHECK(!catalog_pmu_matches("uncore_imc", "uncore_imc_free_running_0"));
	CHECK(catalog_pmu_matches("uncore_imc_free_running", "uncore_imc_free_running_0"));
	CHECK(!catalog_pmu_matches("uncore_imc", "uncore_im"));
	CHECK(!catalog_pmu_matches("uncore_cha", "uncore_cha_a"));
	CHECK(catalog_pmu_matches("hisi_sccl,ddrc", "hisi_sccl1_ddrc0"));
	CHECK(!catalog_pmu_matches("hisi_sccl,ddrc", "hisi_sccl1_l3c0"));
}

TEST(catalog_without_tables_is_empty_and_no_error)
{
	struct opened *o;

	setenv("XDG_DATA_HOME", test_path("none"), 1);
	o = open_tables(NULL, "NoSuchCpu-1-2-3", NULL);
	CHECK_EQ(o->result, 0);
	CHECK_EQ(o->catalog.events.n, 0);
	CHECK(!o->catalog.folder);
	CHECK_STR(str_text(&o->said.text), "");
	CHECK(!catalog_find(&o->catalog, NULL, "x"));
	close_tables(o);
}

TEST(catalog_looks_into_the_users_data_directory)
{
	struct opened *o;

	linux_tree("data/pace/events");
	setenv("XDG_DATA_HOME", test_path("data"), 1);
	o = open_tables(NULL, "GenuineIntel-6-55-4", NULL);
	CHECK_EQ(o->catalog.events.n, 12);
	CHECK_HAS(o->catalog.folder, "/data/pace/events");
	close_tables(o);
}

TEST(catalog_says_what_is_wrong_with_a_folder)
{
	struct opened *o = open_tables(test_path("none"), "x", NULL);

	CHECK_EQ(o->result, ERR_NOENT);
	CHECK_HAS(o->err.msg, "opening the folder of event tables '");
	close_tables(o);

	fake_file("file", "text");
	o = open_tables(test_path("file"), "x", NULL);
	CHECK_EQ(o->result, ERR_NOENT);
	CHECK_HAS(o->err.msg, "is not a folder");
	close_tables(o);

	fake_file("empty/readme", "text");
	o = open_tables(test_path("empty"), "x", NULL);
	CHECK_EQ(o->result, ERR_NOENT);
	CHECK_HAS(o->err.msg, "holds no event tables");
	close_tables(o);

	linux_tree("tables");
	o = open_tables(test_path("tables"), "AuthenticAMD-25-61-2", NULL);
	CHECK_EQ(o->result, 0);
	CHECK_HAS(str_text(&o->said.text), "has no events for this CPU ('AuthenticAMD-25-61-2')");
	close_tables(o);
}

TEST(catalog_names_the_broken_file_and_keeps_the_others)
{
	struct opened *o;

	linux_tree("tables");
	fake_file("tables/laker/bad.json", "[\n {\"EventName\": \"X\" \"EventCode\": \"1\"}]");
	o = open_tables(test_path("tables"), "GenuineIntel-6-55-4", NULL);
	CHECK_EQ(o->result, 0);
	CHECK_EQ(o->catalog.events.n, 12);
	CHECK_HAS(str_text(&o->said.text),
		"bad.json': invalid JSON at byte 21 (line 2): '\"EventCode\": \"1\"}]'");
	close_tables(o);

	fake_file("only/bad.json", "{\"Events\": [");
	o = open_tables(test_path("only"), "x", NULL);
	CHECK_EQ(o->result, ERR_FORMAT);
	CHECK_HAS(o->err.msg, "only/bad.json' ends in the middle of its JSON, at byte 12");
	close_tables(o);

	fake_file("gone/mapfile.csv", "x-1,v1,not-there,core\n");
	o = open_tables(test_path("gone"), "x-1", NULL);
	CHECK_EQ(o->result, ERR_NOENT);
	CHECK_HAS(o->err.msg, "not-there', which its mapfile.csv names");
	close_tables(o);
}

TEST(catalog_leaves_out_events_whose_numbers_make_no_sense)
{
	struct opened *o;

	fake_file("own/mine.json",
		"[{\"EventName\": \"GOOD\", \"EventCode\": \"0x1\"},"
		" {\"EventName\": \"BAD_CODE\", \"EventCode\": \"zz\"},"
		" {\"EventName\": \"BAD_UMASK\", \"EventCode\": \"1\", \"UMask\": \"0x1g\"},"
		" {\"EventName\": \"BAD_MSR\", \"EventCode\": \"1\", \"MSRIndex\": \"0x77\", \"MSRValue\": \"1\"},"
		" {\"EventName\": \"BAD_FILTER\", \"EventCode\": \"1\", \"Filter\": \"a=1/;\"},"
		" {\"EventName\": \"TOO_WIDE\", \"EventCode\": \"0x11111111111111111\"},"
		" 7, \"text\", [], null, {}]");
	o = open_tables(test_path("own"), "x", NULL);
	CHECK_EQ(o->result, 0);
	CHECK_EQ(o->catalog.events.n, 1);
	CHECK_HAS(str_text(&o->said.text), "mine.json': left out 5 of its events ('TOO_WIDE')");
	close_tables(o);
}

TEST(catalog_survives_files_cut_anywhere)
{
	size_t n_broken = 0;

	for (size_t n = 0; n < sizeof(uncore_json); n++) {
		struct opened *o;
		FILE *f;

		mkdir(test_path("cut"), 0755);
		f = fopen(test_path("cut/uncore.json"), "w");
		fwrite(uncore_json, 1, n, f);
		fclose(f);
		o = open_tables(test_path("cut"), "x", NULL);
		if (o->result)
			CHECK_EQ(o->result, ERR_FORMAT);
		else
			CHECK_EQ(o->catalog.events.n, 3);
		n_broken += o->result != 0;
		close_tables(o);
	}
	/* All but the whole, with and without its last newline and its NUL. */
	CHECK_EQ(n_broken, sizeof(uncore_json) - 2);
}

TEST(catalog_survives_any_byte_changed)
{
	mkdir(test_path("bent"), 0755);
	for (size_t i = 0; i < sizeof(uncore_json) - 1; i++) {
		static const char bytes[] = {0, '"', '{', '[', '\\', '9', (char)0xff};
		char text[sizeof(uncore_json)];
		struct opened *o;

		memcpy(text, uncore_json, sizeof(text));
		text[i] = bytes[i % sizeof(bytes)];
		test_write(test_path("bent/uncore.json"), text, sizeof(text) - 1);
		o = open_tables(test_path("bent"), "x", NULL);
		CHECK(o->result == 0 || o->result == ERR_FORMAT);
		close_tables(o);
	}
}

TEST(catalog_bounds_what_a_file_may_hold)
{
	enum { N = 9 << 20 };
	char *text = malloc(N);
	struct opened *o;

	mkdir(test_path("big"), 0755);
	memset(text, '[', N);
	test_write(test_path("big/deep.json"), text, 100000);
	o = open_tables(test_path("big"), "x", NULL);
	CHECK_EQ(o->result, ERR_FORMAT);
	CHECK_HAS(o->err.msg, "deep.json': invalid JSON at byte ");
	close_tables(o);

	for (size_t i = 0; i < N; i += 2) {
		text[i] = i ? ',' : '[';
		text[i + 1] = '0';
	}
	test_write(test_path("big/deep.json"), text, N);
	o = open_tables(test_path("big"), "x", NULL);
	CHECK_EQ(o->result, ERR_LIMIT);
	CHECK_HAS(o->err.msg, "deep.json' has 4718592 values, more than 2097152");
	close_tables(o);
	free(text);
}

/* A real tree, if there is one: unpacked below /usr/src, or named. */
TEST(catalog_reads_the_tables_of_linux)
{
	static const struct {
		const char *cpuid, *name, *terms;
	} known[] = {
		{"GenuineIntel-6-5E-3", "l1d.replacement", "event=0x51,umask=0x1,period=2000003"},
		{"GenuineIntel-6-5E-3", "mem_trans_retired.load_latency_gt_8",
			"event=0xcd,umask=0x1,ldlat=0x8,period=50021"},
		{"AuthenticAMD-25-61-2", "ls_mab_alloc.load_store_allocations",
			"event=0x41,umask=0x3f"},
		{"0x00000000410fd0c0", "bus_access", "event=0x19"},
		{"0x004e1202", "pm_run_cyc", "event=0x200f4"},
	};
	const char *tree = getenv("PACE_LINUX_SOURCE");
	struct opened *o;

	if (!tree)
		SKIP("PACE_LINUX_SOURCE names no unpacked tree of Linux");
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		o = open_tables(tree, known[i].cpuid, NULL);
		CHECK_EQ(o->result, 0);
		CHECK_STR(str_text(&o->said.text), "");
		check_terms(&o->catalog, known[i].name, NULL, known[i].terms);
		close_tables(o);
	}
}
