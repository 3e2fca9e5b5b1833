#include "record/record.h"

#include "test.h"
#include "unit/recording.h"

static void put16(struct str *out, u16 v)
{
	str_addn(out, &v, sizeof(v));
}

static void put32(struct str *out, u32 v)
{
	str_addn(out, &v, sizeof(v));
}

static void put64(struct str *out, u64 v)
{
	str_addn(out, &v, sizeof(v));
}

/* Text with its NUL, padded to 8, as the kernel writes names. */
static void put_name(struct str *out, const char *text)
{
	size_t n = strlen(text) + 1;

	str_addn(out, text, n);
	str_fill(out, '\0', align_up(n, 8) - n);
}

/* A whole record: a header for the n bytes at `body`. */
static void put_record(struct str *out, u32 type, u16 misc, const struct str *body)
{
	struct record_header header = {type, misc, RECORD_HEADER_SIZE + body->n};

	str_addn(out, &header, sizeof(header));
	str_addn(out, body->at, body->n);
}

static int decode_exact(const struct str *whole, size_t n, u32 trailer, union record_body *ret_body)
{
	struct err err = {0};
	u8 *copy = recording_exact(whole->at, n);
	struct record rec = recording_view(copy, n);
	int r = record_decode(&rec, trailer, ret_body, &err);

	CHECK_EQ(err.code, r < 0 ? r : 0);
	free(copy);
	return r;
}

/*
 * The record decodes with trailers of all sizes, encodes to the same bytes, and is refused when it
 * is cut inside its first `fixed` bytes.
 */
static void check_round_trip(u32 type, u16 misc, const struct str *body, size_t fixed)
{
	struct err err;

	for (u32 trailer = 0; trailer <= 48; trailer += 8) {
		struct str whole = {0}, with_trailer = {0}, again = {0};
		union record_body decoded;
		struct record rec;
		u8 *copy;

		str_addn(&with_trailer, body->at, body->n);
		str_fill(&with_trailer, '\0', trailer);
		put_record(&whole, type, misc, &with_trailer);
		copy = recording_exact(whole.at, whole.n);
		rec = recording_view(copy, whole.n);
		CHECK_EQ(record_decode(&rec, trailer, &decoded, &err), 1);
		CHECK(record_encode(type, misc, &decoded, trailer, &again));
		CHECK_EQ(again.n, whole.n);
		CHECK(!memcmp(again.at, whole.at, whole.n));
		for (size_t n = RECORD_HEADER_SIZE; n < RECORD_HEADER_SIZE + fixed + trailer; n++)
			CHECK_EQ(decode_exact(&whole, n, trailer, &decoded), ERR_FORMAT);
		/* Behind the fixed part stands what has no size of its own: it is shorter, but
		 * never read beyond. */
		for (size_t n = RECORD_HEADER_SIZE + fixed + trailer; n <= whole.n; n++)
			CHECK_EQ(decode_exact(&whole, n, trailer, &decoded), 1);
		free(copy);
		str_fini(&whole);
		str_fini(&with_trailer);
		str_fini(&again);
	}
}

/* Decodes the record; its views are into *whole. */
static union record_body decode(u32 type, u16 misc, const struct str *body, struct str *whole)
{
	union record_body decoded;
	struct record rec;
	struct err err;

	put_record(whole, type, misc, body);
	rec = recording_view(whole->at, whole->n);
	CHECK_EQ(record_decode(&rec, 0, &decoded, &err), 1);
	return decoded;
}

static void check_run(const struct record_bytes *run, const char *text)
{
	CHECK_EQ(run->n, strlen(text));
	CHECK(!memcmp(run->at, text, run->n));
}

static void check_text(u32 type, u16 misc, const union record_body *body, const char *expected)
{
	struct str text = {0};

	record_add_text(type, misc, body, &text);
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
}

TEST(record_mmap_has_its_fields_and_its_name)
{
	struct str body = {0}, whole = {0};
	union record_body b;

	put32(&body, 11);
	put32(&body, 12);
	put64(&body, 0x7f0000001000);
	put64(&body, 0x2000);
	put64(&body, 0x3000);
	put_name(&body, "/usr/lib/libc.so.6");
	b = decode(PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, &body, &whole);
	CHECK_EQ(b.mmap.pid, 11);
	CHECK_EQ(b.mmap.tid, 12);
	CHECK_EQ(b.mmap.addr, 0x7f0000001000);
	CHECK_EQ(b.mmap.len, 0x2000);
	CHECK_EQ(b.mmap.pgoff, 0x3000);
	check_run(&b.mmap.path, "/usr/lib/libc.so.6");
	CHECK_EQ(b.mmap.build_id_size, 0);
	check_text(PERF_RECORD_MMAP, 0, &b,
		"pid=11 tid=12 addr=0x7f0000001000 len=0x2000 pgoff=0x3000 "
		"path=/usr/lib/libc.so.6");
	check_round_trip(PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, &body, 32);
	str_fini(&body);
	str_fini(&whole);
}

static void put_mmap2_start(struct str *body)
{
	put32(body, 1);
	put32(body, 0xffffffff);
	put64(body, 0xffffffffffff0000);
	put64(body, UINT64_MAX);
	put64(body, 0);
}

