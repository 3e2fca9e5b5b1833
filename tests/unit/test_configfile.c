#include "test.h"

#include "base/configfile.h"

/* "key=value" for all entries, or "! message". */
static const char *parsed(const char *text, size_t n)
{
	static struct str all;
	struct config c = {0};
	struct err err;

	str_clear(&all);
	if (config_parse(&c, "file", text, n, &err))
		str_addf(&all, "! %s", err.msg);
	else
		vec_each(e, &c.entries)
			str_addf(&all, "%s%s%s\n", e->key, e->value ? "=" : "",
				e->value ? e->value : "");
	config_fini(&c);
	return str_text(&all);
}

static const char *of(const char *text)
{
	return parsed(text, strlen(text));
}

static const char *changed(const char *text, const char *key, const char *value)
{
	static struct str out;
	struct err err;

	str_clear(&out);
	CHECK_EQ(config_change("file", text, strlen(text), key, value, &out, &err), 0);
	return str_text(&out);
}

TEST(configfile_reads_sections_keys_and_values)
{
	CHECK_STR(of(""), "");
	CHECK_STR(of("# nothing\n\n ; at all"), "");
	CHECK_STR(of("[report]\nsort_order = dso, sym  # why\n\tchildren\n"),
		"report.sort_order=dso, sym\nreport.children\n");
	CHECK_STR(of("[A] Key=1\n[pace \"Sub ject\"]\nkey=\n"), "a.key=1\npace.Sub ject.key=\n");
	CHECK_STR(of("\xef\xbb\xbf[a]\r\nb = c\r\n"), "a.b=c\n");
	CHECK_STR(of("[a]\nb = \"  x;#\" y \\\n z \\\"\\t\\\\\n"), "a.b=  x;# y  z \"\t\\\n");
	CHECK_STR(of("[a \"q\\\"u\\\\o\"]\nb=1"), "a.q\"u\\o.b=1\n");
}

TEST(configfile_says_where_a_file_is_damaged)
{
	CHECK_STR(of("b = 1"),
		"! 'file', line 1: a key stands before the first section, like [report]");
	CHECK_STR(of("\n[a"), "! 'file', line 2: ']' is missing behind the section's name");
	CHECK_STR(of("[]"), "! 'file', line 1: a section has a name: [report]");
	CHECK_STR(of("[a \"b\n\"]"), "! 'file', line 1: the subsection's name has no end");
	CHECK_STR(of("[a]\nb 1"), "! 'file', line 2: '=' is missing behind the key");
	CHECK_STR(of("[a]\nb = \"1"), "! 'file', line 2: a quote is not closed");
	CHECK_STR(of("[a]\n=1"),
		"! 'file', line 2: this is neither a [section], nor a key, nor a comment");
	CHECK_HAS(of("[a]\nb=c\\\nd\ne=\\q"), "! 'file', line 4: behind '\\'");
}

TEST(configfile_reads_every_beginning_of_a_file_and_any_byte_in_it)
{
	static const char text[] =
		"\xef\xbb\xbf[a \"b\\\"c\"] d = \"e ;\\\\\" f # g\n\t[h] ; i\n j\n k = l\\\n m\n";
	char copy[sizeof(text)];

	for (size_t n = 0; n < sizeof(text); n++) {
		char *exact = memcpy(mem_alloc(n + 1), text, n);

		parsed(exact, n);
		mem_free(exact);
	}
	for (size_t i = 0; i < sizeof(text) - 1; i++)
		for (int byte = 0; byte < 256; byte++) {
			memcpy(copy, text, sizeof(text));
			copy[i] = (char)byte;
			parsed(copy, sizeof(text) - 1);
		}
}

TEST(configfile_changes_one_value_and_leaves_all_else)
{
	CHECK_STR(changed("", "a.b", "1"), "[a]\n\tb = 1\n");
	CHECK_STR(changed("# mine\n[a]\n b=1 # old\n c=2", "a.b", "3"),
		"# mine\n[a]\n\tb = 3\n c=2");
	CHECK_STR(changed("[a]\n b=1\n[c]\n d=2\n", "a.e", "3"), "[a]\n b=1\n\te = 3\n[c]\n d=2\n");
	CHECK_STR(changed("[a]\nb=1\\\n2\n[c]\nd=4", "a.b", "x"), "[a]\n\tb = x\n[c]\nd=4");
	CHECK_STR(changed("[a] b=1\n", "A.B", "2"), "[a]\n\tB = 2\n");
	CHECK_STR(changed("[a]\nb=1\\\n", "a.c", "2"), "[a]\nb=1\\\n\n\tc = 2\n");
	/* A subsection's name may have a bracket. */
	CHECK_STR(changed("[a \"x]y\"] b=1\n", "a.x]y.b", "2"), "[a \"x]y\"]\n\tb = 2\n");
	CHECK_STR(changed("[a]\nb=1", "a.Sub.b", "2"), "[a]\nb=1\n[a \"Sub\"]\n\tb = 2\n");
}

TEST(configfile_writes_values_so_that_they_are_read_again)
{
	static const char *const values[] = {"", " ", "a b", " a", "a ", "#", "a;b", "\"q\"", "\\",
		"\n", "a\nb", "\t", "a\r", "\r", "\b", "\x01\x1b", "=", "[x]", "\xff\xfe"};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		char *expected = NULL;

		CHECK(asprintf(&expected, "a.b=%s\na.c=2\n", values[i]) > 0);
		CHECK_STR(of(changed("[a]\nb=1\nc=2\n", "a.b", values[i])), expected);
		free(expected);
	}
}

TEST(configfile_knows_keys_and_switches)
{
	static const char *const keys[] = {"a.b", "a-b.c_d", "1.b", "pace.c2c report.options",
		"a.[.b"};
	static const char *const others[] = {"", "a", ".b", "a.", "a.b c", "a b.c", "a.1",
		"a.x\ny.b", "a.\".b", "a.\\.b"};
	static const struct {
		const char *value;
		int is_on; /* -1: it is no switch */
	} switches[] = {{NULL, 1}, {"", 0}, {"TRUE", 1}, {"off", 0}, {"0", 0}, {"00", 0}, {"7", 1},
		{"99999999999999999999", 1}, {"-1", -1}, {"yes ", -1}, {"nope", -1}};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		CHECK(config_is_key(keys[i]));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		CHECK(!config_is_key(others[i]));
	for (size_t i = 0; i < ARRAY_SIZE(switches); i++) {
		bool is_on = false;

		CHECK_EQ(config_bool(&(struct config_entry){.value = switches[i].value}, &is_on),
			switches[i].is_on >= 0);
		CHECK_EQ(is_on, switches[i].is_on > 0);
	}
}
