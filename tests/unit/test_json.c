#include "base/json.h"

#include "test.h"

static void check_string(const char *text, const char *expected)
{
	struct str out = {0};

	json_string(&out, text);
	CHECK_STR(str_text(&out), expected);
	str_fini(&out);
}

TEST(json_strings_escape_what_json_and_terminals_do_not_bear)
{
	check_string("", "\"\"");
	check_string("plain", "\"plain\"");
	check_string("a\"b\\c", "\"a\\\"b\\\\c\"");
	check_string("\n\t\x1b[2J\x7f", "\"\\u000a\\u0009\\u001b[2J\\u007f\"");
	/* C1: a control sequence introducer in two bytes. */
	check_string("\xc2\x9b", "\"\\u009b\"");
	check_string("\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\xa5",
		"\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\xa5\"");
}

TEST(json_strings_escape_what_reorders_text_or_breaks_lines)
{
	/* A right-to-left override, an isolate, marks, separators of lines; Arabic itself stays. */
	check_string("a\xe2\x80\xae"
		     "b",
		"\"a\\u202eb\"");
	check_string("\xe2\x81\xa7", "\"\\u2067\"");
	check_string("\xd8\x9c\xe2\x80\x8f\xef\xbb\xbf", "\"\\u061c\\u200f\\ufeff\"");
	check_string("\xe2\x80\xa8\xe2\x80\xa9", "\"\\u2028\\u2029\"");
	check_string("\xd8\xa7\xe2\x82\xac", "\"\xd8\xa7\xe2\x82\xac\"");
}

TEST(json_keys_are_anybody_s_too)
{
	struct str out = {0};

	json_u64(&out, "a\"\x1b\xe2\x80\xae", 1);
	CHECK_STR(str_text(&out), "\"a\\\"\\u001b\\u202e\":1,");
	str_fini(&out);
}

TEST(json_text_that_is_missing_is_null)
{
	struct str out = {0};

	json_text(&out, "a", NULL);
	json_text(&out, "b", "");
	CHECK_STR(str_text(&out), "\"a\":null,\"b\":\"\",");
	str_fini(&out);
}

TEST(json_strings_replace_what_is_no_utf8)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {{"\xff", "\"\\ufffd\""}, {"a\x80z", "\"a\\ufffdz\""},
		/* cut off, overlong, a surrogate, beyond the last */
		{"\xe2\x82", "\"\\ufffd\\ufffd\""}, {"\xc0\xaf", "\"\\ufffd\\ufffd\""},
		{"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
		{"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_string(cases[i].text, cases[i].expected);
}

TEST(json_objects_have_no_comma_at_their_end)
{
	struct str out = {0};

	str_addc(&out, '{');
	json_text(&out, "a", "b");
	json_u64(&out, "most", UINT64_MAX);
	json_s64(&out, "least", INT64_MIN);
	json_hex(&out, "at", 0xffffffff81000000);
	json_null(&out, "none");
	json_bool(&out, "is", true);
	json_bool(&out, "is_not", false);
	json_open(&out, "empty", '[');
	json_close(&out, ']');
	json_open(&out, "names", '[');
	json_element(&out, "a\"b");
	json_element(&out, "");
	json_close(&out, ']');
	json_open(&out, "in", '{');
	json_u64(&out, "it", 1);
	json_close(&out, '}');
	json_end(&out, '}');
	CHECK_STR(str_text(&out),
		"{\"a\":\"b\",\"most\":18446744073709551615,\"least\":-9223372036854775808,"
		"\"at\":\"0xffffffff81000000\",\"none\":null,\"is\":true,\"is_not\":false,"
		"\"empty\":[],\"names\":[\"a\\\"b\",\"\"],\"in\":{\"it\":1}}");
	str_fini(&out);
}
