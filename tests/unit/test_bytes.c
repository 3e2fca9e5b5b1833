#include "base/bytes.h"

#include "test.h"

static const u8 data[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c,
	0x0d, 0x0e, 0x0f, 0x10};

TEST(bytes_reads_values_in_this_machines_order)
{
	struct bytes b = bytes_of(data + 1, sizeof(data) - 1); /* unaligned */
	u8 v8;
	u16 v16, expect16;
	u32 v32, expect32;
	u64 v64, expect64;

	b.offset = 100;
	CHECK(bytes_u8(&b, &v8));
	CHECK_EQ(v8, 2);
	CHECK(bytes_u16(&b, &v16));
	memcpy(&expect16, data + 2, 2);
	CHECK_EQ(v16, expect16);
	CHECK(bytes_u32(&b, &v32));
	memcpy(&expect32, data + 4, 4);
	CHECK_EQ(v32, expect32);
	CHECK(bytes_u64(&b, &v64));
	memcpy(&expect64, data + 8, 8);
	CHECK_EQ(v64, expect64);
	CHECK_EQ(b.offset, 115);
	CHECK_EQ(bytes_left(&b), 0);
}

TEST(bytes_with_swap_reads_the_other_order)
{
	struct bytes b = bytes_of(data, sizeof(data)), same = b;
	u8 v8;
	u16 v16, same16;
	u32 v32, same32;
	u64 v64, same64;

	b.swap = true;
	CHECK(bytes_u8(&b, &v8) && bytes_skip(&same, 1));
	CHECK_EQ(v8, 1);
	CHECK(bytes_u16(&b, &v16) && bytes_u16(&same, &same16));
	CHECK(bytes_u32(&b, &v32) && bytes_u32(&same, &same32));
	CHECK(bytes_u64(&b, &v64) && bytes_u64(&same, &same64));
	CHECK_EQ(v16, (u16)(same16 << 8 | same16 >> 8));
	CHECK_EQ(v32, __builtin_bswap32(same32));
	CHECK_EQ(v64, __builtin_bswap64(same64));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	CHECK_EQ(v16, 0x0203);
	CHECK_EQ(v32, 0x04050607);
	CHECK_EQ(v64, 0x08090a0b0c0d0e0f);
#endif
}

/* For each width: one byte too few leaves the cursor and the result alone. */
TEST(bytes_that_are_too_few_change_nothing)
{
	u8 v8 = 0xaa;
	u16 v16 = 0xaaaa;
	u32 v32 = 0xaaaaaaaa;
	u64 v64 = 0xaaaaaaaaaaaaaaaa;
	const void *p = data;

	for (size_t n = 0; n < 8; n++) {
		struct bytes b = bytes_of(data, n);

		b.offset = 7;
		CHECK(!bytes_u64(&b, &v64));
		CHECK(n >= 4 || !bytes_u32(&b, &v32));
		CHECK(n >= 2 || !bytes_u16(&b, &v16));
		CHECK(n >= 1 || !bytes_u8(&b, &v8));
		CHECK(!bytes_take(&b, n + 1, &p));
		CHECK(!bytes_skip(&b, n + 1));
		CHECK(b.at == data);
		CHECK_EQ(b.offset, 7);
		CHECK_EQ(bytes_left(&b), n);
	}
	CHECK_EQ(v8, 0xaa);
	CHECK_EQ(v16, 0xaaaa);
	CHECK_EQ(v32, 0xaaaaaaaa);
	CHECK_EQ(v64, 0xaaaaaaaaaaaaaaaa);
	CHECK(p == data);
}

TEST(bytes_take_of_huge_sizes_does_not_overflow)
{
	static const u64 sizes[] = {17, 1ULL << 31, 1ULL << 32, (1ULL << 32) + 16, 1ULL << 63,
		~0ULL, ~0ULL - 15};
	struct bytes b = bytes_of(data, sizeof(data)), sub = {0};
	const void *p;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		CHECK(!bytes_take(&b, sizes[i], &p));
		CHECK(!bytes_skip(&b, sizes[i]));
		CHECK(!bytes_sub(&b, sizes[i], &sub));
	}
	CHECK(!sub.at);
	CHECK_EQ(bytes_left(&b), 16);
	CHECK(bytes_take(&b, 16, &p));
	CHECK(p == data);
	CHECK(bytes_take(&b, 0, &p));
	CHECK(p == data + 16);
	CHECK(!bytes_skip(&b, 1));
}

TEST(bytes_sub_is_a_cursor_of_its_own)
{
	struct bytes b = bytes_of(data, sizeof(data)), sub;
	u32 v;

	b.swap = true;
	b.offset = 1000;
	CHECK(bytes_skip(&b, 4));
	CHECK(bytes_sub(&b, 6, &sub));
	CHECK_EQ(b.offset, 1010);
	CHECK_EQ(bytes_left(&b), 6);
	CHECK_EQ(sub.offset, 1004);
	CHECK_EQ(bytes_left(&sub), 6);
	CHECK(sub.swap);
	CHECK(bytes_u32(&sub, &v));
	CHECK_EQ(bytes_left(&b), 6);
	/* The rest of the outer cursor is out of reach. */
	CHECK(!bytes_u32(&sub, &v));
	CHECK(bytes_sub(&sub, 0, &b));
	CHECK_EQ(bytes_left(&b), 0);
}

TEST(bytes_cstr_needs_its_nul_inside)
{
	static const char text[] = "ab\0\0c";
	struct bytes b = bytes_of(text, 5); /* without the last NUL */
	const char *s = NULL;
	size_t n = 99;

	CHECK(bytes_cstr(&b, &s, &n));
	CHECK_STR(s, "ab");
	CHECK_EQ(n, 2);
	CHECK_EQ(b.offset, 3);
	CHECK(bytes_cstr(&b, &s, &n));
	CHECK_STR(s, "");
	CHECK_EQ(n, 0);
	CHECK_EQ(bytes_left(&b), 1);
	s = NULL;
	CHECK(!bytes_cstr(&b, &s, &n));
	CHECK(!s);
	CHECK_EQ(bytes_left(&b), 1);
	CHECK_EQ(b.offset, 4);

	b = bytes_of(text, 0);
	CHECK(!bytes_cstr(&b, &s, &n));
	b = bytes_of(text + 2, 1);
	CHECK(bytes_cstr(&b, &s, &n));
	CHECK_EQ(n, 0);
	CHECK(!bytes_cstr(&b, &s, &n));
}

TEST(align_up_rounds_to_powers_of_two)
{
	CHECK_EQ(align_up(0, 8), 0);
	CHECK_EQ(align_up(1, 8), 8);
	CHECK_EQ(align_up(8, 8), 8);
	CHECK_EQ(align_up(9, 8), 16);
	CHECK_EQ(align_up(5, 1), 5);
	CHECK_EQ(align_up(0xffffffffffULL, 4096), 0x10000000000ULL);
}
