/* Records of the other byte order: all types of the table, samples, trailers. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event/abi.h"
#include "file/reader.h"
#include "file/writer.h"
#include "record/formats.h"
#include "record/record.h"
#include "record/sample.h"
#include "test.h"
#include "unit/recording.h"

/* The same bytes twice: as this machine writes them, and as one of the other order does. */
struct pair {
	struct str native, foreign;
	u64 state; /* of the random numbers */
};

static void pair_clear(struct pair *p)
{
	str_clear(&p->native);
	str_clear(&p->foreign);
}

static void pair_fini(struct pair *p)
{
	str_fini(&p->native);
	str_fini(&p->foreign);
}

/* A number of 1, 2, 4 or 8 bytes. */
static void put(struct pair *p, unsigned width, u64 v)
{
	str_addn(&p->native, &v, width);
	v = __builtin_bswap64(v) >> (64 - 8 * width);
	str_addn(&p->foreign, &v, width);
}

/* Bytes that have no order. */
static void put_bytes(struct pair *p, const void *at, size_t n)
{
	str_addn(&p->native, at, n);
	str_addn(&p->foreign, at, n);
}

static void put_random(struct pair *p, size_t n)
{
	while (n--)
		put_bytes(p, &(u8){recording_random(&p->state)}, 1);
}

static u64 roll(struct pair *p, u64 limit)
{
	return recording_below(&p->state, limit);
}

static void put_header(struct pair *p, u32 type, u16 misc, u16 size)
{
	put(p, 4, type);
	put(p, 2, misc);
	put(p, 2, size);
}

/* ---- layouts, spelled a second time ---- */

/*
 * 1 2 4 8   a number of so many bytes
 * =4:2;     the number 2 in 4 bytes
 * [24]      24 bytes without order
 * s         text, a NUL, and what happens to stand behind it, up to a multiple of 8
 * N C       a count of 8, of 2 bytes
 * r(...)    as often as the last count says
 * *(...)    any number of times
 */
struct layout_case {
	u32 type;
	u16 misc;
	const char *layout;
};

static const struct layout_case cases[] = {
	{PERF_RECORD_MMAP, 0, "44888s"},
	{PERF_RECORD_LOST, 0, "88"},
	{PERF_RECORD_COMM, 0, "44s"},
	{PERF_RECORD_EXIT, 0, "44448"},
	{PERF_RECORD_FORK, 0, "44448"},
	{PERF_RECORD_THROTTLE, 0, "888"},
	{PERF_RECORD_UNTHROTTLE, 0, "888"},
	{PERF_RECORD_READ, 0, "44*(8)"},
	{PERF_RECORD_MMAP2, 0, "44888448844s"},
	{PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, "44888[24]44s"},
	{PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, "44888=1:20;[23]44s"},
	{PERF_RECORD_AUX, 0, "888"},
	{PERF_RECORD_ITRACE_START, 0, "44"},
	{PERF_RECORD_LOST_SAMPLES, 0, "8"},
	{PERF_RECORD_SWITCH, 0, ""},
	{PERF_RECORD_SWITCH_CPU_WIDE, 0, "44"},
	{PERF_RECORD_NAMESPACES, 0, "44Nr(88)"},
	{PERF_RECORD_KSYMBOL, 0, "8422s"},
	{PERF_RECORD_BPF_EVENT, 0, "224[8]"},
	{PERF_RECORD_CGROUP, 0, "8s"},
	{PERF_RECORD_TEXT_POKE, 0, "822[12]"},
	{PERF_RECORD_AUX_OUTPUT_HW_ID, 0, "8"},
	{PERF_RECORD_CALLCHAIN_DEFERRED, 0, "8Nr(8)"},
	/* an attr of 136 bytes; its flags have a test of their own */
	{PERF_RECORD_HEADER_ATTR, 0,
		"4=4:136;8888=8:0;448888448422448"
		"8*(8)"},
	/* one of the oldest, that does not say its size; one with fields of the future */
	{PERF_RECORD_HEADER_ATTR, 0, "4=4:0;8888=8:0;448*(8)"},
	{PERF_RECORD_HEADER_ATTR, 0,
		"4=4:160;8888=8:0;448888448422448"
		"88[16]*(8)"},
	{PERF_RECORD_HEADER_EVENT_TYPE, 0, "8[64]"},
	{PERF_RECORD_HEADER_TRACING_DATA, 0, "4"},
	{PERF_RECORD_HEADER_TRACING_DATA, 0, "4[4]"},
	{PERF_RECORD_HEADER_BUILD_ID, 0, "4[24]s"},
	{PERF_RECORD_HEADER_BUILD_ID, PERF_RECORD_MISC_BUILD_ID_SIZE, "4[24]s"},
	{PERF_RECORD_FINISHED_ROUND, 0, ""},
	{PERF_RECORD_ID_INDEX, 0, "Nr(8888)"},
	{PERF_RECORD_ID_INDEX, 0, "Nr(8888)r(88)"},
	{PERF_RECORD_AUXTRACE_INFO, 0, "44*(8)"},
	{PERF_RECORD_AUXTRACE, 0, "8884444"},
	{PERF_RECORD_AUXTRACE_ERROR, 0, "44444=4:0;8[16]"},
	{PERF_RECORD_AUXTRACE_ERROR, 0, "44444=4:0;8[64]"},
	{PERF_RECORD_AUXTRACE_ERROR, 0, "44444=4:1;88[8]"},
	{PERF_RECORD_AUXTRACE_ERROR, 0, "44444=4:2;88[64]44"},
	{PERF_RECORD_THREAD_MAP, 0, "Nr(8[16])"},
	{PERF_RECORD_CPU_MAP, 0, "=2:0;Cr(2)[4]"},
	{PERF_RECORD_CPU_MAP, 0, "=2:1;C=2:4;r(4)[2]"},
	{PERF_RECORD_CPU_MAP, 0, "=2:1;C=2:8;[4]r(8)[6]"},
	{PERF_RECORD_CPU_MAP, 0, "=2:2;1122"},
	{PERF_RECORD_CPU_MAP, 0, "=2:7;[14]"},
	{PERF_RECORD_STAT_CONFIG, 0, "Nr(88)"},
	{PERF_RECORD_STAT, 0, "844888"},
	{PERF_RECORD_STAT_ROUND, 0, "88"},
	{PERF_RECORD_EVENT_UPDATE, 0, "=8:0;8s"},
	{PERF_RECORD_EVENT_UPDATE, 0, "=8:1;88"},
	{PERF_RECORD_EVENT_UPDATE, 0, "=8:2;8s"},
	{PERF_RECORD_EVENT_UPDATE, 0, "=8:3;8=2:0;Cr(2)"},
	{PERF_RECORD_EVENT_UPDATE, 0, "=8:3;8=2:1;C=2:8;[4]r(8)"},
	{PERF_RECORD_EVENT_UPDATE, 0, "=8:4;8[24]"},
	{PERF_RECORD_TIME_CONV, 0, "888"},
	{PERF_RECORD_TIME_CONV, 0, "8888"},
	{PERF_RECORD_TIME_CONV, 0, "8888811"},
	{PERF_RECORD_TIME_CONV, 0, "8888811[6]"},
	{PERF_RECORD_HEADER_FEATURE, 0, "8[40]"},
	{PERF_RECORD_COMPRESSED, 0, "[13]"},
	{PERF_RECORD_FINISHED_INIT, 0, ""},
	{PERF_RECORD_COMPRESSED2, 0, "=8:5;[5][3]"},
	{PERF_RECORD_BPF_METADATA, 0, "[16]Nr([64][256])"},
	/* what nobody knows yet stands behind what is known */
	{PERF_RECORD_LOST, 0, "88[16]"},
	{PERF_RECORD_STAT, 0, "844888[3]"},
	{PERF_RECORD_FINISHED_ROUND, 0, "[8]"},
	{PERF_RECORD_COMM, 0, "44"},
	{PERF_RECORD_COMM, 0, "44[9]"},
};

