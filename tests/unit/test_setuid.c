#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "collect/open/setuid.h"
#include "unit/nobody.h"

/* What the kernel does with them is asked in tests/live/test_stat.py. */

static const char program[] = "\177ELF", script[] = "#!/bin/sh\n";

static const char *make(const char *name, const char *text, uid_t uid, gid_t gid, mode_t mode)
{
	const char *path = test_path(name);

	if (geteuid())
		SKIP("needs root");
	test_write(path, text, strlen(text));
	CHECK_EQ(chown(path, uid, gid), 0);
	CHECK_EQ(chmod(path, mode), 0);
	return path;
}

static bool loses(const char *command, struct str *why)
{
	str_cut(why, 0);
	return setuid_takes_counters(command, why);
}

TEST(setuid_takes_counters_of_what_has_other_rights_than_ours)
{
	const char *root = make("root", program, 0, 0, 04755),
		   *group = make("group", program, 0, 5, 02755),
		   *other = make("other", program, 1, 0, 04755),
		   *own = make("own", program, NOBODY, 0, 04755),
		   *secret = make("secret", program, 0, 0, 0711);
	struct str why = {0};

	nobody_begin();
	CHECK(loses(root, &why));
	CHECK_HAS(why.at, "is setuid root, and the kernel takes the counters away");
	CHECK_HAS(why.at, ": run pace as root, or count the whole system (-a)");
	CHECK(loses(group, &why));
	CHECK_HAS(why.at, "is setgid");
	CHECK(!strstr(why.at, "as root"));
	CHECK(loses(other, &why));
	CHECK(!strstr(why.at, "as root"));
	CHECK(loses(secret, &why));
	CHECK_HAS(why.at, "is not readable");
	CHECK(!loses(own, &why));
	nobody_end();
	/* To root, root's programs are like all others. */
	CHECK(!loses(root, &why));
	CHECK(!loses(secret, &why));
	CHECK(loses(other, &why));
	CHECK(loses(group, &why));
	str_fini(&why);
}

TEST(setuid_is_meaningless_on_scripts_and_where_nobody_of_the_group_may_execute)
{
	const char *setuid = make("script", script, 1, 0, 04755),
		   *locked = make("locked", program, 0, 5, 02745);
	struct str why = {0};

	CHECK(!loses(setuid, &why));
	CHECK(!loses(locked, &why));
	CHECK_STR(str_text(&why), "");
	str_fini(&why);
}

TEST(setuid_looks_for_the_command_as_exec_does)
{
	struct str why = {0}, path = {0};

	/* Folders, and files that may not be executed, are passed over; the first program counts. */
	CHECK(!mkdir(test_path("a"), 0755) && !mkdir(test_path("a/tool"), 0755));
	CHECK(!mkdir(test_path("b"), 0755) && !mkdir(test_path("c"), 0755));
	make("b/tool", program, 1, 0, 04644);
	make("c/tool", program, 1, 0, 04755);
	str_addf(&path, "/nonexistent:%s:%s:%s", test_path("a"), test_path("b"), test_path("c"));
	setenv("PATH", path.at, 1);
	CHECK(loses("tool", &why));
	CHECK_HAS(why.at, "/c/tool' is setuid");
	CHECK(!loses("./tool", &why));
	CHECK(!loses("no-such-tool", &why));
	make("b/tool", program, 0, 0, 0755);
	CHECK(!loses("tool", &why));
	str_fini(&path);
	str_fini(&why);
}
