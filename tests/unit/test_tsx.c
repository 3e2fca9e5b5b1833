#include "event/tsx.h"

#include <stdlib.h>

#include "event/parse.h"

#include "fake_sysfs.h"
#include "test.h"

#define HASWELL  "GenuineIntel-6-3C-3"
#define SKYLAKE  "GenuineIntel-6-55-4"
#define SAPPHIRE "GenuineIntel-6-8F-8"

/* A CPU whose PMU counts transactions, with or without HLE. */
static const char *counting(bool has_hle)
{
	fake_file("tsx/bus/event_source/devices/cpu/type", "4\n");
	fake_file("tsx/bus/event_source/devices/cpu/format/event", "config:0-7\n");
	fake_file("tsx/bus/event_source/devices/cpu/format/umask", "config:8-15\n");
	fake_file("tsx/bus/event_source/devices/cpu/events/tx-start", "event=0xc9,umask=0x1\n");
	if (has_hle)
		fake_file("tsx/bus/event_source/devices/cpu/events/el-start",
			"event=0xc8,umask=0x1\n");
	return test_path("tsx");
}

/* "config precise" of the event, or the error. */
static void check_event(const char *sysfs, const char *text, const char *expected)
{
	const struct parse_env env = {.sysfs = sysfs};
	struct event_list events = {0};
	struct err err = {0};
	char result[sizeof(err.msg)];

	if (parse_events(text, &env, &events, &err))
		snprintf(result, sizeof(result), "%s", err.msg);
	else
		snprintf(result, sizeof(result), "%llx %u",
			(unsigned long long)events.at[0].attr.config,
			attr_precise(&events.at[0].attr));
	CHECK_STR(result, expected);
	event_list_fini(&events);
}

TEST(tsx_names_the_events_that_sysfs_does_not)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{"tx-start", "1c9 0"},
		{"tx-aborts-count", "4c9 0"},
		{"el-aborts-count", "4c8 0"},
		{"cpu/tx-aborts-count/p", "4c9 1"},
		{"mem_uops_retired.lock_loads:p", "21d0 1"},
		{"MEM_UOPS_RETIRED.LOCK_LOADS", "21d0 0"},
		{"rtm_retired.aborted:pp", "4c9 2"},
		{"hle_retired.start", "1c8 0"},
		{"rtm_retired.aborted_misc3", "20c9 0"},
		{"tx_exec.misc4", "85d 0"},
		{"tx_exec.misc3", "45d 0"},
		{"tx_mem.abort_conflict", "154 0"},
		{"tx_mem.abort_capacity_write", "254 0"},
		{"tx_mem.abort_hle_elision_buffer_full", "4054 0"},
		{"tx_mem.hle_elision_buffer_full", "4054 0"},
		{"tx_mem.abort_hle_elision_buffer_unsupported_alignment", "2054 0"},
		{"tx_mem.abort_hle_elision_buffer_mismatch", "1054 0"},
		{"tx_mem.abort_hle_elision_buffer_not_empty", "854 0"},
		{"tx_mem.abort_hle_store_to_elided_lock", "454 0"},
	};
	const char *sysfs = counting(true);

	setenv("PACE_CPUID", HASWELL, 1);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_event(sysfs, cases[i].text, cases[i].expected);
}

TEST(tsx_events_are_those_of_the_model)
{
	const char *sysfs = counting(false);

	setenv("PACE_CPUID", SKYLAKE, 1);
	check_event(sysfs, "mem_inst_retired.lock_loads", "21d0 0");
	check_event(sysfs, "rtm_retired.aborted_unfriendly", "20c9 0");
	check_event(sysfs, "tx_mem.abort_capacity_read",
		"event 'tx_mem.abort_capacity_read': other models have it, but not this CPU ('" SKYLAKE
		"')");
	setenv("PACE_CPUID", SAPPHIRE, 1);
	check_event(sysfs, "tx_mem.abort_capacity_read", "8054 0");
	check_event(sysfs, "tx-aborts-count", "4c9 0");
	/* Without HLE its events do not exist, whatever other models have. */
	check_event(sysfs, "el-aborts-count",
		"event 'el-aborts-count': it counts transactions: this CPU counts transactions, but not these ('pace list tx' has its events)");
	check_event(sysfs, "cpu/el-abort/",
		"event 'cpu/el-abort/' at column 5: PMU 'cpu' has no event 'el-abort': this CPU counts transactions, but not these ('pace list tx' has its events)");
}

