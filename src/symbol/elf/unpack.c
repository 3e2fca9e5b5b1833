#include "symbol/elf/unpack.h"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#ifdef PACE_HAS_DEFLATE
#include <libdeflate.h>
#endif
#ifdef PACE_HAS_LZMA
#include <lzma.h>
#endif

#include "base/mem.h"
#include "symbol/elf/lz4.h"

enum { STEP = 1 << 20, XZ_MEMORY = 128 << 20 };

enum unpack_form unpack_form_of(struct bytes packed)
{
	static const struct {
		u8 magic[6];
		u8 n, form;
	} magics[] = {
		{{0x1f, 0x8b}, 2, UNPACK_ZLIB},
		{{0x28, 0xb5, 0x2f, 0xfd}, 4, UNPACK_ZSTD},
		{{0xfd, '7', 'z', 'X', 'Z', 0}, 6, UNPACK_XZ},
		{{0x04, 0x22, 0x4d, 0x18}, 4, UNPACK_LZ4},
	};

	for (size_t i = 0; i < ARRAY_SIZE(magics); i++)
		if (bytes_left(&packed) >= magics[i].n &&
			!memcmp(packed.at, magics[i].magic, magics[i].n))
			return magics[i].form;
	return UNPACK_NONE;
}

/* Makes room for the next step, within `limit` bytes in all. Returns its size, 0 if the limit is reached. */
static size_t make_room(struct str *out, size_t began, u64 limit)
{
	size_t n = MIN((u64)STEP, limit - (out->n - began));

	str_reserve(out, n + 1);
	return n;
}

static void took(struct str *out, size_t n)
{
	out->n += n;
	out->at[out->n] = '\0';
}

static int damaged(struct err *err, const char *form)
{
	return err_set(err, ERR_FORMAT, "its %s data is damaged or cut off", form);
}

static int too_large(u64 limit, struct err *err)
{
	return err_set(err, ERR_LIMIT, "it unpacks to more than %llu bytes",
		(unsigned long long)limit);
}

static int unpack_zlib(struct bytes packed, u64 limit, struct str *out, struct err *err)
{
	enum { ZLIB_OR_GZIP = 32 };
	z_stream z = {.next_in = (u8 *)packed.at};
	size_t began = out->n, left = bytes_left(&packed), room;
	int r = inflateInit2(&z, MAX_WBITS + ZLIB_OR_GZIP);

	while (r == Z_OK && (room = make_room(out, began, limit)) > 0) {
		if (!z.avail_in) {
			z.avail_in = MIN(left, (size_t)1 << 30);
			left -= z.avail_in;
		}
		z.next_out = (u8 *)out->at + out->n;
		z.avail_out = room;
		r = inflate(&z, Z_NO_FLUSH);
		took(out, room - z.avail_out);
		/* gzip files may have several members, whose texts are concatenated. */
		if (r == Z_STREAM_END && z.avail_in > 1 && z.next_in[0] == 0x1f &&
			z.next_in[1] == 0x8b)
			r = inflateReset(&z);
	}
	inflateEnd(&z);
	if (r == Z_MEM_ERROR)
		mem_exhausted(0);
	if (r == Z_STREAM_END)
		return 0;
	return r == Z_OK ? too_large(limit, err) : damaged(err, "zlib");
}

static int unpack_zstd(struct bytes packed, u64 limit, struct str *out, struct err *err)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_inBuffer in = {packed.at, bytes_left(&packed), 0};
	size_t began = out->n, room = 0, r = 1;
	bool has_moved = true;

	if (!z)
		mem_exhausted(0);
	/* 0: a frame has ended; more may follow. */
	while (!ZSTD_isError(r) && (r || in.pos < in.size) && has_moved &&
		(room = make_room(out, began, limit)) > 0) {
		ZSTD_outBuffer to = {out->at + out->n, room, 0};
		size_t before = in.pos;

		r = ZSTD_decompressStream(z, &to, &in);
		has_moved = to.pos || in.pos > before;
		took(out, to.pos);
	}
	ZSTD_freeDStream(z);
	if (ZSTD_getErrorCode(r) == ZSTD_error_memory_allocation)
		mem_exhausted(0);
	if (ZSTD_isError(r) || !has_moved)
		return damaged(err, "zstd");
	return r || in.pos < in.size ? too_large(limit, err) : 0;
}