static void put_text(struct pair *p)
{
	size_t n = roll(p, 20);

	for (size_t i = 0; i < n; i++)
		put_bytes(p, &(u8){1 + roll(p, 255)}, 1);
	put(p, 1, 0);
	put_random(p, align_up(n + 1, 8) - n - 1);
}

static const char *put_layout(struct pair *p, const char *at, u64 *count)
{
	for (; *at && *at != ')'; at++) {
		const char *behind = at + 1;
		unsigned width, n;
		u64 times;

		switch (*at) {
		case '1':
		case '2':
		case '4':
		case '8':
			put(p, *at - '0', recording_random(&p->state));
			break;
		case '=':
			CHECK_EQ(sscanf(at, "=%u:%u;", &width, &n), 2);
			put(p, width, n);
			behind = strchr(at, ';') + 1;
			break;
		case '[':
			put_random(p, strtoul(at + 1, NULL, 10));
			behind = strchr(at, ']') + 1;
			break;
		case 's':
			put_text(p);
			break;
		case 'N':
		case 'C':
			*count = roll(p, 5);
			put(p, *at == 'N' ? 8 : 2, *count);
			break;
		case 'r':
		case '*':
			times = *at == 'r' ? *count : roll(p, 5);
			for (u64 i = 0; i < times; i++)
				put_layout(p, at + 2, count);
			behind = strchr(at, ')') + 1;
			break;
		default:
			test_failed(__FILE__, __LINE__, "no letter '%c'", *at);
		}
		at = behind - 1;
	}
	return at;
}

/* A record of the layout, then the trailer, which swapping leaves alone. */
static void put_case(struct pair *p, const struct layout_case *c, u32 trailer)
{
	u64 count = 0;
	size_t n;

	pair_clear(p);
	put_header(p, c->type, c->misc, 0);
	put_layout(p, c->layout, &count);
	put_random(p, trailer);
	n = p->native.n;
	CHECK(n <= UINT16_MAX);
	memcpy(p->native.at + 6, &(u16){n}, 2);
	memcpy(p->foreign.at + 6, &(u16){__builtin_bswap16(n)}, 2);
}

/* Cuts the record to n bytes, in a block of exactly that size; the header tells it. */
static u8 *cut_to(const struct str *whole, size_t n)
{
	u8 *copy = recording_exact(whole->at, n);

	memcpy(copy + 6, &(u16){n}, 2);
	return copy;
}

static void check_same(const struct layout_case *c, const void *a, const void *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((const u8 *)a)[i] != ((const u8 *)b)[i])
			test_failed(__FILE__, __LINE__,
				"%s \"%s\": byte %zu of %zu is %02x, not %02x",
				record_type_name(c->type), c->layout, i, n, ((const u8 *)a)[i],
				((const u8 *)b)[i]);
}

