#include "file/tracepoints.h"

#include "test.h"

enum { NUMBER = 7 };

#define HEAD                                                                     \
	"name: x\nID: 7\nformat:\n"                                              \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n" \
	"\tfield:int a;\toffset:4;\tsize:4;\tsigned:1;\n"                        \
	"\tfield:__data_loc char[] s;\toffset:8;\tsize:4;\tsigned:0;\n\nprint fmt: "

static void add_part(struct str *section, const char *name, const char *text)
{
	u64 n = strlen(text);

	str_addn(section, name, strlen(name) + 1);
	str_addn(section, &n, sizeof(n));
	str_addn(section, text, n);
}

static void make_section(struct str *section, const char *format)
{
	static const u8 start[] = "\027\010\104tracing0.6\0\0\10"; /* little endian, long has 8 */
	u32 page = 4096, none = 0, one = 1;
	u64 n = strlen(format);

	str_addn(section, start, sizeof(start) - 1);
	str_addn(section, &page, sizeof(page));
	add_part(section, "header_page", "");
	add_part(section, "header_event", "");
	str_addn(section, &none, sizeof(none));
	str_addn(section, &one, sizeof(one));
	str_addn(section, "sys", 4);
	str_addn(section, &one, sizeof(one));
	str_addn(section, &n, sizeof(n));
	str_addn(section, format, n);
}

/* What a sample with these numbers says by a format; NULL: nothing. */
static const char *say(const char *format, u16 number, s32 a, u32 s)
{
	static struct str text;
	struct str section = {0};
	struct tracepoints t;
	struct err err;
	u8 raw[16] = {0};
	struct record_bytes bytes = {raw, sizeof(raw)};
	bool has_said;

	memcpy(raw, &number, sizeof(number));
	memcpy(raw + 4, &a, sizeof(a));
	memcpy(raw + 8, &s, sizeof(s));
	memcpy(raw + 12, "hi", 3);
	make_section(&section, format);
	str_clear(&text);
	tracepoints_open(&t, &section, &err);
	has_said = tracepoints_add_text(&t, NUMBER, 0, &bytes, &text);
	tracepoints_close(&t);
	str_fini(&section);
	return has_said ? str_text(&text) : NULL;
}

static const char *print(const char *line, s32 a)
{
	static char format[256 << 10];

	snprintf(format, sizeof(format), HEAD "%s\n", line);
	return say(format, NUMBER, a, 3 << 16 | 12);
}

TEST(tracepoints_say_what_their_print_line_says)
{
	CHECK_STR(print("\"a=%d s=%s\", REC->a, __get_str(s)", -5), "a=-5 s=hi");
	CHECK_STR(print("\"%d %d\", REC->a / 1024, (REC->a) % (10)", 4097), "4 7");
	CHECK_STR(print("\"%s\", REC->a ? \"yes\" : \"no\"", 1), "yes");
	CHECK_STR(print("\"%s\", __print_symbolic(REC->a, { 1, \"one\" }, { 1 << 1, \"two\" })", 2),
		"two");
	CHECK_STR(print("\"%d\", (unsigned long)-1 > REC->a", 1), "1");
	CHECK_STR(print("\"%s\", __print_hex(__get_dynamic_array(s), 2)", 0), "68 69");
	/* What libtraceevent does not understand, it shows by fields. */
	CHECK_HAS(print("\"%s\", ({ int x = REC->a; x; })", 9), "a=9");
}

/* The four bytes that `t` says are in its field c. */
static const char *say_text(struct tracepoints *t, const char bytes[4])
{
	static struct str text;
	u8 raw[16] = {NUMBER};

	memcpy(raw + 12, bytes, 4);
	str_clear(&text);
	CHECK(tracepoints_add_field(t, NUMBER, &(struct record_bytes){raw, sizeof(raw)}, "c", false,
		&text));
	return str_text(&text);
}

TEST(tracepoints_text_that_cannot_be_printed_leaves_later_texts_alone)
{
	struct str section = {0};
	struct tracepoints t;
	struct err err;

	make_section(&section,
		"name: x\nID: 7\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
		"\tfield:char c[4];\toffset:12;\tsize:4;\tsigned:1;\n\nprint fmt: \"%s\", REC->c\n");
	CHECK_EQ(tracepoints_open(&t, &section, &err), 0);
	CHECK_STR(say_text(&t, "seq"), "seq");
	CHECK_HAS(say_text(&t, "\1\2\3"), "ARRAY");
	CHECK_STR(say_text(&t, "seq"), "seq");
	tracepoints_close(&t);
	str_fini(&section);
}

