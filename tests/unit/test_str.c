#include "base/str.h"

#include "test.h"

TEST(str_that_is_empty_has_an_empty_text)
{
	struct str s = {0};

	CHECK_STR(str_text(&s), "");
	str_clear(&s);
	str_cut(&s, 0);
	str_cut(&s, 100);
	CHECK_EQ(s.n, 0);
	str_add(&s, "");
	CHECK_STR(str_text(&s), "");
	str_fini(&s);
	CHECK(!s.at);
}

TEST(str_is_terminated_after_every_change)
{
	struct str s = {0};

	str_add(&s, "abc");
	CHECK_STR(s.at, "abc");
	str_addc(&s, 'd');
	CHECK_STR(s.at, "abcd");
	str_addn(&s, "efgh", 2);
	CHECK_STR(s.at, "abcdef");
	str_addn(&s, NULL, 0);
	CHECK_STR(s.at, "abcdef");
	str_addf(&s, "%03d|%s", 7, "x");
	CHECK_STR(s.at, "abcdef007|x");
	str_fill(&s, '-', 3);
	CHECK_STR(s.at, "abcdef007|x---");
	str_fill(&s, '-', 0);
	CHECK_EQ(s.n, 14);
	str_cut(&s, 14);
	CHECK_EQ(s.n, 14);
	str_cut(&s, 4);
	CHECK_STR(s.at, "abcd");
	str_clear(&s);
	CHECK_STR(s.at, "");
	CHECK_EQ(s.n, 0);
	str_fini(&s);
}

TEST(str_grows_to_any_length_whatever_adds_to_it)
{
	struct str s = {0};

	for (size_t i = 0; i < 100000; i++)
		str_addc(&s, (char)('a' + i % 26));
	CHECK_EQ(s.n, 100000);
	for (size_t i = 0; i < s.n; i++)
		CHECK_EQ(s.at[i], 'a' + i % 26);
	str_fill(&s, 'x', 1 << 20);
	CHECK_EQ(s.n, 100000 + (1 << 20));
	CHECK_EQ(strlen(s.at), s.n);
	str_fini(&s);
}

/* The first attempt has at least 120 bytes of room: lengths around it take the second path. */
TEST(str_addf_of_all_lengths_adds_the_whole_text)
{
	for (int n = 0; n < 400; n++) {
		struct str s = {0};

		str_addf(&s, "%*s", n, "");
		CHECK_EQ(s.n, n);
		CHECK_EQ(strlen(str_text(&s)), n);
		str_addf(&s, "<%0*d>", n + 1, 7);
		CHECK_EQ(s.n, 2 * n + 3);
		CHECK_EQ(s.at[n], '<');
		CHECK_EQ(s.at[s.n - 2], '7');
		CHECK_EQ(s.at[s.n - 1], '>');
		str_fini(&s);
	}
}

TEST(str_clear_keeps_the_buffer)
{
	struct str s = {0};
	char *at;

	str_fill(&s, 'a', 1000);
	at = s.at;
	str_clear(&s);
	str_fill(&s, 'b', 1000);
	CHECK(s.at == at);
	str_fini(&s);
}

TEST(str_keeps_nul_bytes)
{
	struct str s = {0};

	str_addn(&s, "a\0b", 3);
	str_addc(&s, '\0');
	CHECK_EQ(s.n, 4);
	CHECK(!memcmp(s.at, "a\0b\0\0", 5));
	str_fini(&s);
}

/* ---- text that is not ours ---- */

#define TEXT(literal) literal, sizeof(literal) - 1

struct safe_case {
	const char *text;
	size_t n;
	const char *expected;
	size_t columns;
};

static void check_safe(const struct safe_case *cases, size_t n_cases)
{
	for (size_t i = 0; i < n_cases; i++) {
		const struct safe_case *c = &cases[i];
		struct str s = {0};
		size_t columns;

		str_add(&s, "[");
		columns = str_add_safe(&s, c->text, c->n);
		CHECK_STR(str_text(&s) + 1, c->expected);
		CHECK_EQ(s.at[0], '[');
		CHECK_EQ(s.n, strlen(c->expected) + 1);
		CHECK_EQ(columns, c->columns);
		str_fini(&s);
	}
}

