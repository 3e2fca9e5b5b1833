#include "test.h"

#include <sys/utsname.h>
#include <unistd.h>

#include "base/str.h"
#include "collect/around/host.h"
#include "unit/tree.h"

static struct host host;

/* Fills `host` from the test's own sys and proc. */
static void read_tree(void)
{
	char sys[256], proc[256];

	snprintf(sys, sizeof(sys), "%s", test_path("sys"));
	snprintf(proc, sizeof(proc), "%s", test_path("proc"));
	host_read(&host, sys, proc);
}

#define SYS(text, ...) tree_file(test_path("sys"), text "\n", __VA_ARGS__)
#define CPU            "devices/system/cpu/"

/* Two sockets of two cores of two threads; CPU n and n + 4 share a core. */
static void make_cpus(const char *package_list, const char *core_list)
{
	SYS("0-7", CPU "present");
	SYS("0-2,4-7", CPU "online");
	for (int cpu = 0; cpu < 8; cpu++) {
		int core = cpu % 4;
		char text[32];

		snprintf(text, sizeof(text), "%d\n", core % 2);
		tree_file(test_path("sys"), text, CPU "cpu%d/topology/core_id", cpu);
		snprintf(text, sizeof(text), "%d\n", core / 2);
		tree_file(test_path("sys"), text, CPU "cpu%d/topology/physical_package_id", cpu);
		tree_file(test_path("sys"), core < 2 ? "0-1,4-5\n" : "2-3,6-7\n",
			CPU "cpu%d/topology/%s", cpu, package_list);
		snprintf(text, sizeof(text), "%d,%d\n", core, core + 4);
		tree_file(test_path("sys"), text, CPU "cpu%d/topology/%s", cpu, core_list);
	}
}

static void check_names(const host_names *names, const char *expected)
{
	struct str text = {0};

	vec_each(name, names)
		str_addf(&text, "%s;", *name);
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
}

TEST(host_reads_sockets_cores_and_threads)
{
	make_cpus("package_cpus_list", "core_cpus_list");
	read_tree();
	CHECK_EQ(host.cpus_available, 8);
	CHECK_EQ(host.cpus_online, 7);
	check_names(&host.core_siblings, "0-1,4-5;2-3,6-7;");
	check_names(&host.thread_siblings, "0,4;1,5;2,6;3,7;");
	check_names(&host.die_siblings, "");
	CHECK(!host.has_dies);
	CHECK_EQ(host.cpus.n, 8);
	for (u32 cpu = 0; cpu < 8; cpu++) {
		CHECK_EQ(host.cpus.at[cpu].core, cpu % 2);
		CHECK_EQ(host.cpus.at[cpu].socket, cpu % 4 / 2);
		CHECK_EQ(host.cpus.at[cpu].die, 0);
	}
	host_fini(&host);
}

TEST(host_reads_topology_by_the_file_names_of_old_kernels)
{
	make_cpus("core_siblings_list", "thread_siblings_list");
	read_tree();
	check_names(&host.core_siblings, "0-1,4-5;2-3,6-7;");
	check_names(&host.thread_siblings, "0,4;1,5;2,6;3,7;");
	host_fini(&host);
}

TEST(host_reads_dies_where_the_kernel_knows_them)
{
	make_cpus("package_cpus_list", "core_cpus_list");
	for (int cpu = 0; cpu < 8; cpu++) {
		tree_file(test_path("sys"), cpu % 2 ? "1\n" : "0\n", CPU "cpu%d/topology/die_id",
			cpu);
		tree_file(test_path("sys"), cpu % 2 ? "1,3,5,7\n" : "0,2,4,6\n",
			CPU "cpu%d/topology/die_cpus_list", cpu);
	}
	read_tree();
	CHECK(host.has_dies);
	check_names(&host.die_siblings, "0,2,4,6;1,3,5,7;");
	CHECK_EQ(host.cpus.at[3].die, 1);
	CHECK_EQ(host.cpus.at[4].die, 0);
	host_fini(&host);
}

TEST(host_counts_cpus_up_to_the_highest_that_can_be_there)
{
	/* Numbers with a hole: what is "available" is a bound for CPU numbers. */
	SYS("0,5-6", CPU "present");
	SYS("0,6", CPU "online");
	read_tree();
	CHECK_EQ(host.cpus_available, 7);
	CHECK_EQ(host.cpus_online, 2);
	CHECK_EQ(host.cpus.n, 7);
	host_fini(&host);
}

static void make_cache(int cpu, int index, const char *level, const char *type, const char *size,
	const char *cpus)
{
	char sys[256];

	snprintf(sys, sizeof(sys), "%s", test_path("sys"));
	tree_file(sys, level, CPU "cpu%d/cache/index%d/level", cpu, index);
	tree_file(sys, type, CPU "cpu%d/cache/index%d/type", cpu, index);
	tree_file(sys, size, CPU "cpu%d/cache/index%d/size", cpu, index);
	tree_file(sys, cpus, CPU "cpu%d/cache/index%d/shared_cpu_list", cpu, index);
	tree_file(sys, "64\n", CPU "cpu%d/cache/index%d/coherency_line_size", cpu, index);
	tree_file(sys, "128\n", CPU "cpu%d/cache/index%d/number_of_sets", cpu, index);
	tree_file(sys, "12\n", CPU "cpu%d/cache/index%d/ways_of_associativity", cpu, index);
}