/* Whatever decodes gives the same bytes again. */
static int check_round_trip(const struct layout_case *c, const u8 *at, size_t n, u32 trailer)
{
	struct record rec = recording_view(at, n);
	struct str again = {0}, text = {0};
	union record_body body;
	struct err err;
	int r = record_decode(&rec, trailer, &body, &err);

	if (r == 1) {
		CHECK(record_encode(rec.type, rec.misc, &body, trailer, &again));
		CHECK_EQ(again.n, n);
		check_same(c, again.at, at, n - trailer);
		record_add_text(rec.type, rec.misc, &body, &text);
		CHECK(strlen(str_text(&text)) == text.n);
		for (size_t i = 0; i < text.n; i++)
			CHECK((u8)text.at[i] >= 0x20 && text.at[i] != 0x7f);
	}
	str_fini(&again);
	str_fini(&text);
	return r;
}

TEST(record_of_each_type_decodes_and_encodes_to_the_same_bytes)
{
	struct pair p = {.state = 11};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (unsigned round = 0; round < 60; round++) {
			u32 trailer = cases[i].type < 64 ? 8 * roll(&p, 6) : 0;
			u8 *exact;

			put_case(&p, &cases[i], trailer);
			exact = recording_exact(p.native.at, p.native.n);
			CHECK_EQ(check_round_trip(&cases[i], exact, p.native.n, trailer), 1);
			free(exact);
		}
	}
	pair_fini(&p);
}

TEST(record_of_each_type_and_the_other_order_becomes_this_machines)
{
	struct pair p = {.state = 12};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (unsigned round = 0; round < 60; round++) {
			u32 trailer = cases[i].type < 64 ? 8 * roll(&p, 6) : 0;
			struct record_header header;
			u8 *exact;

			put_case(&p, &cases[i], trailer);
			exact = recording_exact(p.foreign.at, p.foreign.n);
			memcpy(&header, exact, sizeof(header));
			record_swap_header(&header);
			memcpy(exact, &header, sizeof(header));
			CHECK(record_swap(exact, p.foreign.n, trailer));
			check_same(&cases[i], exact, p.native.at, p.native.n);
			free(exact);
		}
	}
	pair_fini(&p);
}

TEST(record_cut_anywhere_is_never_read_or_written_beyond)
{
	struct pair p = {.state = 13};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (unsigned round = 0; round < 4; round++) {
			u32 trailer = cases[i].type < 64 ? 8 * roll(&p, 3) : 0;

			put_case(&p, &cases[i], trailer);
			memcpy(p.foreign.at, p.native.at, RECORD_HEADER_SIZE);
			for (size_t n = RECORD_HEADER_SIZE; n <= p.native.n; n++) {
				u8 *native = cut_to(&p.native, n);
				u8 *foreign = cut_to(&p.foreign, n);
				int r = check_round_trip(&cases[i], native, n, trailer);

				CHECK(r == 1 || r == ERR_FORMAT);
				/* Both look at the same bytes and so agree on what fits. */
				CHECK_EQ(record_swap(foreign, n, trailer), r == 1);
				free(native);
				free(foreign);
			}
		}
	}
	pair_fini(&p);
}

TEST(record_of_any_bytes_survives_or_is_refused)
{
	static const u16 miscs[] = {0, PERF_RECORD_MISC_MMAP_BUILD_ID,
		PERF_RECORD_MISC_BUILD_ID_SIZE};
	struct pair p = {.state = 14};
	unsigned n_fine = 0;

	for (unsigned i = 0; i < 40000; i++) {
		struct layout_case c = {roll(&p, 90), miscs[roll(&p, ARRAY_SIZE(miscs))], "any"};
		u32 trailer = 8 * roll(&p, 3);
		size_t n = RECORD_HEADER_SIZE + roll(&p, 200);
		int r;
		u8 *exact;

		pair_clear(&p);
		put_header(&p, c.type, c.misc, n);
		/* Small numbers are counts and types that fit. */
		while (p.native.n < n)
			put_bytes(&p,
				&(u8){roll(&p, 3)             ? 0
						: roll(&p, 2) ? roll(&p, 9)
							      : roll(&p, 256)},
				1);
		exact = recording_exact(p.native.at, n);
		r = n < RECORD_HEADER_SIZE + trailer ? ERR_FORMAT
						     : check_round_trip(&c, exact, n, trailer);
		n_fine += r == 1;
		record_swap(exact, n, trailer);
		check_same(&c, exact, p.native.at, RECORD_HEADER_SIZE);
		free(exact);
	}
	CHECK(n_fine > 5000);
	pair_fini(&p);
}

TEST(record_swap_leaves_alone_what_is_not_in_the_table)
{
	static const u32 types[] = {0, PERF_RECORD_SAMPLE, 23, 85, 32768, UINT32_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct pair p = {.state = i};
		u8 *exact;

		put_header(&p, types[i], 0, 40);
		put_random(&p, 32);
		exact = recording_exact(p.native.at, p.native.n);
		CHECK(record_swap(exact, 40, 8));
		CHECK(!memcmp(exact, p.native.at, 40));
		CHECK(!record_swap(exact, 40, 33));
		CHECK(!record_swap(exact, 7, 0));
		free(exact);
		pair_fini(&p);
	}
}

/* ---- bytes written down by hand ---- */

