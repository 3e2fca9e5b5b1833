#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "symbol/find/filecache.h"
#include "unit/tree.h"

#define REST "0123456789abcdef0123456789abcdef012345"
#define ID   "ab" REST

/* A link of the cache's list. */
static void put_link(const char *id, const char *target)
{
	char path[4096];

	snprintf(path, sizeof(path), "cache/.build-id/%.2s", id);
	tree_dir(test_dir(), "%s", path);
	snprintf(path, sizeof(path), "%s/cache/.build-id/%.2s/%s", test_dir(), id, id + 2);
	unlink(path);
	CHECK_EQ(symlink(target, path), 0);
}

static void open_cache(struct filecache *c)
{
	struct err err;

	setenv("PERF_BUILDID_DIR", test_path("cache"), 1);
	CHECK_EQ(filecache_open(c, &err), 0);
}

static bool is_there(const char *path)
{
	struct stat st;

	return !lstat(test_path(path), &st);
}

TEST(filecache_lists_what_links_name)
{
	struct filecache c;

	put_link(ID, "../../usr/bin/dash/" ID);
	put_link("cd01", "../../[vdso]/cd01");
	open_cache(&c);
	CHECK_EQ(c.entries.n, 2);
	CHECK_STR(filecache_find(&c, ID)->path, "/usr/bin/dash");
	CHECK_STR(filecache_find(&c, "cd01")->path, "[vdso]");
	CHECK(!filecache_find(&c, "cd"));
	filecache_close(&c);
}

TEST(filecache_leaves_out_links_that_lead_elsewhere)
{
	static const char *const targets[] = {"/etc/" ID, "../../../" ID, "../../a/../../b/" ID,
		"../../../" ID, "../../..//" ID, "../../" ID, "../../usr/bin/dash/other", "../..",
		"../../", "../../x/", ".", "../../a/..", "../usr/" ID};
	char far[4095];
	struct filecache c;

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		put_link(ID, targets[i]);
		open_cache(&c);
		CHECK_EQ(c.entries.n, 0);
		filecache_close(&c);
	}
	memset(far, 'x', sizeof(far));
	memcpy(far, "../../", 6);
	memcpy(far + sizeof(far) - sizeof(ID) - 1, "/" ID, sizeof(ID) + 1);
	put_link(ID, far);
	/* Names that are no build-ids, a file in place of a link, a file in place of a folder. */
	tree_file(test_dir(), "", "cache/.build-id/ef/0123");
	tree_file(test_dir(), "", "cache/.build-id/12");
	tree_dir(test_dir(), "cache/.build-id/XY");
	tree_dir(test_dir(), "cache/.build-id/abc");
	CHECK_EQ(symlink("../../a/abxy", test_path("cache/.build-id/ab/xy")), 0);
	open_cache(&c);
	CHECK_EQ(c.entries.n, 1); /* a long name is one */
	filecache_close(&c);
}

TEST(filecache_removes_its_own_files_and_no_others)
{
	struct filecache c;
	struct err err;

	tree_file(test_dir(), "x", "cache/usr/bin/dash/" ID "/elf");
	tree_file(test_dir(), "x", "mine/precious");
	put_link(ID, "../../usr/bin/dash/" ID);
	open_cache(&c);
	CHECK_EQ(filecache_remove(&c, &c.entries.at[0], &err), 0);
	CHECK(!is_there("cache/usr/bin/dash/" ID) && !is_there("cache/.build-id/ab/" REST));
	CHECK(is_there("cache/usr/bin/dash"));
	filecache_close(&c);
	/* A link in place of the folder, as an archive may have it. */
	CHECK_EQ(symlink(test_path("mine"), test_path("cache/usr/bin/dash/" ID)), 0);
	put_link(ID, "../../usr/bin/dash/" ID);
	open_cache(&c);
	CHECK_EQ(filecache_remove(&c, &c.entries.at[0], &err), 0);
	CHECK(!is_there("cache/usr/bin/dash/" ID) && is_there("mine/precious"));
	filecache_close(&c);
}

TEST(filecache_adds_programs_and_refuses_what_has_no_build_id)
{
	struct filecache c;
	struct str id = {0};
	struct err err;

	open_cache(&c);
	tree_file(test_dir(), "no program", "text");
	CHECK_EQ(filecache_add(&c, "", test_path("text"), &id, &err), ERR_FORMAT);
	CHECK_EQ(filecache_add(&c, "", test_path("nothing"), &id, &err), ERR_NOENT);
	CHECK_EQ(filecache_add(&c, "", "/proc/self/exe", &id, &err), 0);
	filecache_close(&c);
	open_cache(&c);
	CHECK_EQ(c.entries.n, 1);
	CHECK_STR(c.entries.at[0].id, id.at);
	/* Again: it is there. */
	str_clear(&id);
	CHECK_EQ(filecache_add(&c, "", "/proc/self/exe", &id, &err), 0);
	filecache_close(&c);
	str_fini(&id);
}

TEST(filecache_needs_a_folder)
{
	struct filecache c;
	struct err err;

	unsetenv("PERF_BUILDID_DIR");
	unsetenv("HOME");
	CHECK_EQ(filecache_open(&c, &err), ERR_NOENT);
	CHECK_HAS(err.msg, "--buildid-dir");
}
