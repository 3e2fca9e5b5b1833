#include "base/json.h"

#include <string.h>

#include "base/num.h"
#include "base/utf8.h"

/* Adds the character at p, or one byte of invalid UTF-8; returns its length. */
static size_t add_escaped(struct str *out, const u8 *p, size_t n)
{
	u32 cp;
	size_t length = utf8_length(p, n, &cp);

	if (!length)
		str_add(out, "\\ufffd");
	else if (cp == '"' || cp == '\\')
		str_addf(out, "\\%c", (int)cp);
	else if (!utf8_is_shown(cp))
		str_addf(out, "\\u%04x", cp);
	else
		str_addn(out, p, length);
	return MAX(length, (size_t)1);
}

/* Nearly all names are made of these alone. */
static const bool is_plain[256] = {[' ' ... '!'] = true,
	['#' ... '['] = true,
	[']' ... '~'] = true};

void json_string(struct str *out, const char *text)
{
	const u8 *p = (const u8 *)text;

	str_addc(out, '"');
	for (;;) {
		const u8 *run = p;

		while (is_plain[*p])
			p++;
		str_addn(out, run, (size_t)(p - run));
		if (!*p)
			break;
		p += add_escaped(out, p, strnlen((const char *)p, UTF8_LENGTH_MAX));
	}
	str_addc(out, '"');
}

void json_key(struct str *out, const char *key)
{
	json_string(out, key);
	str_addc(out, ':');
}

void json_text(struct str *out, const char *key, const char *text)
{
	if (!text) {
		json_null(out, key);
		return;
	}
	json_key(out, key);
	json_string(out, text);
	str_addc(out, ',');
}

void json_u64(struct str *out, const char *key, u64 v)
{
	json_key(out, key);
	num_add_u64(out, v);
	str_addc(out, ',');
}

void json_bool(struct str *out, const char *key, bool v)
{
	json_key(out, key);
	str_add(out, v ? "true," : "false,");
}

void json_s64(struct str *out, const char *key, s64 v)
{
	json_key(out, key);
	if (v < 0)
		str_addc(out, '-');
	num_add_u64(out, v < 0 ? -(u64)v : (u64)v);
	str_addc(out, ',');
}

void json_hex(struct str *out, const char *key, u64 v)
{
	json_key(out, key);
	str_add(out, "\"0x");
	num_add_hex(out, v, 1);
	str_add(out, "\",");
}

void json_null(struct str *out, const char *key)
{
	json_key(out, key);
	str_add(out, "null,");
}

void json_element(struct str *out, const char *text)
{
	json_string(out, text);
	str_addc(out, ',');
}

void json_element_u64(struct str *out, u64 v)
{
	num_add_u64(out, v);
	str_addc(out, ',');
}

void json_open(struct str *out, const char *key, char open)
{
	json_key(out, key);
	str_addc(out, open);
}

void json_close(struct str *out, char close)
{
	json_end(out, close);
	str_addc(out, ',');
}

void json_end(struct str *out, char close)
{
	if (out->n && out->at[out->n - 1] == ',')
		str_cut(out, out->n - 1);
	str_addc(out, close);
}
