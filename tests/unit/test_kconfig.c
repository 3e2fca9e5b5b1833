#include "test.h"

#include <zlib.h>

#include "collect/around/kconfig.h"
#include "unit/tree.h"

static const char config[] = "#\n# Automatically generated\n#\nCONFIG_PERF_EVENTS=y\n"
			     "CONFIG_KPROBES=m\n# CONFIG_SCHEDSTATS is not set\n"
			     "CONFIG_UPROBE_EVENTS_X=y\nCONFIG_HZ=250\n";

static void check_states(const struct kconfig *k)
{
	CHECK_EQ(kconfig_state(k, "CONFIG_PERF_EVENTS"), KCONFIG_BUILT_IN);
	CHECK_EQ(kconfig_state(k, "CONFIG_KPROBES"), KCONFIG_MODULE);
	CHECK_EQ(kconfig_state(k, "CONFIG_HZ"), KCONFIG_BUILT_IN);
	CHECK_EQ(kconfig_state(k, "CONFIG_SCHEDSTATS"), KCONFIG_MISSING);
	/* Neither the beginning of another name nor its end. */
	CHECK_EQ(kconfig_state(k, "CONFIG_UPROBE_EVENTS"), KCONFIG_MISSING);
	CHECK_EQ(kconfig_state(k, "EVENTS"), KCONFIG_MISSING);
}

TEST(kconfig_reads_the_copy_beside_the_kernel_of_this_release)
{
	struct site site = {.root = test_dir()};
	struct kconfig k;

	tree_file(test_dir(), "CONFIG_SCHEDSTATS=y\n", "boot/config-6.0");
	tree_file(test_dir(), config, "boot/config-6.1");
	kconfig_read(&k, &site, "6.1");
	CHECK_STR(k.path, "/boot/config-6.1");
	check_states(&k);
	kconfig_fini(&k);
}

TEST(kconfig_prefers_what_the_kernel_itself_tells)
{
	struct site site = {.root = test_dir()};
	char path[512];
	struct kconfig k;
	gzFile file;

	tree_file(test_dir(), "CONFIG_SCHEDSTATS=y\n", "boot/config-6.1");
	tree_dir(test_dir(), "proc");
	snprintf(path, sizeof(path), "%s/proc/config.gz", test_dir());
	file = gzopen(path, "w");
	CHECK(file && gzwrite(file, config, sizeof(config) - 1) > 0 && gzclose(file) == Z_OK);
	kconfig_read(&k, &site, "6.1");
	CHECK_STR(k.path, "/proc/config.gz");
	check_states(&k);
	kconfig_fini(&k);
}

TEST(kconfig_without_a_file_knows_nothing_and_says_so)
{
	struct site site = {.root = test_dir()};
	struct kconfig k;

	kconfig_read(&k, &site, "6.1");
	CHECK_STR(k.path, "");
	CHECK_EQ(kconfig_state(&k, "CONFIG_PERF_EVENTS"), KCONFIG_UNKNOWN);
	kconfig_fini(&k);
}

TEST(kconfig_does_not_take_half_a_file_for_a_whole_one)
{
	struct site site = {.root = test_dir()};
	char path[512], packed[4096];
	struct kconfig k;
	gzFile file;
	FILE *f;
	size_t n;

	tree_dir(test_dir(), "proc");
	snprintf(path, sizeof(path), "%s/proc/config.gz", test_dir());
	file = gzopen(path, "w");
	CHECK(file && gzwrite(file, config, sizeof(config) - 1) > 0 && gzclose(file) == Z_OK);
	f = fopen(path, "r");
	n = fread(packed, 1, sizeof(packed), f);
	fclose(f);
	/* At every byte: whatever can be unpacked, no option may be missing that is there. */
	for (size_t cut = 0; cut < n; cut++) {
		test_write(path, packed, cut);
		kconfig_read(&k, &site, "6.1");
		CHECK_EQ(kconfig_state(&k, "CONFIG_HZ"), KCONFIG_UNKNOWN);
		kconfig_fini(&k);
	}
}
