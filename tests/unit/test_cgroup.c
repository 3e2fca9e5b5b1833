#include "event/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event_text.h"
#include "fake_sysfs.h"
#include "test.h"

/* A hierarchy with web/front, web/back, batch and batch/night. */
static const char *fake_cgroups(void)
{
	static const char *const names[] = {"web", "web/front", "web/back", "batch", "batch/night"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char path[128];

		snprintf(path, sizeof(path), "cg/%s/cgroup.procs", names[i]);
		fake_file(path, "");
	}
	fake_file("cg/cgroup.procs", "");
	return test_path("cg");
}

static void add_events(struct event_list *events, size_t n)
{
	static const char *const names[] = {"a", "b", "c", "d"};

	for (size_t i = 0; i < n; i++)
		event_add(events, &(struct event_attr){.config = i}, names[i]);
}

static void check_events(const struct event_list *events, const char *expected)
{
	struct str got = {0};

	for (u32 i = 0; i < events->n; i++) {
		str_add(&got, i ? "; " : "");
		event_text_add(events, i, false, &got);
	}
	CHECK_STR(str_text(&got), expected);
	str_fini(&got);
}

static void check_assigned(size_t n, const char *list, const char *expected)
{
	struct event_list events = {0};
	struct err err = {0};

	add_events(&events, n);
	if (cgroup_assign(&events, list, fake_cgroups(), &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	check_events(&events, expected);
	event_list_fini(&events);
}

TEST(cgroup_names_go_to_events_in_their_order)
{
	check_assigned(2, "web,batch", "a = 0/0 in cgroup web; b = 0/1 in cgroup batch");
	check_assigned(3, "web,batch", "a = 0/0 in cgroup web; b = 0/1 in cgroup batch; c = 0/2");
	check_assigned(3, "web,,batch/night",
		"a = 0/0 in cgroup web; b = 0/1; c = 0/2 in cgroup batch/night");
	check_assigned(1, "/web/front", "a = 0/0 in cgroup web/front");
	check_assigned(2, "web,web", "a = 0/0 in cgroup web; b = 0/1 in cgroup web");
	check_assigned(1, "/", "a = 0/0 in cgroup .");
}

TEST(cgroup_that_is_alone_is_for_all_events)
{
	check_assigned(3, "web",
		"a = 0/0 in cgroup web; b = 0/1 in cgroup web; c = 0/2 in cgroup web");
}

TEST(cgroup_lists_go_on_where_the_one_before_ended)
{
	struct event_list events = {0};
	struct err err;

	add_events(&events, 2);
	CHECK_EQ(cgroup_assign(&events, "web,batch", fake_cgroups(), &err), 0);
	event_add(&events, &(struct event_attr){.config = 2}, "c");
	CHECK_EQ(cgroup_assign(&events, "batch/night", fake_cgroups(), &err), 0);
	check_events(&events,
		"a = 0/0 in cgroup web; b = 0/1 in cgroup batch; c = 0/2 in cgroup batch/night");
	event_list_fini(&events);
}

static void check_refused(size_t n, const char *list, bool is_for_each, int code,
	const char *message)
{
	const char *root = fake_cgroups();
	struct event_list events = {0};
	struct err err = {0};
	char expected[512];

	add_events(&events, n);
	CHECK_EQ((is_for_each ? cgroup_for_each : cgroup_assign)(&events, list, root, &err), code);
	snprintf(expected, sizeof(expected), message, root);
	CHECK_STR(err.msg, expected);
	for (size_t i = 0; i < events.n; i++)
		CHECK(!events.at[i].cgroup);
	CHECK_EQ(events.n, n);
	event_list_fini(&events);
}

TEST(cgroup_that_does_not_exist_is_named_with_the_nearest)
{
	check_refused(1, "wbe", false, ERR_NOENT,
		"there is no cgroup 'wbe' in '%s'; did you mean 'web'?");
	check_refused(2, "web,web/frnot", false, ERR_NOENT,
		"there is no cgroup 'web/frnot' in '%s'; did you mean 'web/front'?");
	check_refused(1, "frobnicate", false, ERR_NOENT, "there is no cgroup 'frobnicate' in '%s'");
	check_refused(1, "../cg/web", false, ERR_NOENT, "there is no cgroup '../cg/web' in '%s'");
	check_refused(1, "cgroup.procs", false, ERR_NOENT,
		"there is no cgroup 'cgroup.procs' in '%s'");
	check_refused(1, "wbe", true, ERR_NOENT,
		"there is no cgroup 'wbe' in '%s'; did you mean 'web'?");
}

TEST(cgroup_lists_that_make_no_sense_are_refused)
{
	check_refused(1, "web,batch", false, ERR_INVAL,
		"-G 'web,batch': 2 cgroups for 1 events; name the events (-e) first");
	check_refused(0, "web", false, ERR_INVAL,
		"-G 'web': 1 cgroups for 0 events; name the events (-e) first");
	check_refused(1, "web,,batch", true, ERR_INVAL, "cgroups 'web,,batch': a name is empty");
	check_refused(0, "web", true, ERR_INVAL, "cgroups 'web': name the events (-e) first");
	check_refused(1, "web(", true, ERR_INVAL, "cgroup 'web(': Unmatched ( or \\(");
}

static void check_for_each(const char *list, const char *expected)
{
	struct event_list events = {0};
	struct err err = {0};

	add_events(&events, 3);
	events.at[0].n_members = 2;
	events.at[1].n_members = 0;
	events.at[1].leader = 0;
	vec_add(&events.at[2].cpus, (u32)3);
	if (cgroup_for_each(&events, list, fake_cgroups(), &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	check_events(&events, expected);
	event_list_fini(&events);
}

#define THREE(name, first)                                                         \
	"a = 0/0 in cgroup " name " leads 2; b = 0/1 in cgroup " name " in " first \
	"; c = 0/2 in cgroup " name " on 3"

TEST(cgroup_for_each_repeats_all_events_and_their_groups)
{
	check_for_each("web", THREE("web", "0"));
	check_for_each("web,batch", THREE("web", "0") "; " THREE("batch", "3"));
	check_for_each("web,web", THREE("web", "0"));
}

TEST(cgroup_for_each_takes_regular_expressions)
{
	check_for_each("^web/", THREE("web/back", "0") "; " THREE("web/front", "3"));
	check_for_each("^/web/f", THREE("web/front", "0"));
	check_for_each("batch,front|night",
		THREE("batch", "0") "; " THREE("batch/night", "3") "; " THREE("web/front", "6"));
}

TEST(cgroup_for_each_excludes_the_other_way)
{
	struct event_list events = {0};
	struct err err;

	add_events(&events, 1);
	CHECK_EQ(cgroup_assign(&events, "web", fake_cgroups(), &err), 0);
	CHECK_EQ(cgroup_for_each(&events, "batch", fake_cgroups(), &err), ERR_INVAL);
	CHECK_STR(err.msg,
		"event 'a' is for cgroup 'web' already: -G and --for-each-cgroup exclude each other");
	event_list_fini(&events);
}

static void check_mount(const char *mounts, const char *expected)
{
	struct err err = {0};
	char buf[128] = "";

	fake_file("mounts", mounts);
	CHECK_EQ(cgroup_find_mount(test_path("mounts"), buf, sizeof(buf), &err),
		expected ? 0 : ERR_NOENT);
	if (expected)
		CHECK_STR(buf, expected);
	else
		CHECK_HAS(err.msg, "mount -t cgroup2");
}

TEST(cgroup_mount_is_perf_events_own_or_version_2)
{
	check_mount("proc /proc proc rw 0 0\n"
		    "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n",
		"/sys/fs/cgroup");
	check_mount("tmpfs /sys/fs/cgroup tmpfs rw 0 0\n"
		    "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu,cpuacct 0 0\n"
		    "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n",
		"/sys/fs/cgroup/unified");
	check_mount("cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"
		    "cgroup /sys/fs/cgroup/perf_event cgroup rw,nosuid,perf_event 0 0\n",
		"/sys/fs/cgroup/perf_event");
	check_mount("cgroup /sys/fs/cgroup/x cgroup rw,no_perf_event 0 0\n", NULL);
	check_mount("cut cgroup2\n\n", NULL);
	check_mount("", NULL);
}

TEST(cgroup_mount_of_this_machine_has_processes)
{
	struct err err = {0};
	char root[256], path[300];
	struct event_list events = {0};

	if (cgroup_find_mount("/proc/mounts", root, sizeof(root), &err))
		SKIP("%s", err.msg);
	snprintf(path, sizeof(path), "%s/cgroup.procs", root);
	CHECK_EQ(access(path, F_OK), 0);
	add_events(&events, 1);
	CHECK_EQ(cgroup_assign(&events, "/", root, &err), 0);
	check_events(&events, "a = 0/0 in cgroup .");
	event_list_fini(&events);
}

TEST(cgroup_that_is_not_there_is_named)
{
	char mount[4096], path[4200];
	struct err err;
	int fd = -7;

	if (cgroup_find_mount("/proc/mounts", mount, sizeof(mount), &err))
		SKIP("%s", err.msg);
	CHECK_EQ(cgroup_open("no/such/group", &fd, &err), ERR_NOENT);
	CHECK_EQ(fd, -7);
	snprintf(path, sizeof(path), "opening the control group '%s/no/such/group': ", mount);
	CHECK_HAS(err.msg, path);
}

TEST(cgroup_is_opened_by_both_of_its_names)
{
	struct stat root, st;
	char mount[4096];
	struct err err;
	int fd;

	if (cgroup_find_mount("/proc/mounts", mount, sizeof(mount), &err))
		SKIP("%s", err.msg);
	CHECK_EQ(stat(mount, &root), 0);
	for (unsigned i = 0; i < 3; i++) {
		const char *names[] = {"/", mount, ""};

		CHECK_EQ(cgroup_open(names[i], &fd, &err), 0);
		CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
		CHECK_EQ(fstat(fd, &st), 0);
		CHECK(st.st_ino == root.st_ino && st.st_dev == root.st_dev);
		close(fd);
	}
}