TEST(record_mmap2_carries_device_and_inode)
{
	struct str body = {0}, whole = {0};
	union record_body b;

	put_mmap2_start(&body);
	put32(&body, 0xfd);
	put32(&body, 3);
	put64(&body, 123456789012);
	put64(&body, 77);
	put32(&body, 5);
	put32(&body, 2);
	put_name(&body, "/bin/x");
	b = decode(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, &body, &whole);
	CHECK_EQ(b.mmap.tid, 0xffffffff);
	CHECK_EQ(b.mmap.len, UINT64_MAX);
	CHECK_EQ(b.mmap.maj, 0xfd);
	CHECK_EQ(b.mmap.min, 3);
	CHECK_EQ(b.mmap.ino, 123456789012);
	CHECK_EQ(b.mmap.ino_generation, 77);
	CHECK_EQ(b.mmap.prot, 5);
	CHECK_EQ(b.mmap.flags, 2);
	CHECK_EQ(b.mmap.build_id_size, 0);
	check_run(&b.mmap.path, "/bin/x");
	check_text(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, &b,
		"pid=1 tid=-1 addr=0xffffffffffff0000 len=0xffffffffffffffff pgoff=0x0 "
		"dev=fd:03 ino=123456789012 gen=77 prot=0x5 flags=0x2 path=/bin/x");
	check_round_trip(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, &body, 64);
	str_fini(&body);
	str_fini(&whole);
}

static void put_mmap2_with_build_id(struct str *body, u8 size)
{
	put_mmap2_start(body);
	str_addc(body, (char)size);
	str_fill(body, '\0', 3);
	for (u8 i = 0; i < 20; i++)
		str_addc(body, (char)(i < size ? 0xa0 + i : 0));
	put32(body, 5);
	put32(body, 2);
	put_name(body, "/bin/x");
}

TEST(record_mmap2_carries_a_build_id_instead)
{
	static const u8 sizes[] = {0, 1, 8, 16, 20};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		const u16 misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID;
		struct str body = {0}, whole = {0};
		union record_body b;

		put_mmap2_with_build_id(&body, sizes[i]);
		b = decode(PERF_RECORD_MMAP2, misc, &body, &whole);
		CHECK_EQ(b.mmap.build_id_size, sizes[i]);
		for (u8 k = 0; k < 20; k++)
			CHECK_EQ(b.mmap.build_id[k], k < sizes[i] ? 0xa0 + k : 0);
		CHECK_EQ(b.mmap.maj, 0);
		CHECK_EQ(b.mmap.ino, 0);
		CHECK_EQ(b.mmap.prot, 5);
		check_round_trip(PERF_RECORD_MMAP2, misc, &body, 64);
		if (sizes[i] == 8)
			check_text(PERF_RECORD_MMAP2, misc, &b,
				"pid=1 tid=-1 addr=0xffffffffffff0000 "
				"len=0xffffffffffffffff pgoff=0x0 "
				"build_id=a0a1a2a3a4a5a6a7 prot=0x5 flags=0x2 path=/bin/x");
		str_fini(&body);
		str_fini(&whole);
	}
}

TEST(record_mmap2_takes_no_more_of_a_build_id_than_there_is)
{
	static const u8 sizes[] = {21, 24, 127, 255};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct str body = {0}, whole = {0}, text = {0};
		union record_body b;

		put_mmap2_with_build_id(&body, sizes[i]);
		b = decode(PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, &body, &whole);
		CHECK_EQ(b.mmap.build_id_size, 20);
		CHECK_EQ(b.mmap.build_id[19], 0xa0 + 19);
		record_add_text(PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, &b, &text);
		CHECK_HAS(str_text(&text),
			"build_id=a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3 prot=");
		str_fini(&body);
		str_fini(&whole);
		str_fini(&text);
	}
}

TEST(record_comm_has_ids_and_a_name)
{
	static const char *const names[] = {"", "a", "1234567", "12345678", "fifteen letters"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct str body = {0}, whole = {0};
		union record_body b;

		put32(&body, 7);
		put32(&body, 8);
		put_name(&body, names[i]);
		b = decode(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, &body, &whole);
		CHECK_EQ(b.comm.pid, 7);
		CHECK_EQ(b.comm.tid, 8);
		check_run(&b.comm.comm, names[i]);
		check_round_trip(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, &body, 8);
		str_fini(&body);
		str_fini(&whole);
	}
}

TEST(record_fork_and_exit_have_their_ids_in_the_kernels_order)
{
	static const u32 types[] = {PERF_RECORD_FORK, PERF_RECORD_EXIT};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct str body = {0}, whole = {0};
		union record_body b;

		put32(&body, 1);
		put32(&body, 2);
		put32(&body, 3);
		put32(&body, 4);
		put64(&body, UINT64_MAX - 1);
		b = decode(types[i], 0, &body, &whole);
		CHECK_EQ(b.task.pid, 1);
		CHECK_EQ(b.task.ppid, 2);
		CHECK_EQ(b.task.tid, 3);
		CHECK_EQ(b.task.ptid, 4);
		CHECK(b.task.time == UINT64_MAX - 1);
		check_text(types[i], 0, &b, "pid=1 ppid=2 tid=3 ptid=4 time=18446744073709551614");
		check_round_trip(types[i], 0, &body, 24);
		str_fini(&body);
		str_fini(&whole);
	}
}

