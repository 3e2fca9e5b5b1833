#include "base/opts.h"

#include "base/vec.h"

#include "test.h"

struct target {
	bool is_all, has_no_inherit, is_hidden;
	int children;
	unsigned verbose;
	u64 count, threads;
	double limit;
	const char *output, *color;
	struct opt_list events;
	char called[128];
};

static int call(void *target, const char *value, struct err *err)
{
	struct target *t = target;

	if (value && !strcmp(value, "bad"))
		return err_set(err, ERR_LIMIT, "'bad' is bad");
	strcat(t->called, value ? value : "(null)");
	strcat(t->called, ";");
	return 0;
}

static int refuse(void *target, const char *value, struct err *err)
{
	(void)target;
	(void)value;
	return err_set(err, ERR_UNSUPPORTED, "not here");
}

static bool is_way(const char *word)
{
	return !strcmp(word, "here");
}

#define AT(member) offsetof(struct target, member)

static const struct opt table[] = {
	{0, NULL, OPT_TITLE, 0, NULL, "What"},
	{'a', "all", OPT_BOOL, AT(is_all), NULL, "everything"},
	{'i', "no-inherit", OPT_BOOL, AT(has_no_inherit), NULL, "not the children's"},
	{0, "children", OPT_TRI, AT(children), NULL, "callers too"},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL, "say more"},
	{'c', "count", OPT_U64, AT(count), "N", "each N", .min = 1},
	{'j', "threads", OPT_U64, AT(threads), "N", "so many", .min = 1, .max = 256},
	{0, "limit", OPT_DOUBLE, AT(limit), "PCT", "at least", .max = 100},
	{'o', "output", OPT_STR, AT(output), "FILE", "write there"},
	{0, NULL, OPT_TITLE, 0, NULL, "How"},
	{'e', "event", OPT_LIST, AT(events), "EVENT", "count it"},
	{'g', "graph", OPT_CALL, 0, "HOW", "draw", .flags = OPT_OPTIONAL, .call = call},
	{'G', NULL, OPT_CALL, 0, NULL, "draw so", .call = call},
	{'r', "reset", OPT_CALL, 0, NULL, "begin anew", .flags = OPT_NO_VALUE, .call = call},
	{'m', NULL, OPT_CALL, 0, "HOW", "meet", .flags = OPT_OPTIONAL, .call = call,
		.is_value = is_way},
	{0, "color", OPT_STR, AT(color), "WHEN", "colours", .flags = OPT_OPTIONAL},
	{'x', "secret", OPT_BOOL, AT(is_hidden), NULL, "never shown", .flags = OPT_HIDDEN},
	{'k', "refused", OPT_CALL, 0, NULL, "never works", .flags = OPT_NO_VALUE | OPT_HIDDEN,
		.call = refuse},
	{'y', "yield", OPT_NOTHING, 0, NULL, "always done"},
	{0, "yonder", OPT_NOTHING, 0, "WHERE", "nowhere"},
	{'z', "zoom", OPT_REFUSED, 0, NULL, "there is no picture; -v says more"},
	{0, "zone", OPT_REFUSED, 0, "NAME", "there is one only"},
	{0, "callgrind", OPT_BOOL, AT(is_all), NULL, "as callgrind does"},
	{0, "callgrinder", OPT_STR, AT(output), "FILE", "a longer name with the same beginning"},
	{.kind = OPT_END},
};

/* One run of the parser: what it was given and what came out. */
struct run {
	struct target t;
	char **words;
	int n, status;
	struct err err;
};

static struct run run(unsigned flags, char **words)
{
	struct run r = {.t.children = -1, .words = words};

	while (words[r.n])
		r.n++;
	r.status = opts_parse(table, &r.t, flags, &r.n, words, &r.err);
	if (r.status < 0)
		CHECK_EQ(r.err.code, r.status);
	return r;
}

#define RUN(flags, ...) run(flags, (char *[]){__VA_ARGS__, NULL})
#define PARSE(...)      RUN(0, __VA_ARGS__)

/* The words left, joined by blanks. */
static const char *rest(const struct run *r)
{
	static char text[256];

	text[0] = '\0';
	for (int i = 0; i < r->n; i++) {
		strcat(text, i ? " " : "");
		strcat(text, r->words[i]);
	}
	return text;
}

