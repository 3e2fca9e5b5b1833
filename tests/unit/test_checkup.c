#include "test.h"

#include "collect/known/checkup.h"
#include "event/tsx.h"
#include "unit/tree.h"

/* Facts of machines that are made up; the pages of whole ones are in tests/golden/doctor. */

static const struct finding *fact(const struct checkup *c, const char *key)
{
	vec_each(f, &c->findings)
		if (!strcmp(f->key, key))
			return f;
	test_failed(__FILE__, __LINE__, "there is no fact '%s'", key);
}

/* The fact's words and state after a checkup of the test's directory. */
static void check_fact(const char *key, const char *text, enum finding_state state,
	enum remedy_kind remedy)
{
	struct checkup c;

	checkup_run(&c, test_dir());
	CHECK_STR(fact(&c, key)->text, text);
	CHECK_EQ(fact(&c, key)->state, state);
	CHECK_EQ(fact(&c, key)->remedy.kind, remedy);
	checkup_fini(&c);
}

TEST(checkup_of_this_machine_has_words_for_every_fact_and_every_trial)
{
	struct checkup c;

	checkup_run(&c, NULL);
	CHECK(c.findings.n > 15);
	vec_each(f, &c.findings) {
		CHECK(f->text && f->text[0]);
		vec_each(other, &c.findings)
			CHECK(f == other || strcmp(f->key, other->key));
	}
	for (size_t i = 0; i < TRIAL_COUNT; i++)
		CHECK(c.trials[i].key && c.trials[i].what[0] &&
			c.trials[i].works == !c.trials[i].why[0]);
	checkup_fini(&c);
}

TEST(checkup_of_an_empty_directory_claims_nothing)
{
	struct checkup c;

	checkup_run(&c, test_dir());
	CHECK(!checkup_is_fit(&c));
	for (size_t i = 0; i < TRIAL_COUNT; i++)
		CHECK(!c.trials[i].works && c.trials[i].why[0]);
	CHECK_EQ(fact(&c, "kptr_restrict")->state, FINDING_UNKNOWN);
	CHECK_EQ(fact(&c, "config")->state, FINDING_UNKNOWN);
	CHECK_EQ(fact(&c, "open_files")->state, FINDING_UNKNOWN);
	CHECK(!fact(&c, "kptr_restrict")->has_value);
	checkup_fini(&c);
}

TEST(checkup_explains_each_paranoid_level)
{
	static const struct {
		const char *level, *text;
		enum finding_state state;
	} rows[] = {
		{"-1\n", "-1: users measure everything", FINDING_FINE},
		{"0\n", "0: users measure everything but tracepoints' contents", FINDING_FINE},
		{"1\n", "1: users measure their own programs, kernel included", FINDING_FINE},
		{"2\n", "2: users measure their own programs, in user space only",
			FINDING_LIMITS_US},
		{"3\n", "3: users measure nothing on Debian's, Ubuntu's and Android's kernels; elsewhere as with 2",
			FINDING_LIMITS_US},
		{"4\n", "4: users measure nothing on Debian's, Ubuntu's and Android's kernels; elsewhere as with 2",
			FINDING_LIMITS_US},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		tree_file(test_dir(), rows[i].level, "proc/sys/kernel/perf_event_paranoid");
		check_fact("perf_event_paranoid", rows[i].text, rows[i].state, REMEDY_NONE);
	}
}

TEST(checkup_says_whether_transactions_can_be_counted_and_why_not)
{
	check_fact("transactions", "unknown: cpuinfo cannot be read", FINDING_UNKNOWN, REMEDY_NONE);
	tree_file(test_dir(), "processor\t: 0\nflags\t\t: fpu avx\n", "proc/cpuinfo");
	check_fact("transactions", "this CPU has no transactions (Intel TSX)", FINDING_FINE,
		REMEDY_NONE);
	tree_file(test_dir(), "processor\t: 0\nflags\t\t: fpu rtm_always_abort avx\n",
		"proc/cpuinfo");
	check_fact("transactions", tsx_reason(TSX_MICROCODE), FINDING_LIMITS_US, REMEDY_NONE);
	tree_file(test_dir(), "4\n", "sys/bus/event_source/devices/cpu/type");
	tree_file(test_dir(), "event=0xc9,umask=0x1\n",
		"sys/bus/event_source/devices/cpu/events/tx-start");
	check_fact("transactions", "counted: 'pace tsx' shows them", FINDING_FINE, REMEDY_NONE);
}

