#include "fake_sysfs.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/types.h"

#include "test.h"

struct fake {
	const char *path, *text;
};

#define DEVICES "sys/bus/event_source/devices/"
#define CPU     DEVICES "cpu/"
#define ATOM    DEVICES "cpu_atom/"
#define IMC     DEVICES "uncore_imc_0/"
#define SPLIT   DEVICES "split/"
#define BENT    DEVICES "bent/"

static const struct fake sysfs[] = {
	{CPU "type", "4\n"},
	{CPU "format/event", "config:0-7\n"},
	{CPU "format/umask", "config:8-15\n"},
	{CPU "format/edge", "config:18\n"},
	{CPU "format/inv", "config:23\n"},
	{CPU "format/cmask", "config:24-31\n"},
	{CPU "format/in_tx", "config:32\n"},
	{CPU "format/ldlat", "config1:0-15\n"},
	{CPU "format/offcore_rsp", "config1:0-63\n"},
	{CPU "format/frontend", "config2:0-23\n"},
	{CPU "events/cpu-cycles", "event=0x3c\n"},
	{CPU "events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n"},
	{CPU "events/mem-loads.scale", "1.5\n"},
	{CPU "events/edge-cycles", "event=0x3c,edge\n"},
	{CPU "events/asks", "event=0xc4,umask=?\n"},
	{CPU "events/too-wide", "event=0x13c\n"},
	{CPU "events/shared-name", "event=0x01\n"},
	{ATOM "type", "10\n"},
	{ATOM "cpus", "4-7\n"},
	{ATOM "format/event", "config:0-7\n"},
	{ATOM "events/atom-only", "event=0x22\n"},
	{ATOM "events/shared-name", "event=0x02\n"},
	{IMC "type", "14\n"},
	{IMC "cpumask", "0,2\n"},
	{IMC "format/event", "config:0-7\n"},
	{IMC "format/umask", "config:8-15\n"},
	{IMC "events/cas_count_read", "event=0x04,umask=0x03\n"},
	{IMC "events/cas_count_read.scale", "6.103515625e-5\n"},
	{IMC "events/cas_count_read.unit", "MiB\n"},
	{IMC "events/shared-name", "event=0x03\n"},
	{SPLIT "type", "20\n"},
	{SPLIT "cpumask", "\n"},
	{SPLIT "format/wide", "config:0-7,32-35\n"},
	{SPLIT "format/three", "config1:60,4-5,0\n"},
	{SPLIT "format/top", "config:63\n"},
	{SPLIT "format/full", "config:0-63\n"},
	{SPLIT "format/c3", "config3:0-31\n"},
	{SPLIT "format/c4", "config4:8-15\n"},
	{BENT "type", "21\n"},
	{BENT "format/unknown_word", "config9:0-7\n"},
	{BENT "format/no_bits", "config:\n"},
	{BENT "format/no_colon", "config\n"},
	{BENT "format/backwards", "config:7-0\n"},
	{BENT "format/too_high", "config:64\n"},
	{BENT "format/half", "config:0-\n"},
	{BENT "format/trailing", "config:0-7,\n"},
	{BENT "format/text", "config:0-7x\n"},
	{DEVICES "no_type/format/event", "config:0-7\n"},
	{DEVICES "no_number/type", "abc\n"},
	{DEVICES "bad_mask/type", "30\n"},
	{DEVICES "bad_mask/cpumask", "0-x\n"},
};

static const struct fake tracefs[] = {
	{"tracing/events/enable", "0\n"},
	{"tracing/events/sched/enable", "0\n"},
	{"tracing/events/sched/sched_switch/id", "314\n"},
	{"tracing/events/sched/sched_wakeup/id", "315\n"},
	{"tracing/events/syscalls/sys_enter_openat/id", "600\n"},
	{"tracing/events/broken/no_number/id", "\n"},
};

void fake_file(const char *name, const char *text)
{
	const char *path = test_path(name);
	char folder[512];

	for (const char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
		if (mkdir(folder, 0755) && errno != EEXIST)
			test_failed(__FILE__, __LINE__, "making '%s': %s", folder, strerror(errno));
	}
	test_write(path, text, strlen(text));
}

const char *fake_sysfs(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(sysfs); i++)
		fake_file(sysfs[i].path, sysfs[i].text);
	return test_path("sys");
}

const char *fake_tracefs(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(tracefs); i++)
		fake_file(tracefs[i].path, tracefs[i].text);
	return test_path("tracing");
}
