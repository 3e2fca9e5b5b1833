#include "unwind/encoded.h"

#include "test.h"

static const struct encoded_bases bases = {.text = 0x1000, .data = 0x2000, .address_size = 8};

/* What 8 bytes mean in an encoding, read from `offset` on, and how many of them were taken; -1: nothing. */
static int taken(u8 encoding, const struct encoded_bases *from, const u8 *at, size_t n, u64 offset,
	u64 *ret_v)
{
	struct bytes b = bytes_of(at, n);

	b.offset = offset;
	return encoded_pointer(&b, encoding, from, ret_v) ? (int)(b.offset - offset) : -1;
}

TEST(encoded_pointers_have_a_size_and_a_sign)
{
	static const u8 bytes[] = {0xfe, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff};
	static const struct {
		u8 encoding;
		int n;
		u64 v;
	} rows[] = {
		{ENCODED_ABSPTR, 8, 0xffffff7ffffffffe},
		{ENCODED_UDATA2, 2, 0xfffe},
		{ENCODED_SDATA2, 2, (u64)-2},
		{ENCODED_UDATA4, 4, 0xfffffffe},
		{ENCODED_SDATA4, 4, (u64)-2},
		{ENCODED_UDATA8, 8, 0xffffff7ffffffffe},
		{ENCODED_SDATA8, 8, 0xffffff7ffffffffe},
		{ENCODED_ULEB128, 5, 0x7fffffffe},
		{ENCODED_SLEB128, 5, (u64)-2},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 v = 0;

		CHECK_EQ(taken(rows[i].encoding, &bases, bytes, sizeof(bytes), 0, &v), rows[i].n);
		CHECK_EQ(v, rows[i].v);
		/* One byte too few for each, and none. */
		CHECK_EQ(taken(rows[i].encoding, &bases, bytes, rows[i].n - 1, 0, &v), -1);
		CHECK_EQ(taken(rows[i].encoding, &bases, bytes, 0, 0, &v), -1);
	}
}

TEST(encoded_pointers_count_from_where_they_say)
{
	static const u8 bytes[] = {0xf0, 0xff, 0xff, 0xff};
	struct encoded_bases narrow = bases;
	u64 v;

	CHECK_EQ(taken(ENCODED_PCREL | ENCODED_SDATA4, &bases, bytes, 4, 0x500, &v), 4);
	CHECK_EQ(v, 0x4f0);
	CHECK_EQ(taken(ENCODED_TEXTREL | ENCODED_SDATA4, &bases, bytes, 4, 0x500, &v), 4);
	CHECK_EQ(v, 0xff0);
	CHECK_EQ(taken(ENCODED_DATAREL | ENCODED_SDATA4, &bases, bytes, 4, 0x500, &v), 4);
	CHECK_EQ(v, 0x1ff0);
	/* Addresses of 4 bytes do not get longer by what is added. */
	narrow.address_size = 4;
	CHECK_EQ(taken(ENCODED_PCREL | ENCODED_UDATA4, &narrow, bytes, 4, 0x500, &v), 4);
	CHECK_EQ(v, 0x4f0);
	CHECK_EQ(taken(ENCODED_ABSPTR, &narrow, bytes, 4, 0, &v), 4);
	CHECK_EQ(v, 0xfffffff0);
}

TEST(encoded_pointers_that_cannot_be_known_are_none)
{
	static const u8 bytes[8];
	u64 v;

	CHECK_EQ(taken(ENCODED_INDIRECT | ENCODED_PCREL | ENCODED_SDATA4, &bases, bytes, 8, 0, &v),
		-1);
	CHECK_EQ(taken(ENCODED_FUNCREL | ENCODED_UDATA4, &bases, bytes, 8, 0, &v), -1);
	CHECK_EQ(taken(ENCODED_OMIT, &bases, bytes, 8, 0, &v), -1);
	for (u8 size = 5; size < 9; size++)
		CHECK_EQ(taken(size, &bases, bytes, 8, 0, &v), -1);
}
