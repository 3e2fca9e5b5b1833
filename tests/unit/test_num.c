#include "base/num.h"

#include "test.h"

#include <math.h>

TEST(num_parse_takes_decimal_and_hexadecimal)
{
	static const struct {
		const char *text;
		u64 v;
	} cases[] = {
		{"0", 0},
		{"7", 7},
		{"007", 7},
		{"4000", 4000},
		{"18446744073709551615", ~0ULL},
		{"00018446744073709551615", ~0ULL},
		{"0x0", 0},
		{"0xff", 255},
		{"0XfF", 255},
		{"0xffffffffffffffff", ~0ULL},
		{"0x00000000000000000ffffffffffffffff", ~0ULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = {0};
		u64 v = 12345;

		CHECK_EQ(num_parse(cases[i].text, &v, &err), 0);
		CHECK_EQ(v, cases[i].v);
		CHECK_EQ(err.code, 0);
	}
}

TEST(num_parse_refuses_everything_else_and_names_it)
{
	static const char *const texts[] = {"", " ", "-1", "+1", " 1", "1 ", "1x", "x", "0x", "0xg",
		"x10", "0b1", "1.5", "1e3", "1,000", "1k", "18446744073709551616",
		"99999999999999999999999", "0x10000000000000000"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct err err = {0};
		char expected[128];
		u64 v = 12345;

		CHECK_EQ(num_parse(texts[i], &v, &err), ERR_INVAL);
		CHECK_EQ(v, 12345);
		snprintf(expected, sizeof(expected),
			"'%s' is not a number from 0 to 18446744073709551615", texts[i]);
		CHECK_STR(err.msg, expected);
	}
}

TEST(num_parse_bytes_takes_units)
{
	static const struct {
		const char *text;
		u64 v;
	} cases[] = {
		{"0", 0},
		{"4096", 4096},
		{"12B", 12},
		{"12b", 12},
		{"3k", 3072},
		{"3K", 3072},
		{"64M", 64ULL << 20},
		{"2g", 2ULL << 30},
		{"1T", 1ULL << 40},
		{"0x10K", 16384},
		{"0x1B", 0x1b}, /* a digit, not a unit */
		{"16777215T", 16777215ULL << 40},
		{"18446744073709551615", ~0ULL},
		{"0T", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = {0};
		u64 v = 12345;

		CHECK_EQ(num_parse_bytes(cases[i].text, &v, &err), 0);
		CHECK_EQ(v, cases[i].v);
	}
}

TEST(num_parse_bytes_refuses_other_units_and_overflow)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{"", "is not a size"},
		{"K", "is not a size"},
		{"-1K", "is not a size"},
		{"1KB", "is not a size"},
		{"1KiB", "is not a size"},
		{"1P", "is not a size"},
		{"1 K", "is not a size"},
		{"1.5M", "is not a size"},
		{"1\xe4", "is not a size"},
		{"18446744073709551616", "is not a size"},
		{"16777216T", "is more than 64 bits can hold"},
		{"18446744073709551615K", "is more than 64 bits can hold"},
		{"18014398509481984K", "is more than 64 bits can hold"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = {0};
		u64 v = 12345;

		CHECK_EQ(num_parse_bytes(cases[i].text, &v, &err), ERR_INVAL);
		CHECK_EQ(v, 12345);
		CHECK_HAS(err.msg, cases[i].reason);
		CHECK_HAS(err.msg, cases[i].text);
	}
}

TEST(num_scan_stops_behind_the_digits)
{
	static const struct {
		const char *text;
		int base;
		size_t read;
		u64 v;
	} cases[] = {
		{"12-34", 10, 2, 12},
		{"12a", 10, 2, 12},
		{"12aFz", 16, 4, 0x12af},
		{"0x12", 16, 1, 0},
		{"7", 10, 1, 7},
		{"ffffffffffffffff,", 16, 16, ~0ULL},
		/* nothing to read, or too much of it */
		{"", 10, 0, 99},
		{"-1", 10, 0, 99},
		{"a", 10, 0, 99},
		{"g", 16, 0, 99},
		{"18446744073709551616", 10, 0, 99},
		{"10000000000000000", 16, 0, 99},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *at = cases[i].text;
		u64 v = 99;

		CHECK_EQ(num_scan(&at, cases[i].base, &v), cases[i].read > 0);
		CHECK_EQ(at - cases[i].text, cases[i].read);
		CHECK_EQ(v, cases[i].v);
	}
}

struct text_case {
	u64 v;
	const char *text;
};

static void check_texts(const struct text_case *cases, size_t n, void (*add)(struct str *s, u64 v))
{
	for (size_t i = 0; i < n; i++) {
		struct str s = {0};

		str_add(&s, "=");
		add(&s, cases[i].v);
		CHECK_STR(str_text(&s) + 1, cases[i].text);
		str_fini(&s);
	}
}

TEST(num_add_u64_writes_all_digits)
{
	static const struct text_case cases[] = {
		{0, "0"},
		{9, "9"},
		{10, "10"},
		{1000000, "1000000"},
		{~0ULL, "18446744073709551615"},
		{1ULL << 63, "9223372036854775808"},
	};

	check_texts(cases, ARRAY_SIZE(cases), num_add_u64);
}

TEST(num_add_grouped_separates_thousands)
{
	static const struct text_case cases[] = {
		{0, "0"},
		{999, "999"},
		{1000, "1,000"},
		{12345, "12,345"},
		{123456, "123,456"},
		{1234567, "1,234,567"},
		{1000000, "1,000,000"},
		{~0ULL, "18,446,744,073,709,551,615"},
	};

	check_texts(cases, ARRAY_SIZE(cases), num_add_grouped);
}

TEST(num_add_short_cuts_as_perf_does)
{
	static const struct text_case cases[] = {
		{0, "0"},
		{999, "999"},
		{1000, "1000"}, /* only more than a thousand gets a unit */
		{1001, "1K"},
		{1999, "1K"},
		{3723, "3K"},
		{1000000, "1000K"},
		{1000999, "1000K"},
		{1001000, "1M"},
		{1001000000, "1G"},
		{5000000000000ULL, "5000G"},
		{~0ULL, "18446744073G"},
	};

	check_texts(cases, ARRAY_SIZE(cases), num_add_short);
}

TEST(num_add_bytes_uses_binary_units)
{
	static const struct text_case cases[] = {
		{0, "0 B"},
		{1023, "1023 B"},
		{1024, "1.0 KiB"},
		{1536, "1.5 KiB"},
		{1 << 20, "1.0 MiB"},
		{(1ULL << 30) * 5 / 2, "2.5 GiB"},
		{1ULL << 40, "1.0 TiB"},
		{1ULL << 50, "1.0 PiB"},
		{1ULL << 60, "1024.0 PiB"},
		{~0ULL, "16384.0 PiB"},
	};

	check_texts(cases, ARRAY_SIZE(cases), num_add_bytes);
}

TEST(num_add_hex_has_at_least_the_digits_asked_for)
{
	static const struct {
		u64 v;
		unsigned digits;
		const char *text;
	} cases[] = {
		{0, 0, "0"},
		{0, 1, "0"},
		{0, 4, "0000"},
		{0xabc, 0, "abc"},
		{0xabc, 3, "abc"},
		{0xabc, 8, "00000abc"},
		{0x123456789, 4, "123456789"},
		{~0ULL, 0, "ffffffffffffffff"},
		{1, 16, "0000000000000001"},
		{1, 99, "0000000000000001"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct str s = {0};

		num_add_hex(&s, cases[i].v, cases[i].digits);
		CHECK_STR(str_text(&s), cases[i].text);
		str_fini(&s);
	}
}

static void check_percent(u64 part, u64 whole)
{
	struct str s = {0};
	char expected[64];

	snprintf(expected, sizeof(expected), "%.2f%%",
		whole ? 100.0 * (double)part / (double)whole : 0.0);
	num_add_percent(&s, part, whole);
	if (strcmp(str_text(&s), expected))
		test_failed(__FILE__, __LINE__, "%llu of %llu is %s, printf says %s",
			(unsigned long long)part, (unsigned long long)whole, str_text(&s),
			expected);
	str_fini(&s);
}

static void check_fixed(double v, unsigned digits)
{
	struct str s = {0};
	char expected[400];

	snprintf(expected, sizeof(expected), "%.*f", (int)digits, v);
	num_add_fixed(&s, v, digits);
	if (strcmp(str_text(&s), expected))
		test_failed(__FILE__, __LINE__, "%a is %s, printf says %s", v, str_text(&s),
			expected);
	str_fini(&s);
}

TEST(num_add_fixed_writes_what_printf_would)
{
	static const double cases[] = {0, -0.0, 0.5, 1.5, 0.125, 0.375, 2.675, 1.005, 0.9999,
		0.99995, 9.999999995, 999.9999999996, 1e9, 1099511627775.5, 1e15, 0x1p53, 0x1p64,
		1e300, 5e-324, -1, -2.5, -1e-9, INFINITY, -INFINITY, NAN};
	u64 state = 88172645463325252ULL;

	for (unsigned digits = 0; digits < 12; digits++) {
		for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
			check_fixed(cases[i], digits);
		for (u32 i = 0; i < 4000; i++)
			check_fixed((double)i / 2000, digits);
		for (u32 i = 0; i < 20000; i++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			check_fixed((double)(state >> (state % 64)) / (double)(state >> 40 | 1),
				digits);
		}
	}
}

TEST(num_add_percent_says_what_is_meant)
{
	static const struct {
		u64 part, whole;
		const char *text;
	} cases[] = {
		{0, 0, "0.00%"},
		{5, 0, "0.00%"},
		{0, 5, "0.00%"},
		{5, 5, "100.00%"},
		{1, 3, "33.33%"},
		{2, 3, "66.67%"},
		{1, 20000, "0.01%"}, /* a tie: printf rounds to even, but 0.005 is a bit more than a
					tie */
		{1, 20001, "0.00%"},
		{1, 800, "0.12%"}, /* 0.125 is exact: to even */
		{3, 800, "0.38%"}, /* 0.375 likewise */
		{99999, 100000, "100.00%"},
		{99994, 100000, "99.99%"},
		{15, 10, "150.00%"},
		{~0ULL, ~0ULL, "100.00%"},
		{~0ULL, 1, "1844674407370955161600.00%"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct str s = {0};

		num_add_percent(&s, cases[i].part, cases[i].whole);
		CHECK_STR(str_text(&s), cases[i].text);
		str_fini(&s);
	}
}

TEST(num_add_percent_writes_what_printf_would)
{
	u64 state = 88172645463325252ULL;

	for (u64 whole = 1; whole <= 400; whole++)
		for (u64 part = 0; part <= whole; part++)
			check_percent(part, whole);
	/* All ties of two decimals. */
	for (u64 part = 0; part <= 20000; part++)
		check_percent(part, 20000);
	for (int i = 0; i < 100000; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		check_percent(state >> 40, state & 0xffffff);
		check_percent(state, state >> (state & 31));
	}
}