TEST(str_add_safe_leaves_printable_text)
{
	static const struct safe_case cases[] = {
		{TEXT(""), "", 0},
		{TEXT("main"), "main", 4},
		{TEXT(" !\"#$%&'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~"),
			" !\"#$%&'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~", 39},
		{TEXT("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f", 4},
		{TEXT("\xe6\xbc\xa2"), "\xe6\xbc\xa2", 1},
		{TEXT("a\xf0\x9f\x98\x80z"), "a\xf0\x9f\x98\x80z", 3},
		/* the first and the last of each length */
		{TEXT("\xc2\xa0"), "\xc2\xa0", 1},
		{TEXT("\xdf\xbf"), "\xdf\xbf", 1},
		{TEXT("\xe0\xa0\x80"), "\xe0\xa0\x80", 1},
		{TEXT("\xed\x9f\xbf"), "\xed\x9f\xbf", 1},
		{TEXT("\xee\x80\x80"), "\xee\x80\x80", 1},
		{TEXT("\xef\xbf\xbf"), "\xef\xbf\xbf", 1},
		{TEXT("\xf0\x90\x80\x80"), "\xf0\x90\x80\x80", 1},
		{TEXT("\xf4\x8f\xbf\xbf"), "\xf4\x8f\xbf\xbf", 1},
	};

	check_safe(cases, ARRAY_SIZE(cases));
}

TEST(str_add_safe_escapes_control_characters)
{
	static const struct safe_case cases[] = {
		{TEXT("a\0b"), "a\\x00b", 6},
		{TEXT("\x01\t\n\r\x1f"), "\\x01\\x09\\x0a\\x0d\\x1f", 20},
		{TEXT("\x1b[2J"), "\\x1b[2J", 7},
		{TEXT("x\x7fy"), "x\\x7fy", 6},
		/* C1, as a raw byte and in UTF-8: CSI and the end of the block */
		{TEXT("\x9bm"), "\\x9bm", 5},
		{TEXT("\xc2\x9bm"), "\\xc2\\x9bm", 9},
		{TEXT("\xc2\x80\xc2\x9f"), "\\xc2\\x80\\xc2\\x9f", 16},
	};

	check_safe(cases, ARRAY_SIZE(cases));
}

TEST(str_add_safe_escapes_each_control_character_of_ascii)
{
	for (unsigned c = 0; c < 128; c++) {
		struct str s = {0};
		char byte = (char)c, expected[8];
		bool is_plain = c >= 0x20 && c < 0x7f;

		snprintf(expected, sizeof(expected), is_plain ? "%c" : "\\x%02x", c);
		CHECK_EQ(str_add_safe(&s, &byte, 1), is_plain ? 1 : 4);
		CHECK_STR(str_text(&s), expected);
		str_fini(&s);
	}
}

TEST(str_add_safe_escapes_what_reorders_text)
{
	static const struct safe_case cases[] = {
		{TEXT("\xd8\x9c"), "\\xd8\\x9c", 8}, /* 061c: Arabic letter mark */
		{TEXT("\xe2\x80\x8e\xe2\x80\x8f"), "\\xe2\\x80\\x8e\\xe2\\x80\\x8f",
			24},                                     /* 200e 200f */
		{TEXT("\xe2\x80\xa8"), "\\xe2\\x80\\xa8", 12},   /* 2028: line separator */
		{TEXT("\xe2\x80\xa9"), "\\xe2\\x80\\xa9", 12},   /* 2029: paragraph separator */
		{TEXT("a\xe2\x80\xaa"), "a\\xe2\\x80\\xaa", 13}, /* 202a: embedding */
		{TEXT("\xe2\x80\xaez"), "\\xe2\\x80\\xaez", 13}, /* 202e: override */
		{TEXT("\xe2\x81\xa6\xe2\x81\xa9"), "\\xe2\\x81\\xa6\\xe2\\x81\\xa9",
			24},                                   /* 2066 2069 */
		{TEXT("\xef\xbb\xbf"), "\\xef\\xbb\\xbf", 12}, /* feff: byte order mark */
		/* their neighbours are harmless */
		{TEXT("\xd8\x9b\xd8\x9d"), "\xd8\x9b\xd8\x9d", 2},
		{TEXT("\xe2\x80\x90\xe2\x80\xa7\xe2\x80\xaf"),
			"\xe2\x80\x90\xe2\x80\xa7\xe2\x80\xaf", 3},
		{TEXT("\xe2\x81\xa5\xe2\x81\xaa"), "\xe2\x81\xa5\xe2\x81\xaa", 2},
	};

	check_safe(cases, ARRAY_SIZE(cases));
}

TEST(str_add_safe_escapes_what_is_not_utf8)
{
	static const struct safe_case cases[] = {
		{TEXT("\x80"), "\\x80", 4}, /* continuation without a start */
		{TEXT("\xbfz"), "\\xbfz", 5},
		{TEXT("\xfe\xff"), "\\xfe\\xff", 8},                    /* never in UTF-8 */
		{TEXT("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80", 16}, /* would be above 10ffff */
		{TEXT("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80", 16}, /* is above 10ffff */
		{TEXT("\xf8\x88\x80\x80\x80"), "\\xf8\\x88\\x80\\x80\\x80", 20}, /* five bytes */
		/* overlong: a NUL, a slash, an escape, an umlaut */
		{TEXT("\xc0\x80"), "\\xc0\\x80", 8},
		{TEXT("\xc0\xaf"), "\\xc0\\xaf", 8},
		{TEXT("\xc1\xbf"), "\\xc1\\xbf", 8},
		{TEXT("\xe0\x80\x9b"), "\\xe0\\x80\\x9b", 12},
		{TEXT("\xe0\x9f\xbf"), "\\xe0\\x9f\\xbf", 12},
		{TEXT("\xf0\x80\x80\xaf"), "\\xf0\\x80\\x80\\xaf", 16},
		{TEXT("\xf0\x8f\xbf\xbf"), "\\xf0\\x8f\\xbf\\xbf", 16},
		/* surrogates */
		{TEXT("\xed\xa0\x80"), "\\xed\\xa0\\x80", 12},
		{TEXT("\xed\xbf\xbf"), "\\xed\\xbf\\xbf", 12},
		/* cut off at the end, and by another character */
		{TEXT("a\xc3"), "a\\xc3", 5},
		{TEXT("\xe6\xbc"), "\\xe6\\xbc", 8},
		{TEXT("\xf0\x9f\x98"), "\\xf0\\x9f\\x98", 12},
		{TEXT("\xc3z"), "\\xc3z", 5},
		{TEXT("\xe6\xbcz"), "\\xe6\\xbcz", 9},
		{TEXT("\xe6\x1b[m"), "\\xe6\\x1b[m", 10},
		{TEXT("\xc3\xc3\xbc"), "\\xc3\xc3\xbc", 5},
	};

	check_safe(cases, ARRAY_SIZE(cases));
}

TEST(str_add_safe_does_not_read_behind_the_text)
{
	/* The continuation stands behind the end that was given. */
	static const struct safe_case cases[] = {
		{"\xc3\xbc", 1, "\\xc3", 4},
		{"\xe6\xbc\xa2", 2, "\\xe6\\xbc", 8},
		{"abc", 2, "ab", 2},
		{"abc", 0, "", 0},
	};

	check_safe(cases, ARRAY_SIZE(cases));
}

/* The decoder against an encoder. */
TEST(str_add_safe_agrees_with_the_encoding_of_every_code_point)
{
	for (u32 cp = 0x80; cp < 0x110000; cp++) {
		char text[5];
		struct str s = {0};
		size_t n, columns;
		bool is_harmful = cp < 0xa0 || (cp >= 0xd800 && cp < 0xe000) || cp == 0x61c ||
			cp == 0x200e || cp == 0x200f || (cp >= 0x2028 && cp <= 0x202e) ||
			(cp >= 0x2066 && cp <= 0x2069) || cp == 0xfeff;

		if (cp < 0x800)
			n = snprintf(text, sizeof(text), "%c%c", 0xc0 | cp >> 6,
				0x80 | (cp & 0x3f));
		else if (cp < 0x10000)
			n = snprintf(text, sizeof(text), "%c%c%c", 0xe0 | cp >> 12,
				0x80 | (cp >> 6 & 0x3f), 0x80 | (cp & 0x3f));
		else
			n = snprintf(text, sizeof(text), "%c%c%c%c", 0xf0 | cp >> 18,
				0x80 | (cp >> 12 & 0x3f), 0x80 | (cp >> 6 & 0x3f),
				0x80 | (cp & 0x3f));
		columns = str_add_safe(&s, text, n);
		CHECK_EQ(columns, is_harmful ? 4 * n : 1);
		CHECK_EQ(s.n, is_harmful ? 4 * n : n);
		str_fini(&s);
	}
}

/* ---- intern ---- */

TEST(intern_gives_equal_strings_the_same_pointer)
{
	struct intern in = {0};
	const char *abc = intern_str(&in, "abc");

	CHECK_STR(abc, "abc");
	CHECK(intern_str(&in, "abc") == abc);
	CHECK(intern_add(&in, "abcdef", 3) == abc);
	CHECK(intern_add(&in, "abc\0def", 7) == abc);
	CHECK(intern_add(&in, "abc", 100) == abc);
	CHECK(intern_str(&in, "ab") != abc);
	CHECK(intern_str(&in, "abcd") != abc);
	CHECK(intern_str(&in, "ABC") != abc);
	CHECK_EQ(in.strings.n, 4);
	intern_fini(&in);
}

TEST(intern_knows_the_empty_string)
{
	struct intern in = {0};
	const char *empty = intern_str(&in, "");

	CHECK_STR(empty, "");
	CHECK(intern_add(&in, "x", 0) == empty);
	CHECK(intern_add(&in, "\0x", 2) == empty);
	CHECK(intern_str(&in, "x") != empty);
	intern_fini(&in);
}

TEST(intern_copies_what_it_is_given)
{
	struct intern in = {0};
	char text[] = "abc";
	const char *stored = intern_str(&in, text);

	CHECK(stored != text);
	text[0] = 'x';
	CHECK_STR(stored, "abc");
	intern_fini(&in);
}

TEST(intern_keeps_pointers_and_order_over_many_strings)
{
	enum { N = 50000 };
	static const char *stored[N];
	struct intern in = {0};
	char text[32];

	for (int i = 0; i < N; i++) {
		snprintf(text, sizeof(text), "symbol_%d", i);
		stored[i] = intern_str(&in, text);
	}
	CHECK_EQ(in.strings.n, N);
	for (int i = 0; i < N; i++) {
		snprintf(text, sizeof(text), "symbol_%d", i);
		CHECK_STR(stored[i], text);
		CHECK(intern_str(&in, text) == stored[i]);
		CHECK(in.strings.at[i] == stored[i]);
	}
	CHECK_EQ(in.strings.n, N);
	intern_fini(&in);
}