/* The bytes of two hexadecimal texts: big-endian turned around is little-endian. */
static void check_hex(const char *big, const char *little, const struct sample_format *format)
{
	u8 *a = mem_alloc(strlen(big)), *b = mem_alloc(strlen(little)), *exact;
	size_t n = 0, n_b = 0;
	struct record_header header;
	unsigned v;

	for (const char *at = big; *at; at++)
		if (*at != ' ' && sscanf(at++, "%2x", &v) == 1)
			a[n++] = v;
	for (const char *at = little; *at; at++)
		if (*at != ' ' && sscanf(at++, "%2x", &v) == 1)
			b[n_b++] = v;
	CHECK_EQ(n, n_b);
	exact = recording_exact(a, n);
	memcpy(&header, exact, sizeof(header));
	record_swap_header(&header);
	memcpy(exact, &header, sizeof(header));
	CHECK_EQ(header.size, n);
	if (header.type == PERF_RECORD_SAMPLE) {
		CHECK(sample_swap(format, exact + RECORD_HEADER_SIZE, n - RECORD_HEADER_SIZE));
	} else {
		CHECK(record_swap(exact, n, format->trailer));
		CHECK(sample_swap_trailer(format, exact, n));
	}
	for (size_t i = 0; i < n; i++)
		if (exact[i] != b[i])
			test_failed(__FILE__, __LINE__, "byte %zu of %zu is %02x, not %02x", i, n,
				exact[i], b[i]);
	free(exact);
	mem_free(a);
	mem_free(b);
}

static bool is_little(void)
{
	return *(const u8 *)&(u16){1};
}

static struct sample_format format_of(const struct event_attr *attr)
{
	struct sample_format format;

	sample_format_init(&format, attr);
	return format;
}

TEST(record_swap_turns_big_endian_bytes_into_little_endian_ones)
{
	struct sample_format none = format_of(&(struct event_attr){0});
	struct sample_format with_trailer =
		format_of(&(struct event_attr){.flags = ATTR_SAMPLE_ID_ALL,
			.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
				PERF_SAMPLE_IDENTIFIER});

	if (!is_little())
		SKIP("this machine is big-endian");
	/* COMM: pid 0x102, tid 0x103, "true", and a trailer: pid, tid, time, cpu, reserved, id */
	check_hex("00000003 2002 0038 00000102 00000103 7472756500000000"
		  "00000102 00000103 0000000102030405 00000007 00000000 00000000000000aa",
		"03000000 0220 3800 02010000 03010000 7472756500000000"
		"02010000 03010000 0504030201000000 07000000 00000000 aa00000000000000",
		&with_trailer);
	/* MMAP2 with device and inode */
	check_hex("0000000a 0002 0050 00000001 00000002 0000000000401000 0000000000002000"
		  "0000000000001000 000000fd 00000003 0000000000012345 0000000000000007"
		  "00000005 00000002 2f62696e2f780000",
		"0a000000 0200 5000 01000000 02000000 0010400000000000 0020000000000000"
		"0010000000000000 fd000000 03000000 4523010000000000 0700000000000000"
		"05000000 02000000 2f62696e2f780000",
		&none);
	/* MMAP2 with a build-id (misc bit 14) */
	check_hex("0000000a 4002 0050 00000001 00000002 0000000000401000 0000000000002000"
		  "0000000000001000 14 00 0000 000102030405060708090a0b0c0d0e0f10111213"
		  "00000005 00000002 2f62696e2f780000",
		"0a000000 0240 5000 01000000 02000000 0010400000000000 0020000000000000"
		"0010000000000000 14 00 0000 000102030405060708090a0b0c0d0e0f10111213"
		"05000000 02000000 2f62696e2f780000",
		&none);
	/* ID_INDEX: one entry, cpu and tid -1 and 0x1234; the guest's half */
	check_hex("00000045 0000 0040 0000000000000001"
		  "0000000000000055 0000000000000001 ffffffffffffffff 0000000000001234"
		  "0000000000000066 0000000000000002",
		"45000000 0000 4000 0100000000000000"
		"5500000000000000 0100000000000000 ffffffffffffffff 3412000000000000"
		"6600000000000000 0200000000000000",
		&none);
	/* THREAD_MAP: two threads */
	check_hex("00000049 0000 0040 0000000000000002"
		  "0000000000000065 6261736800000000 0000000000000000"
		  "0000000000000066 736c656570000000 0000000000000000",
		"49000000 0000 4000 0200000000000000"
		"6500000000000000 6261736800000000 0000000000000000"
		"6600000000000000 736c656570000000 0000000000000000",
		&none);
}

TEST(sample_swap_turns_big_endian_bytes_into_little_endian_ones)
{
	struct sample_format format = format_of(&(struct event_attr){.sample_type = PERF_SAMPLE_IP |
			PERF_SAMPLE_TID | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN |
			PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_PERIOD,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED,
		.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX});

	if (!is_little())
		SKIP("this machine is big-endian");
	check_hex("00000009 0001 0098"
		  "ffffffff81000010 00000102 00000103 0000000000000064"
		  /* two values with their ids, and the time */
		  "0000000000000002 0000000000000500"
		  "0000000000000011 0000000000000021 0000000000000012 0000000000000022"
		  /* the chain */
		  "0000000000000002 fffffffffffffe00 0000000000401000"
		  /* raw: 4 bytes, whose order is the file's */
		  "00000004 01020304"
		  /* one branch: predicted (the second flag) and 0x123 cycles; type 5 */
		  "0000000000000001 0000000000000009"
		  "0000000000401000 0000000000402000 4012350000000000",
		"09000000 0100 9800"
		"10000081ffffffff 02010000 03010000 6400000000000000"
		"0200000000000000 0005000000000000"
		"1100000000000000 2100000000000000 1200000000000000 2200000000000000"
		"0200000000000000 00feffffffffffff 0010400000000000"
		"04000000 01020304"
		"0100000000000000 0900000000000000"
		"0010400000000000 0020400000000000 3212500000000000",
		&format);
}

