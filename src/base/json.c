#include "base/json.h"

#include <string.h>

#include "base/num.h"

void json_string(struct str *out, const char *text)
{
	const u8 *p = (const u8 *)text;

	str_addc(out, '"');
	while (*p) {
		u32 cp;
		size_t n = str_utf8(p, strnlen((const char *)p, 4), &cp);

		if (!n) {
			str_add(out, "\\ufffd");
			n = 1;
		} else if (cp == '"' || cp == '\\') {
			str_addc(out, '\\');
			str_addc(out, (char)cp);
		} else if (!str_is_harmless(cp)) {
			/* Who prints JSON on a terminal is not to be deceived: all of them have four digits. */
			str_addf(out, "\\u%04x", cp);
		} else {
			str_addn(out, p, n);
		}
		p += n;
	}
	str_addc(out, '"');
}

void json_key(struct str *out, const char *key)
{
	str_addc(out, '"');
	str_add(out, key);
	str_add(out, "\":");
}

void json_text(struct str *out, const char *key, const char *text)
{
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

void json_end(struct str *out, char close)
{
	if (out->n && out->at[out->n - 1] == ',')
		str_cut(out, out->n - 1);
	str_addc(out, close);
}