TEST(record_lost_has_an_id_and_lost_samples_has_none)
{
	struct str body = {0}, whole = {0}, body2 = {0}, whole2 = {0};
	union record_body b;

	put64(&body, 5);
	put64(&body, 0x100000001);
	b = decode(PERF_RECORD_LOST, 0, &body, &whole);
	CHECK_EQ(b.lost.id, 5);
	CHECK_EQ(b.lost.lost, 0x100000001);
	check_text(PERF_RECORD_LOST, 0, &b, "id=5 lost=4294967297");
	check_round_trip(PERF_RECORD_LOST, 0, &body, 16);

	put64(&body2, 9);
	b = decode(PERF_RECORD_LOST_SAMPLES, 0, &body2, &whole2);
	CHECK_EQ(b.lost.id, 0);
	CHECK_EQ(b.lost.lost, 9);
	check_text(PERF_RECORD_LOST_SAMPLES, 0, &b, "lost=9");
	check_round_trip(PERF_RECORD_LOST_SAMPLES, 0, &body2, 8);
	str_fini(&body);
	str_fini(&whole);
	str_fini(&body2);
	str_fini(&whole2);
}

TEST(record_throttle_and_unthrottle_have_time_id_and_stream)
{
	static const u32 types[] = {PERF_RECORD_THROTTLE, PERF_RECORD_UNTHROTTLE};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct str body = {0}, whole = {0};
		union record_body b;

		put64(&body, 1);
		put64(&body, 2);
		put64(&body, 3);
		b = decode(types[i], 0, &body, &whole);
		CHECK_EQ(b.throttle.time, 1);
		CHECK_EQ(b.throttle.id, 2);
		CHECK_EQ(b.throttle.stream_id, 3);
		check_text(types[i], 0, &b, "time=1 id=2 stream_id=3");
		check_round_trip(types[i], 0, &body, 24);
		str_fini(&body);
		str_fini(&whole);
	}
}

TEST(record_aux_and_itrace_start_have_their_fields)
{
	struct str body = {0}, whole = {0}, body2 = {0}, whole2 = {0};
	union record_body b;

	put64(&body, 0x10);
	put64(&body, 0x20);
	put64(&body, 0x3);
	b = decode(PERF_RECORD_AUX, 0, &body, &whole);
	CHECK_EQ(b.aux.offset, 0x10);
	CHECK_EQ(b.aux.size, 0x20);
	CHECK_EQ(b.aux.flags, 3);
	check_text(PERF_RECORD_AUX, 0, &b, "offset=0x10 size=0x20 flags=0x3");
	check_round_trip(PERF_RECORD_AUX, 0, &body, 24);

	put32(&body2, 100);
	put32(&body2, 101);
	b = decode(PERF_RECORD_ITRACE_START, 0, &body2, &whole2);
	CHECK_EQ(b.comm.pid, 100);
	CHECK_EQ(b.comm.tid, 101);
	check_text(PERF_RECORD_ITRACE_START, 0, &b, "pid=100 tid=101");
	check_round_trip(PERF_RECORD_ITRACE_START, 0, &body2, 8);
	str_fini(&body);
	str_fini(&whole);
	str_fini(&body2);
	str_fini(&whole2);
}

TEST(record_switch_has_no_fields_and_its_wide_form_two)
{
	struct str body = {0}, whole = {0}, body2 = {0}, whole2 = {0};
	union record_body b =
		decode(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, &body, &whole);

	check_text(PERF_RECORD_SWITCH, 0, &b, "");
	check_round_trip(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, &body, 0);

	put32(&body2, 100);
	put32(&body2, 101);
	b = decode(PERF_RECORD_SWITCH_CPU_WIDE, 0, &body2, &whole2);
	CHECK_EQ(b.sched_switch.next_prev_pid, 100);
	CHECK_EQ(b.sched_switch.next_prev_tid, 101);
	check_text(PERF_RECORD_SWITCH_CPU_WIDE, 0, &b, "next_prev_pid=100 next_prev_tid=101");
	check_round_trip(PERF_RECORD_SWITCH_CPU_WIDE, 0, &body2, 8);
	str_fini(&body);
	str_fini(&whole);
	str_fini(&body2);
	str_fini(&whole2);
}