/* sample_id_all is the 19th flag: the third byte's third bit from the other end. */
TEST(record_swap_turns_the_flags_of_an_attr)
{
	struct pair p = {0};
	struct event_attr attr;
	bool is_dropped;
	struct bytes b;
	struct err err;
	u8 *exact;

	put_header(&p, PERF_RECORD_HEADER_ATTR, 0, 8 + 64 + 8);
	put(&p, 4, PERF_TYPE_SOFTWARE);
	put(&p, 4, 64);
	for (unsigned i = 0; i < 4; i++)
		put(&p, 8, i + 1);
	/* disabled, mmap, freq, precise_ip 2, sample_id_all */
	put_bytes(&p, "\x80\xa1\x20\0\0\0\0\0", 8);
	put(&p, 4, 77);
	put(&p, 4, 0);
	put(&p, 8, 0);
	put(&p, 8, 0x1234);
	exact = recording_exact(p.foreign.at, p.foreign.n);
	memcpy(exact, p.native.at, RECORD_HEADER_SIZE);
	CHECK(record_swap(exact, p.foreign.n, 0));
	b = bytes_of(exact + RECORD_HEADER_SIZE, 64);
	CHECK_EQ(attr_read(&b, 64, &attr, &is_dropped, &err), 0);
	CHECK_EQ(attr.type, PERF_TYPE_SOFTWARE);
	CHECK_EQ(attr.config, 1);
	CHECK_EQ(attr.read_format, 4);
	CHECK_EQ(attr.wakeup_events, 77);
	CHECK_EQ(attr.flags,
		ATTR_DISABLED | ATTR_MMAP | ATTR_FREQ | 2ULL << ATTR_PRECISE_SHIFT |
			ATTR_SAMPLE_ID_ALL);
	CHECK_EQ(load_u64(exact + 8 + 64), 0x1234);
	free(exact);
	pair_fini(&p);
}

/* ---- samples of all sorts ---- */

/* What struct perf_branch_entry is on this machine, as its compiler lays it out. */
union branch_flags {
	struct {
		u64 mispred : 1, predicted : 1, in_tx : 1, abort : 1, cycles : 16, type : 4,
			spec : 2, new_type : 4, priv : 3, reserved : 31;
	} is;
	u64 word;
};

static void put_branch(struct pair *p)
{
	union branch_flags native = {.word = recording_random(&p->state)};
	u64 foreign = (u64)native.is.mispred << 63 | (u64)native.is.predicted << 62 |
		(u64)native.is.in_tx << 61 | (u64)native.is.abort << 60 |
		(u64)native.is.cycles << 44 | (u64)native.is.type << 40 |
		(u64)native.is.spec << 38 | (u64)native.is.new_type << 34 |
		(u64)native.is.priv << 31 | (u64)native.is.reserved;

	put(p, 8, recording_random(&p->state));
	put(p, 8, recording_random(&p->state));
	str_addn(&p->native, &native.word, 8);
	foreign = __builtin_bswap64(foreign);
	str_addn(&p->foreign, &foreign, 8);
}

static void put_words(struct pair *p, u64 n)
{
	while (n--)
		put(p, 8, recording_random(&p->state));
}

static void put_two(struct pair *p)
{
	put(p, 4, recording_random(&p->state));
	put(p, 4, recording_random(&p->state));
}

static void put_read(struct pair *p, u64 format)
{
	u64 each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
	u64 n_times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		!!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	u64 n = roll(p, 4);

	if (!(format & PERF_FORMAT_GROUP)) {
		put_words(p, n_times + each);
		return;
	}
	put(p, 8, n);
	put_words(p, n_times + n * each);
}

static void put_regs(struct pair *p, u64 mask)
{
	u64 abi = roll(p, 3);

	put(p, 8, abi);
	put_words(p, abi ? __builtin_popcountll(mask) : 0);
}

static void put_branches(struct pair *p, u64 branch_type)
{
	u64 n = roll(p, 4);

	put(p, 8, n);
	put_words(p, branch_type & PERF_SAMPLE_BRANCH_HW_INDEX ? 1 : 0);
	for (u64 i = 0; i < n; i++)
		put_branch(p);
	put_words(p, branch_type & PERF_SAMPLE_BRANCH_COUNTERS ? n : 0);
}