#define CHECK_REFUSED(message, ...)                 \
	do {                                        \
		struct run r_ = PARSE(__VA_ARGS__); \
		CHECK_EQ(r_.status, ERR_INVAL);     \
		CHECK_STR(r_.err.msg, message);     \
		vec_fini(&r_.t.events);             \
	} while (0)

TEST(opts_letters_set_switches_and_may_be_joined)
{
	struct run r = PARSE("-a", "-vvi", "-v");

	CHECK_EQ(r.status, 0);
	CHECK(r.t.is_all && r.t.has_no_inherit);
	CHECK_EQ(r.t.verbose, 3);
	CHECK_EQ(r.n, 0);
}

TEST(opts_value_of_a_letter_is_attached_or_the_next_word)
{
	struct run r = PARSE("-c5", "-j", "7", "-avo", "out", "-G", "x", "-Gy", "-vj8");

	CHECK_EQ(r.status, 0);
	CHECK_EQ(r.t.count, 5);
	CHECK_EQ(r.t.threads, 8);
	CHECK_STR(r.t.output, "out");
	CHECK_STR(r.t.called, "x;y;");
	CHECK(r.t.is_all);
	CHECK_EQ(r.t.verbose, 2);
}

TEST(opts_value_of_a_long_name_is_attached_or_the_next_word)
{
	struct run r = PARSE("--count=0x10", "--threads", "256", "--output=", "--limit", "99.5");

	CHECK_EQ(r.status, 0);
	CHECK_EQ(r.t.count, 16);
	CHECK_EQ(r.t.threads, 256);
	CHECK_STR(r.t.output, "");
	CHECK(r.t.limit == 99.5);
	r = PARSE("--output", "a=b", "--color=c=d");
	CHECK_STR(r.t.output, "a=b");
	CHECK_STR(r.t.color, "c=d");
}

TEST(opts_value_may_begin_with_a_minus)
{
	struct run r = PARSE("-o", "-v", "--graph=-x", "-e", "--");

	CHECK_EQ(r.status, 0);
	CHECK_STR(r.t.output, "-v");
	CHECK_EQ(r.t.verbose, 0);
	CHECK_STR(r.t.called, "-x;");
	CHECK_EQ(r.t.events.n, 1);
	CHECK_STR(r.t.events.at[0], "--");
	vec_fini(&r.t.events);
}

TEST(opts_list_keeps_every_value_and_their_order)
{
	struct run r = PARSE("-e", "a", "--event=b", "-ec", "--event", "d", "-e", "");

	CHECK_EQ(r.status, 0);
	CHECK_EQ(r.t.events.n, 5);
	CHECK_STR(r.t.events.at[0], "a");
	CHECK_STR(r.t.events.at[1], "b");
	CHECK_STR(r.t.events.at[2], "c");
	CHECK_STR(r.t.events.at[3], "d");
	CHECK_STR(r.t.events.at[4], "");
	vec_fini(&r.t.events);
}

TEST(opts_last_of_two_values_wins)
{
	struct run r = PARSE("-c1", "-c", "2", "--count=3", "--all", "--no-all");

	CHECK_EQ(r.status, 0);
	CHECK_EQ(r.t.count, 3);
	CHECK(!r.t.is_all);
}

TEST(opts_switches_are_undone_by_no)
{
	struct run r = PARSE("-a", "--no-all", "--no-children", "--no-inherit");

	CHECK_EQ(r.status, 0);
	CHECK(!r.t.is_all);
	CHECK_EQ(r.t.children, 0);
	CHECK(r.t.has_no_inherit);
	r = PARSE("--children");
	CHECK_EQ(r.t.children, 1);
	r = PARSE("-a");
	CHECK_EQ(r.t.children, -1);
}

TEST(opts_named_no_x_are_undone_by_x)
{
	struct run r = PARSE("-i", "--inherit");

	CHECK_EQ(r.status, 0);
	CHECK(!r.t.has_no_inherit);
	r = PARSE("--inherit", "--no-inherit");
	CHECK(r.t.has_no_inherit);
	r = PARSE("-i", "--inh");
	CHECK_EQ(r.status, 0);
	CHECK(!r.t.has_no_inherit);
	r = PARSE("--no-inh");
	CHECK(r.t.has_no_inherit);
}