TEST(record_ksymbol_has_a_range_a_type_flags_and_a_name)
{
	struct str body = {0}, whole = {0};
	union record_body b;

	put64(&body, 0xffffffffc0001000);
	put32(&body, 0xffffffff);
	put16(&body, 1);
	put16(&body, 0xffff);
	put_name(&body, "bpf_prog_6deef7357e7b4530_x");
	b = decode(PERF_RECORD_KSYMBOL, PERF_RECORD_MISC_KERNEL, &body, &whole);
	CHECK(b.ksymbol.addr == 0xffffffffc0001000);
	CHECK_EQ(b.ksymbol.len, 0xffffffff);
	CHECK_EQ(b.ksymbol.ksym_type, 1);
	CHECK_EQ(b.ksymbol.flags, 0xffff);
	check_run(&b.ksymbol.name, "bpf_prog_6deef7357e7b4530_x");
	check_text(PERF_RECORD_KSYMBOL, 0, &b,
		"addr=0xffffffffc0001000 len=4294967295 ksym_type=1 flags=65535 "
		"name=bpf_prog_6deef7357e7b4530_x");
	check_round_trip(PERF_RECORD_KSYMBOL, PERF_RECORD_MISC_KERNEL, &body, 16);
	str_fini(&body);
	str_fini(&whole);
}

TEST(record_bpf_event_and_cgroup_have_their_fields)
{
	struct str body = {0}, whole = {0}, body2 = {0}, whole2 = {0};
	union record_body b;

	put16(&body, 1);
	put16(&body, 2);
	put32(&body, 3);
	str_addn(&body, "\x01\x02\x03\x04\x05\x06\x07\x08", 8);
	b = decode(PERF_RECORD_BPF_EVENT, 0, &body, &whole);
	CHECK_EQ(b.bpf.bpf_type, 1);
	CHECK_EQ(b.bpf.flags, 2);
	CHECK_EQ(b.bpf.id, 3);
	CHECK(!memcmp(&b.bpf.tag, "\x01\x02\x03\x04\x05\x06\x07\x08", 8));
	check_round_trip(PERF_RECORD_BPF_EVENT, 0, &body, 16);

	put64(&body2, 0x8000000000000001);
	put_name(&body2, "/system.slice");
	b = decode(PERF_RECORD_CGROUP, 0, &body2, &whole2);
	CHECK(b.cgroup.id == 0x8000000000000001);
	check_run(&b.cgroup.path, "/system.slice");
	check_text(PERF_RECORD_CGROUP, 0, &b, "id=9223372036854775809 path=/system.slice");
	check_round_trip(PERF_RECORD_CGROUP, 0, &body2, 8);
	str_fini(&body);
	str_fini(&whole);
	str_fini(&body2);
	str_fini(&whole2);
}

TEST(record_text_poke_has_old_and_new_bytes)
{
	struct str body = {0}, whole = {0};
	union record_body b;

	put64(&body, 0xffffffff81000000);
	put16(&body, 5);
	put16(&body, 2);
	str_addn(&body, "\x0f\x1f\x44\x00\x00\xeb\x10\0\0\0\0\0", 12);
	b = decode(PERF_RECORD_TEXT_POKE, PERF_RECORD_MISC_KERNEL, &body, &whole);
	CHECK(b.text_poke.addr == 0xffffffff81000000);
	CHECK_EQ(b.text_poke.old_len, 5);
	CHECK_EQ(b.text_poke.new_len, 2);
	CHECK_EQ(b.text_poke.bytes.n, 12);
	CHECK_EQ(b.text_poke.bytes.at[6], 0x10);
	check_text(PERF_RECORD_TEXT_POKE, 0, &b,
		"addr=0xffffffff81000000 old_len=5 new_len=2 bytes=0f1f440000eb100000000000");
	check_round_trip(PERF_RECORD_TEXT_POKE, PERF_RECORD_MISC_KERNEL, &body, 12);
	str_fini(&body);
	str_fini(&whole);
}

/* ---- the types whose fields are lists, or depend on each other ---- */

static struct record_bytes run_of(const void *at, size_t n)
{
	return (struct record_bytes){at, n};
}

/* A body made by hand: its text, and what it looks like after encoding and decoding. */
static void check_made(u32 type, u16 misc, const union record_body *body, size_t size,
	const char *expected)
{
	struct str out = {0}, again = {0};
	union record_body decoded;
	struct record rec;
	struct err err;

	check_text(type, misc, body, expected);
	CHECK(record_encode(type, misc, body, 8, &out));
	CHECK_EQ(out.n, RECORD_HEADER_SIZE + size + 8);
	CHECK_EQ(out.n % 8, 0);
	rec = recording_view(out.at, out.n);
	CHECK_EQ(rec.type, type);
	CHECK_EQ(rec.misc, misc);
	CHECK_EQ(record_decode(&rec, 8, &decoded, &err), 1);
	check_text(type, misc, &decoded, expected);
	CHECK(record_encode(type, misc, &decoded, 8, &again));
	CHECK_EQ(again.n, out.n);
	CHECK(!memcmp(again.at, out.at, out.n));
	str_fini(&out);
	str_fini(&again);
}

