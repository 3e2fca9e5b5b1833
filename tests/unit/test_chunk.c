#include "test.h"

#include <stdio.h>

#include "view/html/chunk.h"

static const char head[] = "<script type=\"application/octet-stream\" id=\"names\">";
static const char tail[] = "</script>\n";

/* What a browser finds in the element: base64, then deflate without a header. */
static struct str inflated(const struct str *page)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const size_t end = page->n - strlen(tail);
	struct str packed = {0}, plain = {0};
	z_stream z = {0};
	char room[4096];
	u32 bits = 0;
	int result;

	CHECK(page->n > strlen(head) + strlen(tail));
	CHECK(!memcmp(page->at, head, strlen(head)));
	CHECK(!memcmp(page->at + end, tail, strlen(tail)));
	CHECK_EQ((end - strlen(head)) % 4, 0);
	for (size_t i = strlen(head); i < end; i += 4) {
		unsigned n = 0;

		for (unsigned k = 0; k < 4; k++) {
			const char *digit = strchr(digits, page->at[i + k]);

			CHECK((digit && *digit) ||
				(page->at[i + k] == '=' && i + 4 == end && k > 1));
			bits = bits << 6 | (digit ? (u32)(digit - digits) : 0);
			n += digit != NULL;
		}
		for (unsigned k = 0; k + 1 < n; k++)
			str_addc(&packed, (char)(bits >> (16 - 8 * k)));
	}
	CHECK_EQ(inflateInit2(&z, -MAX_WBITS), Z_OK);
	z.next_in = (Bytef *)packed.at;
	z.avail_in = (uInt)packed.n;
	do {
		z.next_out = (Bytef *)room;
		z.avail_out = sizeof(room);
		result = inflate(&z, Z_NO_FLUSH);
		CHECK(result == Z_OK || result == Z_STREAM_END);
		str_addn(&plain, room, sizeof(room) - z.avail_out);
	} while (result != Z_STREAM_END);
	CHECK_EQ(z.avail_in, 0);
	inflateEnd(&z);
	str_fini(&packed);
	return plain;
}

TEST(chunk_holds_what_was_added_whatever_its_size)
{
	for (size_t n = 0; n < 300000; n = n < 12 ? n + 1 : n * 7) {
		FILE *file = tmpfile();
		struct out out = {.fd = fileno(file)};
		struct str data = {0}, page = {0}, plain;
		struct chunk chunk;
		char room[4096];
		u32 state = 7;
		struct err err;
		size_t got;

		for (size_t i = 0; i < n; i++) {
			state = state * 1664525 + 1013904223;
			str_addc(&data, (char)(state >> 24));
		}
		chunk_open(&chunk, &out, "names");
		chunk_add(&chunk, str_text(&data), n / 2);
		chunk_add(&chunk, str_text(&data) + n / 2, n - n / 2);
		chunk_close(&chunk);
		CHECK_EQ(out_close(&out, &err), 0);
		rewind(file);
		while ((got = fread(room, 1, sizeof(room), file)) > 0)
			str_addn(&page, room, got);
		fclose(file);
		plain = inflated(&page);
		CHECK_EQ(plain.n, n);
		CHECK(!n || !memcmp(plain.at, data.at, n));
		str_fini(&data);
		str_fini(&page);
		str_fini(&plain);
	}
}

TEST(chunk_numbers_are_seven_bits_a_byte_the_lowest_first)
{
	struct out out = {.fd = -1};
	struct chunk chunk;
	struct str plain;

	chunk_open(&chunk, &out, "names");
	chunk_add_number(&chunk, 0);
	chunk_add_number(&chunk, 127);
	chunk_add_number(&chunk, 300);
	chunk_add_number(&chunk, UINT64_MAX);
	chunk_close(&chunk);
	plain = inflated(&out.text);
	CHECK_EQ(plain.n, 1 + 1 + 2 + 10);
	CHECK(!memcmp(plain.at, "\x00\x7f\xac\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 14));
	str_fini(&plain);
	str_fini(&out.text);
}
