#include "event/abi.h"
#include "event/attr.h"

#include "test.h"

/* ---- numbers that are newer than the header test_abi.c compares with ---- */

TEST(abi_numbers_newer_than_debians_header_are_the_kernels)
{
	CHECK_EQ(PERF_SAMPLE_BRANCH_COUNTERS, 1 << 19);  /* Linux 6.8 */
	CHECK_EQ(PERF_RECORD_CALLCHAIN_DEFERRED, 22);    /* Linux 6.19 */
	CHECK_EQ(PERF_CONTEXT_USER_DEFERRED, (u64)-640); /* Linux 6.19 */
	CHECK_EQ(ATTR_SIZE_VER8, 136);                   /* Linux 6.3 */
	CHECK_EQ(ATTR_SIZE_VER9, 144);                   /* Linux 6.18 */
	CHECK_EQ(sizeof(struct event_attr), ATTR_SIZE_VER9);
	CHECK_EQ(offsetof(struct event_attr, config3), ATTR_SIZE_VER7);
	CHECK_EQ(offsetof(struct event_attr, config4), ATTR_SIZE_VER8);
	CHECK_EQ(offsetof(struct ring_page, data_head), 1024);
}

/* perf's own record types, from tools/perf/Documentation/perf.data-file-format.txt and libperf's
 * event.h. */
TEST(abi_user_record_types_are_perfs)
{
	static const int types[] = {PERF_RECORD_HEADER_ATTR, PERF_RECORD_HEADER_EVENT_TYPE,
		PERF_RECORD_HEADER_TRACING_DATA, PERF_RECORD_HEADER_BUILD_ID,
		PERF_RECORD_FINISHED_ROUND, PERF_RECORD_ID_INDEX, PERF_RECORD_AUXTRACE_INFO,
		PERF_RECORD_AUXTRACE, PERF_RECORD_AUXTRACE_ERROR, PERF_RECORD_THREAD_MAP,
		PERF_RECORD_CPU_MAP, PERF_RECORD_STAT_CONFIG, PERF_RECORD_STAT,
		PERF_RECORD_STAT_ROUND, PERF_RECORD_EVENT_UPDATE, PERF_RECORD_TIME_CONV,
		PERF_RECORD_HEADER_FEATURE, PERF_RECORD_COMPRESSED, PERF_RECORD_FINISHED_INIT,
		PERF_RECORD_COMPRESSED2, PERF_RECORD_BPF_METADATA};

	CHECK_EQ(PERF_RECORD_USER_TYPE_START, 64);
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		CHECK_EQ(types[i], 64 + i);
	CHECK_EQ(PERF_RECORD_MISC_BUILD_ID_SIZE, 1 << 15);
}

TEST(attr_precise_is_two_bits_of_the_flags)
{
	struct event_attr attr = {.flags = ~0ULL};

	CHECK_EQ(ATTR_PRECISE_MASK, 3ULL << 15);
	CHECK_EQ(attr_precise(&attr), 3);
	for (unsigned level = 0; level < 4; level++) {
		attr_set_precise(&attr, level);
		CHECK_EQ(attr_precise(&attr), level);
		CHECK_EQ(attr.flags | ATTR_PRECISE_MASK, ~0ULL);
		CHECK_EQ(attr.flags >> 15 & 3, level);
	}
}

/* ---- sizes ---- */

/* Which size an attr with one byte set at `offset` needs. */
static u32 size_for(size_t offset)
{
	static const u32 sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144};
	size_t i = 0;

	while (sizes[i] <= offset)
		i++;
	return sizes[i];
}

TEST(attr_needed_size_is_that_of_the_last_field_used)
{
	struct event_attr attr = {0};

	CHECK_EQ(attr_needed_size(&attr), 64);
	for (size_t offset = 0; offset < sizeof(attr); offset++) {
		memset(&attr, 0, sizeof(attr));
		((u8 *)&attr)[offset] = 0x80;
		CHECK_EQ(attr_needed_size(&attr), size_for(offset));
		/* What lies before does not matter. */
		memset(&attr, 0xff, offset + 1);
		CHECK_EQ(attr_needed_size(&attr), size_for(offset));
	}
}