TEST(record_lists_of_the_kernel_have_their_entries)
{
	u64 words[] = {1, 2, 3, 4};

	check_made(PERF_RECORD_READ, 0, &(union record_body){.read = {5, 6, run_of(words, 32)}}, 40,
		"pid=5 tid=6 values=[1 2 3 4]");
	check_made(PERF_RECORD_READ, 0, &(union record_body){.read = {5, 6}}, 8,
		"pid=5 tid=6 values=[]");
	check_made(PERF_RECORD_NAMESPACES, 0,
		&(union record_body){.namespaces = {5, 6, 2, run_of(words, 32)}}, 48,
		"pid=5 tid=6 nr=2 namespaces=[{dev=1 ino=2} {dev=3 ino=4}]");
	check_made(PERF_RECORD_AUX_OUTPUT_HW_ID, 0,
		&(union record_body){.aux_output_hw_id = {0x12}}, 8, "hw_id=0x12");
	check_made(PERF_RECORD_CALLCHAIN_DEFERRED, 0,
		&(union record_body){.callchain_deferred = {0x77, 3, run_of(words, 24)}}, 40,
		"cookie=0x77 nr=3 ips=[0x1 0x2 0x3]");
	check_made(PERF_RECORD_BPF_EVENT, 0,
		&(union record_body){
			.bpf = {1, 0, 3, {0x6d, 0xee, 0xf7, 0x35, 0x7e, 0x7b, 0x45, 0x30}}},
		16, "bpf_type=1 flags=0 id=3 tag=6deef7357e7b4530");
}

TEST(record_attr_shows_the_attr_and_its_ids)
{
	struct event_attr attr = {.type = 1, .size = ATTR_SIZE_VER8, .config = 3};
	u64 ids[] = {7, 8};

	check_made(PERF_RECORD_HEADER_ATTR, 0,
		&(union record_body){.attr = {run_of(&attr, ATTR_SIZE_VER8), run_of(ids, 16)}},
		ATTR_SIZE_VER8 + 16, "attr={type=1, size=136, config=0x3} ids=[7 8]");
}

TEST(record_headers_of_pipes_have_their_fields)
{
	union record_body b = {.build_id = {.pid = -1, .path = run_of("/bin/x", 6)}};

	for (u8 i = 0; i < 20; i++)
		b.build_id.build_id[i] = i;
	b.build_id.build_id[20] = 3;
	check_made(PERF_RECORD_HEADER_BUILD_ID, PERF_RECORD_MISC_BUILD_ID_SIZE, &b, 40,
		"pid=-1 build_id=000102 path=/bin/x");
	check_made(PERF_RECORD_HEADER_BUILD_ID, 0, &b, 40,
		"pid=-1 build_id=000102030405060708090a0b0c0d0e0f10111213 path=/bin/x");
	check_made(PERF_RECORD_HEADER_EVENT_TYPE, 0,
		&(union record_body){.event_type = {4, run_of("cycles", 6)}}, 72,
		"event_id=4 name=cycles");
	check_made(PERF_RECORD_HEADER_TRACING_DATA, 0, &(union record_body){.tracing_data = {1000}},
		8, "size=1000");
	check_made(PERF_RECORD_HEADER_FEATURE, 0,
		&(union record_body){.feature = {2, run_of("abcdefgh", 8)}}, 16,
		"feat_id=2 data=6162636465666768");
	check_made(PERF_RECORD_FINISHED_ROUND, 0, &(union record_body){0}, 0, "");
	check_made(PERF_RECORD_FINISHED_INIT, 0, &(union record_body){0}, 0, "");
}

TEST(record_id_index_may_lack_the_guests)
{
	u64 entry[] = {1, 2, (u64)-1, (u64)-2}, guest[] = {9, 0};
	union record_body b = {.id_index = {1, run_of(entry, 32), run_of(guest, 16)}};

	check_made(PERF_RECORD_ID_INDEX, 0, &b, 56,
		"nr=1 entries=[{id=1 idx=2 cpu=-1 tid=-2}] guests=[{machine_pid=9 vcpu=0}]");
	b.id_index.guests = (struct record_bytes){0};
	b.id_index.end.n_missing = 1;
	check_made(PERF_RECORD_ID_INDEX, 0, &b, 40, "nr=1 entries=[{id=1 idx=2 cpu=-1 tid=-2}]");
}

TEST(record_auxtrace_types_have_their_fields)
{
	u64 words[] = {1, 2};
	union record_body b = {.auxtrace_error = {.error_type = 1,
				       .code = 6,
				       .cpu = 2,
				       .pid = 3,
				       .tid = (u32)-1,
				       .ip = 0x40,
				       .time = 99,
				       .msg = run_of("lost", 4),
				       .machine_pid = 7,
				       .vcpu = 8}};

	check_made(PERF_RECORD_AUXTRACE_INFO, 0,
		&(union record_body){.auxtrace_info = {3, 0, run_of(words, 16)}}, 24,
		"type=3 reserved=0 priv=[0x1 0x2]");
	check_made(PERF_RECORD_AUXTRACE, 0,
		&(union record_body){.auxtrace = {16, 32, 48, 1, 2, (u32)-1, 0}}, 40,
		"size=0x10 offset=0x20 reference=0x30 idx=1 tid=2 cpu=-1 reserved=0");
	check_made(PERF_RECORD_AUXTRACE_ERROR, 0, &b, 96,
		"type=1 code=6 cpu=2 pid=3 tid=-1 fmt=0 ip=0x40 msg=lost");
	b.auxtrace_error.fmt = 1;
	check_made(PERF_RECORD_AUXTRACE_ERROR, 0, &b, 104,
		"type=1 code=6 cpu=2 pid=3 tid=-1 fmt=1 ip=0x40 time=99 msg=lost");
	b.auxtrace_error.fmt = 2;
	check_made(PERF_RECORD_AUXTRACE_ERROR, 0, &b, 112,
		"type=1 code=6 cpu=2 pid=3 tid=-1 fmt=2 ip=0x40 time=99 msg=lost machine_pid=7 "
		"vcpu=8");
	b.auxtrace_error.end.n_missing = 2;
	check_made(PERF_RECORD_AUXTRACE_ERROR, 0, &b, 104,
		"type=1 code=6 cpu=2 pid=3 tid=-1 fmt=2 ip=0x40 time=99 msg=lost");
}

