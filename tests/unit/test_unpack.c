#include "test.h"

#include <zlib.h>
#include <zstd.h>

#include "symbol/elf/unpack.h"
#include "unit/outside.h"

enum { LIMIT = 1 << 22 };

/* What does not pack to nothing. */
static void make_plain(struct str *plain, size_t n)
{
	for (u32 i = 0; plain->n < n; i++)
		str_addf(plain, "%x ", i * 2654435761u);
	str_cut(plain, n);
}

static void pack(enum unpack_form form, const struct str *plain, struct str *packed)
{
	uLongf n = compressBound(plain->n) + 1024;

	str_reserve(packed, n);
	if (form == UNPACK_ZLIB)
		CHECK_EQ(compress((u8 *)packed->at, &n, (const u8 *)plain->at, plain->n), Z_OK);
	else
		n = ZSTD_compress(packed->at, n, plain->at, plain->n, 1);
	packed->n = n;
}

static int unpack_str(enum unpack_form form, const struct str *packed, u64 limit, struct str *out,
	struct err *err)
{
	str_fini(out);
	return unpack(form, bytes_of(packed->at, packed->n), limit, out, err);
}

TEST(unpack_gives_back_what_was_packed_up_to_the_limit_itself)
{
	static const enum unpack_form forms[] = {UNPACK_ZLIB, UNPACK_ZSTD};
	static const size_t sizes[] = {1, 1000, 1 << 20, (1 << 20) + 1, 3 << 20};

	for (size_t f = 0; f < ARRAY_SIZE(forms); f++) {
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
			struct str plain = {0}, packed = {0}, out = {0};
			struct err err;

			make_plain(&plain, sizes[i]);
			pack(forms[f], &plain, &packed);
			CHECK_EQ(unpack_str(forms[f], &packed, sizes[i] + 1, &out, &err), 0);
			CHECK_EQ(out.n, plain.n);
			CHECK(!memcmp(out.at, plain.at, out.n));
			CHECK_EQ(unpack_str(forms[f], &packed, sizes[i] - 1, &out, &err),
				ERR_LIMIT);
			CHECK(out.n < sizes[i]);
			str_fini(&plain);
			str_fini(&packed);
			str_fini(&out);
		}
	}
}

TEST(unpack_of_damaged_bytes_is_an_error_wherever_they_are_cut)
{
	static const enum unpack_form forms[] = {UNPACK_ZLIB, UNPACK_ZSTD};

	for (size_t f = 0; f < ARRAY_SIZE(forms); f++) {
		struct str plain = {0}, packed = {0}, out = {0};
		struct err err;
		size_t whole;

		make_plain(&plain, 300);
		pack(forms[f], &plain, &packed);
		whole = packed.n;
		/* Zero bytes of zstd are nothing, well packed. */
		for (packed.n = 1; packed.n < whole; packed.n++)
			CHECK_EQ(unpack_str(forms[f], &packed, LIMIT, &out, &err), ERR_FORMAT);
		packed.at[0] ^= 0x55;
		packed.n = whole;
		CHECK_EQ(unpack_str(forms[f], &packed, LIMIT, &out, &err), ERR_FORMAT);
		CHECK_HAS(err.msg, "is damaged or cut off");
		str_fini(&plain);
		str_fini(&packed);
		str_fini(&out);
	}
}

TEST(unpack_of_what_is_known_to_become_so_large_takes_no_other_size)
{
	static const enum unpack_form forms[] = {UNPACK_ZLIB, UNPACK_ZSTD};
	enum { SIZE = 100000 };

	for (size_t f = 0; f < ARRAY_SIZE(forms); f++) {
		struct str plain = {0}, packed = {0};
		u8 *out = mem_alloc(SIZE + 1);
		struct bytes b;
		struct err err;

		make_plain(&plain, SIZE);
		pack(forms[f], &plain, &packed);
		b = bytes_of(packed.at, packed.n);
		CHECK_EQ(unpack_whole(forms[f], b, out, SIZE, &err), 0);
		CHECK(!memcmp(out, plain.at, SIZE));
		CHECK_EQ(unpack_whole(forms[f], b, out, SIZE - 1, &err), ERR_FORMAT);
		CHECK_EQ(unpack_whole(forms[f], b, out, SIZE + 1, &err), ERR_FORMAT);
		CHECK_HAS(err.msg, "is damaged or cut off");
		for (size_t n = 0; n < packed.n; n += 1 + packed.n / 50)
			CHECK_EQ(unpack_whole(forms[f], bytes_of(packed.at, n), out, SIZE, &err),
				ERR_FORMAT);
		CHECK_EQ(unpack_whole(UNPACK_NONE, b, out, SIZE, &err), ERR_UNSUPPORTED);
		mem_free(out);
		str_fini(&plain);
		str_fini(&packed);
	}
}

TEST(unpack_knows_files_by_their_first_bytes)
{
	CHECK_EQ(unpack_form_of(bytes_of("\x1f\x8b\x08", 3)), UNPACK_ZLIB);
	CHECK_EQ(unpack_form_of(bytes_of("\x28\xb5\x2f\xfd", 4)), UNPACK_ZSTD);
	CHECK_EQ(unpack_form_of(bytes_of("\xfd"
					 "7zXZ\0",
			 6)),
		UNPACK_XZ);
	CHECK_EQ(unpack_form_of(bytes_of("\xfd"
					 "7zXZ",
			 5)),
		UNPACK_NONE);
	CHECK_EQ(unpack_form_of(bytes_of("\x7f"
					 "ELF",
			 4)),
		UNPACK_NONE);
	CHECK_EQ(unpack_form_of(bytes_of("", 0)), UNPACK_NONE);
}

TEST(unpack_reads_what_gzip_zstd_and_xz_write)
{
	static const char *const packers[] = {"gzip", "zstd", "xz --check=crc32"};

	for (size_t i = 0; i < ARRAY_SIZE(packers); i++) {
		struct str packed = {0}, out = {0};
		struct err err;
		int r;

		if (outside_run(&packed, "seq 100000 | %s -c 2>/dev/null", packers[i]))
			continue;
		r = unpack_str(unpack_form_of(bytes_of(packed.at, packed.n)), &packed, LIMIT, &out,
			&err);
#ifndef PACE_HAS_LZMA
		if (r == ERR_UNSUPPORTED) {
			CHECK_HAS(err.msg, "built without liblzma");
			str_fini(&packed);
			continue;
		}
#endif
		CHECK_EQ(r, 0);
		CHECK_EQ(out.n, 588895);
		CHECK_HAS(out.at, "\n99999\n100000\n");
		CHECK_EQ(unpack_str(unpack_form_of(bytes_of(packed.at, packed.n)), &packed, 588894,
				 &out, &err),
			ERR_LIMIT);
		packed.n -= 20;
		CHECK_EQ(unpack_str(unpack_form_of(bytes_of(packed.at, packed.n)), &packed, LIMIT,
				 &out, &err),
			ERR_FORMAT);
		str_fini(&packed);
		str_fini(&out);
	}
}

TEST(unpack_reads_all_members_of_a_gzip_file)
{
	struct str packed = {0}, out = {0};
	struct err err;

	if (outside_run(&packed, "(echo one | gzip -c; echo two | gzip -c) 2>/dev/null"))
		SKIP("no gzip");
	CHECK_EQ(unpack_str(UNPACK_ZLIB, &packed, LIMIT, &out, &err), 0);
	CHECK_STR(out.at, "one\ntwo\n");
	str_fini(&packed);
	str_fini(&out);
}