TEST(attr_needed_size_follows_the_kernels_versions)
{
	CHECK_EQ(attr_needed_size(&(struct event_attr){.config1 = 1}), ATTR_SIZE_VER0);
	CHECK_EQ(attr_needed_size(&(struct event_attr){.config2 = 1}), ATTR_SIZE_VER1);
	CHECK_EQ(attr_needed_size(&(struct event_attr){.branch_sample_type = 1}), ATTR_SIZE_VER2);
	CHECK_EQ(attr_needed_size(&(struct event_attr){.sample_regs_user = 1}), ATTR_SIZE_VER3);
	CHECK_EQ(attr_needed_size(&(struct event_attr){.sample_stack_user = 1}), ATTR_SIZE_VER3);
	CHECK_EQ(attr_needed_size(&(struct event_attr){.clockid = 1}), ATTR_SIZE_VER3);
	CHECK_EQ(attr_needed_size(&(struct event_attr){.sample_regs_intr = 1}), ATTR_SIZE_VER4);
	CHECK_EQ(attr_needed_size(&(struct event_attr){.aux_watermark = 1}), ATTR_SIZE_VER5);
	CHECK_EQ(attr_needed_size(&(struct event_attr){.sample_max_stack = 1}), ATTR_SIZE_VER5);
	CHECK_EQ(attr_needed_size(&(struct event_attr){.aux_sample_size = 1}), ATTR_SIZE_VER6);
	CHECK_EQ(attr_needed_size(&(struct event_attr){.sig_data = 1}), ATTR_SIZE_VER7);
	CHECK_EQ(attr_needed_size(&(struct event_attr){.config3 = 1}), ATTR_SIZE_VER8);
	CHECK_EQ(attr_needed_size(&(struct event_attr){.config4 = 1}), ATTR_SIZE_VER9);
}

/* ---- reading ---- */

enum { MAX_SIZE = 4096 };

/* Bytes of an attr that all differ from zero; its size field says `size`. */
static void fill(u8 *buf, u32 size)
{
	for (size_t i = 0; i < MAX_SIZE; i++)
		buf[i] = (u8)(i * 37 % 251 + 1);
	memcpy(buf + 4, &size, 4);
}

TEST(attr_read_takes_every_size_and_extends_with_zeros)
{
	u8 buf[MAX_SIZE];

	for (u32 size = 64; size <= 200; size++) {
		struct bytes b = bytes_of(buf, sizeof(buf));
		u8 expected[sizeof(struct event_attr)] = {0};
		struct event_attr attr;
		struct err err = {0};
		bool has_dropped = true;

		fill(buf, size);
		memcpy(expected, buf, MIN(size, sizeof(expected)));
		CHECK_EQ(attr_read(&b, 0, &attr, &has_dropped, &err), 0);
		CHECK(!memcmp(&attr, expected, sizeof(attr)));
		CHECK_EQ(attr.size, size);
		CHECK_EQ(has_dropped, size > sizeof(attr));
		CHECK_EQ(b.offset, size);
		CHECK_EQ(bytes_left(&b), sizeof(buf) - size);
	}
}

TEST(attr_read_tells_whether_the_unknown_tail_had_content)
{
	u8 buf[MAX_SIZE];

	for (u32 size = 145; size <= 300; size++) {
		for (u32 set = 143; set < size; set += 1 + (size - 144) / 3) {
			struct bytes b = bytes_of(buf, size);
			struct event_attr attr;
			struct err err;
			bool has_dropped;

			fill(buf, size);
			memset(buf + 144, 0, size - 144);
			buf[set] = 1;
			CHECK_EQ(attr_read(&b, 0, &attr, &has_dropped, &err), 0);
			CHECK_EQ(has_dropped, set >= 144);
			CHECK_EQ(bytes_left(&b), 0);
		}
	}
}

