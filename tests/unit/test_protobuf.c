#include "test.h"

#include "base/protobuf.h"

static void check_bytes(const struct str *s, const char *expected, size_t n)
{
	CHECK_EQ(s->n, n);
	CHECK(!memcmp(s->at, expected, n));
}

/* The examples of protobuf.dev/programming-guides/encoding. */
TEST(protobuf_add_writes_the_bytes_of_the_documentation)
{
	struct str s = {0};

	protobuf_add_u64(&s, 1, 150);
	check_bytes(&s, "\x08\x96\x01", 3);
	str_clear(&s);
	protobuf_add_bytes(&s, 2, "testing", 7);
	check_bytes(&s, "\x12\x07testing", 9);
	str_clear(&s);
	protobuf_add_varint(&s, 3);
	protobuf_add_varint(&s, 270);
	protobuf_add_varint(&s, 86942);
	check_bytes(&s, "\x03\x8e\x02\x9e\xa7\x05", 6);
	str_fini(&s);
}

TEST(protobuf_add_leaves_out_zero_but_not_empty_bytes)
{
	struct str s = {0};

	protobuf_add_u64(&s, 7, 0);
	CHECK_EQ(s.n, 0);
	protobuf_add_bytes(&s, 6, "", 0);
	check_bytes(&s, "\x32\x00", 2);
	str_fini(&s);
}

TEST(protobuf_reads_back_what_it_wrote)
{
	static const u64 values[] = {1, 127, 128, 16383, 16384, UINT32_MAX, 1ull << 63, UINT64_MAX};
	struct protobuf_field f;
	struct str s = {0}, list = {0};
	struct bytes b;
	u64 v;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		protobuf_add_u64(&s, 1 + 1000 * (u32)i, values[i]);
		protobuf_add_varint(&list, values[i]);
	}
	protobuf_add_bytes(&s, 536870911, list.at, list.n);
	b = bytes_of(s.at, s.n);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		CHECK_EQ(protobuf_next(&b, &f), 1);
		CHECK_EQ(f.number, 1 + 1000 * i);
		CHECK_EQ(f.type, PROTOBUF_VARINT);
		CHECK_EQ(f.value, values[i]);
	}
	CHECK_EQ(protobuf_next(&b, &f), 1);
	CHECK_EQ(f.number, 536870911);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		CHECK(protobuf_varint(&f.bytes, &v));
		CHECK_EQ(v, values[i]);
	}
	CHECK(!protobuf_varint(&f.bytes, &v) && !bytes_left(&f.bytes));
	CHECK_EQ(protobuf_next(&b, &f), 0);
	str_fini(&s);
	str_fini(&list);
}

TEST(protobuf_that_is_cut_off_is_damaged_and_stays_in_front_of_the_field)
{
	struct protobuf_field f;
	struct str s = {0};

	protobuf_add_u64(&s, 1, 300);
	protobuf_add_bytes(&s, 2, "testing", 7);
	for (size_t n = 1; n < s.n; n++) {
		struct bytes b = bytes_of(s.at, n);
		int got, n_fields = 0;

		while ((got = protobuf_next(&b, &f)) > 0)
			n_fields++;
		CHECK_EQ(n_fields, n >= 3);
		CHECK_EQ(got, n == 3 ? 0 : -1);
		CHECK_EQ(bytes_left(&b), n >= 3 ? n - 3 : n);
	}
	str_fini(&s);
}
