#include <sys/stat.h>

#include "event/tracefs.h"

#include "fake_sysfs.h"
#include "nobody.h"
#include "test.h"

static void check_refused(const char *system, const char *name, int code, const char *message)
{
	struct err err = {0};
	u64 id = 77;

	CHECK_EQ(tracefs_id(test_path("tracing"), system, name, &id, &err), code);
	CHECK_STR(err.msg, message);
	CHECK_EQ(id, 77);
}

TEST(tracefs_id_is_the_number_in_the_file)
{
	const char *root = fake_tracefs();
	struct err err = {0};
	u64 id = 0;

	CHECK_EQ(tracefs_id(root, "sched", "sched_switch", &id, &err), 0);
	CHECK_EQ(id, 314);
	CHECK_EQ(tracefs_id(root, "syscalls", "sys_enter_openat", &id, &err), 0);
	CHECK_EQ(id, 600);
}

TEST(tracefs_fields_are_those_that_not_all_have)
{
	struct str text = {0};

	fake_file("tracing/events/sched/sched_switch/format",
		"name: sched_switch\nID: 314\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
		"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		"\tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:1;\n"
		"\tfield:no end\n"
		"print fmt: \"x;\"\n");
	tracefs_add_fields(test_path("tracing"), "sched", "sched_switch", &text);
	CHECK_STR(str_text(&text), "prev_comm name");
	str_clear(&text);
	tracefs_add_fields(test_path("tracing"), "sched", "no_such", &text);
	CHECK_STR(str_text(&text), "");
	str_fini(&text);
}

TEST(tracefs_names_the_nearest_tracepoint_or_system)
{
	fake_tracefs();
	check_refused("sched", "sched_swich", ERR_NOENT,
		"there is no tracepoint 'sched:sched_swich'; did you mean 'sched:sched_switch'?");
	check_refused("sched", "frobnicate_everything", ERR_NOENT,
		"there is no tracepoint 'sched:frobnicate_everything'");
	check_refused("shced", "sched_switch", ERR_NOENT,
		"there are no tracepoints of 'shced' ('shced:sched_switch'); did you mean "
		"'sched'?");
	check_refused("frobnicate", "x", ERR_NOENT,
		"there are no tracepoints of 'frobnicate' ('frobnicate:x')");
}

TEST(tracefs_names_do_not_lead_out_of_the_tree)
{
	fake_tracefs();
	fake_file("secret/id", "1\n");
	check_refused("../../secret", "x", ERR_INVAL,
		"'../../secret:x' is not the name of a tracepoint");
	check_refused("sched", "../../../secret", ERR_INVAL,
		"'sched:../../../secret' is not the name of a tracepoint");
	check_refused("sched", "sched_switch/", ERR_INVAL,
		"'sched:sched_switch/' is not the name of a tracepoint");
	check_refused("sched", "..", ERR_NOENT, "there is no tracepoint 'sched:..'");
}

TEST(tracefs_directories_and_files_without_id_are_no_tracepoints)
{
	fake_tracefs();
	check_refused("sched", "enable", ERR_NOENT, "there is no tracepoint 'sched:enable'");
	check_refused("broken", "frob", ERR_NOENT, "there is no tracepoint 'broken:frob'");
	check_refused("enabel", "x", ERR_NOENT,
		"there are no tracepoints of 'enabel' ('enabel:x')");
}

TEST(tracefs_that_may_not_be_read_is_err_perm)
{
	const char *root = fake_tracefs();
	struct err err = {0};
	u64 id;

	CHECK_EQ(chmod(test_path("tracing/events/sched/sched_switch/id"), 0), 0);
	nobody_begin();
	CHECK_EQ(tracefs_id(root, "sched", "sched_switch", &id, &err), ERR_PERM);
	CHECK_HAS(err.msg, "which only root may read: run as root, or 'sudo mount -o remount,");
	CHECK_EQ(tracefs_id(root, "sched", "sched_wakeup", &id, &err), 0);
	nobody_end();
}

TEST(tracefs_is_found_where_it_is_mounted)
{
	struct err err = {0};
	char root[128] = "";
	u64 id = 0;

	if (access("/sys/kernel/tracing/events", R_OK | X_OK) == 0) {
		CHECK_EQ(tracefs_find(root, sizeof(root), &err), 0);
		CHECK_STR(root, "/sys/kernel/tracing");
	}
	if (tracefs_find(root, sizeof(root), &err)) {
		CHECK(err.code == ERR_NOENT || err.code == ERR_PERM);
		CHECK_HAS(err.msg, "mount");
		CHECK_EQ(tracefs_id(NULL, "sched", "sched_switch", &id, &err), err.code);
		SKIP("%s", err.msg);
	}
	CHECK_HAS(root, "/tracing");
	CHECK_EQ(tracefs_id(NULL, "sched", "sched_switch", &id, &err), 0);
	CHECK(id > 0);
}

static void check_match(const char *system, const char *name, const char *expected)
{
	struct intern names = {0};
	struct str got = {0};
	struct err err = {0};
	int r = tracefs_match(test_path("tracing"), system, name, &names, &err);

	vec_each(full, &names.strings)
		str_addf(&got, "%s ", *full);
	if (r)
		str_add(&got, err.msg);
	CHECK_STR(str_text(&got), expected);
	str_fini(&got);
	intern_fini(&names);
}

TEST(tracefs_match_finds_what_has_an_id)
{
	fake_tracefs();
	check_match("sched", "*", "sched:sched_switch sched:sched_wakeup ");
	check_match("*", "*_*",
		"broken:no_number sched:sched_switch sched:sched_wakeup syscalls:sys_enter_openat ");
	check_match("s*", "*w*t*", "sched:sched_switch ");
	check_match("sched", "sched_switch", "sched:sched_switch ");
	check_match("sched", "sched_s?itch", "sched:sched_switch ");
	check_match("sched", "enable", "no tracepoint matches 'sched:enable'");
	check_match("broken", "*", "broken:no_number ");
	check_match("none", "*", "no tracepoint matches 'none:*'");
	check_match("../*", "*", "'../*:*' is not the name of a tracepoint");
	check_match("*", "../*", "'*:../*' is not the name of a tracepoint");
	check_match(".*", "*", "no tracepoint matches '.*:*'");
}
