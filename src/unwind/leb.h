/*
 * leb.h - numbers of variable length, as DWARF has them.
 *
 * Source   DWARF 5, 7.6
 */
#ifndef PACE_UNWIND_LEB_H
#define PACE_UNWIND_LEB_H

#include "base/bytes.h"

/* Bits beyond the 64th are dropped. */
static inline bool leb_u64(struct bytes *b, u64 *ret_v)
{
	struct bytes at = *b;
	unsigned shift = 0;
	u64 v = 0;
	u8 byte;

	do {
		if (!bytes_u8(&at, &byte))
			return false;
		if (shift < 64)
			v |= (u64)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	*b = at;
	*ret_v = v;
	return true;
}

static inline bool leb_s64(struct bytes *b, s64 *ret_v)
{
	struct bytes at = *b;
	unsigned shift = 0;
	u64 v = 0;
	u8 byte;

	do {
		if (!bytes_u8(&at, &byte))
			return false;
		if (shift < 64)
			v |= (u64)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && byte & 0x40)
		v |= ~(u64)0 << shift;
	*b = at;
	*ret_v = (s64)v;
	return true;
}

#endif