/* Source: Linux kernel/events/core.c, perf_output_sample(), read from top to bottom. */
static void put_sample(struct pair *p, const struct event_attr *a)
{
	u64 type = a->sample_type, n;

	put_words(p, !!(type & PERF_SAMPLE_IDENTIFIER) + !!(type & PERF_SAMPLE_IP));
	if (type & PERF_SAMPLE_TID)
		put_two(p);
	put_words(p,
		!!(type & PERF_SAMPLE_TIME) + !!(type & PERF_SAMPLE_ADDR) +
			!!(type & PERF_SAMPLE_ID) + !!(type & PERF_SAMPLE_STREAM_ID));
	if (type & PERF_SAMPLE_CPU)
		put_two(p);
	put_words(p, !!(type & PERF_SAMPLE_PERIOD));
	if (type & PERF_SAMPLE_READ)
		put_read(p, a->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		put(p, 8, n = roll(p, 5));
		put_words(p, n);
	}
	if (type & PERF_SAMPLE_RAW) {
		put(p, 4, n = roll(p, 20));
		put_random(p, align_up(4 + n, 8) - 4);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		put_branches(p, a->branch_sample_type);
	if (type & PERF_SAMPLE_REGS_USER)
		put_regs(p, a->sample_regs_user);
	if (type & PERF_SAMPLE_STACK_USER) {
		put(p, 8, n = 8 * roll(p, 4));
		put_random(p, n);
		if (n)
			put(p, 8, roll(p, n + 1));
	}
	put_words(p,
		!!(type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)) +
			!!(type & PERF_SAMPLE_DATA_SRC) + !!(type & PERF_SAMPLE_TRANSACTION));
	if (type & PERF_SAMPLE_REGS_INTR)
		put_regs(p, a->sample_regs_intr);
	put_words(p,
		!!(type & PERF_SAMPLE_PHYS_ADDR) + !!(type & PERF_SAMPLE_CGROUP) +
			!!(type & PERF_SAMPLE_DATA_PAGE_SIZE) +
			!!(type & PERF_SAMPLE_CODE_PAGE_SIZE));
	if (type & PERF_SAMPLE_AUX) {
		put(p, 8, n = 8 * roll(p, 4));
		put_random(p, n);
	}
}

enum { ALL_FIELDS = (1 << 25) - 1 };

static struct event_attr random_attr(struct pair *p, u64 sample_type)
{
	return (struct event_attr){.sample_type = sample_type,
		.read_format = roll(p, 32),
		.branch_sample_type = roll(p, 2) * PERF_SAMPLE_BRANCH_HW_INDEX +
			roll(p, 2) * PERF_SAMPLE_BRANCH_COUNTERS,
		.sample_regs_user = recording_random(&p->state) & recording_random(&p->state),
		.sample_regs_intr = roll(p, 8),
		.flags = ATTR_SAMPLE_ID_ALL};
}

static void check_sample_swap(struct pair *p, u64 sample_type, bool is_cut_too)
{
	struct event_attr attr = random_attr(p, sample_type);
	struct sample_format format = format_of(&attr);
	struct err err;
	u8 *exact;

	pair_clear(p);
	put_sample(p, &attr);
	exact = recording_exact(p->foreign.at, p->foreign.n);
	if (!sample_swap(&format, exact, p->foreign.n))
		test_failed(__FILE__, __LINE__, "sample_type 0x%llx does not swap",
			(unsigned long long)sample_type);
	for (size_t i = 0; i < p->native.n; i++)
		if (exact[i] != (u8)p->native.at[i])
			test_failed(__FILE__, __LINE__, "sample_type 0x%llx: byte %zu of %zu",
				(unsigned long long)sample_type, i, p->native.n);
	free(exact);
	for (size_t n = 0; is_cut_too && n < p->foreign.n; n++) {
		struct sample ignored = {0};
		u8 *native = recording_exact(p->native.at, n);
		int r = sample_decode(&format, native, n, UINT64_MAX, &ignored, &err);

		exact = recording_exact(p->foreign.at, n);
		CHECK_EQ(sample_swap(&format, exact, n), r == 0);
		free(native);
		free(exact);
	}
}

TEST(sample_of_the_other_order_becomes_this_machines)
{
	struct pair p = {.state = 21};

	for (unsigned bit = 0; bit < 25; bit++)
		for (unsigned i = 0; i < 40; i++)
			check_sample_swap(&p, 1ULL << bit, true);
	for (unsigned i = 0; i < 1000; i++)
		check_sample_swap(&p, roll(&p, ALL_FIELDS + 1), i < 100);
	for (unsigned i = 0; i < 60; i++)
		check_sample_swap(&p, ALL_FIELDS, i < 10);
	pair_fini(&p);
}

TEST(sample_of_any_bytes_is_never_swapped_beyond_its_end)
{
	struct pair p = {.state = 22};

	for (unsigned i = 0; i < 20000; i++) {
		struct event_attr attr = random_attr(&p, roll(&p, ALL_FIELDS + 1));
		struct sample_format format = format_of(&attr);
		size_t n = roll(&p, 300);
		u8 *exact;

		pair_clear(&p);
		while (p.foreign.n < n)
			put(&p, 1, roll(&p, 4) ? 0 : roll(&p, 256));
		exact = recording_exact(str_text(&p.foreign), n);
		sample_swap(&format, exact, n);
		free(exact);
	}
	pair_fini(&p);
}

TEST(sample_trailer_of_the_other_order_becomes_this_machines)
{
	static const u64 bits[] = {PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
		PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER};
	struct pair p = {.state = 23};

	for (unsigned subset = 0; subset < 64; subset++) {
		u64 type = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN;
		struct sample_format format;
		u16 n, start;
		u8 *exact;

		for (size_t i = 0; i < ARRAY_SIZE(bits); i++)
			type |= subset >> i & 1 ? bits[i] : 0;
		format = format_of(
			&(struct event_attr){.sample_type = type, .flags = ATTR_SAMPLE_ID_ALL});
		pair_clear(&p);
		put_random(&p, start = RECORD_HEADER_SIZE + 8 * roll(&p, 4));
		for (size_t i = 0; i < ARRAY_SIZE(bits); i++) {
			if (!(type & bits[i]))
				continue;
			if (bits[i] == PERF_SAMPLE_TID || bits[i] == PERF_SAMPLE_CPU)
				put_two(&p);
			else
				put_words(&p, 1);
		}
		n = p.native.n;
		CHECK_EQ(format.trailer, n - start);
		exact = recording_exact(p.foreign.at, n);
		CHECK(sample_swap_trailer(&format, exact, n));
		CHECK(!memcmp(exact, p.native.at, n));
		for (u16 cut = 0; cut < RECORD_HEADER_SIZE + format.trailer; cut++) {
			u8 *small = recording_exact(p.foreign.at, cut);

			CHECK(!sample_swap_trailer(&format, small, cut));
			CHECK(!memcmp(small, p.foreign.at, cut));
			free(small);
		}
		free(exact);
	}
	pair_fini(&p);
}

