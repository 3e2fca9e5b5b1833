#include "event/metrictable.h"

#include "fake_sysfs.h"
#include "said.h"
#include "test.h"

static const char cpu_json[] =
	"[\n"
	"  {\"EventName\": \"CYCLES.ALL\", \"EventCode\": \"0x3c\"},\n"
	"  {\"MetricName\": \"IPC\", \"MetricExpr\": \"INST / CYCLES.ALL\", \"MetricGroup\": \"Ret;Summary\",\n"
	"   \"BriefDescription\": \"Per cycle\", \"PublicDescription\": \"Instructions per cycle\"},\n"
	"  {\"MetricName\": \"tma_bad\", \"MetricExpr\": \"1 - IPC\", \"ScaleUnit\": \"100%\", \"MetricGroup\": \"TopdownL1;Default\",\n"
	"   \"MetricThreshold\": \"tma_bad > 0.1\", \"MetricgroupNoGroup\": \"TopdownL1\", \"MetricConstraint\": \"NO_GROUP_EVENTS\"},\n"
	"  {\"MetricName\": \"ipc\", \"MetricExpr\": \"3\"},\n"
	"  {\"EventName\": \"BOTH\", \"EventCode\": \"0x1\", \"MetricName\": \"twice\", \"MetricExpr\": \"BOTH * 2\"},\n"
	"  {\"ArchStdEvent\": \"stalled\", \"ScaleUnit\": \"1percent of slots\"},\n"
	"  {\"MetricName\": \"of_atoms\", \"MetricExpr\": \"1\", \"Unit\": \"cpu_atom\"},\n"
	"  {\"MetricName\": \"without_formula\"}\n"
	"]\n";

static const char standard_json[] =
	"[{\"MetricName\": \"stalled\", \"MetricExpr\": \"100 * a / #slots\", \"BriefDescription\": \"Stalls\"}]";

static struct catalog *open_tables(const char *sysfs, bool has_metrics)
{
	static struct catalog catalog;
	static struct said said;
	const struct catalog_places places = {.folder = test_path("tables"),
		.cpuid = "GenuineIntel-6-55-4",
		.sysfs = sysfs,
		.has_metrics = has_metrics};
	struct err err;

#ifndef PACE_HAS_CJSON
	SKIP("built without cJSON");
#endif
	fake_file("tables/mapfile.csv", "GenuineIntel-6-55-4,v1,laker,core\n");
	fake_file("tables/standard.json", standard_json);
	fake_file("tables/laker/cpu.json", cpu_json);
	said_init(&said, LOG_NOTE);
	if (catalog_open(&catalog, &places, &said.log, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	CHECK_STR(str_text(&said.text), "");
	said_fini(&said);
	return &catalog;
}

TEST(metrictable_has_the_rows_of_the_tables_of_this_cpu)
{
	struct catalog *c = open_tables(NULL, true);
	struct metrictable t;
	const struct metric_row *row;

	metrictable_init(&t, c);
	CHECK_EQ(c->metrics.n, 5);
	CHECK_EQ(c->events.n, 2);
	row = metrictable_find(&t, NULL, "IPC");
	CHECK_STR(row->expr, "INST / CYCLES.ALL");
	CHECK_STR(row->brief, "Per cycle");
	CHECK_STR(row->description, "Instructions per cycle");
	CHECK_STR(row->topic, "cpu");
	CHECK_STR(row->pmu, "cpu");
	CHECK(!row->unit && row->scale == 1 && row->apart == METRIC_TOGETHER);
	row = metrictable_find(&t, "cpu", "TMA_BAD");
	CHECK(row->scale == 100);
	CHECK_STR(row->unit, "%");
	CHECK_STR(row->threshold, "tma_bad > 0.1");
	CHECK_STR(row->loose, "TopdownL1");
	CHECK_EQ(row->apart, METRIC_APART_ALWAYS);
	CHECK_STR(metrictable_find(&t, NULL, "twice")->expr, "BOTH * 2");
	row = metrictable_find(&t, NULL, "stalled");
	CHECK_STR(row->expr, "100 * a / #slots");
	CHECK_STR(row->unit, "percent of slots");
	CHECK_STR(metrictable_find(&t, NULL, "of_atoms")->pmu, "cpu_atom");
	CHECK(!metrictable_find(&t, NULL, "without_formula"));
	CHECK(!metrictable_find(&t, NULL, "CYCLES.ALL"));
	metrictable_fini(&t);
	catalog_close(c);
}

TEST(metrictable_leaves_out_metrics_of_pmus_that_are_not_here)
{
	struct catalog *c;

	fake_file("sys/bus/event_source/devices/cpu/type", "4\n");
	c = open_tables(test_path("sys"), true);
	CHECK_EQ(c->metrics.n, 4);
	CHECK_EQ(c->n_absent, 1);
	catalog_close(c);
}

TEST(metrictable_is_not_read_for_events_alone)
{
	struct catalog *c = open_tables(NULL, false);

	CHECK_EQ(c->metrics.n, 0);
	CHECK_EQ(c->events.n, 2);
	catalog_close(c);
}

TEST(metrictable_has_our_own_rows_behind_those_of_the_vendor)
{
	struct metrictable t;
	struct intern groups = {0};
	bool has_default = false;

	metrictable_init(&t, NULL);
	CHECK_STR(metrictable_find(&t, NULL, "insn_per_cycle")->expr, "instructions / cycles");
	CHECK(metrictable_find(&t, "cpu", "INSN_PER_CYCLE") != NULL);
	CHECK(!metrictable_find(&t, NULL, "nothing"));
	metrictable_groups(&t, &groups);
	vec_each(group, &groups.strings)
		has_default |= !strcmp(*group, "Default");
	CHECK(has_default);
	intern_fini(&groups);
	metrictable_fini(&t);
}

TEST(metrictable_finds_groups_in_lists)
{
	CHECK(metric_list_has("TopdownL1;Default", "default"));
	CHECK(metric_list_has("TopdownL1;Default", "TopdownL1"));
	CHECK(!metric_list_has("TopdownL1;Default", "Topdown"));
	CHECK(!metric_list_has("TopdownL1;Default", "L1"));
	CHECK(!metric_list_has(NULL, "L1"));
	CHECK(!metric_list_has("", "L1"));
}
