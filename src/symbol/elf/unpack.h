/*
 * unpack.h - bytes that were packed, unpacked in memory.
 *
 * In       a packed piece of a file; how it is packed; how large it may become
 * Out      what it was before
 * Errors   ERR_FORMAT for damaged ones, ERR_LIMIT for what becomes too large, ERR_UNSUPPORTED where
 *          this build lacks liblzma
 * Source   RFC 1950 and 1952 (zlib, gzip), RFC 8878 (zstd), the .xz file format; lz4.h
 */
#ifndef PACE_SYMBOL_UNPACK_H
#define PACE_SYMBOL_UNPACK_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/str.h"

enum unpack_form {
	UNPACK_NONE,
	UNPACK_ZLIB, /* gzip too */
	UNPACK_ZSTD,
	UNPACK_XZ,
	UNPACK_LZ4,
};

/* How a whole file is packed, by its first bytes: gzip, zstd, xz, LZ4; else UNPACK_NONE. */
enum unpack_form unpack_form_of(struct bytes packed);

/* Whether this build has liblzma, and libdeflate. */
bool unpack_has_xz(void);
bool unpack_has_deflate(void);

/* Appends what was packed. After an error `out` holds what could be had. */
int unpack(enum unpack_form form, struct bytes packed, u64 limit, struct str *out, struct err *err);

/*
 * What is said to have been `size` bytes, into room for so many: zlib (not gzip) or zstd. It is quicker,
 * most of all with libdeflate. What becomes more or less is damaged.
 */
int unpack_whole(enum unpack_form form, struct bytes packed, u8 *out, size_t size, struct err *err);

#endif