TEST(opts_with_values_are_taken_back_by_no)
{
	struct run r = PARSE("-c5", "--output", "out", "--event=x", "--graph=y", "--no-count",
		"--no-event", "--no-output", "--no-graph", "--event", "z");

	CHECK_EQ(r.status, 0);
	CHECK_EQ(r.n, 0);
	CHECK_EQ(r.t.count, 0);
	CHECK(!r.t.output);
	CHECK_STR(r.t.called, "");
	/* What is said later holds. */
	CHECK_EQ(r.t.events.n, 1);
	CHECK_STR(r.t.events.at[0], "z");
	vec_fini(&r.t.events);
	/* Values that nobody wants any more are not looked at. */
	r = PARSE("--count", "nonsense", "--no-count");
	CHECK_EQ(r.status, 0);
	CHECK_REFUSED("option '--no-output' takes no value, 'x' was given", "--no-output=x");
}

TEST(opts_other_kinds_have_no_opposite)
{
	CHECK_REFUSED("there is no option '--no-verbose'; did you mean '--verbose'?",
		"--no-verbose");
	/* Running it would do the opposite of what was asked for. */
	CHECK_REFUSED("there is no option '--no-reset'", "--no-reset");
}

TEST(opts_beginning_that_only_one_name_has_is_enough)
{
	struct run r = PARSE("--cou=5", "--verb", "--ch", "--out", "x", "--no-al", "--sec");

	CHECK_EQ(r.status, 0);
	CHECK_EQ(r.t.count, 5);
	CHECK_EQ(r.t.verbose, 1);
	CHECK_EQ(r.t.children, 1);
	CHECK_STR(r.t.output, "x");
	CHECK(r.t.is_hidden);
	r = PARSE("--no-chil");
	CHECK_EQ(r.status, 0);
	CHECK_EQ(r.t.children, 0);
}

TEST(opts_beginning_that_several_names_have_is_refused)
{
	CHECK_REFUSED("option '--c' could be '--children' or '--callgrinder'", "--c");
	CHECK_REFUSED("option '--co' could be '--count' or '--color'", "--co", "5");
	CHECK_REFUSED("option '--call' could be '--callgrind' or '--callgrinder'", "--call");
	CHECK_REFUSED("option '--co' could be '--count' or '--color'", "--co=5");
}

TEST(opts_whole_name_wins_over_longer_ones)
{
	struct run r = PARSE("--callgrind");

	CHECK_EQ(r.status, 0);
	CHECK(r.t.is_all);
	CHECK(!r.t.output);
	r = PARSE("--callgrinder=f");
	CHECK_EQ(r.status, 0);
	CHECK(!r.t.is_all);
	CHECK_STR(r.t.output, "f");
	r = PARSE("--callgrinde", "g");
	CHECK_STR(r.t.output, "g");
}

TEST(opts_optional_value_is_taken_only_if_it_is_there)
{
	struct run r = PARSE("-g", "-v");

	CHECK_EQ(r.status, 0);
	CHECK_STR(r.t.called, "(null);");
	CHECK_EQ(r.t.verbose, 1);
	r = PARSE("-g");
	CHECK_STR(r.t.called, "(null);");
	r = PARSE("-g", "a", "-gb", "--graph=c", "--graph", "d", "--graph", "--all");
	CHECK_EQ(r.status, 0);
	CHECK_STR(r.t.called, "a;b;c;d;(null);");
	CHECK(r.t.is_all);
	r = PARSE("-vg", "e");
	CHECK_STR(r.t.called, "e;");
	r = PARSE("-g", "--", "w");
	CHECK_STR(r.t.called, "(null);");
	CHECK_STR(rest(&r), "w");
	r = PARSE("--color", "-a");
	CHECK_EQ(r.status, 0);
	CHECK(!r.t.color);
	CHECK(r.t.is_all);
}

TEST(opts_optional_value_may_be_only_a_word_that_is_known)
{
	struct run r = RUN(OPTS_STOP, "-am", "here", "-mhere", "-ma", "-m", "-m", "-v", "-m",
		"hereabouts", "here");

	CHECK_EQ(r.status, 0);
	CHECK_STR(r.t.called, "here;here;(null);(null);(null);(null);");
	CHECK(r.t.is_all);
	CHECK_EQ(r.t.verbose, 1);
	CHECK_STR(rest(&r), "hereabouts here");
}

TEST(opts_call_without_value_gets_none)
{
	struct run r = PARSE("-r", "word", "--reset", "-vra");

	CHECK_EQ(r.status, 0);
	CHECK_STR(r.t.called, "(null);(null);(null);");
	CHECK_STR(rest(&r), "word");
	CHECK(r.t.is_all);
}