TEST(record_thread_map_and_cpu_maps_have_their_entries)
{
	static const u8 threads[] = "\x65\0\0\0\0\0\0\0bash\x1b\0 behind it"
				    "\xff\xff\xff\xff\xff\xff\xff\xffsixteen letters!";
	u16 cpus[] = {0, 2, 513};
	u32 mask32[] = {0x5, 0x80000000};
	u64 mask64[] = {0xf0};

	check_made(PERF_RECORD_THREAD_MAP, 0,
		&(union record_body){.thread_map = {2, run_of(threads, 48)}}, 56,
		"nr=2 threads=[{pid=101 comm=bash\\x1b} {pid=-1 comm=sixteen letters!}]");
	check_made(PERF_RECORD_CPU_MAP, 0,
		&(union record_body){
			.cpu_map = {.map_type = RECORD_CPU_LIST, .nr = 3, .cpus = run_of(cpus, 6)}},
		16, "type=0 nr=3 cpus=[0 2 513]");
	check_made(PERF_RECORD_CPU_MAP, 0,
		&(union record_body){.cpu_map = {.map_type = RECORD_CPU_MASK,
					     .nr = 2,
					     .long_size = 4,
					     .cpus = run_of(mask32, 8)}},
		16, "type=1 nr=2 long_size=4 mask=[0x5 0x80000000]");
	check_made(PERF_RECORD_CPU_MAP, 0,
		&(union record_body){.cpu_map = {.map_type = RECORD_CPU_MASK,
					     .nr = 1,
					     .long_size = 8,
					     .cpus = run_of(mask64, 8)}},
		24, "type=1 nr=1 long_size=8 mask=[0xf0]");
	check_made(PERF_RECORD_CPU_MAP, 0,
		&(union record_body){.cpu_map = {.map_type = RECORD_CPU_RANGE,
					     .any_cpu = 1,
					     .start_cpu = 2,
					     .end_cpu = 63}},
		8, "type=2 any_cpu=1 range_reserved=0 start_cpu=2 end_cpu=63");
}

TEST(record_stat_types_have_their_fields)
{
	u64 config[] = {0, 1, 2, 1000};

	check_made(PERF_RECORD_STAT_CONFIG, 0,
		&(union record_body){.stat_config = {2, run_of(config, 32)}}, 40,
		"nr=2 config=[{tag=0 val=1} {tag=2 val=1000}]");
	check_made(PERF_RECORD_STAT, 0, &(union record_body){.stat = {1, -1, 2, 3, 4, 5}}, 40,
		"id=1 cpu=-1 thread=2 val=3 ena=4 run=5");
	check_made(PERF_RECORD_STAT_ROUND, 0, &(union record_body){.stat_round = {1, 77}}, 16,
		"type=1 time=77");
}

TEST(record_event_update_is_one_of_four_things)
{
	u16 cpus[] = {1, 3};
	struct record_event_update u = {.id = 9,
		.scale = 0.25,
		.text = run_of("Joules", 6),
		.cpus = {.nr = 2, .cpus = run_of(cpus, 4)}};

	check_made(PERF_RECORD_EVENT_UPDATE, 0, &(union record_body){.event_update = u}, 24,
		"type=0 id=9 unit=Joules");
	u.update_type = RECORD_UPDATE_SCALE;
	check_made(PERF_RECORD_EVENT_UPDATE, 0, &(union record_body){.event_update = u}, 24,
		"type=1 id=9 scale=0.25");
	u.update_type = RECORD_UPDATE_NAME;
	check_made(PERF_RECORD_EVENT_UPDATE, 0, &(union record_body){.event_update = u}, 24,
		"type=2 id=9 name=Joules");
	u.update_type = RECORD_UPDATE_CPUS;
	check_made(PERF_RECORD_EVENT_UPDATE, 0, &(union record_body){.event_update = u}, 24,
		"type=3 id=9 cpus={type=0 nr=2 cpus=[1 3]}");
	u.update_type = 4;
	check_made(PERF_RECORD_EVENT_UPDATE, 0, &(union record_body){.event_update = u}, 16,
		"type=4 id=9");
}

