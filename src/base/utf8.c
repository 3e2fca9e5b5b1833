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

struct span {
	u32 first, last;
};

static const struct span combining[] = {{0x300, 0x36f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
	{0x200b, 0x200d}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef}};
static const struct span wide[] = {{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0x4dbf},
	{0x4e00, 0xa4cf}, {0xa960, 0xa97c}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f},
	{0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
	{0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};

static bool is_among(const struct span *spans, size_t n, u32 cp)
{
	for (size_t i = 0; i < n; i++)
		if (cp >= spans[i].first && cp <= spans[i].last)
			return true;
	return false;
}

unsigned utf8_columns(u32 cp)
{
	if (cp < combining[0].first)
		return 1;
	if (is_among(combining, ARRAY_SIZE(combining), cp))
		return 0;
	return is_among(wide, ARRAY_SIZE(wide), cp) ? 2 : 1;
}
