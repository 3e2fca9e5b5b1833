#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "unit/recording.h"
#include "view/records/header.h"

/* The header of a recording with these sections, as text. */
static void check(const struct recording *r, const struct file_info *info, bool details,
	const char *expected)
{
	const char *path = test_path("perf.data");
	const struct timespec when[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	struct str text = {0};
	struct reader reader;
	struct err err;

	setenv("TZ", "UTC", 1);
	tzset();
	recording_write(r, info, path);
	CHECK_EQ(utimensat(AT_FDCWD, path, when, 0), 0);
	if (reader_open(&reader, path, NULL, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	header_add_text(&reader, details, &text);
	CHECK_STR(str_text(&text), expected);
	reader_close(&reader);
	str_fini(&text);
}

#define MISSING_ALL                                                                           \
	"# missing features: TRACING_DATA BUILD_ID HOSTNAME OSRELEASE VERSION ARCH NRCPUS "   \
	"CPUDESC CPUID TOTAL_MEM "                                                            \
	"CMDLINE EVENT_DESC CPU_TOPOLOGY NUMA_TOPOLOGY BRANCH_STACK PMU_MAPPINGS GROUP_DESC " \
	"AUXTRACE STAT CACHE "                                                                \
	"SAMPLE_TIME MEM_TOPOLOGY CLOCKID DIR_FORMAT BPF_PROG_INFO BPF_BTF COMPRESSED "       \
	"CPU_PMU_CAPS CLOCK_DATA "                                                            \
	"HYBRID_TOPOLOGY PMU_CAPS \n"

TEST(header_of_a_file_without_sections_says_what_is_missing)
{
	const struct sample sample = {0};
	struct recording r = {0};

	recording_event(&r, "cycles", PERF_SAMPLE_IP, 1, 1);
	recording_sample(&r, 0, PERF_RECORD_MISC_USER, &sample);
	/* 104 of header, 8 of ids, 136 + 16 of attr; one sample of 16 bytes. */
	check(&r, NULL, false,
		"# ========\n"
		"# captured on    : Sun Sep  9 01:46:40 2001\n"
		"# header version : 1\n"
		"# data offset    : 264\n"
		"# data size      : 16\n"
		"# feat offset    : 280\n" MISSING_ALL "# ========\n"
		"#\n");
	recording_fini(&r);
}

TEST(header_prints_the_sections_in_their_order)
{
	static const char front[] = "# ========\n"
				    "# captured on    : Sun Sep  9 01:46:40 2001\n"
				    "# header version : 1\n"
				    "# data offset    : 264\n"
				    "# data size      : 16\n"
				    "# feat offset    : 280\n"
				    "# hostname : box\n"
				    "# os release : 6.1.0\\x1b[2J\n"
				    "# nrcpus online : 2\n"
				    "# nrcpus avail : 4\n"
				    "# total memory : 1024 kB\n"
				    "# cmdline : pace record a b \n";
	static const char back[] =
		"# missing features: TRACING_DATA BUILD_ID VERSION ARCH CPUDESC CPUID EVENT_DESC "
		"CPU_TOPOLOGY BRANCH_STACK PMU_MAPPINGS GROUP_DESC AUXTRACE STAT CACHE SAMPLE_TIME "
		"MEM_TOPOLOGY CLOCKID DIR_FORMAT BPF_PROG_INFO BPF_BTF COMPRESSED CPU_PMU_CAPS "
		"CLOCK_DATA "
		"HYBRID_TOPOLOGY PMU_CAPS \n# ========\n#\n";
	const struct sample sample = {0};
	struct recording r = {0};
	struct file_info info;
	char text[2048];

	recording_event(&r, "cycles", PERF_SAMPLE_IP, 1, 1);
	recording_sample(&r, 0, PERF_RECORD_MISC_USER, &sample);
	file_info_init(&info);
	info.host.hostname = "box";
	info.host.release = "6.1.0\x1b[2J";
	info.host.cpus_available = 4;
	info.host.cpus_online = 2;
	info.host.memory_kb = 1024;
	vec_add(&info.cmdline, "pace");
	vec_add(&info.cmdline, "record");
	vec_add(&info.cmdline, "a b");
	vec_add(&info.host.nodes, ((struct host_node){0, 1024, 512, "0-3"}));
	snprintf(text, sizeof(text), "%s# NUMA_TOPOLOGY info available, use -I to display\n%s",
		front, back);
	check(&r, &info, false, text);
	snprintf(text, sizeof(text),
		"%s# node0 meminfo  : total = 1024 kB, free = 512 kB\n# node0 cpu list : 0-3\n%s",
		front, back);
	check(&r, &info, true, text);
	file_info_fini(&info);
	recording_fini(&r);
}
