#include "test.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/around/privilege.h"

static const char *explain(const struct privilege *p, enum privilege_wish wish)
{
	static char buf[700];

	return privilege_explain(p, wish, buf, sizeof(buf));
}

TEST(privilege_levels_allow_what_the_kernels_documentation_says)
{
	/* The highest perf_event_paranoid at which an ordinary user may. */
	static const s64 highest[] = {
		[PRIVILEGE_USER] = 2,
		[PRIVILEGE_KERNEL] = 1,
		[PRIVILEGE_CPU] = 0,
		[PRIVILEGE_TRACEPOINT] = -1,
	};

	for (size_t wish = 0; wish < ARRAY_SIZE(highest); wish++) {
		for (s64 level = -2; level <= 4; level++) {
			struct privilege p = {.has_perf_events = true, .paranoid = level};

			CHECK_EQ(privilege_allows(&p, wish), level <= highest[wish]);
			p.has_perfmon = true;
			CHECK(privilege_allows(&p, wish));
			p.has_perf_events = false;
			CHECK(!privilege_allows(&p, wish));
		}
	}
}

TEST(privilege_other_capabilities_do_not_stand_for_perfmon)
{
	struct privilege p = {.has_perf_events = true,
		.paranoid = 3,
		.has_syslog = true,
		.has_ipc_lock = true};

	CHECK(!privilege_allows(&p, PRIVILEGE_USER));
}

TEST(privilege_names_level_capability_and_command)
{
	struct privilege p = {.has_perf_events = true, .paranoid = 2};

	CHECK_STR(explain(&p, PRIVILEGE_KERNEL),
		"perf_event_paranoid is 2, measuring the kernel needs 1 or less, CAP_PERFMON or "
		"CAP_SYS_ADMIN: run 'sudo sysctl kernel.perf_event_paranoid=1'");
	CHECK_STR(explain(&p, PRIVILEGE_CPU),
		"perf_event_paranoid is 2, measuring all processes (-a, -C) needs 0 or less, "
		"CAP_PERFMON or CAP_SYS_ADMIN: run 'sudo sysctl kernel.perf_event_paranoid=0'");
	p.paranoid = 4;
	CHECK_STR(explain(&p, PRIVILEGE_USER),
		"perf_event_paranoid is 4, measuring at all needs 2 or less, CAP_PERFMON or "
		"CAP_SYS_ADMIN: run 'sudo sysctl kernel.perf_event_paranoid=2'");
	p.paranoid = 3;
	CHECK_STR(explain(&p, PRIVILEGE_TRACEPOINT),
		"perf_event_paranoid is 3, reading tracepoints needs -1 or less, CAP_PERFMON or "
		"CAP_SYS_ADMIN: run 'sudo sysctl kernel.perf_event_paranoid=-1'");
}

TEST(privilege_advises_the_capability_where_no_level_helps)
{
	struct privilege p = {.has_perf_events = true, .paranoid = -1};

	CHECK_STR(explain(&p, PRIVILEGE_KPROBE),
		"putting probes into the kernel needs CAP_PERFMON or CAP_SYS_ADMIN: "
		"run 'sudo setcap cap_perfmon=ep $(command -v pace)'");
	CHECK_HAS(explain(&p, PRIVILEGE_UPROBE),
		"putting probes into programs needs CAP_SYS_ADMIN: run 'sudo $(command -v pace) "
		"record ...'");
	p.has_perfmon = true;
	CHECK(privilege_allows(&p, PRIVILEGE_KPROBE) && !privilege_allows(&p, PRIVILEGE_UPROBE));
	p.has_perfmon = false;
	strcpy(p.site.program, "/opt/bin/pace");
	p.site.is_old = true;
	CHECK_HAS(explain(&p, PRIVILEGE_STRANGER), "'sudo setcap cap_sys_admin=ep /opt/bin/pace'");
}

TEST(privilege_says_that_capabilities_of_a_user_namespace_do_not_count)
{
	struct privilege p = {.has_perf_events = true,
		.paranoid = 2,
		.capabilities = ~0ULL,
		.site.in_user_namespace = true};

	CHECK(!privilege_allows(&p, PRIVILEGE_KERNEL));
	CHECK_HAS(explain(&p, PRIVILEGE_KERNEL), "CAP_SYS_ADMIN (not of a user namespace): run ");
	CHECK_HAS(explain(&p, PRIVILEGE_KPROBE),
		"(not of a user namespace): measure from the host");
}

TEST(privilege_suspects_somebody_else_when_the_level_allows_it)
{
	struct privilege p = {.has_perf_events = true, .paranoid = -1};

	CHECK_STR(explain(&p, PRIVILEGE_TRACEPOINT),
		"perf_event_paranoid is -1, which allows reading tracepoints, yet the kernel "
		"refused: a seccomp filter (containers have one), an LSM or lockdown forbids "
		"perf_event_open(2): allow that system call there");
	p.site.seccomp = SITE_SECCOMP_NONE;
	CHECK_HAS(explain(&p, PRIVILEGE_TRACEPOINT), "yet the kernel refused: an LSM or lockdown ");
	p.has_perfmon = true;
	p.paranoid = 4;
	CHECK_HAS(explain(&p, PRIVILEGE_CPU),
		"this process has CAP_PERFMON or CAP_SYS_ADMIN, which allows measuring all processes");
}

