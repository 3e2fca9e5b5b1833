#include "base/num.h"

#include <math.h>

#include "base/vec.h"

bool num_scan(const char **at, int base, u64 *ret_v)
{
	const char *p = *at;
	u64 v = 0;

	for (;; p++) {
		int digit = *p >= '0' && *p <= '9'             ? *p - '0'
			: base == 16 && *p >= 'a' && *p <= 'f' ? *p - 'a' + 10
			: base == 16 && *p >= 'A' && *p <= 'F' ? *p - 'A' + 10
							       : -1;
		if (digit < 0)
			break;
		if (__builtin_mul_overflow(v, (u64)base, &v) ||
			__builtin_add_overflow(v, (u64)digit, &v))
			return false;
	}
	if (p == *at)
		return false;
	*at = p;
	*ret_v = v;
	return true;
}

static bool scan_prefixed(const char **at, u64 *ret_v)
{
	const char *p = *at;
	bool is_hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');

	p += is_hex ? 2 : 0;
	if (!num_scan(&p, is_hex ? 16 : 10, ret_v))
		return false;
	*at = p;
	return true;
}

int num_parse(const char *text, u64 *ret_v, struct err *err)
{
	const char *p = text;
	u64 v;

	if (!scan_prefixed(&p, &v) || *p)
		return err_set(err, ERR_INVAL,
			"'%s' is not a number from 0 to 18446744073709551615", text);
	*ret_v = v;
	return 0;
}

int num_list_parse(struct num_list *list, const char *option, const char *text, struct err *err)
{
	const char *p = text;
	u64 n;

	if (!text)
		return 0;
	do {
		if (!num_scan(&p, 10, &n) || n > UINT32_MAX || (*p && *p != ','))
			return err_set(err, ERR_INVAL, "%s '%s': expected numbers like 12,34",
				option, text);
		vec_add(list, (u32)n);
	} while (*p++);
	return 0;
}

bool num_list_has(const struct num_list *list, u32 number)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i] == number)
			return true;
	return !list->n;
}

int num_parse_bytes(const char *text, u64 *ret_v, struct err *err)
{
	static const char units[] = "BKMGT";
	const char *p = text, *unit;
	u64 v;

	if (!scan_prefixed(&p, &v))
		return err_set(err, ERR_INVAL,
			"'%s' is not a size (a number, then B, K, M, G or T)", text);
	if (*p) {
		unit = strchr(units, *p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
		if (!unit || p[1])
			return err_set(err, ERR_INVAL,
				"'%s' is not a size (a number, then B, K, M, G or T)", text);
		if (__builtin_mul_overflow(v, 1ULL << (10 * (unit - units)), &v))
			return err_set(err, ERR_INVAL, "'%s' is more than 64 bits can hold", text);
	}
	*ret_v = v;
	return 0;
}

void num_add_u64(struct str *s, u64 v)
{
	char digits[20];
	size_t n = sizeof(digits);

	do {
		digits[--n] = '0' + v % 10;
		v /= 10;
	} while (v);
	str_addn(s, digits + n, sizeof(digits) - n);
}

void num_add_hex(struct str *s, u64 v, unsigned digits)
{
	char text[16];
	size_t n = sizeof(text);

	do {
		text[--n] = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (n && (v || sizeof(text) - n < digits));
	str_addn(s, text + n, sizeof(text) - n);
}

void num_add_fixed(struct str *s, double v, unsigned digits)
{
	static const u64 powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
		1000000000};
	double scaled =
		digits < ARRAY_SIZE(powers) && !signbit(v) ? v * (double)powers[digits] : -1;
	u64 n = scaled >= 0 && scaled < 0x1p40 ? (u64)scaled : 0;
	double from_tie = scaled - (double)n - 0.5;
	char text[24];
	size_t at = sizeof(text);

	/* printf rounds the binary value: near a tie, or where n does not fit, that may differ. */
	if (!(from_tie > -0.6 && from_tie < 0.6) || (from_tie > -1e-3 && from_tie < 1e-3)) {
		str_addf(s, "%.*f", (int)digits, v);
		return;
	}
	n += from_tie > 0;
	for (unsigned i = 0; i < digits; i++, n /= 10)
		text[--at] = (char)('0' + n % 10);
	if (digits)
		text[--at] = '.';
	do
		text[--at] = (char)('0' + n % 10);
	while (n /= 10);
	str_addn(s, text + at, sizeof(text) - at);
}

void num_add_percent(struct str *s, u64 part, u64 whole)
{
	num_add_fixed(s, whole ? 100.0 * (double)part / (double)whole : 0, 2);
	str_addc(s, '%');
}

void num_add_grouped(struct str *s, u64 v)
{
	char digits[32];
	size_t n = 0;

	do {
		if (n % 4 == 3)
			digits[n++] = ',';
		digits[n++] = '0' + v % 10;
		v /= 10;
	} while (v);
	while (n)
		str_addc(s, digits[--n]);
}

void num_add_short(struct str *s, u64 v)
{
	static const char units[] = " KMG";
	size_t unit = 0;

	while (v > 1000 && unit + 1 < sizeof(units) - 1) {
		v /= 1000;
		unit++;
	}
	str_addf(s, "%llu", (unsigned long long)v);
	if (unit)
		str_addc(s, units[unit]);
}

void num_add_bytes(struct str *s, u64 v)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
	double d = (double)v;
	size_t unit = 0;

	while (d >= 1024 && unit + 1 < ARRAY_SIZE(units)) {
		d /= 1024;
		unit++;
	}
	str_addf(s, unit ? "%.1f %s" : "%.0f %s", d, units[unit]);
}
