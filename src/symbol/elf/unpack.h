/*
 * unpack.h - unpacks compressed bytes in memory.
 *
 * In       packed bytes; their format; the largest allowed result
 * Out      the unpacked bytes
 * Errors   ERR_FORMAT: damaged; ERR_LIMIT: the result is too large; ERR_UNSUPPORTED: this build lacks liblzma
 * Source   RFC 1950 and 1952 (zlib, gzip), RFC 8878 (zstd), the .xz file format; lz4.h
 */
#ifndef PACE_SYMBOL_UNPACK_H
#define PACE_SYMBOL_UNPACK_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/str.h"

enum unpack_form {
	UNPACK_NONE,
	UNPACK_ZLIB, /* also gzip */
	UNPACK_ZSTD,
	UNPACK_XZ,
	UNPACK_LZ4,
};

/* The format of a packed file, from its first bytes: gzip, zstd, xz, LZ4; otherwise UNPACK_NONE. */
enum unpack_form unpack_form_of(struct bytes packed);

/* Whether this build has liblzma, and libdeflate. */
bool unpack_has_xz(void);
bool unpack_has_deflate(void);

/* Appends the unpacked bytes. After an error `out` has the bytes that could be unpacked. */
int unpack(enum unpack_form form, struct bytes packed, u64 limit, struct str *out, struct err *err);

/*
 * Unpacks zlib (not gzip) or zstd of a known size: `size` bytes. This is faster, above all with libdeflate. A
 * result of another size is an error.
 */
int unpack_whole(enum unpack_form form, struct bytes packed, u8 *out, size_t size, struct err *err);

#endif