TEST(host_lists_each_cache_once_by_level)
{
	struct str text = {0};

	SYS("0-3", CPU "present");
	for (int cpu = 0; cpu < 4; cpu++) {
		const char *core = cpu / 2 ? "2-3\n" : "0-1\n";

		make_cache(cpu, 0, "1\n", "Data\n", "48K\n", core);
		make_cache(cpu, 1, "1\n", "Instruction\n", "32K\n", core);
		make_cache(cpu, 2, "2\n", "Unified\n", "1280K\n", core);
		make_cache(cpu, 3, "3\n", "Unified\n", "24576K\n", "0-3\n");
	}
	read_tree();
	vec_each(c, &host.caches)
		str_addf(&text, "L%u %s %s [%s] %u %u %u\n", c->level, c->type, c->size, c->cpus,
			c->line_bytes, c->sets, c->ways);
	CHECK_STR(str_text(&text),
		"L1 Data 48K [0-1] 64 128 12\n"
		"L1 Instruction 32K [0-1] 64 128 12\n"
		"L1 Data 48K [2-3] 64 128 12\n"
		"L1 Instruction 32K [2-3] 64 128 12\n"
		"L2 Unified 1280K [0-1] 64 128 12\n"
		"L2 Unified 1280K [2-3] 64 128 12\n"
		"L3 Unified 24576K [0-3] 64 128 12\n");
	str_fini(&text);
	host_fini(&host);
}

TEST(host_takes_a_cache_that_does_not_say_everything)
{
	SYS("0", CPU "present");
	SYS("Unified", CPU "cpu0/cache/index0/type");
	read_tree();
	CHECK_EQ(host.caches.n, 1);
	CHECK_STR(host.caches.at[0].type, "Unified");
	CHECK_STR(host.caches.at[0].size, "");
	CHECK_STR(host.caches.at[0].cpus, "");
	CHECK_EQ(host.caches.at[0].level, 0);
	CHECK_EQ(host.caches.at[0].ways, 0);
	host_fini(&host);
}

#define NODE "devices/system/node/"

TEST(host_reads_nodes_with_their_memory)
{
	SYS("0,2", NODE "online");
	SYS("0-3", NODE "node0/cpulist");
	SYS("Node 0 MemTotal:       16384000 kB\nNode 0 MemFree:         1234 kB\nNode 0 MemUsed:  "
	    "      1 kB",
		NODE "node0/meminfo");
	/* Memory without CPUs. */
	SYS("", NODE "node2/cpulist");
	SYS("Node 2 MemTotal:       8 kB\nNode 2 MemFree:         7 kB", NODE "node2/meminfo");
	SYS("8000000", "devices/system/memory/block_size_bytes");
	tree_dir(test_path("sys"), NODE "node0/memory0");
	tree_dir(test_path("sys"), NODE "node0/memory64");
	tree_dir(test_path("sys"), NODE "node0/memory3");
	tree_dir(test_path("sys"), NODE "node0/memory_failure");
	tree_dir(test_path("sys"), NODE "node0/memory99999999999");
	tree_dir(test_path("sys"), NODE "node0/memory5x");
	tree_dir(test_path("sys"), NODE "node2/memory300");
	read_tree();
	CHECK_EQ(host.nodes.n, 2);
	CHECK_EQ(host.nodes.at[0].number, 0);
	CHECK_EQ(host.nodes.at[0].total_kb, 16384000);
	CHECK_EQ(host.nodes.at[0].free_kb, 1234);
	CHECK_STR(host.nodes.at[0].cpus, "0-3");
	CHECK_EQ(host.nodes.at[1].number, 2);
	CHECK_EQ(host.nodes.at[1].total_kb, 8);
	CHECK_EQ(host.nodes.at[1].free_kb, 7);
	CHECK_STR(host.nodes.at[1].cpus, "");
	CHECK_EQ(host.memory_block_bytes, 0x8000000);
	CHECK_EQ(host.memories.n, 2);
	CHECK_EQ(host.memories.at[0].node, 0);
	CHECK_EQ(host.memories.at[0].n_bits, 65);
	CHECK_EQ(host.memories.at[0].bits[0], 1 << 0 | 1 << 3);
	CHECK_EQ(host.memories.at[0].bits[1], 1);
	CHECK_EQ(host.memories.at[1].node, 2);
	CHECK_EQ(host.memories.at[1].n_bits, 301);
	for (size_t i = 0; i < 4; i++)
		CHECK_EQ(host.memories.at[1].bits[i], 0);
	CHECK_EQ(host.memories.at[1].bits[4], 1ULL << 44);
	host_fini(&host);
}