TEST(attr_read_with_size_zero_takes_the_size_it_is_told)
{
	static const struct {
		u64 told;
		u32 taken;
	} cases[] = {{0, 64}, {64, 64}, {72, 72}, {128, 128}, {144, 144}, {160, 160}};
	u8 buf[MAX_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bytes b = bytes_of(buf, sizeof(buf));
		struct event_attr attr;
		struct err err;
		bool has_dropped;

		fill(buf, 0);
		CHECK_EQ(attr_read(&b, cases[i].told, &attr, &has_dropped, &err), 0);
		CHECK_EQ(attr.size, cases[i].taken);
		CHECK_EQ(b.offset, cases[i].taken);
	}
}

TEST(attr_read_with_a_size_of_its_own_ignores_the_one_it_is_told)
{
	struct event_attr attr;
	struct err err;
	bool has_dropped;
	u8 buf[MAX_SIZE];
	struct bytes b = bytes_of(buf, sizeof(buf));

	fill(buf, 72);
	CHECK_EQ(attr_read(&b, 128, &attr, &has_dropped, &err), 0);
	CHECK_EQ(attr.size, 72);
	CHECK_EQ(b.offset, 72);
	CHECK_EQ(attr.branch_sample_type, 0);
}

static void check_read_refused(struct bytes b, u64 told, const char *message)
{
	struct event_attr attr = {.config = 77};
	struct bytes before = b;
	struct err err = {0};
	bool has_dropped = true;

	CHECK_EQ(attr_read(&b, told, &attr, &has_dropped, &err), ERR_FORMAT);
	CHECK_STR(err.msg, message);
	/* Nothing has moved or changed. */
	CHECK(b.at == before.at);
	CHECK_EQ(b.offset, before.offset);
	CHECK_EQ(attr.config, 77);
	CHECK(has_dropped);
}

TEST(attr_read_refuses_sizes_that_cannot_be)
{
	static const u32 sizes[] = {1, 8, 63, 4097, 65536, 0x40000000, 0xffffffff};
	u8 buf[MAX_SIZE + 64];
	char expected[128];

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct bytes b = bytes_of(buf, sizeof(buf));

		b.offset = 0x123;
		fill(buf, sizes[i]);
		snprintf(expected, sizeof(expected),
			"the attr at offset 0x123 says it has %u bytes, not 64 to 4096", sizes[i]);
		check_read_refused(b, 0, expected);
		/* Told so from outside, it is as wrong. */
		fill(buf, 0);
		check_read_refused(b, sizes[i], expected);
	}
	fill(buf, 0);
	check_read_refused(bytes_of(buf, sizeof(buf)), 1ULL << 33,
		"the attr at offset 0x0 says it has 4294967295 bytes, not 64 to 4096");
	fill(buf, 4096);
	CHECK_EQ(attr_read(&(struct bytes){.at = buf, .end = buf + 4096}, 0,
			 &(struct event_attr){0}, &(bool){0}, &(struct err){0}),
		0);
}

TEST(attr_read_truncated_at_every_byte_is_an_error)
{
	static const u32 sizes[] = {64, 72, 112, 128, 144, 150};
	u8 buf[MAX_SIZE];
	char expected[128];

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		fill(buf, sizes[i]);
		for (size_t n = 0; n < sizes[i]; n++) {
			/* The sanitizer sees a read behind the end of this one. */
			u8 *exact = memcpy(malloc(n + 1), buf, n);
			struct bytes b = bytes_of(exact, n);

			b.offset = 1000;
			if (n < 8)
				snprintf(expected, sizeof(expected),
					"the attr at offset 0x3e8 is cut off");
			else
				snprintf(expected, sizeof(expected),
					"the attr at offset 0x3e8 has %zu of its %u bytes", n,
					sizes[i]);
			check_read_refused(b, 0, expected);
			free(exact);
		}
	}
}

/* ---- the other byte order ---- */

static void put16(u8 *p, u16 v)
{
	p[0] = (u8)(v >> 8);
	p[1] = (u8)v;
}