TEST(opts_words_between_options_are_kept_in_order)
{
	struct run r = PARSE("one", "-a", "two", "-c", "3", "-", "three", "");

	CHECK_EQ(r.status, 0);
	CHECK_STR(rest(&r), "one two - three ");
	CHECK_EQ(r.n, 5);
	CHECK(r.t.is_all);
	CHECK_EQ(r.t.count, 3);
}

TEST(opts_end_at_two_minus)
{
	struct run r = PARSE("one", "--", "-a", "--", "--nonsense");

	CHECK_EQ(r.status, 0);
	CHECK_STR(rest(&r), "one -a -- --nonsense");
	CHECK(!r.t.is_all);
	r = PARSE("--");
	CHECK_EQ(r.status, 0);
	CHECK_EQ(r.n, 0);
}

TEST(opts_stop_at_the_command_if_asked_to)
{
	struct run r = RUN(OPTS_STOP, "-a", "ls", "-v", "--nonsense", "--", "x");

	CHECK_EQ(r.status, 0);
	CHECK_STR(rest(&r), "ls -v --nonsense -- x");
	CHECK(r.t.is_all);
	CHECK_EQ(r.t.verbose, 0);
	r = RUN(OPTS_STOP, "-v", "--", "-ls", "--", "-a");
	CHECK_STR(rest(&r), "-ls -- -a");
	CHECK_EQ(r.t.verbose, 1);
	/* A lone minus and an empty word are words. */
	r = RUN(OPTS_STOP, "-", "-a");
	CHECK_STR(rest(&r), "- -a");
	r = RUN(OPTS_STOP, "", "-a");
	CHECK_EQ(r.n, 2);
}

TEST(opts_without_words_change_nothing)
{
	struct run r = run(0, (char *[]){NULL});

	CHECK_EQ(r.status, 0);
	CHECK_EQ(r.n, 0);
	CHECK_EQ(r.t.children, -1);
}

TEST(opts_help_is_asked_for_by_letter_or_name)
{
	static char *const words[][4] = {{"-h"}, {"--help"}, {"-ah"},
		{"-a", "--help", "--nonsense"}, {"word", "-h"}, {"-vvh"}};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		char *copy[4];

		memcpy(copy, words[i], sizeof(copy));
		CHECK_EQ(run(0, copy).status, OPTS_HELP);
	}
	/* Not when it is the value of an option, or a word behind the end of the options. */
	CHECK_EQ(PARSE("-o", "-h").status, 0);
	CHECK_EQ(PARSE("-oh").status, 0);
	CHECK_EQ(PARSE("--", "-h").status, 0);
	CHECK_EQ(RUN(OPTS_STOP, "ls", "--help").status, 0);
}

TEST(opts_letter_h_may_belong_to_the_table)
{
	static const struct opt with_h[] = {
		{'h', "height", OPT_U64, AT(count), "N", "so high"},
		{.kind = OPT_END},
	};
	struct target t = {0};
	struct err err = {0};
	char *words[] = {"-h", "5", NULL};
	int n = 2;

	CHECK_EQ(opts_parse(with_h, &t, 0, &n, words, &err), 0);
	CHECK_EQ(t.count, 5);
	CHECK_EQ(n, 0);
}

TEST(opts_numbers_are_checked_against_their_range)
{
	CHECK_REFUSED("option '--threads': 0 is not between 1 and 256", "-j0");
	CHECK_REFUSED("option '--threads': 257 is not between 1 and 256", "--threads", "257");
	CHECK_REFUSED("option '--count': 0 is less than 1", "-c", "0");
	CHECK_REFUSED("option '--limit': 100.5 is not between 0 and 100", "--limit=100.5");
	CHECK_REFUSED("option '--limit': -1 is not between 0 and 100", "--limit", "-1");
	CHECK_REFUSED("option '--limit': inf is not between 0 and 100", "--limit", "inf");
	CHECK_EQ(PARSE("-j1").t.threads, 1);
	CHECK_EQ(PARSE("-j256").t.threads, 256);
	CHECK(PARSE("--limit=0").t.limit == 0);
	CHECK(PARSE("--limit=100").t.limit == 100);
	CHECK_EQ(PARSE("-c18446744073709551615").t.count, ~0ULL);
}