/* ---- recordings by others ---- */

/* The folder of recordings that are not in the repository; tests/harness.py looks there too. */
static DIR *open_fixtures(char *path, size_t size)
{
	const char *shared = getenv("PACE_SHARED"), *file = __FILE__;
	DIR *dir;

	if (shared)
		snprintf(path, size, "%s/fixtures", shared);
	else
		snprintf(path, size, "%.*s/../../../shared/fixtures",
			(int)(strrchr(file, '/') - file), file);
	dir = opendir(path);
	if (!dir)
		SKIP("no folder '%s': set PACE_SHARED", path);
	return dir;
}

/* Calls `each` for all files two levels down; returns how often it said true. */
static unsigned for_each_fixture(bool (*each)(const char *path))
{
	char root[512], folder[1024], path[2048];
	DIR *dir = open_fixtures(root, sizeof(root)), *inner;
	struct dirent *d, *e;
	unsigned n = 0;

	while ((d = readdir(dir)) != NULL) {
		snprintf(folder, sizeof(folder), "%s/%s", root, d->d_name);
		if (d->d_name[0] == '.' || !(inner = opendir(folder)))
			continue;
		while ((e = readdir(inner)) != NULL) {
			struct stat st;

			snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
			n += !stat(path, &st) && S_ISREG(st.st_mode) && each(path);
		}
		closedir(inner);
	}
	closedir(dir);
	return n;
}

static void check_real_record(const char *path, const struct record *rec,
	const struct formats *formats)
{
	u32 event = formats_event(formats, rec);
	const struct sample_format *format = &formats->at[event == TABLE_NONE ? 0 : event];
	u32 trailer = record_has_trailer(rec->type) ? format->trailer : 0;
	const u8 *body_at = rec->at + RECORD_HEADER_SIZE;
	size_t n = rec->size - RECORD_HEADER_SIZE;
	struct str again = {0};
	struct sample sample = {0};
	union record_body body;
	struct err err;

	if (rec->type == PERF_RECORD_SAMPLE) {
		if (sample_decode(format, body_at, n, UINT64_MAX, &sample, &err))
			return;
		sample_encode(format, &sample, &again);
		if (again.n > n || (again.n && memcmp(again.at, body_at, again.n)))
			test_failed(__FILE__, __LINE__, "%s: the sample at 0x%llx", path,
				(unsigned long long)rec->offset);
	} else if (record_decode(rec, trailer, &body, &err) == 1) {
		CHECK(record_encode(rec->type, rec->misc, &body, trailer, &again));
		if (again.n != rec->size || memcmp(again.at, rec->at, rec->size - trailer))
			test_failed(__FILE__, __LINE__, "%s: the %s record at 0x%llx", path,
				record_type_name(rec->type), (unsigned long long)rec->offset);
		str_clear(&again);
		record_add_text(rec->type, rec->misc, &body, &again);
	} else if (record_type_name(rec->type)) {
		test_failed(__FILE__, __LINE__, "%s: the %s record at 0x%llx: %s", path,
			record_type_name(rec->type), (unsigned long long)rec->offset, err.msg);
	}
	str_fini(&again);
}

/* Writes what a reader hands out into a file of ours, and reads that: it has the same records. */
static void check_written_again(const char *path, struct reader *r)
{
	struct str first = {0}, second = {0};
	const char *again = test_path("again.data");
	struct reader_cursor c;
	struct writer w;
	struct reader own;
	struct record rec;
	struct err err;
	bool has_payload = false;

	CHECK_EQ(writer_open(&w, again, &r->events, &err), 0);
	reader_cursor_init(&c, r, r->data_start, r->data_end);
	while (reader_next(&c, &rec, &err) > 0) {
		struct iovec run = {(void *)(uintptr_t)rec.at, rec.size};

		has_payload |= c.payload > 0;
		str_addn(&first, rec.at, rec.size);
		CHECK_EQ(writer_append(&w, &run, 1, &err), 0);
	}
	reader_cursor_fini(&c);
	/* Names that came by another way than EVENT_DESC. */
	event_list_fini(&r->info.events);
	vec_each(e, &r->events) {
		struct event *named = event_add(&r->info.events, &e->attr, e->name);

		named->ids = e->ids;
		named->n_ids = e->n_ids;
	}
	CHECK_EQ(writer_finish(&w, &r->info, &err), 0);
	writer_close(&w, true);
	/* What follows some records without being part of them is not written. */
	if (!has_payload) {
		if (reader_open(&own, again, NULL, &err))
			test_failed(__FILE__, __LINE__, "%s: %s", path, err.msg);
		CHECK_EQ(own.events.n, r->events.n);
		for (size_t i = 0; i < r->events.n; i++) {
			CHECK_STR(own.events.at[i].name, r->events.at[i].name);
			CHECK_EQ(own.events.at[i].n_ids, r->events.at[i].n_ids);
			CHECK_EQ(own.events.at[i].attr.sample_type,
				r->events.at[i].attr.sample_type);
		}
		reader_cursor_init(&c, &own, own.data_start, own.data_end);
		while (reader_next(&c, &rec, &err) > 0)
			str_addn(&second, rec.at, rec.size);
		reader_cursor_fini(&c);
		if (first.n != second.n || (first.n && memcmp(first.at, second.at, first.n)))
			test_failed(__FILE__, __LINE__, "%s: %zu bytes of records became %zu", path,
				first.n, second.n);
		reader_close(&own);
	}
	str_fini(&first);
	str_fini(&second);
}

