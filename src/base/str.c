#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"

void str_reserve(struct str *s, size_t more)
{
	size_t need = s->n + more + 1;

	if (need <= s->cap)
		return;
	s->cap = MAX(need, MAX(s->cap * 2, (size_t)64));
	s->at = mem_realloc(s->at, s->cap);
}

void str_addn(struct str *s, const void *text, size_t n)
{
	str_reserve(s, n);
	if (n)
		memcpy(s->at + s->n, text, n);
	s->n += n;
	s->at[s->n] = '\0';
}

void str_add(struct str *s, const char *text)
{
	str_addn(s, text, strlen(text));
}

void str_addc(struct str *s, char c)
{
	str_addn(s, &c, 1);
}

void str_vaddf(struct str *s, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	str_reserve(s, 120);
	n = vsnprintf(s->at + s->n, s->cap - s->n, fmt, ap);
	if (n >= 0 && (size_t)n >= s->cap - s->n) {
		str_reserve(s, n);
		n = vsnprintf(s->at + s->n, s->cap - s->n, fmt, again);
	}
	va_end(again);
	if (n > 0)
		s->n += n;
}

void str_addf(struct str *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(s, fmt, ap);
	va_end(ap);
}

void str_fill(struct str *s, char c, size_t n)
{
	str_reserve(s, n);
	memset(s->at + s->n, c, n);
	s->n += n;
	s->at[s->n] = '\0';
}

void str_pad_left(struct str *s, size_t start, size_t width)
{
	size_t n = s->n - start, pad = n < width ? width - n : 0;

	if (!pad)
		return;
	str_fill(s, ' ', pad);
	memmove(s->at + start + pad, s->at + start, n);
	memset(s->at + start, ' ', pad);
}

void str_pad_right(struct str *s, size_t start, size_t width)
{
	size_t n = s->n - start;

	if (n < width)
		str_fill(s, ' ', width - n);
}

void str_add_hex(struct str *s, u64 v, size_t width)
{
	char digits[16];
	size_t n = 0;

	do
		digits[sizeof(digits) - ++n] = "0123456789abcdef"[v & 15];
	while (v >>= 4);
	str_fill(s, ' ', width > n ? width - n : 0);
	str_addn(s, digits + sizeof(digits) - n, n);
}

void str_add_right(struct str *s, const char *word, size_t width)
{
	size_t start = s->n;

	str_add(s, word);
	str_pad_left(s, start, width);
}

/* Length of the valid UTF-8 sequence at p, or 0; the code point goes to *ret_cp. */
size_t str_utf8(const u8 *p, size_t n, u32 *ret_cp)
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

bool str_is_harmless(u32 cp)
{
	if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0))
		return false;
	/*
	 * Marks, overrides and isolates that reorder what follows; line and paragraph separators.
	 */
	return !(cp == 0x061c || (cp >= 0x200e && cp <= 0x200f) || (cp >= 0x2028 && cp <= 0x202e) ||
		(cp >= 0x2066 && cp <= 0x2069) || cp == 0xfeff);
}

size_t str_add_safe(struct str *s, const char *text, size_t n)
{
	const u8 *p = (const u8 *)text, *end = p + n;
	size_t columns = 0;

	while (p < end) {
		const u8 *run = p;
		u32 cp;

		/* Nearly all names are printable ASCII: copy such a run at once. */
		while (p < end && *p >= 0x20 && *p < 0x7f)
			p++;
		str_addn(s, run, p - run);
		columns += p - run;
		if (p == end)
			break;
		size_t len = str_utf8(p, (size_t)(end - p), &cp);
		if (len && str_is_harmless(cp)) {
			str_addn(s, p, len);
			columns++;
			p += len;
			continue;
		}
		for (len = MAX(len, (size_t)1); len; len--, p++, columns += 4)
			str_addf(s, "\\x%02x", *p);
	}
	return columns;
}

void str_cut(struct str *s, size_t n)
{
	if (n >= s->n)
		return;
	s->n = n;
	s->at[n] = '\0';
}

void str_clear(struct str *s)
{
	str_cut(s, 0);
}

void str_fini(struct str *s)
{
	mem_free(s->at);
	memset(s, 0, sizeof(*s));
}

const char *intern_add(struct intern *in, const char *text, size_t n)
{
	struct table_probe probe;
	u64 hash;
	u32 i;

	n = strnlen(text, n);
	hash = hash_bytes(text, n);
	probe = table_probe(&in->index, hash);
	while ((i = table_next(&in->index, &probe)) != TABLE_NONE)
		if (!strncmp(in->strings.at[i], text, n) && !in->strings.at[i][n])
			return in->strings.at[i];
	table_add(&in->index, hash, in->strings.n);
	vec_add(&in->strings, arena_strdup(&in->arena, text, n));
	return in->strings.at[in->strings.n - 1];
}

const char *intern_str(struct intern *in, const char *text)
{
	return intern_add(in, text, strlen(text));
}

void intern_fini(struct intern *in)
{
	table_fini(&in->index);
	vec_fini(&in->strings);
	arena_fini(&in->arena);
}
