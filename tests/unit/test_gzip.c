#include "test.h"

#include <zlib.h>

#include "base/gzip.h"

/* What zlib unpacks: a whole member of gzip, and nothing behind it. */
static struct str unpacked(const struct str *packed)
{
	struct str plain = {0};
	z_stream z = {.next_in = (Bytef *)packed->at, .avail_in = (uInt)packed->n};
	char room[4096];
	int result;

	CHECK_EQ(inflateInit2(&z, 16 + MAX_WBITS), Z_OK);
	do {
		z.next_out = (Bytef *)room;
		z.avail_out = sizeof(room);
		result = inflate(&z, Z_NO_FLUSH);
		CHECK(result == Z_OK || result == Z_STREAM_END);
		str_addn(&plain, room, sizeof(room) - z.avail_out);
	} while (result != Z_STREAM_END);
	CHECK_EQ(z.avail_in, 0);
	inflateEnd(&z);
	return plain;
}

TEST(gzip_add_packs_what_gzip_unpacks)
{
	static const size_t sizes[] = {0, 1, 65536, 65537, 3000000};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct str data = {0}, packed = {0}, plain;
		u32 state = 1;

		/* Half of it is noise, so that what is packed needs several pieces. */
		for (size_t k = 0; k < sizes[i]; k++) {
			state = state * 1664525 + 1013904223;
			str_addc(&data, k % 2 ? (char)(state >> 24) : 'x');
		}
		gzip_add(str_text(&data), data.n, &packed);
		plain = unpacked(&packed);
		CHECK_EQ(plain.n, data.n);
		CHECK(!data.n || !memcmp(plain.at, data.at, data.n));
		str_fini(&data);
		str_fini(&packed);
		str_fini(&plain);
	}
}

TEST(gzip_add_keeps_what_is_there_and_says_neither_name_nor_time)
{
	struct str packed = {0}, again = {0};

	str_add(&packed, "head");
	gzip_add("data", 4, &packed);
	gzip_add("data", 4, &again);
	CHECK(!memcmp(packed.at, "head\x1f\x8b\x08", 7));
	/* Flags and time are 0. */
	CHECK(!memcmp(packed.at + 7, "\0\0\0\0\0", 5));
	CHECK_EQ(packed.n, again.n + 4);
	CHECK(!memcmp(packed.at + 4, again.at, again.n));
	str_fini(&packed);
	str_fini(&again);
}
