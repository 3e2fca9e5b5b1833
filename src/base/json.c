#include "base/json.h"

#include <string.h>

#include "base/num.h"

/* Bytes of the UTF-8 character at p; 0 if there is none. Overlong forms and surrogates are none. */
static size_t utf8_length(const u8 *p)
{
	static const struct {
		u8 mask, lead, n;
		u32 least;
	} forms[] = {{0x80, 0x00, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800},
		{0xf8, 0xf0, 4, 0x10000}};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		u32 v = p[0] & (u8)~forms[i].mask;

		if ((p[0] & forms[i].mask) != forms[i].lead)
			continue;
		for (u8 k = 1; k < forms[i].n; k++) {
			if ((p[k] & 0xc0) != 0x80)
				return 0;
			v = v << 6 | (p[k] & 0x3f);
		}
		return v < forms[i].least || v > 0x10ffff || (v >= 0xd800 && v < 0xe000)
			? 0
			: forms[i].n;
	}
	return 0;
}

void json_string(struct str *out, const char *text)
{
	const u8 *p = (const u8 *)text;

	str_addc(out, '"');
	while (*p) {
		size_t n = utf8_length(p);

		if (!n) {
			str_add(out, "\\ufffd");
			n = 1;
		} else if (*p == '"' || *p == '\\') {
			str_addc(out, '\\');
			str_addc(out, (char)*p);
		} else if (*p < ' ' || *p == 127) {
			str_addf(out, "\\u%04x", *p);
		} else if (n == 2 && p[0] == 0xc2 && p[1] < 0xa0) {
			/* C1 controls mean something to a terminal. */
			str_addf(out, "\\u%04x", p[1]);
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

void json_end(struct str *out, char close)
{
	if (out->n && out->at[out->n - 1] == ',')
		str_cut(out, out->n - 1);
	str_addc(out, close);
}