static bool check_real_file(const char *path)
{
	struct log log = {0};
	struct reader_cursor c;
	struct reader r;
	struct record rec;
	struct formats formats;
	struct err err;
	unsigned n = 0;

	/* Damaged ones are another test's. */
	if (strstr(path, "corpus") || reader_open(&r, path, &log, &err))
		return false;
	formats_init(&formats, &r.events);
	reader_cursor_init(&c, &r, r.data_start, r.data_end);
	while (r.events.n && reader_next(&c, &rec, &err) > 0) {
		check_real_record(path, &rec, &formats);
		n++;
	}
	reader_cursor_fini(&c);
	formats_fini(&formats);
	if (n)
		check_written_again(path, &r);
	reader_close(&r);
	return n;
}

TEST(records_of_real_recordings_decode_and_encode_to_the_same_bytes)
{
	CHECK(for_each_fixture(check_real_file) > 80);
}

static u64 foreign_u64(const struct str *file, u64 at)
{
	return at + 8 <= file->n ? __builtin_bswap64(load_u64(file->at + at)) : 0;
}

static bool read_whole(const char *path, struct str *file)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char buf[1 << 16];
	ssize_t n;

	if (fd < 0)
		return false;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		str_addn(file, buf, n);
	close(fd);
	return n == 0;
}

/* A record of a foreign file with one kind of event, in a block of its own. */
static void check_foreign_record(const char *path, u8 *at, u16 size,
	const struct sample_format *format)
{
	struct record rec = recording_view(at, size);
	u32 trailer = record_has_trailer(rec.type) ? format->trailer : 0;
	struct sample sample = {0};
	union record_body body;
	struct err err = {0};

	if (rec.type == PERF_RECORD_SAMPLE) {
		CHECK(sample_swap(format, at + RECORD_HEADER_SIZE, size - RECORD_HEADER_SIZE));
		if (sample_decode(format, at + RECORD_HEADER_SIZE, size - RECORD_HEADER_SIZE,
			    UINT64_MAX, &sample, &err))
			test_failed(__FILE__, __LINE__, "%s: %s", path, err.msg);
		CHECK(!(format->type & PERF_SAMPLE_CPU) || sample.cpu < 64);
		CHECK(!(format->type & PERF_SAMPLE_TID) || sample.tid < 1 << 22);
		return;
	}
	if (!record_swap(at, size, trailer))
		test_failed(__FILE__, __LINE__, "%s: a record of type %u", path, rec.type);
	CHECK(!trailer || sample_swap_trailer(format, at, size));
	CHECK(record_decode(&rec, trailer, &body, &err) >= 0);
	if (rec.type == PERF_RECORD_COMM)
		CHECK(body.comm.tid < 1 << 22 && body.comm.comm.n < 16);
	if (rec.type == PERF_RECORD_MMAP2)
		CHECK(body.mmap.addr % 4096 == 0 && body.mmap.path.n > 0);
}

/* File mode only: the attr of the first event, and all records until one of them is compressed. */
static bool check_foreign_file(const char *path)
{
	struct sample_format format;
	struct event_attr attr;
	struct str file = {0};
	struct bytes b;
	struct err err;
	bool is_dropped, is_foreign;
	unsigned n = 0;

	is_foreign = read_whole(path, &file) && file.n > 104 && !memcmp(file.at, "2ELIFREP", 8) &&
		foreign_u64(&file, 8) == 104;
	if (is_foreign && foreign_u64(&file, 24) < file.n) {
		u64 at = foreign_u64(&file, 40), end = at + foreign_u64(&file, 48);

		b = bytes_of(file.at + foreign_u64(&file, 24), file.n - foreign_u64(&file, 24));
		b.swap = true;
		CHECK_EQ(attr_read(&b, 0, &attr, &is_dropped, &err), 0);
		sample_format_init(&format, &attr);
		while (at + RECORD_HEADER_SIZE <= MIN(end, file.n)) {
			struct record_header header;
			u8 *exact;

			memcpy(&header, file.at + at, sizeof(header));
			record_swap_header(&header);
			CHECK(header.size >= RECORD_HEADER_SIZE && at + header.size <= file.n);
			exact = recording_exact(file.at + at, header.size);
			memcpy(exact, &header, sizeof(header));
			check_foreign_record(path, exact, header.size, &format);
			free(exact);
			at += header.size;
			n++;
		}
	}
	str_fini(&file);
	return n;
}

TEST(records_of_real_big_endian_recordings_become_this_machines)
{
	if (!is_little())
		SKIP("this machine is big-endian");
	CHECK(for_each_fixture(check_foreign_file) > 0);
}