TEST(record_time_conv_may_lack_what_came_later)
{
	static const struct {
		u8 n_missing;
		size_t size;
		const char *text;
	} cases[] = {
		{4, 24, "time_shift=1 time_mult=2 time_zero=3"},
		{3, 32, "time_shift=1 time_mult=2 time_zero=3 time_cycles=4"},
		{2, 40, "time_shift=1 time_mult=2 time_zero=3 time_cycles=4 time_mask=0x5"},
		{0, 48,
			"time_shift=1 time_mult=2 time_zero=3 time_cycles=4 time_mask=0x5 "
			"cap_user_time_zero=1 cap_user_time_short=0"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		union record_body b = {.time_conv = {1, 2, 3, 4, 5, 1, 0}};

		b.time_conv.end.n_missing = cases[i].n_missing;
		check_made(PERF_RECORD_TIME_CONV, 0, &b, cases[i].size, cases[i].text);
	}
}

TEST(record_compressed_and_metadata_have_their_bytes)
{
	char entry[320] = "version";

	strcpy(entry + 64, "6.12\n");
	check_made(PERF_RECORD_COMPRESSED, 0,
		&(union record_body){.compressed = {.data = run_of("\x28\xb5\x2f\xfd\0\1\2\3", 8)}},
		8, "data=28b52ffd00010203");
	check_made(PERF_RECORD_COMPRESSED2, 0,
		&(union record_body){.compressed = {3, run_of("\1\2\3", 3)}}, 16,
		"data_size=3 data=010203");
	check_made(PERF_RECORD_BPF_METADATA, 0,
		&(union record_body){.bpf_metadata = {run_of("prog", 4), 1, run_of(entry, 320)}},
		344, "prog_name=prog nr_entries=1 entries=[{key=version value=6.12\\x0a}]");
}

TEST(record_encode_refuses_lists_that_are_not_as_long_as_they_say)
{
	u64 words[] = {1, 2, 3, 4};
	struct str out = {0};

	str_add(&out, "before");
	CHECK(!record_encode(PERF_RECORD_NAMESPACES, 0,
		&(union record_body){.namespaces = {5, 6, 1, run_of(words, 32)}}, 0, &out));
	CHECK(!record_encode(PERF_RECORD_NAMESPACES, 0,
		&(union record_body){.namespaces = {5, 6, 1, run_of(words, 17)}}, 0, &out));
	CHECK(!record_encode(PERF_RECORD_COMPRESSED2, 0,
		&(union record_body){.compressed = {3, run_of(words, 4)}}, 0, &out));
	CHECK_STR(out.at, "before");
	str_fini(&out);
}

TEST(record_lists_are_as_long_as_the_record_at_most)
{
	struct str body = {0}, whole = {0};
	union record_body b;

	put64(&body, 0x2000000000000001); /* times 8 is 8 */
	put64(&body, 1);
	put_record(&whole, PERF_RECORD_ID_INDEX, 0, &body);
	CHECK_EQ(decode_exact(&whole, whole.n, 0, &b), ERR_FORMAT);
	str_clear(&whole);
	put_record(&whole, PERF_RECORD_COMPRESSED2, 0, &body);
	CHECK_EQ(decode_exact(&whole, whole.n, 0, &b), ERR_FORMAT);
	str_fini(&body);
	str_fini(&whole);
}

TEST(record_text_says_how_much_more_there_is_of_a_long_list)
{
	static const u8 words[5000 * 8];
	union record_body b = {.read = {1, 2, run_of(words, 4096 * 8)}};
	struct str text = {0};

	record_add_text(PERF_RECORD_READ, 0, &b, &text);
	CHECK_STR(text.at + text.n - 5, " 0 0]");
	str_clear(&text);
	b.read.values.n = sizeof(words);
	record_add_text(PERF_RECORD_READ, 0, &b, &text);
	CHECK_HAS(text.at, " 0 0 ... 904 more]");
	str_fini(&text);
}

TEST(record_name_without_a_nul_ends_with_the_body_and_not_in_the_trailer)
{
	struct str body = {0}, whole = {0};
	union record_body b;
	struct record rec;
	struct err err;
	u8 *copy;

	put32(&body, 1);
	put32(&body, 2);
	str_addn(&body, "abcdefgh", 8);
	str_addn(&body, "TRAILER!", 8);
	put_record(&whole, PERF_RECORD_COMM, 0, &body);
	copy = recording_exact(whole.at, whole.n);
	rec = recording_view(copy, whole.n);
	CHECK_EQ(record_decode(&rec, 8, &b, &err), 1);
	check_run(&b.comm.comm, "abcdefgh");
	CHECK_EQ(record_decode(&rec, 16, &b, &err), 1);
	check_run(&b.comm.comm, "");
	free(copy);
	str_fini(&body);
	str_fini(&whole);
}

TEST(record_decode_leaves_its_result_alone_when_it_fails)
{
	struct str body = {0}, whole = {0};
	union record_body b, before;
	struct record rec;
	struct err err;

	put64(&body, 1);
	put_record(&whole, PERF_RECORD_LOST, 0, &body);
	rec = recording_view(whole.at, whole.n);
	rec.offset = 0xabc;
	memset(&b, 0x5a, sizeof(b));
	before = b;
	CHECK_EQ(record_decode(&rec, 0, &b, &err), ERR_FORMAT);
	CHECK(!memcmp(&b, &before, sizeof(b)));
	CHECK_STR(err.msg, "LOST record at offset 0xabc: its 16 bytes end before 'lost'");
	CHECK_EQ(record_decode(&rec, 16, &b, &err), ERR_FORMAT);
	CHECK_STR(err.msg, "LOST record at offset 0xabc: 16 bytes cannot hold its trailer of 16");
	CHECK_EQ(record_decode(&rec, UINT16_MAX, &b, &err), ERR_FORMAT);
	CHECK(!memcmp(&b, &before, sizeof(b)));
	str_fini(&body);
	str_fini(&whole);
}

TEST(record_types_without_a_layout_are_neither_decoded_nor_encoded)
{
	static const u32 types[] = {0, PERF_RECORD_SAMPLE, 23, 63, 85, 32768, UINT32_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct record_header header = {types[i], 0, sizeof(header)};
		struct record rec = recording_view(&header, sizeof(header));
		union record_body b = {0};
		struct str out = {0};
		struct err err;

		CHECK_EQ(record_decode(&rec, 0, &b, &err), 0);
		CHECK(!record_encode(types[i], 0, &b, 0, &out));
		record_add_text(types[i], 0, &b, &out);
		CHECK_EQ(out.n, 0);
		str_fini(&out);
	}
}

TEST(record_encode_refuses_what_is_larger_than_a_record_can_be)
{
	struct str name = {0}, out = {0};
	union record_body b = {.comm = {.pid = 1}};

	str_fill(&name, 'x', UINT16_MAX);
	str_add(&out, "before");
	/* header 8, pid and tid 8, name, NUL: 65,528 is the largest multiple of 8 that fits 16 bits
	 */
	b.comm.comm = (struct record_bytes){(const u8 *)name.at, 65528 - 16 - 1};
	CHECK(record_encode(PERF_RECORD_COMM, 0, &b, 0, &out));
	CHECK_EQ(out.n, 6 + 65528);
	str_cut(&out, 6);
	CHECK(!record_encode(PERF_RECORD_COMM, 0, &b, 8, &out));
	CHECK_EQ(out.n, 6);
	b.comm.comm.n++;
	CHECK(!record_encode(PERF_RECORD_COMM, 0, &b, 0, &out));
	CHECK_EQ(out.n, 6);
	CHECK_STR(out.at, "before");
	str_fini(&name);
	str_fini(&out);
}

TEST(record_text_makes_foreign_names_safe)
{
	static const char name[] = "a\x1b[31m\n\t\x7f\xc2\x9b\xff\xe2\x80\xae";
	union record_body b = {.comm = {1, 2, {(const u8 *)name, sizeof(name) - 1}}};

	check_text(PERF_RECORD_COMM, 0, &b,
		"pid=1 tid=2 comm=a\\x1b[31m\\x0a\\x09\\x7f\\xc2\\x9b\\xff\\xe2\\x80\\xae");
	b = (union record_body){.ksymbol = {.name = {(const u8 *)"\r\x01", 2}}};
	check_text(PERF_RECORD_KSYMBOL, 0, &b,
		"addr=0x0 len=0 ksym_type=0 flags=0 name=\\x0d\\x01");
}

TEST(record_state_types_are_those_the_machine_is_made_of)
{
	for (u32 type = 0; type < 256; type++) {
		bool is_state = type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2 ||
			type == PERF_RECORD_COMM || type == PERF_RECORD_FORK ||
			type == PERF_RECORD_EXIT || type == PERF_RECORD_KSYMBOL ||
			type == PERF_RECORD_CGROUP;

		CHECK_EQ(record_is_state(type), is_state);
	}
	CHECK(!record_is_state(UINT32_MAX));
}

TEST(record_trailers_belong_to_the_kernels_records_but_not_to_samples)
{
	for (u32 type = 0; type < 256; type++)
		CHECK_EQ(record_has_trailer(type), type < 64 && type != PERF_RECORD_SAMPLE);
}

TEST(record_types_have_the_names_perf_gives_them)
{
	CHECK_STR(record_type_name(PERF_RECORD_MMAP), "MMAP");
	CHECK_STR(record_type_name(PERF_RECORD_MMAP2), "MMAP2");
	CHECK_STR(record_type_name(PERF_RECORD_SAMPLE), "SAMPLE");
	CHECK_STR(record_type_name(PERF_RECORD_SWITCH_CPU_WIDE), "SWITCH_CPU_WIDE");
	CHECK_STR(record_type_name(PERF_RECORD_CALLCHAIN_DEFERRED), "CALLCHAIN_DEFERRED");
	CHECK_STR(record_type_name(PERF_RECORD_FINISHED_ROUND), "FINISHED_ROUND");
	CHECK_STR(record_type_name(PERF_RECORD_BPF_METADATA), "BPF_METADATA");
	CHECK(!record_type_name(0));
	CHECK(!record_type_name(23));
	CHECK(!record_type_name(63));
	CHECK(!record_type_name(85));
	/* All types that the kernel and perf number are there. */
	for (u32 type = 1; type <= PERF_RECORD_CALLCHAIN_DEFERRED; type++)
		CHECK(record_type_name(type));
	for (u32 type = PERF_RECORD_USER_TYPE_START; type <= PERF_RECORD_BPF_METADATA; type++)
		CHECK(record_type_name(type));
}
