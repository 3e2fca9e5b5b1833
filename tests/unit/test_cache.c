#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "symbol/find/cache.h"

static void store(const char *key, const char *text)
{
	/* In two parts, one of them empty for short ones. */
	size_t half = strlen(text) / 5;
	struct cache_part parts[] = {{text, half}, {text + half, strlen(text) - half}};

	cache_store(key, parts, 2);
}

/* What is stored under a key; "(none)". */
static const char *stored(const char *key)
{
	static char text[256];
	const u8 *data;
	u64 size;

	if (!cache_map(key, false, &data, &size))
		return "(none)";
	CHECK(size < sizeof(text));
	memcpy(text, data, size);
	text[size] = '\0';
	munmap((void *)data, size);
	return text;
}

/* Below the test's folder; nothing of the user's is touched. */
static void use_own_home(void)
{
	setenv("XDG_CACHE_HOME", test_dir(), 1);
	setenv("HOME", "/nonexistent", 1);
}

TEST(cache_gives_back_what_was_stored)
{
	struct stat st;

	use_own_home();
	CHECK_STR(stored("key"), "(none)");
	/* To look makes nothing. */
	CHECK(access(test_path("pace"), F_OK) < 0);
	store("key", "first");
	store("other", "something else");
	CHECK_STR(stored("key"), "first");
	store("key", "second, longer");
	CHECK_STR(stored("key"), "second, longer");
	CHECK_STR(stored("other"), "something else");
	/* For this user's eyes only. */
	CHECK_EQ(stat(test_path("pace"), &st), 0);
	CHECK_EQ(st.st_mode & 0777, 0700);
	CHECK_EQ(stat(test_path("pace/key"), &st), 0);
	CHECK_EQ(st.st_mode & 0777, 0600);
}

TEST(cache_leaves_no_unfinished_file)
{
	use_own_home();
	store("key", "text");
	CHECK_EQ(unlink(test_path("pace/key")), 0);
	CHECK_EQ(rmdir(test_path("pace")), 0);
}

TEST(cache_keeps_a_mapping_when_the_file_is_replaced)
{
	const u8 *data;
	u64 size;

	use_own_home();
	store("key", "before");
	CHECK(cache_map("key", false, &data, &size));
	store("key", "behind");
	CHECK(size == 6 && !memcmp(data, "before", 6));
	munmap((void *)data, size);
}

TEST(cache_looks_below_home_without_the_variable)
{
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", test_dir(), 1);
	store("key", "text");
	CHECK_EQ(access(test_path(".cache/pace/key"), F_OK), 0);
	CHECK_STR(stored("key"), "text");
	/* A relative path is to be ignored, the specification says. */
	setenv("XDG_CACHE_HOME", "relative", 1);
	CHECK_STR(stored("key"), "text");
	setenv("XDG_CACHE_HOME", "", 1);
	CHECK_STR(stored("key"), "text");
}

TEST(cache_without_any_place_is_none)
{
	static const char *const homes[] = {"relative", "", "/nonexistent/home"};

	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	store("key", "text");
	CHECK_STR(stored("key"), "(none)");
	for (size_t i = 0; i < ARRAY_SIZE(homes); i++) {
		setenv("HOME", homes[i], 1);
		store("key", "text");
		CHECK_STR(stored("key"), "(none)");
	}
}

TEST(cache_path_that_is_too_long_is_none)
{
	static const size_t lengths[] = {4090, 4091, 4095, 4096, 8000};

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		char *path = malloc(lengths[i] + 1);

		memset(path, 'x', lengths[i]);
		path[0] = '/';
		path[lengths[i]] = '\0';
		setenv("XDG_CACHE_HOME", path, 1);
		store("key", "text");
		CHECK_STR(stored("key"), "(none)");
		free(path);
	}
}

TEST(cache_folder_that_others_can_write_is_not_used)
{
	static const mode_t modes[] = {0770, 0702, 0777, 01777};

	use_own_home();
	store("key", "text");
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		CHECK_EQ(chmod(test_path("pace"), modes[i]), 0);
		CHECK_STR(stored("key"), "(none)");
		store("key", "replaced");
		store("new", "text");
		CHECK(access(test_path("pace/new"), F_OK) < 0);
	}
	CHECK_EQ(chmod(test_path("pace"), 0755), 0);
	CHECK_STR(stored("key"), "text");
}

TEST(cache_folder_of_somebody_else_is_not_used)
{
	use_own_home();
	store("key", "text");
	if (chown(test_path("pace"), 65534, 65534))
		SKIP("only root can give folders away");
	CHECK_STR(stored("key"), "(none)");
	store("new", "text");
	CHECK(access(test_path("pace/new"), F_OK) < 0);
}

TEST(cache_file_of_somebody_else_is_not_used)
{
	use_own_home();
	store("key", "text");
	if (chown(test_path("pace/key"), 65534, 65534))
		SKIP("only root can give files away");
	CHECK_STR(stored("key"), "(none)");
	/* It is replaced, not written to. */
	store("key", "mine");
	CHECK_STR(stored("key"), "mine");
}