TEST(opts_numbers_must_be_numbers)
{
	CHECK_REFUSED("option '--count': '5x' is not a number from 0 to 18446744073709551615",
		"-c5x");
	CHECK_REFUSED("option '--count': '' is not a number from 0 to 18446744073709551615",
		"--count=");
	CHECK_REFUSED("option '--count': '-5' is not a number from 0 to 18446744073709551615", "-c",
		"-5");
	CHECK_REFUSED("option '--limit': 'much' is not a number", "--limit", "much");
	CHECK_REFUSED("option '--limit': '' is not a number", "--limit=");
	CHECK_REFUSED("option '--limit': '5%' is not a number", "--limit=5%");
	CHECK_REFUSED("option '--limit': 'nan' is not a number", "--limit=nan");
}

TEST(opts_values_that_are_refused_change_nothing)
{
	struct run r = PARSE("-j5", "-j0");

	CHECK_EQ(r.status, ERR_INVAL);
	CHECK_EQ(r.t.threads, 5);
	r = PARSE("--limit=5", "--limit=500");
	CHECK(r.t.limit == 5);
}

TEST(opts_without_their_value_say_what_is_missing)
{
	CHECK_REFUSED("option '--count' needs a value: N", "-c");
	CHECK_REFUSED("option '--output' needs a value: FILE", "-a", "--output");
	CHECK_REFUSED("option '-G' needs a value: VALUE", "-vG");
	CHECK_REFUSED("option '--event' needs a value: EVENT", "--ev");
}

TEST(opts_switches_take_no_value)
{
	CHECK_REFUSED("option '--all' takes no value, 'yes' was given", "--all=yes");
	CHECK_REFUSED("option '--all' takes no value, '' was given", "--all=");
	CHECK_REFUSED("option '--children' takes no value, '0' was given", "--no-children=0");
	CHECK_REFUSED("option '--verbose' takes no value, '2' was given", "--verbose=2");
	CHECK_REFUSED("option '--reset' takes no value, 'x' was given", "--reset=x");
}

TEST(opts_calls_that_fail_are_named)
{
	struct run r = PARSE("--graph=bad", "-a");

	CHECK_EQ(r.status, ERR_LIMIT);
	CHECK_STR(r.err.msg, "option '--graph': 'bad' is bad");
	CHECK(!r.t.is_all);
	r = PARSE("-Gbad");
	CHECK_STR(r.err.msg, "option '-G': 'bad' is bad");
	r = PARSE("-ka");
	CHECK_EQ(r.status, ERR_UNSUPPORTED);
	CHECK_STR(r.err.msg, "option '--refused': not here");
	CHECK(!r.t.is_all);
}

TEST(opts_unknown_ones_are_refused_with_the_nearest)
{
	CHECK_REFUSED("there is no option '--cuont'; did you mean '--count'?", "--cuont=5");
	CHECK_REFUSED("there is no option '--childern'; did you mean '--children'?", "--childern");
	CHECK_REFUSED("there is no option '--outptu'; did you mean '--output'?", "--outptu");
	CHECK_REFUSED("there is no option '--frobnicate'", "--frobnicate");
	CHECK_REFUSED("there is no option '--allx'; did you mean '--all'?", "--allx");
	CHECK_REFUSED("there is no option '-Z'", "-Z");
	CHECK_REFUSED("there is no option '-Z'", "-avZ", "-c");
	CHECK_REFUSED("there is no option '-='", "-v=5");
	/* What is hidden is not offered. */
	CHECK_REFUSED("there is no option '--secrte'", "--secrte");
	CHECK_REFUSED("there is no option '--yeild'", "--yeild");
}

/* Books print commands with U+2212 and dashes. A file or a command that begins so is no option. */
TEST(opts_with_the_dashes_of_printed_text_are_refused_with_what_to_type)
{
#define PRINTED "begins with a printed dash, which is not the '-' of a keyboard: type"
	struct run r;

	CHECK_REFUSED("'−a' " PRINTED " '-a'", "−a");
	CHECK_REFUSED("'−−count=20' " PRINTED " '--count=20'", "−−count=20");
	CHECK_REFUSED("'—all' " PRINTED " '--all'", "—all");
	CHECK_REFUSED("'–c5' " PRINTED " '-c5'", "x", "–c5");
	CHECK_REFUSED("'-−all' " PRINTED " '--all'", "-−all");

	r = PARSE("—q", "−", "“a", "-o", "−a", "--", "−a");
	CHECK_EQ(r.status, 0);
	CHECK_STR(rest(&r), "—q − “a −a");
	CHECK_STR(r.t.output, "−a");
	r = RUN(OPTS_STOP, "-a", "ls", "−a");
	CHECK_EQ(r.status, 0);
	CHECK_STR(rest(&r), "ls −a");
#undef PRINTED
}

