#include "test.h"

#include "base/str.h"
#include "base/cmdline.h"

/* The words with '|' behind each, "sh" if they are for a shell, or the error. */
static const char *split(const char *text)
{
	static struct str out;
	struct cmdline w;
	struct err err;

	str_clear(&out);
	if (cmdline_split(&w, text, &err)) {
		str_add(&out, err.msg);
		return str_text(&out);
	}
	if (w.needs_shell)
		str_add(&out, "sh");
	for (char **word = w.at; *word && !w.needs_shell; word++)
		str_addf(&out, "%s|", *word);
	cmdline_fini(&w);
	return str_text(&out);
}

TEST(cmdline_words_are_split_at_blanks_and_kept_together_by_quotes)
{
	CHECK_STR(split("true"), "true|");
	CHECK_STR(split("  ./old  --x\t-y "), "./old|--x|-y|");
	CHECK_STR(split("a 'b  c' d"), "a|b  c|d|");
	CHECK_STR(split("a b'c d'e\"f g\" ''"),
		"a|bc de"
		"f g||");
	CHECK_STR(split("a \\  b\\'c"), "a| |b'c|");
	CHECK_STR(split("a \"x\\\"y\\z\""), "a|x\"y\\z|");
	CHECK_STR(split("dd if=/dev/zero of=x"), "dd|if=/dev/zero|of=x|");
	CHECK_STR(split("a b~ c#d 'x;y' \\$HOME"), "a|b~|c#d|x;y|$HOME|");
}

TEST(cmdline_words_leave_what_only_a_shell_understands_to_one)
{
	static const char *const texts[] = {"a | b", "a; b", "a && b", "a > x", "a $HOME", "a `b`",
		"a \"$HOME\"", "a *.c", "a ?", "a [b]", "X=1 a", "(a)", "{ a; }", "! a", "~/a",
		"a #b", "a\nb", "\"`b`\""};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (strcmp(split(texts[i]), "sh") != 0)
			test_failed(__FILE__, __LINE__, "'%s' gives %s", texts[i], split(texts[i]));
}

TEST(cmdline_words_say_what_is_wrong_with_a_command_line)
{
	CHECK_HAS(split("a 'b"), "the quote ' is not closed");
	CHECK_HAS(split("a \"b"), "the quote \" is not closed");
	CHECK_HAS(split("a \\"), "backslash");
	CHECK_HAS(split("   "), "no command");
	CHECK_HAS(split(""), "no command");
}

TEST(cmdline_words_for_a_shell_are_the_whole_text)
{
	struct cmdline w;

	cmdline_make_shell(&w, "a | b");
	CHECK_EQ(w.n, 3);
	CHECK_STR(w.at[1], "-c");
	CHECK_STR(w.at[2], "a | b");
	CHECK(!w.at[3]);
	cmdline_fini(&w);
}

TEST(cmdline_words_go_back_into_text_as_a_shell_reads_them)
{
	static const char *const words[] = {"./prog", "a b", "it's", "", "''", "x#",
		"r21d0,cycles"};
	struct str text = {0};
	struct cmdline w;
	struct err err;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		cmdline_add_word(&text, words[i]);
		str_addc(&text, ' ');
	}
	CHECK_STR(str_text(&text), "./prog 'a b' 'it'\\''s' '' ''\\'''\\''' 'x#' r21d0,cycles ");
	CHECK_EQ(cmdline_split(&w, str_text(&text), &err), 0);
	CHECK_EQ(w.n, ARRAY_SIZE(words));
	for (size_t i = 0; i < w.n; i++)
		CHECK_STR(w.at[i], words[i]);
	cmdline_fini(&w);
	str_fini(&text);
}