TEST(checkup_says_that_the_watchdog_takes_a_counter_only_where_there_are_some)
{
	tree_file(test_dir(), "1\n", "proc/sys/kernel/nmi_watchdog");
	check_fact("nmi_watchdog", "1: on, it takes one hardware counter for itself", FINDING_FINE,
		REMEDY_NONE);
	tree_file(test_dir(), "4\n", "sys/bus/event_source/devices/cpu/type");
	check_fact("nmi_watchdog", "1: on, it takes one hardware counter for itself",
		FINDING_LIMITS_US, REMEDY_WATCHDOG);
	tree_file(test_dir(), "0\n", "proc/sys/kernel/nmi_watchdog");
	check_fact("nmi_watchdog", "0: off, no counter is taken", FINDING_FINE, REMEDY_NONE);
}

TEST(checkup_works_out_how_large_rings_may_be)
{
	static const char limits[] = "Max locked memory         %s   8388608      bytes\n";
	char text[128];

	tree_file(test_dir(), "0-3\n", "sys/devices/system/cpu/online");
	tree_file(test_dir(), "516\n", "proc/sys/kernel/perf_event_mlock_kb");
	/* 516 and a fourth of 8192: 2564 hold a ring of 2048 and a page. */
	snprintf(text, sizeof(text), limits, "8388608");
	tree_file(test_dir(), text, "proc/self/limits");
	check_fact("locked_memory", "516 KiB a CPU and ulimit -l 8192: rings of 2048 KiB",
		FINDING_FINE, REMEDY_NONE);
	snprintf(text, sizeof(text), limits, "0");
	tree_file(test_dir(), text, "proc/self/limits");
	check_fact("locked_memory", "516 KiB a CPU and ulimit -l 0: rings of 512 KiB", FINDING_FINE,
		REMEDY_NONE);
	tree_file(test_dir(), "64\n", "proc/sys/kernel/perf_event_mlock_kb");
	check_fact("locked_memory", "64 KiB a CPU and ulimit -l 0: rings of 32 KiB",
		FINDING_LIMITS_US, REMEDY_LOCKED_MEMORY);
	snprintf(text, sizeof(text), limits, "unlimited");
	tree_file(test_dir(), text, "proc/self/limits");
	check_fact("locked_memory", "64 KiB a CPU; ulimit -l does not limit", FINDING_FINE,
		REMEDY_NONE);
}

TEST(checkup_warns_of_guests_that_sampling_by_nmi_resets)
{
	tree_file(test_dir(), "innotek GmbH\n", "sys/class/dmi/id/sys_vendor");
	tree_file(test_dir(), "VirtualBox\n", "sys/class/dmi/id/product_name");
	check_fact("machine", "virtual: VirtualBox; no PMU, so sampling is by the clock",
		FINDING_LIMITS_US, REMEDY_COUNTERS);
	tree_file(test_dir(), "4\n", "sys/bus/event_source/devices/cpu/type");
	check_fact("machine", "virtual: VirtualBox, with a PMU; sampling with it has reset guests",
		FINDING_LIMITS_US, REMEDY_COUNTERS);
	tree_file(test_dir(), "QEMU\n", "sys/class/dmi/id/sys_vendor");
	tree_file(test_dir(), "Standard PC\n", "sys/class/dmi/id/product_name");
	check_fact("machine", "virtual: QEMU (KVM or an emulated CPU), with a PMU", FINDING_FINE,
		REMEDY_NONE);
}

