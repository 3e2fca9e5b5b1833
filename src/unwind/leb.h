/*
 * leb.h - numbers of variable length (LEB128), as DWARF encodes them.
 *
 * Source   DWARF 5, 7.6
 */
#ifndef PACE_UNWIND_LEB_H
#define PACE_UNWIND_LEB_H

#include "base/bytes.h"

/*
 * Moves past a number. Returns its bits, and how many of them were written; bits beyond the 64th are dropped.
 */
static inline bool leb_bits(struct bytes *b, u64 *ret_v, unsigned *ret_n)
{
	struct bytes at = *b;
	unsigned n = 0;
	u64 v = 0;
	u8 byte;

	do {
		if (!bytes_u8(&at, &byte))
			return false;
		if (n < 64)
			v |= (u64)(byte & 0x7f) << n;
		n += n < 64 ? 7 : 0;
	} while (byte & 0x80);
	*b = at;
	*ret_v = v;
	*ret_n = n;
	return true;
}

static inline bool leb_u64(struct bytes *b, u64 *ret_v)
{
	unsigned n;

	/* Most numbers are small. */
	if (LIKELY(b->at < b->end && *b->at < 0x80)) {
		*ret_v = *b->at++;
		b->offset++;
		return true;
	}
	return leb_bits(b, ret_v, &n);
}

static inline bool leb_s64(struct bytes *b, s64 *ret_v)
{
	unsigned n;
	u64 v;

	if (!leb_bits(b, &v, &n))
		return false;
	/* The highest bit written is the sign. */
	if (n < 64 && v >> (n - 1) & 1)
		v |= ~(u64)0 << n;
	*ret_v = (s64)v;
	return true;
}

#endif
