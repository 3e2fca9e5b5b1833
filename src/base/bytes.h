/*
 * bytes.h - a bounds-checked cursor over untrusted bytes.
 *
 * In       a view [at, end); the file offset of `at`, for messages; whether values are in the other
 *          byte order
 * Out      values; false when fewer bytes are left than asked for
 * Owns     nothing
 * Errors   a read that fails leaves the cursor where it was
 */
#ifndef PACE_BASE_BYTES_H
#define PACE_BASE_BYTES_H

#include "base/types.h"

struct bytes {
	const u8 *at, *end;
	u64 offset; /* of at, in the file or record it came from */
	bool swap;
};

static inline struct bytes bytes_of(const void *p, size_t n)
{
	/* p may be NULL if n is 0. */
	return (struct bytes){.at = p, .end = n ? (const u8 *)p + n : p};
}

static inline size_t bytes_left(const struct bytes *b)
{
	return b->end - b->at;
}

/* Advances over n bytes; *ret_p is where they start. */
static inline bool bytes_take(struct bytes *b, u64 n, const void **ret_p)
{
	if (UNLIKELY(n > bytes_left(b)))
		return false;
	*ret_p = b->at;
	b->at += n;
	b->offset += n;
	return true;
}

static inline bool bytes_skip(struct bytes *b, u64 n)
{
	const void *p;

	return bytes_take(b, n, &p);
}

static inline bool bytes_u8(struct bytes *b, u8 *ret_v)
{
	const void *p;

	if (!bytes_take(b, 1, &p))
		return false;
	*ret_v = *(const u8 *)p;
	return true;
}

static inline bool bytes_u16(struct bytes *b, u16 *ret_v)
{
	const void *p;

	if (!bytes_take(b, 2, &p))
		return false;
	*ret_v = b->swap ? __builtin_bswap16(load_u16(p)) : load_u16(p);
	return true;
}

static inline bool bytes_u32(struct bytes *b, u32 *ret_v)
{
	const void *p;

	if (!bytes_take(b, 4, &p))
		return false;
	*ret_v = b->swap ? __builtin_bswap32(load_u32(p)) : load_u32(p);
	return true;
}

static inline bool bytes_u64(struct bytes *b, u64 *ret_v)
{
	const void *p;

	if (!bytes_take(b, 8, &p))
		return false;
	*ret_v = b->swap ? __builtin_bswap64(load_u64(p)) : load_u64(p);
	return true;
}

/* Reads an address or an offset of `size` bytes (4 or 8), which is the file's word size. */
static inline bool bytes_word(struct bytes *b, u8 size, u64 *ret_v)
{
	u32 narrow;

	if (size == 8)
		return bytes_u64(b, ret_v);
	if (!bytes_u32(b, &narrow))
		return false;
	*ret_v = narrow;
	return true;
}

/* The next n bytes as a cursor of their own. */
static inline bool bytes_sub(struct bytes *b, u64 n, struct bytes *ret_sub)
{
	struct bytes sub = *b;
	const void *p;

	if (!bytes_take(b, n, &p))
		return false;
	sub.end = sub.at + n;
	*ret_sub = sub;
	return true;
}

/* Reads a NUL-terminated string that ends before the cursor does; *ret_n is its length without the NUL. */
static inline bool bytes_cstr(struct bytes *b, const char **ret_s, size_t *ret_n)
{
	const u8 *nul = b->at < b->end ? memchr(b->at, 0, bytes_left(b)) : NULL;

	if (!nul)
		return false;
	*ret_s = (const char *)b->at;
	*ret_n = nul - b->at;
	return bytes_skip(b, *ret_n + 1);
}

#endif
