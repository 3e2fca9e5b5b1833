#include "edit/alias.h"

#include "test.h"

TEST(alias_is_the_same_for_the_same_and_another_for_another)
{
	struct alias a = {0};

	CHECK_STR(alias_name(&a, "comm", "make", 4), "comm-1");
	CHECK_STR(alias_name(&a, "comm", "sh", 2), "comm-2");
	CHECK_STR(alias_name(&a, "comm", "maker", 4), "comm-1");
	CHECK_STR(alias_name(&a, "comm", "", 0), "");
	alias_fini(&a);
}

TEST(alias_path_keeps_what_no_user_called_so)
{
	static const char *const kept[] = {"", "[vdso]", "[heap]", "[stack:12]", "//anon",
		"/dev/zero", "/dev/zero (deleted)", "/anon_hugepage (deleted)", "/SYSV0000abcd",
		"/SYSV0000ABCD (deleted)", "/tmp/perf-123.map"};
	struct alias a = {0};

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		CHECK_STR(alias_path(&a, kept[i], strlen(kept[i])), kept[i]);
	CHECK_EQ(a.known.strings.n, 0);
	alias_fini(&a);
}

TEST(alias_path_hides_what_only_begins_like_that)
{
	static const char *const hidden[] = {"/SYSVOLsecret/a", "/SYSV0000abcdsecret",
		"/dev/zero-secret", "//anon/secret", "/tmp/perf-secret/lib.so",
		"/tmp/perf-1.map/secret", "/home/secret/jit-secret.dump", "[secret]",
		"[anon:secret heap]", "/anon_hugepagesecret", "/memfd:secret (deleted)",
		"/tmp/jit-1.dumpsecret", "/secret/jit-7.dump"};
	struct alias a = {0};

	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
		CHECK(!strstr(alias_path(&a, hidden[i], strlen(hidden[i])), "secret"));
	CHECK_EQ(a.known.strings.n, ARRAY_SIZE(hidden));
	alias_fini(&a);
}

TEST(alias_path_keeps_the_kind_of_a_map)
{
	struct alias a = {0};

	CHECK_STR(alias_path(&a, "/usr/lib/libc.so.6", 18), "/anon/file-1.so");
	CHECK_STR(alias_path(&a, "/tmp/jit-7.dump", 15), "/anon/2/jit-7.dump");
	CHECK_STR(alias_path(&a, "/memfd:x (deleted)", 18), "/memfd:file-3");
	CHECK_STR(alias_path(&a, "[anon:x]", 8), "[anon:4]");
	CHECK_STR(alias_comm(&a, "swapper/3", 9), "swapper");
	CHECK_STR(alias_comm(&a, "swapper-x", 9), "comm-5");
	alias_fini(&a);
}