TEST(tsx_bits_that_linux_would_ignore_are_refused)
{
	const char *sysfs, *here = counting(true);

	fake_file("none/bus/event_source/devices/cpu/type", "4\n");
	fake_file("none/bus/event_source/devices/cpu/format/event", "config:0-7\n");
	sysfs = test_path("none");
	setenv("PACE_CPUID", HASWELL, 1);
	check_event(here, "r10000003c", "10000003c 0");
	check_event(sysfs, "r10000003c",
		"event 'r10000003c': it asks for what happens in transactions (bits 32 and 33 of 0x10000003c), and Linux would count everything: this CPU has no transactions (Intel TSX)");
	check_event(sysfs, "cycles,cpu/config=0x2000000c0/u",
		"event 'cycles,cpu/config=0x2000000c0/u' at column 8: it asks for what happens in transactions (bits 32 and 33 of 0x2000000c0), and Linux would count everything: this CPU has no transactions (Intel TSX)");
	check_event(sysfs, "cpu/event=0x3c,intx=1/",
		"event 'cpu/event=0x3c,intx=1/' at column 16: PMU 'cpu' has no term 'intx': this CPU has no transactions (Intel TSX)");
	check_event(sysfs, "r3c", "3c 0");
	/* On AMD's processors they are the upper bits of the event's number. */
	setenv("PACE_CPUID", "AuthenticAMD-25-11-1", 1);
	check_event(sysfs, "r10000003c", "10000003c 0");
	unsetenv("PACE_CPUID");
}

#define FLAGS(words) "processor\t: 0\nflags\t\t: fpu vme " words " avx\nbugs\t\t: rtm\n"
#define MODEL(n)                                                    \
	"vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: " n \
	"\nmodel name\t: X\nstepping\t: 4\n"

/* Each state has its own reason, and each is told from the kernel's words alone. */
TEST(tsx_says_why_there_are_no_transactions)
{
	static const struct {
		const char *cpuinfo;
		enum tsx_state state;
	} cases[] = {
		{FLAGS("hle rtm"), TSX_UNCOUNTED},
		{FLAGS("rtm_always_abort"), TSX_MICROCODE},
		{FLAGS("mmx"), TSX_MISSING},
		{MODEL("85") FLAGS("mmx"), TSX_DISABLED},
		{MODEL("85") FLAGS("hypervisor"), TSX_HYPERVISOR},
		{MODEL("154") FLAGS("mmx"), TSX_MISSING},
		{NULL, TSX_MISSING},
	};

	fake_file("none/bus/event_source/devices/software/type", "1\n");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CHECK_EQ(tsx_state_of(test_path("none"), cases[i].cpuinfo), cases[i].state);
		CHECK(tsx_reason(cases[i].state)[0]);
	}
	fake_file("none/devices/system/cpu/vulnerabilities/tsx_async_abort",
		"Mitigation: TSX disabled\n");
	CHECK_EQ(tsx_state_of(test_path("none"), MODEL("85") FLAGS("mmx")), TSX_KERNEL);
	CHECK_EQ(tsx_state_of(counting(false), FLAGS("rtm_always_abort")), TSX_COUNTED);
	CHECK_STR(tsx_reason(TSX_COUNTED), "");
}

static void check_kind(const struct parse_env *env, const char *text, enum tsx_count expected)
{
	struct event_list events = {0};
	struct err err = {0};

	CHECK_EQ(parse_events(text, env, &events, &err), 0);
	CHECK_EQ(tsx_count_of(&events.at[0]), expected);
	event_list_fini(&events);
}

TEST(tsx_knows_what_an_event_counts_whatever_it_is_called)
{
	const struct parse_env env = {.sysfs = counting(true)};

	check_kind(&env, "cycles:u", TSX_CYCLES);
	check_kind(&env, "r10000003c", TSX_CYCLES_IN);
	check_kind(&env, "cpu/config=0x30000003c/u", TSX_CYCLES_COMMITTED);
	check_kind(&env, "cpu/tx-start/u", TSX_STARTS);
	check_kind(&env, "el-start:u", TSX_ELISIONS);
	check_kind(&env, "r21d0:p", TSX_LOCK_LOADS);
	check_kind(&env, "r4c9:pp", TSX_ABORTS);
	check_kind(&env, "r4c8:p", TSX_ELISION_ABORTS);
	check_kind(&env, "instructions", TSX_COUNTS);
	check_kind(&env, "cs", TSX_COUNTS);
}