TEST(opts_of_another_tool_have_no_effect_or_are_refused_with_the_reason)
{
	struct run r = PARSE("-y", "--yield", "--no-yield", "--yonder", "there", "--yonder=here",
		"-a", "word");

	CHECK_EQ(r.status, 0);
	CHECK(r.t.is_all);
	CHECK_STR(rest(&r), "word");
	r = PARSE("-az");
	CHECK_EQ(r.status, ERR_UNSUPPORTED);
	CHECK_STR(r.err.msg, "--zoom: there is no picture; -v says more");
	r = PARSE("--zone", "x");
	CHECK_EQ(r.status, ERR_UNSUPPORTED);
	CHECK_STR(r.err.msg, "--zone: there is one only");
	/* That it is not wanted is what there is. */
	r = PARSE("--no-zoom");
	CHECK_EQ(r.status, 0);
	r = PARSE("--zone");
	CHECK_STR(r.err.msg, "option '--zone' needs a value: NAME");
}

TEST(opts_unknown_names_of_any_length_fit_the_message)
{
	char word[600];
	struct run r;

	memset(word, 'q', sizeof(word));
	memcpy(word, "--", 2);
	word[sizeof(word) - 1] = '\0';
	r = PARSE(word);
	CHECK_EQ(r.status, ERR_INVAL);
	word[2 + 79] = '\0';
	CHECK_HAS(r.err.msg, word);
}

/* ---- help ---- */

TEST(opts_help_text_is_a_table)
{
	static const char expected[] =
		"\nWhat\n"
		"  -a, --all                       everything\n"
		"  -i, --no-inherit                not the children's\n"
		"      --children                  callers too\n"
		"  -v, --verbose                   say more\n"
		"  -c, --count N                   each N\n"
		"  -j, --threads N                 so many\n"
		"      --limit PCT                 at least\n"
		"  -o, --output FILE               write there\n"
		"\nHow\n"
		"  -e, --event EVENT               count it\n"
		"  -g, --graph[=HOW]               draw\n"
		"  -G VALUE                        draw so\n"
		"  -r, --reset                     begin anew\n"
		"  -m [HOW]                        meet\n"
		"      --color[=WHEN]              colours\n"
		"      --callgrind                 as callgrind does\n"
		"      --callgrinder FILE          a longer name with the same beginning\n";
	struct str text = {0};

	opts_add_help(table, &text);
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
}

TEST(opts_help_marks_what_most_need)
{
	static const struct opt marked[] = {
		{0, NULL, OPT_TITLE, 0, NULL, "What"},
		{'e', "event", OPT_STR, 0, "EVENT", "often", .flags = OPT_COMMON},
		{'x', "exotic", OPT_BOOL, 0, NULL, "seldom"},
		{0, "for", OPT_STR, 0, "TIME", "often too", .flags = OPT_COMMON},
		{.kind = OPT_END},
	};
	static const char expected[] = "\nMost users need only the options marked with *.\n"
				       "\nWhat\n"
				       "* -e, --event EVENT               often\n"
				       "  -x, --exotic                    seldom\n"
				       "*     --for TIME                  often too\n";
	struct str text = {0};

	opts_add_help(marked, &text);
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
}

/* Column 34 is the first that the explanation may stand in. */
TEST(opts_help_of_long_names_begins_on_the_next_line)
{
	static const struct opt long_names[] = {
		{'a', "a-name-that-fills-the-row", OPT_BOOL, 0, NULL, "first"},
		{'b', "b-name-that-reaches-it-now", OPT_BOOL, 0, NULL, "second"},
		{0, "c-name-with-an-argument", OPT_STR, 0, "ARGUMENT", "third"},
		{'d', NULL, OPT_STR, 0, "X", "fourth", .flags = OPT_OPTIONAL},
		{.kind = OPT_END},
	};
	static const char expected[] = "  -a, --a-name-that-fills-the-row first\n"
				       "  -b, --b-name-that-reaches-it-now\n"
				       "                                  second\n"
				       "      --c-name-with-an-argument ARGUMENT\n"
				       "                                  third\n"
				       "  -d[X]                           fourth\n";
	struct str text = {0};

	opts_add_help(long_names, &text);
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
}
