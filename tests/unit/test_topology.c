#include "test.h"

#include "collect/around/topology.h"
#include "unit/tree.h"

#define CPU "devices/system/cpu/cpu%u/"

static void cache(const char *root, unsigned cpu, unsigned index, const char *level, const char *id,
	const char *cpus)
{
	tree_file(root, level, CPU "cache/index%u/level", cpu, index);
	if (id)
		tree_file(root, id, CPU "cache/index%u/id", cpu, index);
	tree_file(root, cpus, CPU "cache/index%u/shared_cpu_list", cpu, index);
}

TEST(topology_knows_what_a_cpu_is_part_of)
{
	const char *root = test_path("sys");
	struct topology t;

	tree_file(root, "1\n", CPU "topology/physical_package_id", 5);
	tree_file(root, "2\n", CPU "topology/die_id", 5);
	tree_file(root, "3\n", CPU "topology/cluster_id", 5);
	tree_file(root, "4\n", CPU "topology/core_id", 5);
	tree_dir(root, CPU "node7", 5);
	cache(root, 5, 0, "1\n", "50\n", "5\n");
	cache(root, 5, 3, "3\n", "6\n", "4-7\n");
	cache(root, 5, 2, "2\n", "51\n", "4-5\n");
	topology_read(&t, root, 5);
	CHECK_EQ(t.socket, 1);
	CHECK_EQ(t.die, 2);
	CHECK_EQ(t.cluster, 3);
	CHECK_EQ(t.core, 4);
	CHECK_EQ(t.node, 7);
	CHECK_EQ(t.cache_level, 3);
	CHECK_EQ(t.cache, 6);
}

TEST(topology_of_which_the_kernel_tells_nothing_is_one_of_each)
{
	struct topology t;

	topology_read(&t, test_path("nothing"), 3);
	CHECK_EQ(t.socket, 0);
	CHECK_EQ(t.die, 0);
	CHECK_EQ(t.cluster, 0);
	CHECK_EQ(t.core, 0);
	CHECK_EQ(t.node, -1);
	CHECK_EQ(t.cache_level, 0);
	CHECK_EQ(t.cache, 0);
}

TEST(topology_takes_what_means_no_such_level_for_none)
{
	const char *root = test_path("sys");
	struct topology t;

	/* arm64 without an ACPI table, and with a cluster that is none. */
	tree_file(root, "-1\n", CPU "topology/physical_package_id", 0);
	tree_file(root, "65535\n", CPU "topology/cluster_id", 0);
	tree_file(root, "x\n", CPU "topology/core_id", 0);
	topology_read(&t, root, 0);
	CHECK_EQ(t.socket, 0);
	CHECK_EQ(t.cluster, 0);
	CHECK_EQ(t.core, 0);
}

TEST(topology_calls_a_cache_without_a_number_like_its_first_cpu)
{
	const char *root = test_path("sys");
	struct topology t;

	cache(root, 6, 0, "1\n", NULL, "6\n");
	cache(root, 6, 1, "2\n", NULL, "4-7\n");
	topology_read(&t, root, 6);
	CHECK_EQ(t.cache_level, 2);
	CHECK_EQ(t.cache, 4);
}

TEST(topology_is_not_misled_by_other_names_that_begin_like_a_node)
{
	const char *root = test_path("sys");
	struct topology t;

	tree_dir(root, CPU "nodes", 0);
	tree_dir(root, CPU "node1x", 0);
	tree_dir(root, CPU "node", 0);
	topology_read(&t, root, 0);
	CHECK_EQ(t.node, -1);
	tree_dir(root, CPU "node12", 0);
	topology_read(&t, root, 0);
	CHECK_EQ(t.node, 12);
}
