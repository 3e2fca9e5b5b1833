#include "event/cpuid.h"

#include "fake_sysfs.h"
#include "test.h"

static void check_cpuinfo(const char *text, const char *expected)
{
	char id[CPUID_SIZE] = "";

	CHECK(cpuid_of_cpuinfo(text, id) == (expected[0] != '\0'));
	CHECK_STR(id, expected);
}

TEST(cpuid_is_made_of_cpuinfo_as_the_tables_spell_it)
{
	check_cpuinfo("processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
		      "model name\t: Intel(R) Xeon(R)\nstepping\t: 8\n\nprocessor\t: 1\n",
		"GenuineIntel-6-8F-8");
	check_cpuinfo("vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 97\nstepping\t: 2\n",
		"AuthenticAMD-25-61-2");
	check_cpuinfo("vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nstepping\t: 11\n",
		"GenuineIntel-6-55-B");
	check_cpuinfo(
		"processor\t: 0\nhart\t\t: 1\nmvendorid\t: 0x489\nmarchid\t\t: 0x8000000000000007\n"
		"mimpid\t\t: 0x20181004\n",
		"0x489-0x8000000000000007-0x20181004");
	check_cpuinfo("processor\t: 0\ncpu\t\t: POWER9\nrevision\t: 2.2 (pvr 004e 1202)\n",
		"0x004e1202");
	check_cpuinfo("processor : 0\n", "");
	check_cpuinfo("vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel name\t: no model\n", "");
	check_cpuinfo("", "");
}

TEST(cpuid_of_arm64_is_midr_without_variant_and_revision)
{
	char id[CPUID_SIZE] = "";
	struct err err;

	unsetenv("PACE_CPUID");
	unsetenv("PERF_CPUID");
	fake_file("sys/devices/system/cpu/cpu2/regs/identification/midr_el1",
		"0x00000000413fd0c1\n");
	CHECK_EQ(cpuid_read(test_path("sys"), 2, id, &err), 0);
	CHECK_STR(id, "0x00000000410fd0c0");
	CHECK_EQ(cpuid_read(test_path("sys"), 3, id, &err), ERR_UNSUPPORTED);
	CHECK_HAS(err.msg, "name it in $PACE_CPUID");
}

TEST(cpuid_can_be_said)
{
	char id[CPUID_SIZE] = "";
	struct err err;

	setenv("PERF_CPUID", "AuthenticAMD-23-31-0", 1);
	CHECK_EQ(cpuid_read("/nowhere", 0, id, &err), 0);
	CHECK_STR(id, "AuthenticAMD-23-31-0");
	setenv("PACE_CPUID", "GenuineIntel-6-55-4", 1);
	CHECK_EQ(cpuid_read("/nowhere", 0, id, &err), 0);
	CHECK_STR(id, "GenuineIntel-6-55-4");
}

TEST(cpuid_matches_a_pattern_for_all_of_it_or_without_the_stepping)
{
	CHECK(cpuid_matches("GenuineIntel-6-55-4", "GenuineIntel-6-55-[01234]"));
	CHECK(!cpuid_matches("GenuineIntel-6-55-7", "GenuineIntel-6-55-[01234]"));
	CHECK(cpuid_matches("GenuineIntel-6-8F-8", "GenuineIntel-6-8F"));
	CHECK(!cpuid_matches("GenuineIntel-6-8F-8", "GenuineIntel-6-8"));
	CHECK(!cpuid_matches("GenuineIntel-6-5-5", "GenuineIntel-6-55-5"));
	CHECK(cpuid_matches("GenuineIntel-6-9A-3", "GenuineIntel-6-(97|9A|B7|BA|BF)"));
	CHECK(cpuid_matches("AuthenticAMD-25-21-0",
		"AuthenticAMD-25-([245][[:xdigit:]]|[[:xdigit:]])"));
	CHECK(!cpuid_matches("AuthenticAMD-25-61-0",
		"AuthenticAMD-25-([245][[:xdigit:]]|[[:xdigit:]])"));
	CHECK(cpuid_matches("AuthenticAMD-25-61-0", "AuthenticAMD-25-[[:xdigit:]]+"));
	CHECK(cpuid_matches("0x00000000410fd0c0", "0x00000000410fd0c0"));
	CHECK(cpuid_matches("0x004e1202", "0x004e[[:xdigit:]]{4}"));
	CHECK(!cpuid_matches("0x004e12", "0x004e[[:xdigit:]]{4}"));
	CHECK(cpuid_matches("IBM,3931,704,A01,3.7,002f", "^IBM.393[12].*$"));
	/* A header line is no pattern of anything. */
	CHECK(!cpuid_matches("GenuineIntel-6-8F-8", "Family-model"));
}

TEST(cpuid_patterns_that_would_take_forever_match_nothing)
{
	char deep[400];

	CHECK(!cpuid_matches("aaaa", "((a{99}){99}){99}"));
	CHECK(!cpuid_matches("aaaa", "a{32767}"));
	CHECK(!cpuid_matches("aaaa", "a{2,}"));
	CHECK(!cpuid_matches("aaaa", "(a*)\\1"));
	CHECK(!cpuid_matches("aaaa", "(aaaa"));
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	CHECK(!cpuid_matches("aaaa", deep));
}