TEST(tracepoints_with_damaged_formats_do_no_harm)
{
	static const char *const lines[] = {"\"%d\", 1 / 0", "\"%d\", REC->a / REC->a",
		"\"%d\", 8 % REC->a", "\"%d\", 1 / (char)256", "\"%d\", d % REC->a",
		"\"%s\", __print_symbolic(REC->a, { 1 / 0, \"x\" })",
		"\"%d\", (REC->a)[1000000000]", "\"%d\", REC->a[REC->a]",
		"\"%s\", __print_hex(REC->a, 2000000000)",
		"\"%s\", __print_array(REC->a, 100000000, 8)", "\"%*d\", REC->a, 1",
		"\"%999999999d\", 1", "\"%s\", REC->a ? \"x\"", "\"%d\", (", "\"%d\", REC->", "\"",
		"", "\"%d %d %s\"", "\"%d\", 1 +", "\"%d\", {", "\"%d\", __print_flags(",
		"\"%d\", )", "\"%d\", 'x"};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		for (s32 a = 0; a < 3; a++)
			print(lines[i], a == 2 ? 0x7fffffff : a);
	/* A string that is not in the sample. */
	say(HEAD "\"%s\", __get_str(s)\n", NUMBER, 0, 0xffffffff);
	say(HEAD "\"%s\", ({ 0; })\n", NUMBER, 0, 0xffffffff);
}

/* How many bytes are printed is calculated from the sample: what that is at most, is known before. */
TEST(tracepoints_print_no_more_bytes_than_there_can_be)
{
	static const struct {
		const char *n;
		s32 fits, is_too_much;
	} lengths[] = {
		{"REC->a", 2, 70000},
		{"REC->a + 1", 1, 65536},
		{"REC->a * 2", 1, 40000},
		{"REC->a / 1", 2, 70000},
		{"REC->a >> 0", 2, 70000},
		{"REC->a % 100000", 2, 70000},
		{"REC->a | 2", 2, 70000},
		{"(int)REC->a", 2, 70000},
		{"REC->a & 131071", 2, 70000},
		/* What becomes of these is not worked out: nothing is printed of them. */
		{"REC->a - 1", INT32_MIN, 3},
		{"REC->a << 1", INT32_MIN, 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		char line[128];

		snprintf(line, sizeof(line), "\"<%%s>\", __print_hex(__get_dynamic_array(s), %s)",
			lengths[i].n);
		if (lengths[i].fits != INT32_MIN)
			CHECK_STR(print(line, lengths[i].fits), "<68 69>");
		CHECK(!print(line, lengths[i].is_too_much));
	}
}

TEST(tracepoints_with_endless_nesting_do_no_harm)
{
	static const char *const units[] = {"(", "!", "1+", "1?1:", "(int)", "a[", "f("};
	char *line = malloc(128 << 10);

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		strcpy(line, "\"%d\", ");
		for (size_t n = 6; n + 8 < 60 << 10; n += strlen(units[i]))
			strcpy(line + n, units[i]);
		print(line, 1);
	}
	free(line);
}

TEST(tracepoints_with_names_that_are_no_words_are_skipped)
{
	static const char *const names[] = {".x", "-x", ":x", "a.x", "", "%s", "\"x\""};
	char format[256];

	/* libtraceevent calls some of them a lack of memory. */
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(format, sizeof(format),
			"name: %s\nID: 7\nformat:\n"
			"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
			"print fmt: \"x\"\n",
			names[i]);
		CHECK(!say(format, NUMBER, 1, 0));
	}
}

TEST(tracepoints_go_by_the_number_in_the_sample)
{
	/* The sample is another event's than its own header says. */
	CHECK(!say(HEAD "\"%d\", REC->a\n", 8, 1, 0));
	/* Nor is the number somewhere else. */
	CHECK(!say("name: x\nID: 7\nformat:\n"
		   "\tfield:unsigned short common_type;\toffset:1000000;\tsize:2;\tsigned:0;\n\n"
		   "print fmt: \"x\"\n",
		NUMBER, 1, 0));
}
