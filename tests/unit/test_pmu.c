#include "event/pmu.h"

#include "fake_sysfs.h"
#include "test.h"

static struct pmu pmu_of(const char *root, const char *name)
{
	struct pmu pmu;
	struct err err = {0};

	if (pmu_open(&pmu, root, name, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	return pmu;
}

/* "config config1 config2 config3 config4" after one term. */
static void check_term(const struct pmu *pmu, const char *term, u64 value, const char *expected)
{
	struct event_attr attr = {0};
	struct err err = {0};
	char text[128];

	if (pmu_set_term(pmu, term, value, &attr, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	snprintf(text, sizeof(text), "%llx %llx %llx %llx %llx", (unsigned long long)attr.config,
		(unsigned long long)attr.config1, (unsigned long long)attr.config2,
		(unsigned long long)attr.config3, (unsigned long long)attr.config4);
	CHECK_STR(text, expected);
	attr.config = attr.config1 = attr.config2 = attr.config3 = attr.config4 = 0;
	for (size_t i = 0; i < sizeof(attr); i++)
		CHECK_EQ(((u8 *)&attr)[i], 0);
}

static void check_term_refused(const struct pmu *pmu, const char *term, u64 value, int code,
	const char *message)
{
	struct event_attr attr = {0};
	struct err err = {0};

	CHECK_EQ(pmu_set_term(pmu, term, value, &attr, &err), code);
	CHECK_STR(err.msg, message);
}

TEST(pmu_open_reads_type_and_cpus)
{
	const char *root = fake_sysfs();
	struct pmu pmu = pmu_of(root, "cpu");

	CHECK_STR(pmu.name, "cpu");
	CHECK_EQ(pmu.type, 4);
	CHECK_EQ(pmu.cpus.n, 0);
	CHECK_HAS(pmu.dir, "/sys/bus/event_source/devices/cpu");
	pmu_close(&pmu);

	pmu = pmu_of(root, "cpu_atom");
	CHECK_EQ(pmu.type, 10);
	CHECK_EQ(pmu.cpus.n, 4);
	CHECK_EQ(pmu.cpus.at[0], 4);
	pmu_close(&pmu);

	pmu = pmu_of(root, "uncore_imc_0");
	CHECK_EQ(pmu.type, 14);
	CHECK_EQ(pmu.cpus.n, 2);
	CHECK_EQ(pmu.cpus.at[1], 2);
	pmu_close(&pmu);

	/* An empty cpumask is no error: the CPUs are offline. */
	pmu = pmu_of(root, "split");
	CHECK_EQ(pmu.type, 20);
	CHECK_EQ(pmu.cpus.n, 0);
	pmu_close(&pmu);
}

TEST(pmu_cpumask_may_name_one_cpu)
{
	struct pmu pmu;

	fake_file("sys/bus/event_source/devices/power/type", "9\n");
	fake_file("sys/bus/event_source/devices/power/cpumask", "0\n");
	pmu = pmu_of(test_path("sys"), "power");
	CHECK_EQ(pmu.cpus.n, 1);
	CHECK_EQ(pmu.cpus.at[0], 0);
	pmu_close(&pmu);
}

TEST(pmu_type_may_be_any_32_bits)
{
	struct pmu pmu;

	fake_file("sys/bus/event_source/devices/tool/type", "4294967294\n");
	pmu = pmu_of(test_path("sys"), "tool");
	CHECK_EQ(pmu.type, 4294967294u);
	pmu_close(&pmu);
}

static void check_no_pmu(const char *root, const char *name, int code, const char *message)
{
	struct err err = {0};
	struct pmu pmu;

	CHECK_EQ(pmu_open(&pmu, root, name, &err), code);
	CHECK_STR(err.msg, message);
}

TEST(pmu_that_does_not_exist_is_named_with_the_nearest)
{
	const char *root = fake_sysfs();

	check_no_pmu(root, "cpu_atm", ERR_NOENT,
		"there is no PMU 'cpu_atm'; did you mean 'cpu_atom'?");
	check_no_pmu(root, "uncore_imc", ERR_NOENT,
		"there is no PMU 'uncore_imc'; did you mean 'uncore_imc_0'?");
	check_no_pmu(root, "frobnicator", ERR_NOENT,
		"there is no PMU 'frobnicator' (this machine has bad_mask bent cpu cpu_atom "
		"no_number no_type split "
		"uncore_imc_0)");
	check_no_pmu(root, "../devices/cpu", ERR_INVAL,
		"'../devices/cpu' is not the name of a PMU");
	check_no_pmu(test_path("nowhere"), "cpu", ERR_NOENT,
		"there is no PMU 'cpu' (this machine has none)");
	check_no_pmu(root, "no_typ", ERR_NOENT,
		"there is no PMU 'no_typ'; did you mean 'no_type'?");
}

TEST(pmu_with_a_cpumask_that_makes_no_sense_is_an_error)
{
	const char *root = fake_sysfs();
	struct err err = {0};
	struct pmu pmu;

	CHECK_EQ(pmu_open(&pmu, root, "bad_mask", &err), ERR_INVAL);
	CHECK_HAS(err.msg, "devices/bad_mask/cpumask': CPU list '0-x': expected numbers");
}

TEST(pmu_terms_go_to_the_bits_of_their_format)
{
	struct pmu pmu = pmu_of(fake_sysfs(), "cpu");

	check_term(&pmu, "event", 0x3c, "3c 0 0 0 0");
	check_term(&pmu, "event", 0xff, "ff 0 0 0 0");
	check_term(&pmu, "umask", 0xff, "ff00 0 0 0 0");
	check_term(&pmu, "edge", 1, "40000 0 0 0 0");
	check_term(&pmu, "cmask", 0xff, "ff000000 0 0 0 0");
	check_term(&pmu, "in_tx", 1, "100000000 0 0 0 0");
	check_term(&pmu, "ldlat", 0xffff, "0 ffff 0 0 0");
	check_term(&pmu, "offcore_rsp", ~0ULL, "0 ffffffffffffffff 0 0 0");
	check_term(&pmu, "frontend", 0xffffff, "0 0 ffffff 0 0");
	check_term(&pmu, "event", 0, "0 0 0 0 0");
	pmu_close(&pmu);
}

TEST(pmu_terms_may_be_spread_over_several_ranges)
{
	struct pmu pmu = pmu_of(fake_sysfs(), "split");

	check_term(&pmu, "wide", 0xabc, "a000000bc 0 0 0 0");
	check_term(&pmu, "wide", 0xfff, "f000000ff 0 0 0 0");
	/* The lowest bit of the value goes to the range that is written first. */
	check_term(&pmu, "three", 1, "0 1000000000000000 0 0 0");
	check_term(&pmu, "three", 2, "0 10 0 0 0");
	check_term(&pmu, "three", 8, "0 1 0 0 0");
	check_term(&pmu, "three", 0xf, "0 1000000000000031 0 0 0");
	check_term(&pmu, "top", 1, "8000000000000000 0 0 0 0");
	check_term(&pmu, "full", 0x123456789abcdef0, "123456789abcdef0 0 0 0 0");
	check_term(&pmu, "c3", 0xffffffff, "0 0 0 ffffffff 0");
	check_term(&pmu, "c4", 0xab, "0 0 0 0 ab00");
	pmu_close(&pmu);
}

TEST(pmu_terms_replace_only_their_own_bits)
{
	struct pmu pmu = pmu_of(fake_sysfs(), "split");
	struct event_attr attr = {.config = ~0ULL, .config1 = ~0ULL};
	struct err err;

	CHECK_EQ(pmu_set_term(&pmu, "wide", 0, &attr, &err), 0);
	CHECK_EQ(attr.config, ~0xf000000ffULL);
	CHECK_EQ(attr.config1, ~0ULL);
	CHECK_EQ(pmu_set_term(&pmu, "wide", 0x101, &attr, &err), 0);
	CHECK_EQ(attr.config, ~0xe000000feULL);
	pmu_close(&pmu);
}

TEST(pmu_terms_that_do_not_fit_are_refused_with_their_width)
{
	const char *root = fake_sysfs();
	struct pmu pmu = pmu_of(root, "cpu");

	check_term_refused(&pmu, "event", 0x100, ERR_INVAL,
		"term 'event' of PMU 'cpu': 0x100 does not fit into 8 bits (config:0-7)");
	check_term_refused(&pmu, "edge", 2, ERR_INVAL,
		"term 'edge' of PMU 'cpu': 0x2 does not fit into 1 bits (config:18)");
	check_term_refused(&pmu, "frontend", ~0ULL, ERR_INVAL,
		"term 'frontend' of PMU 'cpu': 0xffffffffffffffff does not fit into 24 bits "
		"(config2:0-23)");
	pmu_close(&pmu);
	pmu = pmu_of(root, "split");
	check_term_refused(&pmu, "wide", 0x1000, ERR_INVAL,
		"term 'wide' of PMU 'split': 0x1000 does not fit into 12 bits (config:0-7,32-35)");
	pmu_close(&pmu);
}

TEST(pmu_terms_that_do_not_exist_are_named_with_the_nearest)
{
	struct pmu pmu = pmu_of(fake_sysfs(), "cpu");

	check_term_refused(&pmu, "evnet", 1, ERR_NOENT,
		"PMU 'cpu' has no event or term 'evnet'; did you mean 'event'?");
	check_term_refused(&pmu, "mem-laods", 1, ERR_NOENT,
		"PMU 'cpu' has no event or term 'mem-laods'; did you mean 'mem-loads'?");
	check_term_refused(&pmu, "frobnicate", 1, ERR_NOENT,
		"PMU 'cpu' has no event or term 'frobnicate'");
	check_term_refused(&pmu, "../type", 1, ERR_NOENT,
		"PMU 'cpu' has no event or term '../type'");
	check_term_refused(&pmu, "..", 1, ERR_NOENT, "PMU 'cpu' has no event or term '..'");
	pmu_close(&pmu);
}

TEST(pmu_formats_that_make_no_sense_are_refused)
{
	static const struct {
		const char *term, *format;
	} cases[] = {
		{"unknown_word", "config9:0-7"},
		{"no_bits", "config:"},
		{"no_colon", "config"},
		{"backwards", "config:7-0"},
		{"too_high", "config:64"},
		{"half", "config:0-"},
		{"text", "config:0-7x"},
		{"trailing", "config:0-7,"},
	};
	struct pmu pmu = pmu_of(fake_sysfs(), "bent");

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (u64 value = 0; value < 2; value++) {
			char expected[128];

			snprintf(expected, sizeof(expected),
				"term '%s' of PMU 'bent': the format '%s' is not understood",
				cases[i].term, cases[i].format);
			check_term_refused(&pmu, cases[i].term, value, ERR_UNSUPPORTED, expected);
		}
	}
	pmu_close(&pmu);
}

TEST(pmu_aliases_are_the_files_of_events)
{
	struct pmu pmu = pmu_of(fake_sysfs(), "cpu");
	char buf[64] = "";

	CHECK(pmu_alias(&pmu, "cpu-cycles", buf, sizeof(buf)));
	CHECK_STR(buf, "event=0x3c");
	CHECK(pmu_alias(&pmu, "mem-loads", buf, sizeof(buf)));
	CHECK_STR(buf, "event=0xcd,umask=0x1,ldlat=3");
	CHECK(!pmu_alias(&pmu, "mem-loads.scale", buf, sizeof(buf)));
	CHECK(!pmu_alias(&pmu, "nothing", buf, sizeof(buf)));
	CHECK(!pmu_alias(&pmu, "../type", buf, sizeof(buf)));
	CHECK(!pmu_alias(&pmu, "..", buf, sizeof(buf)));
	CHECK(!pmu_alias(&pmu, "", buf, sizeof(buf)));
	CHECK(!pmu_alias(&pmu, "event", buf, sizeof(buf)));
	pmu_close(&pmu);
}

TEST(pmu_without_events_or_formats_has_none)
{
	struct pmu pmu;
	char buf[64];

	fake_file("sys/bus/event_source/devices/software/type", "1\n");
	pmu = pmu_of(test_path("sys"), "software");
	CHECK(!pmu_alias(&pmu, "cycles", buf, sizeof(buf)));
	check_term_refused(&pmu, "event", 1, ERR_NOENT,
		"PMU 'software' has no event or term 'event'");
	pmu_close(&pmu);
}

TEST(pmu_list_is_sorted)
{
	static const char *const expected[] = {"bad_mask", "bent", "cpu", "cpu_atom", "no_number",
		"no_type", "split", "uncore_imc_0"};
	struct intern names = {0};

	pmu_list(fake_sysfs(), &names);
	CHECK_EQ(names.strings.n, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		CHECK_STR(names.strings.at[i], expected[i]);
	intern_fini(&names);
	pmu_list(test_path("nowhere"), &names);
	CHECK_EQ(names.strings.n, 0);
	intern_fini(&names);
}

TEST(pmu_offers_the_names_of_all_events)
{
	static const struct {
		const char *typed, *best;
	} cases[] = {
		{"mem-laods", "mem-loads"}, {"cas_count_raed", "cas_count_read"},
		{"atom-onyl", "atom-only"},
		{"cas_count_read.unti", "nothing"}, /* .unit and .scale are no events */
	};
	const char *root = fake_sysfs();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nearest near = {.typed = cases[i].typed};
		struct intern names = {0};

		pmu_offer_all(root, &names, &near);
		if (i < 3)
			CHECK_STR(near.best ? near.best : "nothing", cases[i].best);
		else
			CHECK(!near.best || !strchr(near.best, '.'));
		intern_fini(&names);
	}
}

static void check_facts(const struct pmu *pmu, const char *alias, double scale, const char *unit,
	bool is_per_pkg, bool is_snapshot)
{
	struct pmu_facts facts;
	struct err err = {0};

	if (pmu_alias_facts(pmu, alias, &facts, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	CHECK(facts.scale == scale);
	CHECK_STR(facts.unit, unit);
	CHECK_EQ(facts.is_per_pkg, is_per_pkg);
	CHECK_EQ(facts.is_snapshot, is_snapshot);
}

#define POWER "sys/bus/event_source/devices/power/"

TEST(pmu_facts_are_the_files_beside_an_alias)
{
	struct pmu_facts facts = {.scale = 7};
	struct err err = {0};
	struct pmu pmu;

	fake_file(POWER "type", "9\n");
	fake_file(POWER "events/energy-pkg", "event=0x02\n");
	fake_file(POWER "events/energy-pkg.scale", "2.3283064365386962890625e-10\n");
	fake_file(POWER "events/energy-pkg.unit", "Joules\n");
	fake_file(POWER "events/energy-pkg.per-pkg", "1\n");
	fake_file(POWER "events/temp", "event=0x05\n");
	fake_file(POWER "events/temp.snapshot", "1\n");
	fake_file(POWER "events/temp.per-pkg", "0\n");
	fake_file(POWER "events/bent", "event=0x06\n");
	pmu = pmu_of(test_path("sys"), "power");
	check_facts(&pmu, "energy-pkg", 2.3283064365386962890625e-10, "Joules", true, false);
	check_facts(&pmu, "temp", 1, "", false, true);
	check_facts(&pmu, "bent", 1, "", false, false);
	static const char *const bad[] = {"x", "1.5x", "0", "-1", "nan"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char expected[128];

		fake_file(POWER "events/bent.scale", bad[i]);
		CHECK_EQ(pmu_alias_facts(&pmu, "bent", &facts, &err), ERR_FORMAT);
		snprintf(expected, sizeof(expected),
			"event 'bent' of PMU 'power' has the scale '%s', which is not a positive number",
			bad[i]);
		CHECK_STR(err.msg, expected);
		CHECK(facts.scale == 7);
	}
	pmu_close(&pmu);
}

static void check_names(const struct intern *names, const char *expected)
{
	struct str got = {0};

	vec_each(name, &names->strings)
		str_addf(&got, "%s%s", got.n ? " " : "", *name);
	CHECK_STR(str_text(&got), expected);
	str_fini(&got);
}

TEST(pmu_lists_aliases_and_fields)
{
	struct pmu pmu = pmu_of(fake_sysfs(), "cpu");
	struct intern names = {0};
	char line[64];

	pmu_list_aliases(&pmu, &names);
	check_names(&names, "asks cpu-cycles edge-cycles mem-loads shared-name too-wide");
	intern_fini(&names);
	pmu_list_formats(&pmu, &names);
	check_names(&names, "cmask edge event frontend in_tx inv ldlat offcore_rsp umask");
	intern_fini(&names);
	CHECK(pmu_format(&pmu, "frontend", line, sizeof(line)));
	CHECK_STR(line, "config2:0-23");
	CHECK(!pmu_format(&pmu, "../type", line, sizeof(line)));
	CHECK(!pmu_format(&pmu, "nothing", line, sizeof(line)));
	CHECK(pmu_line(&pmu, "type", line, sizeof(line)));
	CHECK_STR(line, "4");
	CHECK(!pmu_line(&pmu, "caps/none", line, sizeof(line)));
	pmu_close(&pmu);
}

TEST(pmu_is_called_by_its_name_or_a_part_of_it)
{
	static const struct {
		const char *name, *pattern;
		bool is_called;
	} cases[] = {
		{"uncore_imc_0", "uncore_imc_0", true},
		{"uncore_imc_0", "uncore_imc", true},
		{"uncore_imc_0", "imc", true},
		{"uncore_imc_0", "imc_0", true},
		{"uncore_imc_10", "uncore_imc", true},
		{"uncore_imc_10", "uncore_imc_1", false},
		{"uncore_imc_10", "imc_1", false},
		{"uncore_imc_0", "uncore", false},
		{"uncore_imc_0", "im", false},
		{"uncore_imc_free_running_0", "imc", false},
		{"uncore_imc_free_running_0", "imc_free_running", true},
		{"uncore_pcu", "pcu", true},
		{"uncore_cbox_3", "*cbox*", true},
		{"uncore_cbox_3", "cbox_[0-3]", true},
		{"uncore_cbox_4", "cbox_[0-3]", false},
		{"uncore_imc_0", "uncore_*", true},
		{"uncore_imc_0", "*_imc", true},
		{"uncore_imc_0", "*_imc_*", true},
		{"cpu_core", "cpu", false},
		{"cpu_atom", "cpu", false},
		{"cpu", "cpu_core", false},
		{"amd_iommu_0", "amd_iommu", true},
		{"hisi_sccl1_ddrc0", "hisi_sccl1_ddrc", true},
		{"hisi_sccl1_ddrc0", "hisi_sccl", false},
		{"smmuv3_pmcg_2b442", "smmuv3_pmcg", true},
		{"i915", "i", true}, /* perf's rule: the rest is a number */
		{"i915", "", false},
		{"msr", "msr", true},
		{"armv8_pmuv3_0", "armv8_pmuv3", true},
		{"123", "", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (pmu_is_called(cases[i].name, cases[i].pattern) != cases[i].is_called)
			test_failed(__FILE__, __LINE__, "'%s' is %scalled '%s'", cases[i].name,
				cases[i].is_called ? "not " : "", cases[i].pattern);
}

static void check_match(const char *root, const char *pattern, const char *expected)
{
	struct intern names = {0};

	pmu_match(root, pattern, &names);
	check_names(&names, expected);
	intern_fini(&names);
}

TEST(pmu_match_prefers_the_name_then_the_second_name_then_parts)
{
	const char *root;

	(void)fake_sysfs();
	fake_file("sys/bus/event_source/devices/uncore_imc_1/type", "15\n");
	fake_file("sys/bus/event_source/devices/uncore_imc_10/type", "16\n");
	fake_file("sys/bus/event_source/devices/uncore_imc_2/type", "17\n");
	fake_file("sys/bus/event_source/devices/type_7_0/type", "18\n");
	fake_file("sys/bus/event_source/devices/type_7_0/alias", "uncore_mem\n");
	fake_file("sys/bus/event_source/devices/uncore_mem_0/type", "19\n");
	root = test_path("sys");
	check_match(root, "uncore_imc_0", "uncore_imc_0");
	check_match(root, "uncore_imc_1", "uncore_imc_1");
	check_match(root, "imc", "uncore_imc_0 uncore_imc_1 uncore_imc_2 uncore_imc_10");
	check_match(root, "uncore_mem", "type_7_0");
	check_match(root, "mem", "uncore_mem_0");
	check_match(root, "no_type", "");
	check_match(root, "*",
		"bad_mask bent cpu cpu_atom no_number split type_7_0 uncore_imc_0 "
		"uncore_imc_1 uncore_imc_2 uncore_imc_10 uncore_mem_0");
	check_match(root, "../devices/cpu", "");
	check_match(test_path("nowhere"), "cpu", "");
}

static void check_cores(const char *expected)
{
	struct intern names = {0};

	pmu_list_cores(test_path("sys"), &names);
	check_names(&names, expected);
	intern_fini(&names);
}

TEST(pmu_cores_are_cpu_or_all_that_belong_to_some_cpus)
{
	check_cores("");
	fake_file("sys/bus/event_source/devices/cpu_atom/type", "10\n");
	fake_file("sys/bus/event_source/devices/cpu_atom/cpus", "4-7\n");
	check_cores("cpu_atom");
	fake_file("sys/bus/event_source/devices/cpu_core/type", "4\n");
	fake_file("sys/bus/event_source/devices/cpu_core/cpus", "0-3\n");
	fake_file("sys/bus/event_source/devices/arm_dsu_0/type", "11\n");
	fake_file("sys/bus/event_source/devices/arm_dsu_0/cpumask", "0\n");
	/* The one that raw events go to is first. */
	check_cores("cpu_core cpu_atom");
	fake_file("sys/bus/event_source/devices/cpu/type", "4\n");
	check_cores("cpu");
}