bool unpack_has_xz(void)
{
#ifdef PACE_HAS_LZMA
	return true;
#else
	return false;
#endif
}

bool unpack_has_deflate(void)
{
#ifdef PACE_HAS_DEFLATE
	return true;
#else
	return false;
#endif
}

#ifdef PACE_HAS_LZMA
static int unpack_xz(struct bytes packed, u64 limit, struct str *out, struct err *err)
{
	lzma_stream z = LZMA_STREAM_INIT;
	size_t began = out->n, room;
	lzma_ret r = lzma_stream_decoder(&z, XZ_MEMORY, LZMA_CONCATENATED);

	z.next_in = packed.at;
	z.avail_in = bytes_left(&packed);
	while (r == LZMA_OK && (room = make_room(out, began, limit)) > 0) {
		z.next_out = (u8 *)out->at + out->n;
		z.avail_out = room;
		r = lzma_code(&z, LZMA_FINISH);
		took(out, room - z.avail_out);
	}
	lzma_end(&z);
	if (r == LZMA_MEM_ERROR)
		mem_exhausted(0);
	if (r == LZMA_STREAM_END)
		return 0;
	if (r == LZMA_MEMLIMIT_ERROR)
		return err_set(err, ERR_LIMIT, "unpacking its xz data needs more than %d MB",
			XZ_MEMORY >> 20);
	return r == LZMA_OK ? too_large(limit, err) : damaged(err, "xz");
}
#else
static int unpack_xz(struct bytes packed, u64 limit, struct str *out, struct err *err)
{
	(void)packed, (void)limit, (void)out;
	return err_set(err, ERR_UNSUPPORTED,
		"its xz data cannot be unpacked: pace was built without liblzma (liblzma-dev)");
}
#endif

int unpack(enum unpack_form form, struct bytes packed, u64 limit, struct str *out, struct err *err)
{
	switch (form) {
	case UNPACK_ZLIB:
		return unpack_zlib(packed, limit, out, err);
	case UNPACK_ZSTD:
		return unpack_zstd(packed, limit, out, err);
	case UNPACK_XZ:
		return unpack_xz(packed, limit, out, err);
	case UNPACK_LZ4:
		return lz4_unpack(packed, limit, out, err);
	case UNPACK_NONE:
		break;
	}
	return err_set(err, ERR_UNSUPPORTED, "it is packed in an unknown format");
}

/* ---- at once ---- */

static bool inflate_whole(struct bytes packed, u8 *out, size_t size)
{
	uLongf n_out = size;
#ifdef PACE_HAS_DEFLATE
	/* Twice as fast as zlib, which must be able to pause anywhere. */
	struct libdeflate_decompressor *z = libdeflate_alloc_decompressor();
	enum libdeflate_result r;
	size_t n = 0;

	if (z) {
		r = libdeflate_zlib_decompress(z, packed.at, bytes_left(&packed), out, size, &n);
		libdeflate_free_decompressor(z);
		return r == LIBDEFLATE_SUCCESS && n == size;
	}
#endif
	return uncompress(out, &n_out, packed.at, bytes_left(&packed)) == Z_OK && n_out == size;
}

int unpack_whole(enum unpack_form form, struct bytes packed, u8 *out, size_t size, struct err *err)
{
	if (form == UNPACK_ZLIB)
		return inflate_whole(packed, out, size) ? 0 : damaged(err, "zlib");
	if (form == UNPACK_ZSTD)
		return ZSTD_decompress(out, size, packed.at, bytes_left(&packed)) == size
			? 0
			: damaged(err, "zstd");
	return err_set(err, ERR_UNSUPPORTED, "it is packed in an unknown format");
}
