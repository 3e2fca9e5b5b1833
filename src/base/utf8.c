#include "base/utf8.h"

size_t utf8_length(const u8 *p, size_t n, u32 *ret_cp)
{
	static const u32 least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = p[0] < 0x80 ? 1
		: p[0] < 0xc2    ? 0
		: p[0] < 0xe0    ? 2
		: p[0] < 0xf0    ? 3
		: p[0] < 0xf5    ? 4
				 : 0;
	u32 cp;

	if (len <= 1 || len > n) {
		*ret_cp = p[0];
		return len == 1;
	}
	cp = p[0] & (0xff >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		cp = cp << 6 | (p[i] & 0x3f);
	}
	if (cp < least[len] || cp > 0x10ffff || (cp >= 0xd800 && cp < 0xe000))
		return 0;
	*ret_cp = cp;
	return len;
}

bool utf8_is_shown(u32 cp)
{
	if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0))
		return false;
	/*
	 * Marks, overrides and isolates that reorder what follows; line and paragraph separators.
	 */
	return !(cp == 0x061c || (cp >= 0x200e && cp <= 0x200f) || (cp >= 0x2028 && cp <= 0x202e) ||
		(cp >= 0x2066 && cp <= 0x2069) || cp == 0xfeff);
}