TEST(cache_follows_no_links)
{
	char elsewhere[256], link_path[256];

	use_own_home();
	store("key", "text");
	snprintf(elsewhere, sizeof(elsewhere), "%s", test_path("pace/key"));
	snprintf(link_path, sizeof(link_path), "%s", test_path("pace/link"));
	CHECK_EQ(symlink(elsewhere, link_path), 0);
	CHECK_STR(stored("link"), "(none)");
	/* Nor to a folder. */
	CHECK_EQ(rename(test_path("pace"), test_path("real")), 0);
	CHECK_EQ(symlink("real", test_path("pace")), 0);
	CHECK_STR(stored("key"), "(none)");
	store("new", "text");
	CHECK(access(test_path("real/new"), F_OK) < 0);
}

TEST(cache_writes_through_no_link_either)
{
	char name[64];

	use_own_home();
	store("key", "text");
	test_write(test_path("victim"), "precious", 8);
	snprintf(name, sizeof(name), "pace/new.%d.new", getpid());
	CHECK_EQ(symlink("../victim", test_path(name)), 0);
	store("new", "overwritten");
	CHECK_STR(stored("new"), "(none)");
	CHECK_EQ(rename(test_path("victim"), test_path("pace/victim")), 0);
	CHECK_STR(stored("victim"), "precious");
}

TEST(cache_leaves_no_descriptor_open)
{
	int before, after;

	use_own_home();
	before = dup(0);
	close(before);
	store("key", "text");
	stored("key");
	stored("missing");
	chmod(test_path("pace"), 0777);
	stored("key");
	store("key", "text");
	after = dup(0);
	close(after);
	CHECK_EQ(after, before);
}

TEST(cache_does_not_hang_on_what_is_no_file)
{
	use_own_home();
	store("key", "text");
	CHECK_EQ(mkfifo(test_path("pace/fifo"), 0600), 0);
	CHECK_EQ(mkdir(test_path("pace/folder"), 0700), 0);
	test_write(test_path("pace/empty"), "", 0);
	CHECK_STR(stored("fifo"), "(none)");
	CHECK_STR(stored("folder"), "(none)");
	CHECK_STR(stored("empty"), "(none)");
}

TEST(cache_that_is_a_file_is_none)
{
	use_own_home();
	test_write(test_path("pace"), "x", 1);
	store("key", "text");
	CHECK_STR(stored("key"), "(none)");
}

static void store_long(const char *key, size_t n, int age_s)
{
	struct timespec times[2] = {{.tv_sec = time(NULL) - age_s}, {.tv_sec = time(NULL) - age_s}};
	char *bytes = calloc(1, n), path[64];

	cache_store(key, &(struct cache_part){bytes, n}, 1);
	snprintf(path, sizeof(path), "pace/%s", key);
	CHECK_EQ(utimensat(AT_FDCWD, test_path(path), times, 0), 0);
	free(bytes);
}

TEST(cache_over_its_limit_forgets_what_was_not_used_for_longest)
{
	struct str folder = {0};
	cache_entries entries;
	const u8 *data;
	u64 size;

	use_own_home();
	setenv("PACE_CACHE_SIZE", "10K", 1);
	store_long("lines-00", 3000, 300000);
	store_long("lines-01", 3000, 200000);
	store_long("kallsyms-02", 3000, 100000);
	/* More than all of it. */
	cache_store("lines-05", &(struct cache_part){test_dir(), 10241}, 1);
	CHECK(access(test_path("pace/lines-05"), F_OK) < 0);
	/* Now it was used. */
	CHECK(cache_map("lines-00", false, &data, &size));
	munmap((void *)data, size);
	/* To look is no use. */
	CHECK(cache_map("lines-01", true, &data, &size));
	munmap((void *)data, size);
	test_write(test_path("pace/lines-03.99999999.new"), "x", 1);
	test_write(test_path("pace/notes"), "mine", 4);
	store_long("lines-04", 3000, 0);
	cache_list(&entries, &folder);
	CHECK_STR(str_text(&folder), test_path("pace"));
	CHECK_EQ(entries.n, 3);
	CHECK_STR(entries.at[2].key, "kallsyms-02");
	CHECK(access(test_path("pace/lines-00"), F_OK) == 0);
	CHECK(access(test_path("pace/lines-01"), F_OK) < 0);
	CHECK(access(test_path("pace/notes"), F_OK) == 0);
	cache_list_fini(&entries);
	str_fini(&folder);
}

TEST(cache_of_no_size_is_neither_written_nor_read)
{
	use_own_home();
	store("key", "text");
	setenv("PACE_CACHE_SIZE", "0", 1);
	CHECK_STR(stored("key"), "(none)");
	store("new", "text");
	CHECK(access(test_path("pace/new"), F_OK) < 0);
}
