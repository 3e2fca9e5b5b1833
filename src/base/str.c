#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/utf8.h"

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

void str_shrink(struct str *s)
{
	enum { LEAST = 2 << 20, TIMES = 8 };
	const size_t cap = 2 * s->n + 1;

	if (s->cap < LEAST || s->cap / TIMES < cap)
		return;
	s->at = mem_realloc(s->at, cap);
	s->cap = cap;
}

void str_add(struct str *s, const char *text)
{
	str_addn(s, text, strlen(text));
}

void str_addc(struct str *s, char c)
{
	str_reserve(s, 1);
	s->at[s->n++] = c;
	s->at[s->n] = '\0';
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
		size_t len = utf8_length(p, end - p, &cp);
		if (len && utf8_is_shown(cp)) {
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
