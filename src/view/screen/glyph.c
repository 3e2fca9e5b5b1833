#include "view/screen/glyph.h"

#include <stdio.h>

#include "base/utf8.h"

struct span {
	u32 first, last;
};

/* clang-format off: tables */
/* Controls, categories Cf, Zl, Zp and Cs, and fillers: invisible, or they change how what follows is drawn. */
static const struct span hidden[] = {
	{0x80, 0x9f},
	{0x600, 0x605},
	{0x61c, 0x61c},
	{0x6dd, 0x6dd},
	{0x70f, 0x70f},
	{0x890, 0x891},
	{0x8e2, 0x8e2},
	{0x115f, 0x115f},
	{0x180e, 0x180e},
	{0x200b, 0x200f},
	{0x2028, 0x202e},
	{0x2060, 0x206f},
	{0x3164, 0x3164},
	{0xd800, 0xdfff},
	{0xfeff, 0xfeff},
	{0xffa0, 0xffa0},
	{0xfff9, 0xfffb},
	{0xfffe, 0xffff},
	{0x110bd, 0x110bd},
	{0x110cd, 0x110cd},
	{0x13430, 0x13438},
	{0x1bca0, 0x1bca3},
	{0x1d173, 0x1d17a},
	{0xe0001, 0xe007f},
};
/* clang-format on */

static bool is_in(const struct span *spans, size_t n, u32 cp)
{
	size_t low = 0;

	while (low < n) {
		const size_t middle = (low + n) / 2;

		if (cp > spans[middle].last)
			low = middle + 1;
		else
			n = middle;
	}
	return cp >= spans[low].first && cp <= spans[low].last;
}

#define IS_IN(spans, cp) \
	(cp <= spans[ARRAY_SIZE(spans) - 1].last && is_in(spans, ARRAY_SIZE(spans) - 1, cp))

/* Whether it is shown as itself: characters of ASCII always are, unless they are controls. */
static bool is_plain(u32 cp, bool is_ascii)
{
	if (cp < 0x7f)
		return cp >= 0x20;
	return !is_ascii && !IS_IN(hidden, cp) && utf8_is_shown(cp);
}

/* Whether it is drawn over the character before it. Joiners, which make one glyph of two, are hidden instead. */
static bool is_mark(u32 cp)
{
	return utf8_columns(cp) == 0 && is_plain(cp, false);
}

/* Adds the marks that follow, as far as there is room; the others are not shown. */
static size_t take_marks(const u8 *p, size_t n, struct glyph *g)
{
	size_t taken = 0, length;
	u32 cp;

	while (taken < n && (length = utf8_length(p + taken, n - taken, &cp)) != 0 && is_mark(cp)) {
		if (g->n + length < sizeof(g->text)) {
			memcpy(g->text + g->n, p + taken, length);
			g->n += (u8)length;
		}
		taken += length;
	}
	g->text[g->n] = '\0';
	return taken;
}

size_t glyph_next(const char *text, size_t n, bool is_ascii, struct glyph *ret)
{
	const u8 *p = (const u8 *)text;
	u32 cp;
	const size_t length = utf8_length(p, n, &cp);

	if (!length || !is_plain(cp, is_ascii)) {
		ret->n = (u8)snprintf(ret->text, sizeof(ret->text),
			!length || cp < 0x100  ? "\\x%02x"
				: cp < 0x10000 ? "\\u%04x"
					       : "\\U%06x",
			length ? cp : *p);
		ret->columns = ret->n;
		ret->is_escape = true;
		return length ? length : 1;
	}
	ret->is_escape = false;
	ret->n = 0;
	ret->columns = utf8_columns(cp) == 2 ? 2 : 1;
	/* A mark without a character of its own must not be drawn over what stands before the text. */
	if (is_mark(cp)) {
		ret->text[ret->n++] = ' ';
		return take_marks(p, n, ret);
	}
	memcpy(ret->text, p, length);
	ret->n = (u8)length;
	return length +
		(is_ascii ? (ret->text[length] = '\0', 0)
			  : take_marks(p + length, n - length, ret));
}