TEST(checkup_compares_open_files_with_the_cpus)
{
	tree_file(test_dir(), "0-127\n", "sys/devices/system/cpu/online");
	tree_file(test_dir(), "Max open files            1024   4096      files\n",
		"proc/self/limits");
	/* 64 of them are pace's own. */
	check_fact("open_files", "ulimit -n 1024 (4096): room for 31 events on 128 CPUs",
		FINDING_LIMITS_US, REMEDY_FILES);
	tree_file(test_dir(), "Max open files            1024   524288      files\n",
		"proc/self/limits");
	check_fact("open_files", "ulimit -n 1024 (524288): room for 4095 events on 128 CPUs",
		FINDING_FINE, REMEDY_NONE);
}

TEST(checkup_reads_who_may_read_counters_in_user_space)
{
	check_fact("user_reads", "none: no core PMU offers them", FINDING_FINE, REMEDY_NONE);
	tree_file(test_dir(), "0\n", "proc/sys/kernel/perf_user_access");
	check_fact("user_reads", "perf_user_access is 0: never", FINDING_LIMITS_US,
		REMEDY_USER_READS);
	tree_file(test_dir(), "1\n", "sys/bus/event_source/devices/cpu/rdpmc");
	check_fact("user_reads", "rdpmc is 1: by programs that opened the event", FINDING_FINE,
		REMEDY_NONE);
	tree_file(test_dir(), "2\n", "sys/bus/event_source/devices/cpu/rdpmc");
	check_fact("user_reads", "rdpmc is 2: by every program", FINDING_FINE, REMEDY_NONE);
}

TEST(checkup_tells_options_that_are_missing_from_options_that_are_unknown)
{
	struct checkup c;

	tree_file(test_dir(), "6.1\n", "proc/sys/kernel/osrelease");
	check_fact("config", "unknown: no config found (/proc/config.gz, /boot/config-*)",
		FINDING_UNKNOWN, REMEDY_NONE);
	tree_file(test_dir(),
		"CONFIG_HAVE_PERF_EVENTS=y\nCONFIG_PERF_EVENTS=y\nCONFIG_HAVE_PERF_EVENTS_NMI=y\n"
		"CONFIG_HAVE_PERF_REGS=y\nCONFIG_HAVE_PERF_USER_STACK_DUMP=y\n"
		"CONFIG_UPROBE_EVENTS=y\nCONFIG_KPROBE_EVENTS=y\nCONFIG_FTRACE_SYSCALLS=y\n"
		"CONFIG_BPF_EVENTS=y\n# CONFIG_SCHEDSTATS is not set\nCONFIG_KALLSYMS=y\n",
		"boot/config-6.1");
	check_fact("config", "without CONFIG_SCHEDSTATS (waiting times by cause)",
		FINDING_LIMITS_US, REMEDY_NONE);
	checkup_run(&c, test_dir());
	for (size_t i = 0; i < c.n_options; i++)
		CHECK_EQ(c.options[i].state,
			strcmp(c.options[i].name, "CONFIG_SCHEDSTATS") ? KCONFIG_BUILT_IN
								       : KCONFIG_MISSING);
	checkup_fini(&c);
}

TEST(checkup_warns_of_sample_rates_that_the_kernel_has_lowered)
{
	tree_file(test_dir(), "25\n", "proc/sys/kernel/perf_cpu_time_max_percent");
	tree_file(test_dir(), "1000\n", "proc/sys/kernel/perf_event_max_sample_rate");
	check_fact("sample_rate", "1000 Hz, less when that takes over 25 % of a CPU",
		FINDING_LIMITS_US, REMEDY_RATE);
	tree_file(test_dir(), "100000\n", "proc/sys/kernel/perf_event_max_sample_rate");
	check_fact("sample_rate", "100000 Hz, less when that takes over 25 % of a CPU",
		FINDING_FINE, REMEDY_NONE);
}