static void put32(u8 *p, u32 v)
{
	put16(p, (u16)(v >> 16));
	put16(p + 2, (u16)v);
}

static void put64(u8 *p, u64 v)
{
	put32(p, (u32)(v >> 32));
	put32(p + 4, (u32)v);
}

/* As a big-endian compiler lays out the flags: the first bit field is the highest bit of the word.
 */
static void put_flags(u8 *p, u64 flags)
{
	u64 word = 0;

	for (unsigned bit = 0; bit < 64; bit++)
		if (bit != 15 && bit != 16)
			word |= (flags >> bit & 1) << (63 - bit);
	/* precise_ip is a number of two bits, whose higher bit comes first. */
	word |= (flags >> 15 & 3) << (63 - 16);
	put64(p, word);
}

static struct event_attr read_big_endian(const struct event_attr *attr, u32 size)
{
	struct event_attr got;
	struct err err = {0};
	bool has_dropped;
	u8 buf[sizeof(*attr)];
	struct bytes b = bytes_of(buf, size);

	b.swap = true;
	put32(buf, attr->type);
	put32(buf + 4, size);
	put64(buf + 8, attr->config);
	put64(buf + 16, attr->sample_period);
	put64(buf + 24, attr->sample_type);
	put64(buf + 32, attr->read_format);
	put_flags(buf + 40, attr->flags);
	put32(buf + 48, attr->wakeup_events);
	put32(buf + 52, attr->bp_type);
	put64(buf + 56, attr->config1);
	put64(buf + 64, attr->config2);
	put64(buf + 72, attr->branch_sample_type);
	put64(buf + 80, attr->sample_regs_user);
	put32(buf + 88, attr->sample_stack_user);
	put32(buf + 92, (u32)attr->clockid);
	put64(buf + 96, attr->sample_regs_intr);
	put32(buf + 104, attr->aux_watermark);
	put16(buf + 108, attr->sample_max_stack);
	put16(buf + 110, attr->reserved_2);
	put32(buf + 112, attr->aux_sample_size);
	put32(buf + 116, attr->reserved_3);
	put64(buf + 120, attr->sig_data);
	put64(buf + 128, attr->config3);
	put64(buf + 136, attr->config4);
	if (attr_read(&b, 0, &got, &has_dropped, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	CHECK(!has_dropped);
	return got;
}

static void needs_little_endian(void)
{
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	SKIP("the other byte order is the little-endian one here");
#endif
}

TEST(attr_read_swaps_every_field)
{
	struct event_attr got, attr;

	needs_little_endian();
	for (size_t i = 0; i < sizeof(attr); i++)
		((u8 *)&attr)[i] = (u8)(i * 37 % 251 + 1);
	attr.size = sizeof(attr);
	got = read_big_endian(&attr, sizeof(attr));
	CHECK(!memcmp(&got, &attr, sizeof(attr)));
	/* Shorter ones are extended with zeros, then swapped. */
	got = read_big_endian(&attr, 72);
	CHECK_EQ(got.size, 72);
	CHECK_EQ(got.config2, attr.config2);
	got.size = attr.size;
	CHECK(!memcmp(&got, &attr, 72));
	for (size_t i = 72; i < sizeof(got); i++)
		CHECK_EQ(((u8 *)&got)[i], 0);
}

TEST(attr_read_swaps_each_flag_and_every_precision)
{
	needs_little_endian();
	for (unsigned bit = 0; bit < 64; bit++) {
		struct event_attr attr = {.flags = 1ULL << bit};

		CHECK_EQ(read_big_endian(&attr, 64).flags, 1ULL << bit);
	}
	for (u64 precise = 0; precise < 4; precise++) {
		struct event_attr attr = {.flags = precise << 15}, got;

		got = read_big_endian(&attr, 64);
		CHECK_EQ(attr_precise(&got), precise);
		CHECK_EQ(got.flags, precise << 15);
	}
}

/* The first attr of a recording of `perf record -e cpu-clock -g` on s390x, and what perf printed
 * there. */
TEST(attr_read_of_a_real_big_endian_attr)
{
	static const u8 real[128] = {0, 0, 0, 1, 0, 0, 0, 128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0x0f, 0x42, 0x40, 0, 0, 0, 0, 0, 0, 0, 0x27, 0, 0, 0, 0, 0, 0, 0, 0x14, 0xc0,
		0xcc, 0x29, 0x86};
	struct bytes b = bytes_of(real, sizeof(real));
	struct event_attr attr;
	struct str text = {0};
	struct err err;
	bool has_dropped;

	needs_little_endian();
	b.swap = true;
	CHECK_EQ(attr_read(&b, 0, &attr, &has_dropped, &err), 0);
	attr_add_text(&attr, " = ", &text);
	CHECK_STR(str_text(&text),
		"type = 1, size = 128, { sample_period, sample_freq } = 1000000, sample_type = "
		"IP|TID|TIME|CALLCHAIN, read_format = ID|LOST, disabled = 1, inherit = 1, mmap = "
		"1, comm = 1, "
		"enable_on_exec = 1, task = 1, sample_id_all = 1, exclude_guest = 1, mmap2 = 1, "
		"comm_exec = 1, "
		"ksymbol = 1, bpf_event = 1");
	str_fini(&text);
}

TEST(attr_read_with_swap_checks_the_swapped_size)
{
	u8 buf[64] = {0};
	struct bytes b = bytes_of(buf, sizeof(buf));
	struct event_attr attr;
	struct err err = {0};
	bool has_dropped;

	needs_little_endian();
	b.swap = true;
	buf[4] = 64; /* 64 for the other kind of machine */
	CHECK_EQ(attr_read(&b, 0, &attr, &has_dropped, &err), ERR_FORMAT);
	CHECK_STR(err.msg, "the attr at offset 0x0 says it has 1073741824 bytes, not 64 to 4096");
}

/* ---- text: what `perf evlist -v` of perf 6.1 prints for the same bytes ---- */

static void check_text(const struct event_attr *attr, const char *equals, const char *expected)
{
	struct str text = {0};

	attr_add_text(attr, equals, &text);
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
}

TEST(attr_text_is_what_perf_evlist_prints)
{
	check_text(&(struct event_attr){.type = 1, .size = 128, .config = 9}, ": ",
		"type: 1, size: 128, config: 0x9");
	check_text(&(struct event_attr){.size = 128,
			   .sample_period = 4000,
			   .sample_type = 0x1ffffff & ~PERF_SAMPLE_TRANSACTION,
			   .read_format = 31,
			   .flags = (1ULL << 38) - 1},
		": ",
		"size: 128, { sample_period, sample_freq }: 4000, sample_type: "
		"IP|TID|TIME|ADDR|READ|CALLCHAIN|ID|CPU|PERIOD|STREAM_ID|RAW|BRANCH_STACK|REGS_"
		"USER|STACK_USER|"
		"IDENTIFIER|REGS_INTR|DATA_SRC|WEIGHT|PHYS_ADDR|AUX|CGROUP|DATA_PAGE_SIZE|CODE_"
		"PAGE_SIZE|"
		"WEIGHT_STRUCT, read_format: TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|GROUP|LOST, "
		"disabled: 1, "
		"inherit: 1, pinned: 1, exclusive: 1, exclude_user: 1, exclude_kernel: 1, "
		"exclude_hv: 1, "
		"exclude_idle: 1, mmap: 1, comm: 1, freq: 1, inherit_stat: 1, enable_on_exec: 1, "
		"task: 1, "
		"watermark: 1, precise_ip: 3, mmap_data: 1, sample_id_all: 1, exclude_host: 1, "
		"exclude_guest: 1, "
		"exclude_callchain_kernel: 1, exclude_callchain_user: 1, mmap2: 1, comm_exec: 1, "
		"use_clockid: 1, "
		"context_switch: 1, write_backward: 1, namespaces: 1, ksymbol: 1, bpf_event: 1, "
		"aux_output: 1, "
		"cgroup: 1, text_poke: 1, build_id: 1, inherit_thread: 1, remove_on_exec: 1, "
		"sigtrap: 1");
	check_text(&(struct event_attr){.type = 5,
			   .size = 128,
			   .wakeup_events = 7,
			   .bp_type = 3,
			   .config1 = 0xdeadbeef,
			   .config2 = 4,
			   .branch_sample_type = 0x7ffff,
			   .sample_regs_user = 0xff,
			   .sample_stack_user = 8192,
			   .clockid = -3,
			   .sample_regs_intr = 0xff0,
			   .aux_watermark = 5,
			   .sample_max_stack = 127,
			   .aux_sample_size = 9,
			   .sig_data = 12},
		": ",
		"type: 5, size: 128, { wakeup_events, wakeup_watermark }: 7, bp_type: 3, { "
		"bp_addr, config1 }: "
		"0xdeadbeef, { bp_len, config2 }: 0x4, branch_sample_type: "
		"USER|KERNEL|HV|ANY|ANY_CALL|ANY_RETURN|IND_CALL|ABORT_TX|IN_TX|NO_TX|COND|CALL_"
		"STACK|IND_JUMP|CALL|"
		"NO_FLAGS|NO_CYCLES|TYPE_SAVE|HW_INDEX|PRIV_SAVE, sample_regs_user: 0xff, "
		"sample_stack_user: 8192, "
		"clockid: -3, sample_regs_intr: 0xff0, aux_watermark: 5, sample_max_stack: 127, "
		"aux_sample_size: 9, "
		"sig_data: 12");
}

TEST(attr_text_names_each_flag)
{
	static const char *const names[] = {"disabled", "inherit", "pinned", "exclusive",
		"exclude_user", "exclude_kernel", "exclude_hv", "exclude_idle", "mmap", "comm",
		"freq", "inherit_stat", "enable_on_exec", "task", "watermark", "precise_ip", NULL,
		"mmap_data", "sample_id_all", "exclude_host", "exclude_guest",
		"exclude_callchain_kernel", "exclude_callchain_user", "mmap2", "comm_exec",
		"use_clockid", "context_switch", "write_backward", "namespaces", "ksymbol",
		"bpf_event", "aux_output", "cgroup", "text_poke", "build_id", "inherit_thread",
		"remove_on_exec", "sigtrap"};
	char expected[64];

	for (size_t bit = 0; bit < ARRAY_SIZE(names); bit++) {
		if (!names[bit])
			continue;
		snprintf(expected, sizeof(expected), "%s: 1", names[bit]);
		check_text(&(struct event_attr){.flags = 1ULL << bit}, ": ", expected);
	}
}

/* In the order of the bits; perf prints the sample types in another one. */
TEST(attr_text_names_each_bit)
{
	static const char *const sample[] = {"IP", "TID", "TIME", "ADDR", "READ", "CALLCHAIN", "ID",
		"CPU", "PERIOD", "STREAM_ID", "RAW", "BRANCH_STACK", "REGS_USER", "STACK_USER",
		"WEIGHT", "DATA_SRC", "IDENTIFIER", "TRANSACTION", "REGS_INTR", "PHYS_ADDR", "AUX",
		"CGROUP", "DATA_PAGE_SIZE", "CODE_PAGE_SIZE", "WEIGHT_STRUCT", "0x2000000"};
	static const char *const branch[] = {"USER", "KERNEL", "HV", "ANY", "ANY_CALL",
		"ANY_RETURN", "IND_CALL", "ABORT_TX", "IN_TX", "NO_TX", "COND", "CALL_STACK",
		"IND_JUMP", "CALL", "NO_FLAGS", "NO_CYCLES", "TYPE_SAVE", "HW_INDEX", "PRIV_SAVE",
		"COUNTERS", "0x100000"};
	static const char *const read[] = {"TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID",
		"GROUP", "LOST", "0x20"};
	char expected[64];

	for (size_t bit = 0; bit < ARRAY_SIZE(sample); bit++) {
		snprintf(expected, sizeof(expected), "sample_type: %s", sample[bit]);
		check_text(&(struct event_attr){.sample_type = 1ULL << bit}, ": ", expected);
	}
	for (size_t bit = 0; bit < ARRAY_SIZE(branch); bit++) {
		snprintf(expected, sizeof(expected), "branch_sample_type: %s", branch[bit]);
		check_text(&(struct event_attr){.branch_sample_type = 1ULL << bit}, ": ", expected);
	}
	for (size_t bit = 0; bit < ARRAY_SIZE(read); bit++) {
		snprintf(expected, sizeof(expected), "read_format: %s", read[bit]);
		check_text(&(struct event_attr){.read_format = 1ULL << bit}, ": ", expected);
	}
}

TEST(attr_text_of_the_header_has_other_signs)
{
	/* As in the header of `perf report --header`. */
	check_text(&(struct event_attr){.type = 1,
			   .size = 144,
			   .config = 2,
			   .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				   PERF_SAMPLE_READ | PERF_SAMPLE_ID | PERF_SAMPLE_PERIOD,
			   .read_format = PERF_FORMAT_ID | PERF_FORMAT_GROUP | PERF_FORMAT_LOST,
			   .flags = ATTR_INHERIT | ATTR_SAMPLE_ID_ALL},
		" = ",
		"type = 1, size = 144, config = 0x2, sample_type = IP|TID|TIME|READ|ID|PERIOD, "
		"read_format = ID|GROUP|LOST, inherit = 1, sample_id_all = 1");
}

TEST(attr_text_shows_what_has_no_name)
{
	check_text(&(struct event_attr){0}, ": ", "");
	check_text(&(struct event_attr){.flags = 1ULL << 38}, ": ", "flags_38: 0x1");
	check_text(&(struct event_attr){.flags = 1ULL << 63 | ATTR_DISABLED, .config = 1}, ": ",
		"config: 0x1, disabled: 1, flags_38: 0x2000000");
	check_text(&(struct event_attr){.sample_type = 1ULL << 63 | PERF_SAMPLE_IP}, ": ",
		"sample_type: IP|0x8000000000000000");
	check_text(&(struct event_attr){.sample_type = PERF_SAMPLE_TRANSACTION}, ": ",
		"sample_type: TRANSACTION");
	check_text(&(struct event_attr){.read_format = 0x60}, ": ", "read_format: 0x60");
	check_text(&(struct event_attr){.branch_sample_type = 1 << 19 | 1 << 30}, ": ",
		"branch_sample_type: COUNTERS|0x40000000");
	check_text(&(struct event_attr){.reserved_2 = 3,
			   .reserved_3 = 11,
			   .config3 = 1,
			   .config4 = ~0ULL},
		": ",
		"reserved_2: 0x3, reserved_3: 0xb, config3: 0x1, config4: 0xffffffffffffffff");
}

TEST(attr_text_shows_the_largest_values)
{
	struct event_attr attr = {.type = ~0u,
		.config = ~0ULL,
		.sample_period = ~0ULL,
		.sample_stack_user = ~0u,
		.clockid = INT32_MIN,
		.sample_max_stack = 65535};

	check_text(&attr, ": ",
		"type: 4294967295, config: 0xffffffffffffffff, { sample_period, sample_freq }: "
		"18446744073709551615, sample_stack_user: 4294967295, clockid: -2147483648, "
		"sample_max_stack: 65535");
}

TEST(attr_text_shows_every_precision)
{
	check_text(&(struct event_attr){.flags = 1ULL << 15}, ": ", "precise_ip: 1");
	check_text(&(struct event_attr){.flags = 2ULL << 15 | ATTR_MMAP_DATA}, ": ",
		"precise_ip: 2, mmap_data: 1");
	check_text(&(struct event_attr){.flags = 3ULL << 15 | ATTR_WATERMARK}, ": ",
		"watermark: 1, precise_ip: 3");
}
