#include "base/marshal.h"

#include <string.h>

#include "base/utf8.h"

static void add_u32(struct str *s, u32 v)
{
	const u8 bytes[] = {(u8)v, (u8)(v >> 8), (u8)(v >> 16), (u8)(v >> 24)};

	str_addn(s, bytes, sizeof(bytes));
}

void marshal_none(struct str *s)
{
	str_addc(s, 'N');
}

void marshal_bool(struct str *s, bool v)
{
	str_addc(s, v ? 'T' : 'F');
}

/* Long numbers have digits of 15 bits, the lowest first; the sign is that of their count. */
static void add_long(struct str *s, u64 v, bool is_negative)
{
	enum { DIGIT_BITS = 15, DIGIT_MASK = (1 << DIGIT_BITS) - 1 };
	u8 digits[10];
	s32 n = 0;

	for (; v; v >>= DIGIT_BITS, n++) {
		digits[2 * n] = (u8)(v & DIGIT_MASK);
		digits[2 * n + 1] = (u8)((v & DIGIT_MASK) >> 8);
	}
	str_addc(s, 'l');
	add_u32(s, (u32)(is_negative ? -n : n));
	str_addn(s, digits, 2 * (size_t)n);
}

void marshal_u64(struct str *s, u64 v)
{
	if (v > INT32_MAX) {
		add_long(s, v, false);
		return;
	}
	str_addc(s, 'i');
	add_u32(s, (u32)v);
}

void marshal_s64(struct str *s, s64 v)
{
	if (v >= 0) {
		marshal_u64(s, (u64)v);
	} else if (v >= INT32_MIN) {
		str_addc(s, 'i');
		add_u32(s, (u32)v);
	} else {
		add_long(s, -(u64)v, true);
	}
}

void marshal_text(struct str *s, const char *text, size_t n)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t place;

	str_addc(s, 'u');
	place = s->n;
	add_u32(s, 0);
	for (size_t i = 0; i < n;) {
		u32 character;
		size_t size = utf8_length((const u8 *)text + i, n - i, &character);

		if (size)
			str_addn(s, text + i, size);
		else
			str_add(s, replacement);
		i += size ? size : 1;
	}
	marshal_close(s, place, (u32)(s->n - place - sizeof(u32)));
}

void marshal_bytes(struct str *s, const void *at, size_t n)
{
	str_addc(s, 's');
	add_u32(s, (u32)n);
	str_addn(s, at, n);
}

size_t marshal_open(struct str *s, enum marshal_kind kind)
{
	str_addc(s, (char)kind);
	add_u32(s, 0);
	return s->n - sizeof(u32);
}

void marshal_close(struct str *s, size_t place, u32 n)
{
	for (unsigned i = 0; i < sizeof(n); i++)
		s->at[place + i] = (char)(n >> 8 * i);
}

void marshal_open_dict(struct str *s)
{
	str_addc(s, '{');
}

void marshal_close_dict(struct str *s)
{
	str_addc(s, '0');
}