TEST(host_reads_the_cpu_of_a_pc)
{
	tree_file(test_path("proc"),
		"processor\t: 0\n"
		"vendor_id\t: GenuineIntel\n"
		"cpu family\t: 6\n"
		"model\t\t: 85\n"
		"model name\t: Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz\n"
		"stepping\t: 4\n"
		"\n"
		"processor\t: 1\n"
		"vendor_id\t: Other\n"
		"model\t\t: 1\n",
		"cpuinfo");
	tree_file(test_path("proc"), "MemTotal:       65802012 kB\nMemFree:  1 kB\n", "meminfo");
	read_tree();
	CHECK_STR(host.cpuid, "GenuineIntel,6,85,4");
	CHECK_STR(host.cpu_description, "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz");
	CHECK_EQ(host.memory_kb, 65802012);
	host_fini(&host);
}

TEST(host_has_no_cpu_id_when_a_part_of_it_is_missing)
{
	static const char *const texts[] = {"vendor_id : A\ncpu family : 1\nmodel : 2\n",
		"vendor_id : A\ncpu family : 1\nstepping : 3\n",
		"vendor_id : A\nmodel : 2\nstepping : 3\n",
		"cpu family : 1\nmodel : 2\nstepping : 3\n"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		tree_file(test_path("proc"), texts[i], "cpuinfo");
		read_tree();
		CHECK(!host.cpuid);
		host_fini(&host);
	}
}

TEST(host_reads_the_cpu_of_an_arm_machine)
{
	tree_file(test_path("proc"),
		"processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n",
		"cpuinfo");
	SYS("0x00000000413fd0c1", CPU "cpu0/regs/identification/midr_el1");
	read_tree();
	CHECK_STR(host.cpuid, "0x00000000413fd0c1");
	CHECK(!host.cpu_description);
	host_fini(&host);
}

TEST(host_lists_event_sources_with_their_numbers)
{
	struct str text = {0};

	SYS("1", "bus/event_source/devices/software/type");
	SYS("4", "bus/event_source/devices/cpu/type");
	SYS("21", "bus/event_source/devices/uncore_imc_0/type");
	tree_dir(test_path("sys"), "bus/event_source/devices/broken");
	read_tree();
	vec_each(pmu, &host.pmus)
		str_addf(&text, "%s=%u;", pmu->name, pmu->type);
	CHECK_STR(str_text(&text), "cpu=4;software=1;uncore_imc_0=21;");
	str_fini(&text);
	host_fini(&host);
}

TEST(host_of_an_empty_machine_is_empty)
{
	struct utsname uts;

	read_tree();
	uname(&uts);
	CHECK_STR(host.hostname, uts.nodename);
	CHECK_STR(host.release, uts.release);
	CHECK_STR(host.arch, uts.machine);
	CHECK(!host.cpuid && !host.cpu_description);
	CHECK_EQ(host.cpus_available, 0);
	CHECK_EQ(host.cpus_online, 0);
	CHECK_EQ(host.memory_kb, 0);
	CHECK_EQ(host.cpus.n + host.nodes.n + host.caches.n + host.pmus.n + host.memories.n, 0);
	host_fini(&host);
}

TEST(host_survives_nonsense_in_every_file)
{
	static const char nonsense[] = "-1,,9999999999999999999 \x01\xff:";

	tree_file(test_path("sys"), nonsense, CPU "present");
	tree_file(test_path("sys"), nonsense, CPU "online");
	tree_file(test_path("sys"), nonsense, NODE "online");
	tree_file(test_path("sys"), nonsense, "devices/system/memory/block_size_bytes");
	tree_file(test_path("sys"), nonsense, "bus/event_source/devices/cpu/type");
	tree_file(test_path("proc"), "model name\nvendor_id:\nmodel\ncpu family", "cpuinfo");
	tree_file(test_path("proc"), "MemTotal:", "meminfo");
	read_tree();
	CHECK_EQ(host.cpus_available, 0);
	CHECK_EQ(host.nodes.n, 0);
	CHECK_EQ(host.memory_kb, 0);
	CHECK(!host.cpuid && !host.cpu_description);
	host_fini(&host);
}

TEST(host_of_this_machine_makes_sense)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	bool has_software = false;

	host_read(&host, "/sys", "/proc");
	if (!host.cpus_available)
		SKIP("/sys is not mounted");
	CHECK_EQ(host.cpus_online, online);
	CHECK(host.cpus_available >= host.cpus_online);
	CHECK_EQ(host.cpus.n, host.cpus_available);
	CHECK(host.memory_kb > 1024);
	vec_each(pmu, &host.pmus)
		has_software |= !strcmp(pmu->name, "software") && pmu->type == 1;
	CHECK(has_software || !host.pmus.n);
	for (size_t i = 1; i < host.caches.n; i++)
		CHECK(host.caches.at[i - 1].level <= host.caches.at[i].level);
	host_fini(&host);
}