TEST(privilege_says_which_of_two_causes_takes_all_perf_events_away)
{
	struct privilege p = {.has_perfmon = true, .has_proc = true};

	CHECK_STR(explain(&p, PRIVILEGE_USER),
		"this kernel offers no perf events ('/proc/sys/kernel/perf_event_paranoid' is "
		"missing): it was built without CONFIG_PERF_EVENTS: boot a kernel that has it");
	p.has_proc = false;
	CHECK_STR(explain(&p, PRIVILEGE_USER),
		"/proc is not mounted, so there is no '/proc/sys/kernel/perf_event_paranoid' "
		"either: run 'sudo mount -t proc proc /proc'");
}

TEST(privilege_names_what_shows_kernel_addresses)
{
	static const struct {
		struct privilege p;
		const char *text;
	} rows[] = {
		/* As Debian has it: kptr_restrict forbids nothing, and yet they are hidden. */
		{{.has_perf_events = true, .paranoid = 2},
			"kptr_restrict is 0 and perf_event_paranoid 2: run 'sudo sysctl "
			"kernel.perf_event_paranoid=1'"},
		{{.has_perf_events = true, .paranoid = 1, .kptr_restrict = 1},
			"kptr_restrict is 1 and perf_event_paranoid 1: run 'sudo sysctl "
			"kernel.kptr_restrict=0'"},
		{{.has_perf_events = true, .paranoid = 3, .kptr_restrict = 1},
			"kptr_restrict is 1 and perf_event_paranoid 3: run 'sudo sysctl "
			"kernel.kptr_restrict=0 kernel.perf_event_paranoid=1'"},
		/* 2 hides them from root too. */
		{{.has_perf_events = true, .paranoid = 1, .kptr_restrict = 2, .has_syslog = true},
			"kptr_restrict is 2 and perf_event_paranoid 1: run 'sudo sysctl "
			"kernel.kptr_restrict=0'"},
		{{.has_perf_events = true, .paranoid = 1},
			"kptr_restrict is 0, which would show them, but a container, an LSM "
			"or lockdown hides them"},
		{{.has_perf_events = true, .paranoid = 2, .kptr_restrict = 1, .has_syslog = true},
			"kptr_restrict is 1, which would show them, but a container, an LSM or "
			"lockdown hides them"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char buf[256];

		CHECK_STR(privilege_explain_hidden(&rows[i].p, buf, sizeof(buf)), rows[i].text);
	}
}

TEST(privilege_sentence_is_cut_to_the_buffer)
{
	struct privilege p = {.has_perf_events = true, .paranoid = 2};
	char *buf = malloc(20);

	privilege_explain(&p, PRIVILEGE_CPU, buf, 20);
	CHECK_STR(buf, "perf_event_paranoid");
	free(buf);
}

TEST(privilege_of_this_process_agrees_with_its_status)
{
	unsigned long long caps = 0;
	struct privilege p;
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");

	CHECK(f);
	while (fgets(line, sizeof(line), f))
		sscanf(line, "CapEff: %llx", &caps);
	fclose(f);
	memset(&p, 0x5a, sizeof(p));
	privilege_read(&p);
	CHECK_EQ(p.capabilities, caps);
	if (p.site.in_user_namespace)
		caps = 0;
	CHECK_EQ(p.has_perfmon, (caps >> 38 & 1) || (caps >> 21 & 1));
	CHECK_EQ(p.has_syslog, caps >> 34 & 1);
	CHECK_EQ(p.has_ipc_lock, caps >> 14 & 1);
	f = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
	CHECK_EQ(p.has_perf_events, f != NULL);
	if (f) {
		int level;

		CHECK_EQ(fscanf(f, "%d", &level), 1);
		CHECK_EQ(p.paranoid, level);
		fclose(f);
	}
	f = fopen("/proc/sys/kernel/kptr_restrict", "r");
	if (f) {
		int level;

		CHECK_EQ(fscanf(f, "%d", &level), 1);
		CHECK_EQ(p.kptr_restrict, level);
		fclose(f);
	}
}

/* Goes on with these capabilities only; false if they are not ours to keep. */
static bool keep_capabilities(u64 caps)
{
	struct {
		u32 version;
		int pid;
	} header = {0x20080522, 0};
	const u32 data[6] = {(u32)caps, (u32)caps, 0, (u32)(caps >> 32), (u32)(caps >> 32), 0};

	return syscall(SYS_capset, &header, data) == 0;
}

TEST(privilege_takes_either_of_two_capabilities_for_perfmon)
{
	static const struct {
		u64 caps;
		bool has_perfmon, has_syslog, has_ipc_lock;
	} rows[] = {
		{1ULL << 38, true, false, false},
		{1ULL << 21, true, false, false},
		{1ULL << 34 | 1ULL << 14, false, true, true},
		{0, false, false, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		pid_t child = fork();
		int status;

		/* What is given up cannot be had again. */
		if (child == 0) {
			struct privilege p;

			if (!keep_capabilities(rows[i].caps))
				_exit(77);
			privilege_read(&p);
			_exit(p.has_perfmon != rows[i].has_perfmon ||
				p.has_syslog != rows[i].has_syslog ||
				p.has_ipc_lock != rows[i].has_ipc_lock);
		}
		CHECK_EQ(waitpid(child, &status, 0), child);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
			SKIP("these capabilities are not ours");
		CHECK_EQ(status, 0);
	}
}
